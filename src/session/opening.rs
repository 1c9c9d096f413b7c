//! Opens sessions: by a request, an alarm or a new send.

use std::rc::Rc;

use super::agents::{Agents, FindAgent};
use super::alarm::{self, Alarm};
use super::bell::Bell;
use super::credentials::Credentials;
use super::debts::{self, Debts};
use super::health::Health;
use super::journal::{Journal, Loaded};
use super::life::Life;
use super::open_error::OpenError;
use super::place::Place;
use super::retention::Retention;
use super::run::outside::Outside;
use super::run::state::RunState;
use super::run::{self, parking};
use super::unannounced::Unannounced;
use super::webhooks::Webhooks;
use super::{Ids, TaskSession, Visitor};
use crate::config::Limits;
use crate::port::{Counted, Indexed, Ports, StoreError, TaskStore};
use crate::task::{Loss, TaskMachine};

/// The event that opens a session; it implies the state of the object's storage and alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A request. There may be a task, and the alarm may be set.
    ByRequest,
    /// The alarm. There may be a task, and the alarm is not set any more.
    ByAlarm,
    /// A send to an object that got no request before: its storage is empty, and its alarm is not set. If there is a stored task
    /// after all, storing fails, and nothing is lost.
    New,
}

impl TaskSession {
    /// As [`open_for`](Self::open_for), with the server as the visitor.
    ///
    /// # Errors
    ///
    /// As [`open_for`](Self::open_for).
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

    /// The session of the task with these ids, read from storage if the task exists. The stored task has the id for clients. If its run was lost
    /// and the visitor may see the task, the run is handled by the recovery mode of its agent.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read; if the visitor must not see the task; or if the task has to be
    /// resumed and its agent cannot run.
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
            Opening::New => Loaded::Nothing,
            Opening::ByRequest | Opening::ByAlarm => {
                journal.load(&|facts| visitor.may_see(facts), &id)?
            }
        };
        // An object without a task has no alarm.
        let opening = if matches!(loaded, Loaded::Nothing) { Opening::New } else { opening };
        let (id, life, indexed, counted, log) = match loaded {
            Loaded::Nothing => {
                (id, Life::empty(), Indexed::default(), Counted::default(), Vec::new())
            }
            Loaded::Withheld => {
                visitor.note_denied(&id, ports.observer.as_ref());
                return Err(OpenError::Denied);
            }
            Loaded::Deleted(stored, tombstone) => {
                let id = tombstone.task.clone();
                let life = Life::deleted(stored.facts, tombstone);
                (id, life, stored.indexed, Counted::default(), Vec::new())
            }
            Loaded::Task(stored, log) => {
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
        let outside = Rc::new(Outside::new(&ports, id.clone(), limits.max_depth));
        let alarm = match opening {
            Opening::ByRequest => Alarm::unknown(),
            Opening::ByAlarm => Alarm::fired(),
            Opening::New => Alarm::unset(),
        };
        let session = Rc::new_cyclic(|handle| Self {
            id,
            object: ids.object,
            store,
            ports,
            agents: Agents::new(agents),
            life,
            journal,
            run: RunState::default(),
            debts: Debts::new(indexed, counted, &log),
            webhooks,
            credentials,
            retention: Retention::new(&limits),
            limits,
            place: Place::default(),
            unannounced: Unannounced::default(),
            alarm,
            bell: Bell::default(),
            health: Health::default(),
            outside,
            handle: handle.clone(),
        });
        if session.life.with_machine(TaskMachine::is_orphaned).unwrap_or(false) {
            session.agents.check(&session.life)?;
            run::recover(&session, Loss::Interrupted, &log);
            session.flush()?;
            run::start_soon(&session);
        }
        parking::wake_if_due(&session)?;
        session.forget_credentials();
        debts::pay_every(&session);
        // The queue may have jobs for the webhooks; if not, the alarm sends them again.
        if opening == Opening::ByRequest {
            alarm::check(&session);
        }
        Ok(session)
    }
}
