//! One open run: the turn that a function handles, as the function reaches it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::task::Waker;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::jobs::Jobs;
use crate::executor::call::OwnedCall;
use crate::executor::{Events, ExecutorError, TimedWork, Turn};
use crate::port::{RunEnd, SpanId, Work, WorkEnd};
use a2a::client::TaskStream;
use a2a::http::trace::TraceContext;
use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
use a2a::sorted::SortedMap;

/// An open run.
///
/// Each function of a run that reports something to the task wakes the run, so that it is stored with the next poll.
pub struct OpenRun {
    pub(super) turn: Turn,
    pub(super) events: Events,
    pub(super) role: Role,
    waker: RefCell<Option<Waker>>,
    pub(super) is_parked: Cell<bool>,
    pub(super) jobs: Jobs,
    /// The open streams of other agents, by their numbers. A stream is absent while its next event is awaited.
    pub(super) streams: RefCell<SortedMap<u32, TaskStream>>,
    pub(super) newest_stream: Cell<u32>,
    /// The span in which the function was called. JavaScript calls the functions of the run later, from elsewhere.
    span: Option<SpanId>,
    /// The steps under way whose durations are observed, by name and number.
    pub(super) timed: RefCell<Vec<(String, u32, TimedWork)>>,
}

/// The function that a run belongs to.
pub(super) enum Role {
    /// An executor handles the turn.
    Turn,
    /// The cancel hook of an executor: the task has ended.
    Hook,
    /// A tool is called within the turn.
    Call(Rc<OwnedCall>),
}

/// The reason why a function of a run is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The run is over.
    Over(RunEnd),
    /// The request cannot be fulfilled.
    Because(String),
}

/// The form that `js/api` reads: `~` and the name of the end, or the reason.
impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over(end) => write!(out, "~{}", end.name()),
            Self::Because(reason) => out.write_str(reason),
        }
    }
}

impl From<ExecutorError> for Refused {
    fn from(error: ExecutorError) -> Self {
        Self::Because(error.0)
    }
}

impl From<serde_json::Error> for Refused {
    fn from(error: serde_json::Error) -> Self {
        Self::Because(format!("the request cannot be read: {error}"))
    }
}

/// Reads JSON of a function.
///
/// # Errors
///
/// If the text is not JSON, or has more values than JSON of others may have.
pub(super) fn read_value(text: &str) -> Result<Value, Refused> {
    read_foreign(text.as_bytes(), MAX_FOREIGN_VALUES)
        .map_err(|error| Refused::Because(format!("the JSON cannot be read: {error}")))
}

impl OpenRun {
    pub(super) fn new(turn: &Turn, events: &Events, role: Role) -> Self {
        Self {
            turn: turn.clone(),
            events: events.clone(),
            role,
            waker: RefCell::default(),
            is_parked: Cell::default(),
            jobs: Jobs::default(),
            streams: RefCell::default(),
            newest_stream: Cell::default(),
            span: turn.run_outside.timing().span(),
            timed: RefCell::default(),
        }
    }

    /// Refuses everything that a run may not do after its end, although its function continues.
    pub(super) fn check(&self) -> Result<(), Refused> {
        if self.is_parked.get() {
            return Err(Refused::Over(RunEnd::Parked));
        }
        if self.turn.is_canceled() && !matches!(self.role, Role::Hook) {
            return Err(Refused::Over(RunEnd::Canceled));
        }
        Ok(())
    }

    /// As [`check`](Self::check), and refuses what only executors may do.
    pub(super) fn check_turn(&self, what: &str) -> Result<(), Refused> {
        self.check()?;
        match &self.role {
            Role::Turn => Ok(()),
            Role::Hook => {
                Err(Refused::Because(format!("`onCancel` cannot {what}: the task has ended")))
            }
            Role::Call(_) => Err(Refused::Because(format!("a tool cannot {what}"))),
        }
    }

    /// Applies a change to the task and wakes the run, which stores the change.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce() -> Result<T, ExecutorError>,
    ) -> Result<T, Refused> {
        let changed = change().map_err(|error| match self.check() {
            Err(over) => over,
            Ok(()) => error.into(),
        });
        self.wake();
        changed
    }

    /// Polls work of the function in the span in which it was called.
    pub(super) fn in_its_span<'a, T: 'a>(
        &'a self,
        work: LocalBoxFuture<'a, T>,
    ) -> impl Future<Output = T> + 'a {
        self.turn.run_outside.timing().in_span(self.span, work)
    }

    /// The trace for requests of the function.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        let timing = self.turn.run_outside.timing();
        timing.call_in(self.span, || timing.trace())
    }

    /// Work of the function that begins now. `None` if durations are not used.
    pub(super) fn time(&self, kind: &str, key: &str, nth: u32) -> Option<TimedWork> {
        let timing = self.turn.run_outside.timing();
        timing.call_in(self.span, || timing.begin_work(kind, key, nth))
    }

    /// Begins to observe a step.
    pub(super) fn time_step(&self, name: &str, nth: u32) {
        if let Some(timed) = self.time("step", &self.step_name(name), nth) {
            self.timed.borrow_mut().push((name.to_owned(), nth, timed));
        }
    }

    /// Reports a step that has ended.
    pub(super) fn end_timed_step(&self, name: &str, nth: u32, has_failed: bool) {
        let mut timed = self.timed.borrow_mut();
        let found = timed.iter().position(|(known, n, _)| known == name && *n == nth);
        if let Some(index) = found {
            let (name, _, begun) = timed.swap_remove(index);
            self.turn.end_timed(Some(begun), Work::Step(&name), WorkEnd::of(has_failed));
        }
    }

    /// Has the run polled again.
    pub(super) fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }

    /// Refuses everything from now on: the run waits outside of memory as soon as it is polled.
    pub(super) fn park(&self) {
        self.is_parked.set(true);
        self.wake();
    }

    /// Adds a request to other servers. The run polls it, and drops it at its end.
    pub fn add_job(&self, job: LocalBoxFuture<'static, ()>) {
        self.jobs.add(job);
        self.wake();
    }

    pub(super) fn note_waker(&self, waker: &Waker) {
        match &mut *self.waker.borrow_mut() {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }
}
