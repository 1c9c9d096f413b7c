//! Parking: a run that waits is dropped from memory, and is resumed by time, a message or a post to a callback.
//!
//! # A park
//!
//! 1. `Turn::wait_until` calls `begin_wait` of the host (`session/run/parking.rs`), which counts the waits of the run. If an
//!    earlier run has finished the wait with this number, `Recall` has the result. A wait whose instant has passed ends at once.
//!    Otherwise `begin_wait` stores the wait in `RunState`, and the future stays pending.
//! 2. After a poll of the run that returns pending, `Flushing` (`session/run/mod.rs`) finds the stored wait. `Input::Park`
//!    appends `parked`; the flush stores `parked` with all events of the run so far and sets the alarm for the end of the wait.
//!    Then the future of the run is dropped, so no timer and no timeout keeps the object in memory. After a kill before that row
//!    was stored, the run is an interrupted run; after a later kill, a parked run.
//! 3. A request that opens the object during the wait replays a machine that is `parked` and therefore not orphaned, so no run is
//!    recovered. GetTask, streams, webhooks and a cancel need no run. A blocking send returns at once if the wait ends later than
//!    the send may block.
//! 4. The alarm, or any request after the end of the wait, applies `Notice::Wake`; a message applies `TaskMachine::receive`,
//!    which wakes the run if the wait has `orMessage`. Both append `woken` and the next `run` in one row, and the run is resumed
//!    as after a crash. The `begunMs` of the next `run` is moved by the length of the pause, so no timeout counts the pause, and
//!    attempts are counted from 1 again. `drive` reads the log again for `Recall`.
//! 5. The resumed run reaches the same wait again, and the wait returns the cause that has ended it.
//! 6. A turn may send its client a question and then be parked until the time of a reminder. So a run that was parked is resumed
//!    after a crash even while the task waits for input, until the log has `ended` for that run.
//!
//! A callback is a URL with the id of the object and a token of 256 random bits, `POST /<agent>/callbacks/<id><token>`.
//! `Turn::callback` stores the callback before the run can send the URL to anybody (`session/run/callbacks.rs`). A post reaches
//! the object by the method `ask`, like a call: the front Worker (`front/callback.rs`) refuses URLs of another form and ids that
//! the namespace does not know, without waking an object. The object compares the token with all callbacks of the present turn
//! (`task/callback.rs`), appends `called` with the body, and wakes the run if the run is parked for this callback. A body for
//! which no run waits stays in the log until a wait takes the body. The sender needs no credentials: the URL is the permission. A
//! callback is open until its turn is over: while the run of the turn is in memory, parked, or lost. A post for a lost run opens
//! the object, which recovers the run before the post is stored. `Posted` is the result of a post: 202 if the post is stored; 413
//! if the task has no room for the body (an eighth of the room is reserved for the run); 503 with `Retry-After` if the callback
//! may exist and nothing can be stored (storage or the object fails, another version or another executor is needed); and the same
//! 404 in all other cases.
//!
//! A large body is received only after its URL was checked: the front Worker receives at most 64 KiB of the body, sends the
//! object a post without a body, and receives the rest if the object answers 202. A small body is one request to the object. A
//! 404 counts for the address of the sender as a wrong credential does (`Guesses::note_path`); if the address is over its limit,
//! the request is refused after its head. The log has each body once: if an event has the content of an earlier `called`,
//! `session/journal/` stores a reference (`session/journal/passages.rs`) and replaces the reference by the content when it reads
//! the log, so no other module handles references.

use super::held::{self, LetOut};
use super::state::BegunWait;
use crate::executor::{ExecutorError, LONGEST_WAIT_MS, Wait, WaitStart};
use crate::port::{Observation, StoreError, TaskFacts};
use crate::session::journal::LogSize;
use crate::session::life::Life;
use crate::session::{OpenError, TaskSession, run};
use crate::task::{CallbackName, Input, Notice, Park, Recovery, TaskMachine, WaitEnd, WokenBy};
use a2a::model::measure;

/// Begins a wait of the run. If the wait has not ended already, the run is parked at its next poll that makes no progress.
///
/// # Errors
///
/// If the run must not wait; the text of the error has the reason.
pub(super) fn begin_wait(
    session: &TaskSession,
    wait: Wait,
    callback: Option<&CallbackName>,
) -> Result<WaitStart, ExecutorError> {
    parkable(session, |_, _| ())?;
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
        // The instant of the wait is also in the past for a resumed run, so the log needs no entry for a wait that only time can
        // end. If a message or a callback could also have ended the wait, store the cause.
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

/// Checks that a run of this task may be parked, and reads the task and its facts.
pub(super) fn parkable<T>(
    session: &TaskSession,
    read: impl FnOnce(&TaskFacts, &TaskMachine) -> T,
) -> Result<T, ExecutorError> {
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
    let read = session.life.with_live(read);
    read.ok_or_else(|| ExecutorError("the agent has replied already".to_owned()))
}

/// The bytes and values that the log needs to park a run and to resume it.
fn size_of_wait(life: &Life) -> LogSize {
    let start = life.with_machine(|machine| machine.run().map(measure)).flatten();
    let (bytes, values) = start.unwrap_or_default();
    LogSize { bytes: bytes + WAIT_BYTES, values: values + WAIT_VALUES }
}

/// Parks the run, if the run has begun a wait: stores the wait in the log. After that the run can be dropped.
///
/// # Errors
///
/// If storage fails.
pub(super) fn park(session: &TaskSession) -> Result<(), StoreError> {
    let Some(park) = session.run.take_park() else { return Ok(()) };
    held::let_out(session, LetOut::All);
    // The step is refused if the task has ended meanwhile; the run is also dropped in that case.
    let _ = session.step(Input::Park(park));
    session.flush()
}

/// Resumes a parked run whose wait is over.
///
/// # Errors
///
/// If storage fails, or the executor of the task's agent cannot run now.
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

/// The size of the log entries of a wait without the start of the resumed run, in bytes and in JSON values.
const WAIT_BYTES: usize = 1_024;
const WAIT_VALUES: usize = 32;
