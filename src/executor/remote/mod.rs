//! The executor `remote`: a front of another agent, whose task becomes ours.
//!
//! Its run follows a task that goes on elsewhere, so it never repeats what it said: it looks where its own task stands
//! and says what is missing ([`Turn::take_up`]). What it must know across crashes and turns is one step, the
//! [link](link::Link) to the task of the remote agent.
//!
//! # A front of a remote agent
//!
//! ```text
//! run ──> step "remote task": send, streaming if it can ──> id, conversation, interface       executor/remote/send.rs
//!   │       resumed, and the step not done: ListTasks of the conversation, else send again       link.rs: as the step keeps it
//!   ├─> in memory: events of the stream, or GetTask 1 s to 5 s apart                           follow.rs
//!   │       each event, or a whole task and what ours lacks of it ──> what our agent says          mirror.rs
//!   └─> silent for a minute: a webhook to a callback, and parked ──> GetTask when it wakes         pace.rs
//! ```
//!
//! - **It never repeats what it said.** `Turn::take_up` drops what earlier attempts said from the `Recall` and puts the waits and the bodies of callbacks behind the run; steps stay. The
//!   difference between our task and the remote one is what is to be said, after a crash as after a park.
//! - **The step holds the interface, too**, so a run that wakes for a moment asks for the task alone, without the card.
//! - **The message has one id**, made from the id of our object and the number of the message, and so has the conversation, from agent, owner and context. Neither is stored: a run that knows
//!   nothing yet finds its task by them.
//! - **A question that was answered** may still stand in the remote task when it is looked at. It is known by the id of its message, which our history has.
//! - **A cancel** finds the link by `Turn::last_step`. A run in memory cancels by itself, since it may be sending; the hook does it for a run that is parked, or that was dropped before it has done so.
//! - A turn stays in memory for half of its time at most. The rest is for the looks while it is parked, so that no silence is too long for it.

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
use a2a_agents::{EmbeddedAgent, Misfit, RemoteTable};
use follow::Front;
use link::{LINKED, Link};
use send::{Begun, Kept, Sending};

/// An agent that passes on what it is told to another one, and what that answers to its client.
pub struct RemoteExecutor {
    connect: Box<Connect>,
    terms: Terms,
    awake: AwakeRuns,
}

type Connect = dyn Fn(&Turn) -> Result<Client, ExecutorError>;

/// How the task of the remote agent is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    /// After how long a silence the run is parked, in milliseconds.
    silence_ms: u64,
    /// Whether the remote agent is asked to send webhooks to a run that is parked.
    webhooks: bool,
}

/// Makes the executor of an agent of kind `remote`.
pub(super) fn make(
    agent: &EmbeddedAgent,
    _: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    Ok(Rc::new(RemoteExecutor::of(agent.executor.table.read()?)))
}

impl RemoteExecutor {
    /// A front of the remote agent that the table of an agent file names.
    pub fn of(table: RemoteTable) -> Self {
        let RemoteTable { remote, silence_ms, webhooks } = table;
        let connect = move |turn: &Turn| turn.remote(&remote);
        Self::new(Box::new(connect), Terms { silence_ms, webhooks })
    }

    /// A front of the agent that these settings lead to.
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
                // The message may have begun a task all the same.
                self.cancel_remote(turn, true).await;
                Ok(())
            }
            Begun::Over => Ok(()),
        }
    }

    /// Cancels the remote task, which is tried for some seconds. One that no link leads to is looked for if `looks` says so.
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

/// Sends the message of the turn, unless an earlier attempt has.
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

/// The message of the turn on its way.
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
        // One that fails to take what the remote agent says wants no more of it. Where storage has failed the run is not
        // over, and nothing is found: another run goes on with the remote task.
        if turn.is_canceled() || result.is_err() {
            self.cancel_remote(turn, false).await;
        }
        awake.end();
        result
    }

    async fn cancel(&self, turn: &Turn) {
        if self.awake.has_left(turn).await {
            // A run that was dropped may have begun a task and not known it.
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
