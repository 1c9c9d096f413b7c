//! Opening a session: for whom, by what, and why none can be opened.

use std::fmt;
use std::rc::Rc;

use super::alarm::{self, Alarm};
use super::bell::Bell;
use super::credentials::{self, Credentials};
use super::debts::{self, Debts};
use super::health::Health;
use super::journal::Journal;
use super::life::Life;
use super::retention::Retention;
use super::run::connections::Connections;
use super::run::held::Held;
use super::run::state::RunState;
use super::run::tracing::Tracing;
use super::run::{self, parking};
use super::unannounced::Unannounced;
use super::webhooks::Webhooks;
use super::{FindAgent, Ids, TaskSession, Visitor};
use crate::config::Limits;
use crate::port::{Counted, Indexed, Ports, StoreError, TaskStore};
use crate::task::{Loss, TaskMachine};

/// What opens a session, and what is known by that of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A request. There may be a task, and the alarm may be set.
    ByRequest,
    /// The alarm. There may be a task, and the alarm is not set any more.
    ByAlarm,
    /// A send to an object that nobody has asked anything before: it holds nothing, and its alarm is not set. If that
    /// is wrong, storing fails, and nothing is lost.
    New,
}

/// Why no agent can run for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAgent {
    /// This Worker does not have it any more. A run that was under way fails.
    Missing,
    /// Its executor could not be made. A run that was under way waits for a Worker that can make it.
    Unusable,
}

/// Why a session cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Storage did not give the task.
    Store(StoreError),
    /// The task has to go on, and the executor of its agent, whose slug this is, could not be made.
    AgentUnusable(String),
    /// There is a task, which is not the visitor's. For the visitor it does not exist.
    Denied,
}

impl TaskSession {
    /// [`open_for`](Self::open_for) the server itself.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open(
        ids: impl Into<Ids>,
        store: Rc<dyn TaskStore>,
        ports: Ports,
        limits: Limits,
        agents: FindAgent,
        opening: Opening,
    ) -> Result<Rc<Self>, OpenError> {
        Self::open_for(Visitor::Server, ids, store, ports, limits, agents, opening)
    }

    /// The session of the task of these ids, from storage if it is there. What is stored says which id clients know. A task whose run was lost
    /// goes on, or is brought to an end, as its agent wants it, unless it is not the visitor's.
    ///
    /// # Errors
    ///
    /// When storage fails or holds what this version cannot read, the task is not the visitor's, or it has to go on and
    /// its agent cannot run.
    pub fn open_for(
        visitor: Visitor<'_>,
        ids: impl Into<Ids>,
        store: Rc<dyn TaskStore>,
        ports: Ports,
        limits: Limits,
        agents: FindAgent,
        opening: Opening,
    ) -> Result<Rc<Self>, OpenError> {
        let ids: Ids = ids.into();
        let id = ids.task();
        let journal = Journal::new(store.clone(), &limits);
        let webhooks = Webhooks::new(store.clone(), limits.max_webhooks, limits.keep_alive_ms);
        let credentials = Credentials::new(store.clone());
        let loaded = match opening {
            Opening::New => Ok(None),
            Opening::ByRequest | Opening::ByAlarm => journal.load_for(&visitor, &id),
        };
        let loaded = loaded.inspect_err(|error| {
            if *error == OpenError::Denied {
                visitor.note_denied(&id, ports.observer.as_ref());
            }
        })?;
        // Only tasks set alarms.
        let opening = if loaded.is_none() { Opening::New } else { opening };
        let (id, life, indexed, counted, log) = match loaded {
            None => (id, Life::empty(), Indexed::default(), Counted::default(), Vec::new()),
            Some((stored, log)) => {
                webhooks.restore(&id, &stored.webhooks)?;
                credentials.restore(&id, stored.credentials.as_deref())?;
                let machine = TaskMachine::replay(log.iter().cloned()).ok_or_else(|| {
                    StoreError::Unreadable(format!("log of {id} does not begin with a task"))
                })?;
                if !visitor.may_enter(&machine, || ports.clock.now()) {
                    return Err(OpenError::Denied);
                }
                let id = machine.task().id.clone();
                let life = Life::live(stored.facts, machine);
                (id, life, stored.indexed, stored.counted, log)
            }
        };
        let connections = Rc::new(Connections::new(ports.http.clone()));
        let tracing = Tracing::new(connections, ports.random.clone());
        let session = Rc::new_cyclic(|handle| Self {
            id,
            object: ids.object,
            store,
            ports,
            agents,
            life,
            journal,
            run: RunState::default(),
            held: Held::default(),
            debts: Debts::new(indexed, counted),
            webhooks,
            credentials,
            retention: Retention::new(limits.retention_ms),
            limits,
            unannounced: Unannounced::default(),
            alarm: Alarm::new(opening),
            bell: Bell::default(),
            health: Health::default(),
            tracing,
            handle: handle.clone(),
        });
        if session.life.with_machine(TaskMachine::is_orphaned).unwrap_or(false) {
            session.check_agent()?;
            run::recover(&session, Loss::Interrupted, &log);
            session.flush()?;
            run::start_soon(&session);
        }
        parking::wake_if_due(&session)?;
        credentials::forget_if_over(&session);
        debts::pay_every(&session);
        // Jobs for the webhooks may be in the queue; if not, the alarm is set for them.
        if opening == Opening::ByRequest {
            alarm::check(&session);
        }
        Ok(session)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(out),
            Self::AgentUnusable(slug) => {
                write!(out, "the executor of the agent {slug} could not be made")
            }
            Self::Denied => out.write_str("the task is not the visitor's"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
