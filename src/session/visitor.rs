//! The party for which a session is opened. If the visitor must not see the task, only the task's facts are read, and its run is not
//! resumed.

use crate::auth::Caller;
use crate::port::{Act, Audit, Observation, Observer, TaskFacts};
use crate::task::{Admission, TaskMachine};
use crate::trail::Trail;
use a2a::model::{TaskId, UnixMillis};

/// The party for which a session is opened.
#[derive(Clone, Copy, Debug)]
pub enum Visitor<'a> {
    /// The server itself (an alarm, a sender of notifications), or a send that names no task.
    Server,
    /// A caller who names the task: the agent, the caller, and the trail of the request for audits.
    Caller(&'a str, &'a Caller, &'a Trail),
    /// An operator of this agent, as checked before.
    Operator(&'a str),
    /// The sender of a post to a callback: the agent, the token of the callback, and the sender's `Idempotency-Key`.
    Callback(&'a str, &'a str, Option<&'a str>),
}

impl Visitor<'_> {
    /// True if the visitor may learn that a task with these facts exists. For a callback, [`may_enter`](Self::may_enter) must
    /// also return true.
    pub(super) fn may_see(&self, facts: &TaskFacts) -> bool {
        match self {
            Self::Server => true,
            Self::Caller(agent, caller, _) => {
                facts.agent == *agent && facts.owner == caller.owner()
            }
            Self::Operator(agent) | Self::Callback(agent, ..) => facts.agent == *agent,
        }
    }

    /// True if the visitor may act on the task. The task was replayed, and its run is not resumed yet.
    pub(super) fn may_enter(&self, machine: &TaskMachine, now: impl Fn() -> UnixMillis) -> bool {
        match self {
            Self::Server | Self::Caller(..) | Self::Operator(_) => true,
            Self::Callback(_, token, key) => {
                machine.admit_call(token, *key, now()) != Admission::Unknown
            }
        }
    }

    /// Writes the audit line for a caller who has named the task of another caller. The caller gets the error for a task that
    /// does not exist.
    pub(super) fn note_denied(&self, task: &TaskId, observer: &dyn Observer) {
        if let Self::Caller(agent, caller, trail) = self {
            let denied = Audit::of(Act::AccessDenied, agent, &caller.id, trail).on(task);
            let denied = denied.refused(Some("another caller's task"));
            observer.observe(&Observation::Audited(denied));
        }
    }
}
