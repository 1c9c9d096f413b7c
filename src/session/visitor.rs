//! For whom a session is opened. A task that is not a visitor's stays closed to it: nothing of it is read but its facts,
//! and nothing of it goes on.

use crate::auth::Caller;
use crate::port::{Act, Audit, Observation, Observer, TaskFacts};
use crate::task::{Admission, TaskMachine};
use crate::trail::Trail;
use a2a::model::{TaskId, UnixMillis};

/// For whom a session is opened.
#[derive(Clone, Copy, Debug)]
pub enum Visitor<'a> {
    /// For the server itself, as an alarm or a sender of notifications, or for a send that names no task.
    Server,
    /// For a caller who names the task, at an agent, with what its request is found again by.
    Caller(&'a str, &'a Caller, &'a Trail),
    /// For an operator of an agent. That it is one was found out before.
    Operator(&'a str),
    /// For somebody who posts to a callback of a task of an agent, with its token and what the sender calls the post.
    Callback(&'a str, &'a str, Option<&'a str>),
}

impl Visitor<'_> {
    /// Whether the visitor may learn that there is a task of these facts. For a callback that is not all.
    pub(super) fn may_see(&self, facts: &TaskFacts) -> bool {
        match self {
            Self::Server => true,
            Self::Caller(agent, caller, _) => {
                facts.agent == *agent && facts.owner == caller.owner()
            }
            Self::Operator(agent) | Self::Callback(agent, ..) => facts.agent == *agent,
        }
    }

    /// Whether the visitor may do something in the task, which is replayed and has not gone on yet.
    pub(super) fn may_enter(&self, machine: &TaskMachine, now: impl Fn() -> UnixMillis) -> bool {
        match self {
            Self::Server | Self::Caller(..) | Self::Operator(_) => true,
            Self::Callback(_, token, key) => {
                machine.admit_call(token, *key, now()) != Admission::Unknown
            }
        }
    }

    /// Writes the line of an audit that a caller was denied a task. It is told that there is none.
    pub(super) fn note_denied(&self, task: &TaskId, observer: &dyn Observer) {
        if let Self::Caller(agent, caller, trail) = self {
            let denied = Audit::of(Act::AccessDenied, agent, &caller.id, trail).on(task);
            let denied = denied.refused(Some("another caller's task"));
            observer.observe(&Observation::Audited(denied));
        }
    }
}
