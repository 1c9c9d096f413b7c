//! The executor `remote`: an agent that forwards its messages to another agent, and mirrors that agent's task as its
//! own.
//!
//! The remote task continues independently of our runs, so a run never repeats events: it compares its own task with
//! the remote task and emits the missing events ([`Turn::take_up`]). One step stores the data that must survive crashes
//! and turns: the [link](link::Link) to the task of the remote agent.
//!
//! # A front of a remote agent
//!
//! ```text
//! run ──> step "remote task": send, streaming if it can ──> id, conversation, interface       executor/remote/send.rs
//!   │       resumed, and the step not done: ListTasks of the conversation, else send again       link.rs: the stored form
//!   ├─> in memory: events of the stream, or GetTask 1 s to 5 s apart                           follow.rs
//!   │       each event, or the difference between a whole task and ours ──> events of our task     mirror.rs
//!   └─> silent for a minute: a webhook to a callback, and parked ──> GetTask when it wakes         pace.rs
//! ```
//!
//! - **No event is repeated.** `Turn::take_up` drops the events of earlier attempts from the `Recall` and keeps the steps, the waits and the bodies
//!   of callbacks. Both after a crash and after a park, the run emits the difference between our task and the remote task.
//! - **The step stores the interface, too**, so a run that wakes only to poll requests the task and not the card.
//! - **The message and the conversation have fixed ids.** The message id is made from the id of our object and the number of the message; the id of
//!   the conversation from agent, owner and context. The two ids are not stored; a run without a stored link finds its task by them.
//! - **A question that was answered** may still be the status of the remote task at the next poll. The mirror recognizes the question by the id of
//!   its message, which is in our history.
//! - **A cancel** reads the link by `Turn::last_step`. A run in memory cancels the remote task itself, since the run may be sending
//!   a message; the `cancel` hook cancels for a run that is parked or was dropped.
//! - A turn stays in memory for at most half of its time. The other half is reserved for polls after parks, so that the time suffices even
//!   for a very long silence.

mod follow;
pub(super) mod link;
pub(super) mod messages;
mod mirror;
pub(super) mod pace;
pub(super) mod send;

use std::rc::Rc;

use async_trait::async_trait;
use futures_util::future::select;

use super::awake::AwakeRuns;
use super::calling::CANCEL_MS;
use super::{AgentExecutor, Emission, Events, ExecutorError, Turn};
use crate::task::Recovery;
use a2a::client::{Client, Settings};
use a2a::model::CancelTaskRequest;
use a2a_agents::tool::Tool;
use a2a_agents::{CheckedAgent, Misfit, RemoteTable};
use follow::Front;
use link::{LINKED, Link};
use send::{Begun, Kept, Sending};

/// An agent that forwards the messages of its client to another agent, and the other agent's events to its client.
pub struct RemoteExecutor {
    connect: Box<Connect>,
    terms: Terms,
    awake: AwakeRuns,
}

type Connect = dyn Fn(&Turn) -> Result<Client, ExecutorError>;

/// How the task of the remote agent is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    /// After this time without an event the run is parked, in milliseconds.
    silence_ms: u64,
    /// True if the remote agent is requested to send webhooks to a run that is parked.
    webhooks: bool,
}

/// Makes the executor of an agent of kind `remote`.
pub(super) fn make(
    agent: &CheckedAgent,
    _: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    Ok(Rc::new(RemoteExecutor::of(RemoteTable::of(&agent.executor.table)?)))
}

impl RemoteExecutor {
    /// A front of the remote agent that the agent file's table names.
    pub fn of(table: RemoteTable) -> Self {
        let RemoteTable { remote, silence_ms, webhooks } = table;
        let connect = move |turn: &Turn| turn.remote(&remote);
        Self::new(Box::new(connect), Terms { silence_ms, webhooks })
    }

    /// A front of the agent at the URL in these settings.
    pub fn at(settings: Settings) -> Self {
        let connect = move |turn: &Turn| Ok(turn.client(settings.clone()));
        let RemoteTable { silence_ms, webhooks, .. } = RemoteTable::default();
        Self::new(Box::new(connect), Terms { silence_ms, webhooks })
    }

