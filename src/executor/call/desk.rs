//! How calls ask the user while they are open: one question at a time, on the connection that waits for its answer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::slice;

use futures_util::lock::{Mutex, MutexGuard};
use serde_json::Value;

use super::is_for;
use super::question;
use crate::executor::{Events, ExecutorError, Turn};
use ::mcp::model::Question;
use a2a::model::Message;

/// Where the calls of a round ask the user. A call that has a [place](Self::place) may ask; the others wait for it.
pub(in crate::executor) struct Desk<'a> {
    turn: &'a Turn,
    events: &'a Events,
    place: Mutex<()>,
    keep: Box<Keep<'a>>,
    /// How many messages each call has taken, by its key.
    taken: RefCell<BTreeMap<String, u64>>,
}

/// Keeps the question of the call of a key: the turn that finds it has lost the connection.
type Keep<'a> = dyn Fn(&str, &Question) -> Result<(), ExecutorError> + 'a;

impl<'a> Desk<'a> {
    /// The desk of a turn. `keep` stores a question before it shows.
    pub(in crate::executor) fn new(
        turn: &'a Turn,
        events: &'a Events,
        keep: impl Fn(&str, &Question) -> Result<(), ExecutorError> + 'a,
    ) -> Self {
        let (place, taken) = (Mutex::default(), RefCell::default());
        Self { turn, events, place, keep: Box::new(keep), taken }
    }

    /// Waits until no other call asks.
    pub(super) async fn place(&self) -> MutexGuard<'_, ()> {
        self.place.lock().await
    }

    /// Whether a call asks. The task does not say meanwhile that it works.
    pub(in crate::executor) fn is_taken(&self) -> bool {
        self.place.try_lock().is_none()
    }

    /// Asks a question of the call of this key.
    pub(super) fn ask(&self, key: &str, question: &Question) -> Result<(), ExecutorError> {
        (self.keep)(key, question)?;
        say(self.turn, self.events, slice::from_ref(question), None)
    }

    /// Asks it again: the last answer was none.
    pub(super) fn ask_again(&self, question: &Question, unfit: &str) -> Result<(), ExecutorError> {
        say(self.turn, self.events, slice::from_ref(question), Some(unfit))
    }

    /// The next message of the client, which the call of this key takes.
    pub(super) async fn message(&self, key: &str) -> Message {
        let message = self.turn.next_message().await;
        *self.taken.borrow_mut().entry(key.to_owned()).or_default() += 1;
        message
    }

    /// What the step of the call of this key is to keep: its outcome, and how many messages it has taken.
    pub(in crate::executor) fn noted(&self, key: &str, mut outcome: Value) -> Value {
        let taken = self.taken.borrow().get(key).copied();
        if let (Some(taken), Some(members)) = (taken, outcome.as_object_mut()) {
            members.insert(TAKEN.to_owned(), taken.into());
        }
        outcome
    }
}

/// Takes the messages that a call has taken which is done: a run that resumes is offered all messages again. Whether there were
/// some.
pub(in crate::executor) fn take_again(turn: &Turn, kept: &Value) -> bool {
    let taken = kept.get(TAKEN).and_then(Value::as_u64).unwrap_or_default();
    for _ in 0..taken {
        turn.run_task.take_message();
    }
    taken > 0
}

/// Says what is asked. `unfit` is why the last answer was none.
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

/// The member of what a step keeps of a call that says how many messages the call has taken.
const TAKEN: &str = "took";
