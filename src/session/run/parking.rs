//! Runs that wait outside of memory: how one is parked, and what lets it go on.

use super::held;
use super::state::BegunWait;
use crate::executor::{ExecutorError, LONGEST_WAIT_MS, Wait, WaitStart};
use crate::port::{Observation, StoreError};
use crate::session::journal::LogSize;
use crate::session::{OpenError, TaskSession, run};
use crate::task::{CallbackName, Input, Park, Recovery, WaitEnd, WokenBy};
use a2a::model::measure;

/// The run begins to wait. If the wait has not ended already, the run is parked at its next poll that makes no progress.
///
/// # Errors
///
/// If it may not wait.
pub(super) fn begin_wait(
    session: &TaskSession,
    wait: Wait,
    callback: Option<&CallbackName>,
) -> Result<WaitStart, ExecutorError> {
    check_parking(session)?;
    let limit = session.limits.max_steps;
    let nth = match session.run.begin_wait(limit) {
        BegunWait::New(nth) => nth,
        BegunWait::Over(by) => return Ok(WaitStart::Over(by)),
        BegunWait::Another => return refused("a run waits for one thing at a time"),
        BegunWait::TooMany => return refused(format!("a run has at most {limit} steps and waits")),
    };
    let now = session.now();
    let (until, or_message) = (wait.end(now), wait.ends_by_message());
    let over = if callback.is_some_and(|name| session.run.has_call(name)) {
        Some(WokenBy::Callback)
    } else if or_message && session.run.has_message() {
        Some(WokenBy::Message)
    } else {
        (until <= now).then_some(WokenBy::Time)
    };
    if let Some(by) = over {
        // What is past is past in a run that resumes, too; where more than the time may end the wait, what did is kept.
        if or_message || callback.is_some() {
            session.step(Input::WaitOver(WaitEnd { nth, by }))?;
        }
        return Ok(WaitStart::Over(by));
    }
    if until > now.after(LONGEST_WAIT_MS) {
        return refused(format!("a wait takes at most {LONGEST_WAIT_MS} ms"));
    }
    session.journal.check_addition(size_of_wait(session)).map_err(ExecutorError)?;
    let callback = callback.cloned();
    let (at_ms, until_ms, unanswered) = (now.0, until.0, wait.unanswered());
    session.run.want_park(Park { nth, at_ms, until_ms, or_message, callback, unanswered });
    Ok(WaitStart::Parks)
}

/// Whether a run of this task may be parked.
pub(super) fn check_parking(session: &TaskSession) -> Result<(), ExecutorError> {
    if session.run.is_stopped() {
        return refused("the task has ended");
    }
    if session.is_broken() {
        return refused("the task cannot be stored");
    }
    let recovery = session.run_limits().map(|limits| limits.recovery);
    if recovery != Some(Recovery::Resume) {
        return refused(
            "a run that waits for long is resumed later: this needs `recovery = \"resume\"` in \
             [executor.run] of the agent's file, or `AgentExecutor::recovery` that says so",
        );
    }
    session.create();
    if !session.life.exists() {
        return refused("the agent has replied already");
    }
    Ok(())
}

/// What the log grows by when a run is parked and goes on.
fn size_of_wait(session: &TaskSession) -> LogSize {
    let start = session.life.with_machine(|machine| machine.run().map(measure)).flatten();
    let (bytes, values) = start.unwrap_or_default();
    LogSize { bytes: bytes + WAIT_BYTES, values: values + WAIT_VALUES }
}

/// Parks the run that wants it: from here on the log has what it waits for, and it can be dropped.
///
/// # Errors
///
/// When storage fails.
pub(super) fn park(session: &TaskSession) -> Result<(), StoreError> {
    let Some(park) = session.run.take_park() else { return Ok(()) };
    held::let_out(session);
    // Refused for a task that has ended meanwhile; its run is dropped all the same.
    let _ = session.step(Input::Park(park));
    session.flush()
}

/// Lets a parked run go on whose time has come.
///
/// # Errors
///
/// When storage fails, or its agent cannot run now.
pub(in crate::session) fn wake_if_due(session: &TaskSession) -> Result<(), OpenError> {
    // The clock is asked only where it matters: that is a call out of the program.
    if !session.is_parked() {
        return Ok(());
    }
    let now = session.now();
    if session.life.with_machine(|machine| machine.is_due(now)) != Some(true) {
        return Ok(());
    }
    session.check_agent()?;
    let is_served = session.runner().is_some();
    if !is_served {
        session.observe(&Observation::AgentMissing { task: session.id() });
    }
    // Waking is always legal.
    let _ = session.step(Input::Wake { is_served });
    session.flush()?;
    run::start_soon(session);
    Ok(())
}

/// Whether the run of the task is parked.
pub(in crate::session) fn is_parked(session: &TaskSession) -> bool {
    session.life.with_machine(|machine| machine.parked().is_some()).unwrap_or(false)
}

fn refused<T>(reason: impl Into<String>) -> Result<T, ExecutorError> {
    Err(ExecutorError(reason.into()))
}

/// What the log says of a wait besides how its run goes on, in bytes and in JSON values.
const WAIT_BYTES: usize = 1_024;
const WAIT_VALUES: usize = 32;