    fn new(connect: Box<Connect>, terms: Terms) -> Self {
        Self { connect, terms, awake: AwakeRuns::default() }
    }

    async fn pass_through(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let waited_ms = turn.take_up();
        let client = (self.connect)(turn)?;
        match begin(turn, client).await? {
            Begun::Linked(link, client, opened) => {
                let front = Front::new(turn, events, client, *link, self.terms);
                front.follow(opened, waited_ms).await
            }
            Begun::Answered(message) => events.emit(Emission::Reply(message)),
            Begun::Failed(reason) => Err(ExecutorError(reason)),
            Begun::TimedOut(total_ms) => {
                events.fail(&format!("the remote agent has not answered within {total_ms} ms"))?;
                // The message may have begun a task although no answer arrived.
                self.cancel_remote(turn, true).await;
                Ok(())
            }
            Begun::Over => Ok(()),
        }
    }

    /// Cancels the remote task within a few seconds. If no link is stored, the task is searched for only if `looks` is true.
    async fn cancel_remote(&self, turn: &Turn, looks: bool) {
        select(Box::pin(self.end_remote(turn, looks)), turn.run_outside.sleep(CANCEL_MS)).await;
    }

    async fn end_remote(&self, turn: &Turn, looks: bool) {
        let (Ok(link), Ok(client)) = (Link::last(turn), (self.connect)(turn)) else { return };
        let (client, id) = match link {
            Some(link) => (link.reach(client), Some(link.task)),
            None if looks => {
                let found = sending(turn, &client, None).found(&client).await;
                (client, found.map(|task| task.id))
            }
            None => return,
        };
        if let Some(id) = id {
            let request = CancelTaskRequest { tenant: None, id, metadata: None };
            let _ = client.cancel(request).await;
        }
    }
}

/// Sends the message of the turn, unless an earlier attempt has sent it.
async fn begin(turn: &Turn, client: Client) -> Result<Begun, ExecutorError> {
    let nth = match send::kept(turn, LINKED)? {
        Kept::Nothing(nth) => nth,
        Kept::Failed(reason) => return Ok(Begun::Failed(reason)),
        Kept::Link(link) => {
            let client = link.reach(client);
            return Ok(Begun::Linked(link, client, None));
        }
    };
    let known = Link::last(turn)?;
    let client = match &known {
        Some(link) => link.reach(client),
        None => client,
    };
    let request = async {
        let message = messages::with_credentials(turn).await?;
        Ok(messages::request(turn, message, turn.number, known.as_ref()))
    };
    sending(turn, &client, known.clone()).begin(nth, client, Box::pin(request)).await
}

/// The parameters for sending the message of the turn.
fn sending<'a>(turn: &'a Turn, client: &Client, known: Option<Link>) -> Sending<'a> {
    Sending {
        deadline: turn.now().after(client.settings().timeout_ms),
        turn,
        step: LINKED,
        agent: "the remote agent",
        message_id: messages::id_of(turn, turn.number),
        context: messages::context_of(turn),
        known,
        is_doubtful: turn.resumes,
    }
}

#[async_trait(?Send)]
impl AgentExecutor for RemoteExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let awake = self.awake.wake(turn);
        let result = Box::pin(self.pass_through(turn, events)).await;
        // If the run fails because our task refuses an event, nobody needs the remote task any more. If the run fails
        // because storage has failed, another run continues the remote task: `cancel_remote` does nothing in that case,
        // because it cannot read the stored link to the remote task.
        if turn.is_canceled() || result.is_err() {
            self.cancel_remote(turn, false).await;
        }
        awake.end();
        result
    }

    async fn cancel(&self, turn: &Turn) {
        if self.awake.has_left(turn).await {
            // A run that was dropped may have begun a remote task without storing a link.
            Box::pin(self.cancel_remote(turn, true)).await;
        }
    }

    fn ensures_cancel(&self) -> bool {
        true
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    fn parks(&self) -> bool {
        true
    }
}
