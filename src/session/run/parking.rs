//! Runs that wait outside of memory: how one is parked, and what lets it go on.
//!
//! # A park
//!
//! 1. `Turn::wait_until` asks the host to begin a wait (`session/run/parking.rs`), which counts the waits of the run. One that an earlier run has waited for is answered from `Recall`, one whose
//!    time is over at once. Otherwise it notes what is waited for, and the future stays pending.
//! 2. The poll of the run that ends pending finds the note (`Flushing` in `session/run/mod.rs`). `Input::Park` appends `parked`, the flush stores it with all that was said, sets the alarm for the end of the
//!    wait, and the future of the run is dropped: no timer, no timeout, nothing that keeps the object. A kill before that row finds an interrupted run, a kill behind it finds a parked one.
//! 3. A request that opens the object meanwhile replays a machine that is `parked`: not orphaned, so nothing is recovered. GetTask, streams, webhooks and a cancel need no run. A blocking send looks at the
//!    end of the wait and does not wait for one that lies beyond its own limit.
//! 4. The alarm, or any request after that instant, gives `Input::Wake`; a message gives `Input::Message`, which wakes where `orMessage` says so. Both append `woken` and the next `run` in one row, which resumes as
//!    after a crash. Its `begunMs` is moved by the pause, so no timeout counts it, and attempts count anew. `drive` reads the log once more for `Recall`.
//! 5. The run comes to the same wait again and is told what ended it.
//! 6. A turn may ask its client and be parked, to remind it. So the run of a turn that was parked goes on after a crash also while the task waits for input, until it ends, which the log says by `ended`.
//!
//! A callback is a URL with the id of the object and a token of 256 random bits, `POST /<agent>/callbacks/<id><token>`. `Turn::callback` stores it before anybody can be told of it (`session/run/callbacks.rs`). A
//! post is asked of the object by the method `ask`, as a call is: the front Worker refuses what is not of that form, and ids that the namespace does not know, without waking an object
//! (`edge/front/callback.rs`). The object compares the token with all callbacks of the present turn (`task/callback.rs`), appends `called` with the body, and wakes the run if it is parked for just this
//! callback. A body for which nobody waits stays in the log until a wait takes it. Nobody is asked who they are: the URL is the permission. A callback is open as long as its turn is not over: while its run is
//! in memory, parked, or lost. A post to a run that was lost opens the object, which recovers the run before it takes the body. `Posted` says what becomes of a post: 202 when it is kept, 413 when the task has no room for the body besides an eighth that is left to its run, 503 with `Retry-After`
//! whenever a callback may exist and nothing can be kept (storage or the object fails, another version or another executor is needed), and the same 404 for everything else.
//!
//! A large body costs nothing before its URL is known to be right: the front Worker receives 64 KiB of it at most, asks the object by a post without a body, and receives the rest when that is answered 202; a small body is one request to the object.
//! A 404 counts for the address as a wrong credential does (`Guesses::note_path`); an address over its limit is refused by the head of its request. A body stands in the log once: `session/journal/` stores a reference where an event has the content of an earlier
//! `called` (`session/journal/passages.rs`), and puts the content back whenever it reads, so nothing outside of it knows.

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
