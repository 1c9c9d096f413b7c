//! Calls the hook `AgentExecutor::cancel`. The hook is called when a client cancels a task whose run is in memory or parked;
//! it runs concurrently with that run, which may end first. If the executor requires a guaranteed call (`ensures_cancel`), the
//! hook is also called for every run that did not end by its executor, and the call is repeated after a crash.

use std::task::{Context, Waker};

use futures_util::future::{Either, LocalBoxFuture, select};

use crate::panic::Catching;
use crate::port::Observation;
use crate::session::{TaskSession, run};
use crate::task::{Notice, RunStart};
use a2a::model::TaskState;

/// Calls the hook with the turn of the newest run, unless a call of the hook is running already. The call continues when that run ends.
pub(in crate::session) fn call(session: &TaskSession) {
    let found = session.life.with_machine(|machine| {
        let start = machine.run().cloned().zip(machine.message_of_run().cloned());
        start.map(|start| (start, machine.is_running()))
    });
    let (Some(handle), Some(((start, message), is_running))) = (session.handle(), found.flatten())
    else {
        return;
    };
    let Some(runner) = session.agents.of(&session.life) else { return };
    if !session.run.set_telling(true) {
        return;
    }
    if session.life.state() == Some(TaskState::Canceled) {
        // The cancel may have been stored by another process, so this run is not stopped yet.
        session.run.stop();
    }
    // The hook may wait until a run in memory has ended. For such a run, the hook gets twice the time.
    let limit_ms = if is_running { 2 * run::CANCEL_GRACE_MS } else { run::CANCEL_GRACE_MS };
    let mut hook: LocalBoxFuture<'static, ()> = Box::pin(async move {
        // The hook gets the full time of a run, independent of the time that the run has used or was parked.
        let start = RunStart { begun_ms: handle.now().0, ..start };
        let Some(turn) = run::turn_of(&handle, &runner, message, start) else { return };
        let limit = handle.ports.clock.sleep(limit_ms);
        let hook = Catching::new(Box::pin(runner.executor.cancel(&turn)));
        let called = select(hook, limit).await;
        handle.run.set_telling(false);
        if let Either::Left((Err(_), _)) = called {
            // A panic counts as a crash: if the call is guaranteed, the alarm repeats it.
            handle.observe(&Observation::AgentPanicked { task: handle.id() });
            return;
        }
        note(&handle);
        // `flush` fails only if storage fails, and reports that itself.
        let _ = handle.flush();
    });
    // Poll the hook before the run is polled again, so that the hook finds the run in memory.
    if hook.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        session.ports.runtime.spawn(hook);
    }
}

/// True if `cancel` still has to be called: the task ended within the last hour but not by its executor, and the executor
/// requires a guaranteed call (`ensures_cancel`).
pub(in crate::session) fn is_owed(session: &TaskSession) -> bool {
    let ended = session.life.with_machine(|machine| {
        machine.ended_otherwise().then(|| machine.task().status.timestamp).flatten()
    });
    let Some(ended) = ended.flatten() else { return false };
    // Reading the clock is a call to JavaScript: only for executors with `ensures_cancel`.
    session.agents.of(&session.life).is_some_and(|runner| runner.executor.ensures_cancel())
        && session.now().millis_since(ended) <= LONGEST_MS
}

/// Records in the log that the hook was called after the end of the task, if that call was owed.
pub(in crate::session) fn note(session: &TaskSession) {
    if is_owed(session) {
        session.note(Notice::EndTold);
    }
}

/// Calls the hook if a guaranteed call is owed and no run is in memory.
pub(in crate::session) fn call_if_owed(session: &TaskSession) {
    let is_running = session.life.with_machine(|machine| machine.is_running());
    if is_running == Some(false) && is_owed(session) {
        call(session);
    }
}

/// The time after the end of a task during which a guaranteed call is repeated, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;
