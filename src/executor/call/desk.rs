//! Questions of calls that are still open. The user sees one question at a time; the call keeps its connection open
//! until the answer arrives.

use std::cell::RefCell;
use std::rc::Rc;
use std::slice;

use futures_util::lock::{Mutex, MutexGuard};
use serde::Serialize;

use super::is_for;
use super::question;
use crate::executor::{Events, ExecutorError, Turn};
use ::mcp::model::Question;
use a2a::model::Message;
use a2a::model::decode::Decode;
use a2a::sorted::SortedMap;

/// Serializes the questions of the calls of one round. Only the call that holds the [place](Self::place) may ask the
/// user; the others wait for it.
pub(in crate::executor) struct Desk<'a> {
    turn: &'a Turn,
    events: &'a Events,
    place: Place,
    keep: Box<Keep<'a>>,
    /// The number of messages that each call has taken, by the key of the call.
    taken: RefCell<SortedMap<String, u64>>,
}

/// The place of the call that asks the user. Clones are the same place.
#[derive(Clone, Default)]
pub(super) struct Place(Rc<Mutex<()>>);

impl Place {
    /// True if a call is asking the user now.
    pub(super) fn is_taken(&self) -> bool {
        self.0.try_lock().is_none()
    }
}

/// The number of messages that a finished call has taken, as its step stores it; none if it has taken no message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
pub(in crate::executor) struct Taken {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took: Option<u64>,
}

/// Stores the question of the call with this key. A turn that later reads a stored question has lost the connection of
/// the call.
type Keep<'a> = dyn Fn(&str, &Question) -> Result<(), ExecutorError> + 'a;

impl<'a> Desk<'a> {
    /// The desk of a turn. `keep` stores a question before the question is shown to the user.
    pub(in crate::executor) fn new(
        turn: &'a Turn,
        events: &'a Events,
        keep: impl Fn(&str, &Question) -> Result<(), ExecutorError> + 'a,
    ) -> Self {
        let (place, taken) = (Place::default(), RefCell::default());
        Self { turn, events, place, keep: Box::new(keep), taken }
    }

    /// Waits until no other call holds the place.
    pub(super) async fn place(&self) -> MutexGuard<'_, ()> {
        self.place.0.lock().await
    }

    /// True if a call is asking the user now. Until the answer arrives, the task does not report the state `working`.
    pub(in crate::executor) fn is_taken(&self) -> bool {
        self.place.is_taken()
    }

    /// The place, for a call that outlives the borrow of the desk.
    pub(super) fn shared_place(&self) -> Place {
        self.place.clone()
    }

    /// Stores a question of the call with this key, and shows the question to the user.
    pub(super) fn ask(&self, key: &str, question: &Question) -> Result<(), ExecutorError> {
        (self.keep)(key, question)?;
        say(self.turn, self.events, slice::from_ref(question), None)
    }

    /// Shows the question again. `unfit` is the reason why the last message was no answer.
    pub(super) fn ask_again(&self, question: &Question, unfit: &str) -> Result<(), ExecutorError> {
        say(self.turn, self.events, slice::from_ref(question), Some(unfit))
    }

    /// The next message of the client, which is counted as taken by the call with this key.
    pub(super) async fn message(&self, key: &str) -> Message {
        let message = self.turn.next_message().await;
        *self.taken.borrow_mut().get_or_insert_with(key.to_owned(), u64::default) += 1;
        message
    }

    /// The number of messages that the call with this key has taken, for its step.
    pub(in crate::executor) fn taken(&self, key: &str) -> Taken {
        Taken { took: self.taken.borrow().get(key).copied() }
    }
}

/// Removes from the inbox the messages that a finished call has taken: a resumed run receives all messages again. Returns
/// true if there were such messages.
pub(in crate::executor) fn take_again(turn: &Turn, Taken { took }: Taken) -> bool {
    let taken = took.unwrap_or_default();
    for _ in 0..taken {
        turn.run_task.take_message();
    }
    taken > 0
}

/// Sets the task to a state that asks the user these questions. `unfit` is the reason why the last message was no
/// answer.
pub(in crate::executor) fn say(
    turn: &Turn,
    events: &Events,
    questions: &[Question],
    unfit: Option<&str>,
) -> Result<(), ExecutorError> {
    let (state, parts) = question::said(questions, unfit);
    let parts = parts.into_iter().filter(|part| is_for(part, turn));
    events.status_with(state, parts.collect())
}
