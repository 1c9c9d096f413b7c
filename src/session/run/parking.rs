//! Parking: a run waits without being in memory, and is resumed by time, a message or a callback.
//!
//! # A park
//!
//! 1. `Turn::wait_until` asks the host to begin a wait (`session/run/parking.rs`), which counts the waits of the run. A wait that an earlier run has finished is answered from `Recall`; a wait whose
//!    instant has passed ends at once. Otherwise `begin_wait` stores the wait in `RunState`, and the future stays pending.
//! 2. The poll of the run that ends pending finds the stored wait (`Flushing` in `session/run/mod.rs`). `Input::Park` appends `parked`, the flush stores it with all events of the run so far, sets the alarm for the end of the
//!    wait, and the future of the run is dropped: no timer, no timeout, nothing that keeps the object in memory. After a kill before that row was stored, the run is an interrupted one; after a kill later, a parked one.
//! 3. A request that opens the object meanwhile replays a machine that is `parked`: not orphaned, so nothing is recovered. GetTask, streams, webhooks and a cancel need no run. A blocking send returns at once
//!    if the wait ends later than the send may block.
//! 4. The alarm, or any request after that instant, applies `Notice::Wake`; a message applies `TaskMachine::receive`, which wakes the run if the wait has `orMessage`. Both append `woken` and the next `run` in one row, which resumes as
//!    after a crash. Its `begunMs` is moved by the pause, so no timeout counts it, and attempts count anew. `drive` reads the log once more for `Recall`.
//! 5. The resumed run reaches the same wait again, which returns what has ended it.
//! 6. A turn may ask its client a question and be parked to send a reminder. So a run that was parked is resumed after a crash even while the task waits for input, until the log has `ended` for it.
//!
//! A callback is a URL with the id of the object and a token of 256 random bits, `POST /<agent>/callbacks/<id><token>`. `Turn::callback` stores it before the run can send it to anybody (`session/run/callbacks.rs`). A
//! post reaches the object by the method `ask`, like a call: the front Worker refuses URLs of another form and ids that the namespace does not know, without waking an object
//! (`front/callback.rs`). The object compares the token with all callbacks of the present turn (`task/callback.rs`), appends `called` with the body, and wakes the run if it is parked for just this
//! callback. A body for which no run waits stays in the log until a wait takes it. The sender needs no credentials: the URL is the permission. A callback is open as long as its turn is not over: while its run is
//! in memory, parked, or lost. A post to a run that was lost opens the object, which recovers the run before it takes the body. `Posted` is the result of a post: 202 when it is stored, 413 when the task has no room for the body besides an eighth that is left to its run, 503 with `Retry-After`
//! whenever the callback may exist and nothing can be stored (storage or the object fails, another version or another executor is needed), and the same 404 for everything else.
//!
//! A large body is received only after its URL was checked: the front Worker receives 64 KiB of it at most, asks the object by a post without a body, and receives the rest when that is answered 202; a small body is one request to the object.
//! A 404 counts for the address as a wrong credential does (`Guesses::note_path`); an address over its limit is refused by the head of its request. A body stands in the log once: `session/journal/` stores a reference where an event has the content of an earlier
//! `called` (`session/journal/passages.rs`), and puts the content back whenever it reads, so nothing outside of it knows.

use super::held::{self, LetOut};
use super::state::BegunWait;
use crate::executor::{ExecutorError, LONGEST_WAIT_MS, Wait, WaitStart};
use crate::port::{Observation, StoreError};
use crate::session::journal::LogSize;
use crate::session::life::Life;
use crate::session::{OpenError, TaskSession, run};
use crate::task::{CallbackName, Input, Notice, Park, Recovery, WaitEnd, WokenBy};
use a2a::model::measure;

/// The run begins to wait. If the wait has not ended already, the run is parked at its next poll that makes no progress.
///
/// # Errors
///
/// If the run must not wait: the text of the error says why.
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
        // A resumed run finds an instant in the past, too. If a message or a callback could also have ended the wait, store which one did.
        if or_message || callback.is_some() {
            session.step(Input::WaitOver(WaitEnd { nth, by }))?;
        }
        return Ok(WaitStart::Over(by));
    }
    if until > now.after(LONGEST_WAIT_MS) {
        return refused(format!("a wait takes at most {LONGEST_WAIT_MS} ms"));
    }
    session.journal.check_addition(size_of_wait(&session.life)).map_err(ExecutorError)?;
    let callback = callback.cloned();
    let (at_ms, until_ms, unanswered) = (now.0, until.0, wait.unanswered());
    session.run.want_park(Park { nth, at_ms, until_ms, or_message, callback, unanswered });
    Ok(WaitStart::Parks)
}

/// Checks that a run of this task may be parked.
pub(super) fn check_parking(session: &TaskSession) -> Result<(), ExecutorError> {
    if session.run.is_stopped() {
        return refused("the task has ended");
    }
    if session.is_broken() {
        return refused("the task cannot be stored");
    }
    let recovery =
        session.agents.limits(&session.life, &session.limits).map(|limits| limits.recovery);
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

/// The bytes and values that the log needs to park a run and to resume it.
fn size_of_wait(life: &Life) -> LogSize {
    let start = life.with_machine(|machine| machine.run().map(measure)).flatten();
    let (bytes, values) = start.unwrap_or_default();
    LogSize { bytes: bytes + WAIT_BYTES, values: values + WAIT_VALUES }
}

/// Parks the run if it has asked for that: stores the wait in the log, after which the run can be dropped.
///
/// # Errors
///
/// When storage fails.
pub(super) fn park(session: &TaskSession) -> Result<(), StoreError> {
    let Some(park) = session.run.take_park() else { return Ok(()) };
    held::let_out(session, LetOut::All);
    // Refused if the task has ended meanwhile; the run is dropped in that case, too.
    let _ = session.step(Input::Park(park));
    session.flush()
}

/// Resumes a parked run whose wait is over.
///
/// # Errors
///
/// When storage fails, or its agent cannot run now.
pub(in crate::session) fn wake_if_due(session: &TaskSession) -> Result<(), OpenError> {
    // Reading the clock is a call to JavaScript: only for a parked run.
    if !session.life.is_parked() {
        return Ok(());
    }
    let now = session.now();
    if session.life.with_machine(|machine| machine.is_due(now)) != Some(true) {
        return Ok(());
    }
    session.agents.check(&session.life)?;
    let is_served = session.agents.of(&session.life).is_some();
    if !is_served {
        session.observe(&Observation::AgentMissing { task: session.id() });
    }
    session.note(Notice::Wake { is_served });
    session.flush()?;
    run::start_soon(session);
    Ok(())
}

fn refused<T>(reason: impl Into<String>) -> Result<T, ExecutorError> {
    Err(ExecutorError(reason.into()))
}

/// What the log says of a wait besides how its run goes on, in bytes and in JSON values.
const WAIT_BYTES: usize = 1_024;
const WAIT_VALUES: usize = 32;
