//! The hook `AgentExecutor::cancel`: called when a task is canceled whose run is in memory or parked, beside the run, which may be
//! over before it; and, where the executor wants it for sure, for every run that did not come to its own end, again after a crash.

use std::panic::AssertUnwindSafe;
use std::task::{Context, Waker};

use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, select};

use crate::port::Observation;
use crate::session::{TaskSession, run};
use crate::task::{Input, RunStart};
use a2a::model::TaskState;

/// Calls the hook, with the turn of the newest run, unless it is under way. It is not bound to the life of that run.
pub(in crate::session) fn call(session: &TaskSession) {
    let found = session.life.with_machine(|machine| {
        let start = machine.run().cloned().zip(machine.message_of_run().cloned());
        start.map(|start| (start, machine.is_running()))
    });
    let (Some(handle), Some(((start, message), is_running))) = (session.handle(), found.flatten())
    else {
        return;
    };
    let Some(runner) = session.runner() else { return };
    if !session.run.set_telling(true) {
        return;
    }
    if session.life.state() == Some(TaskState::Canceled) {
        // Also where another process has canceled it.
        session.run.stop();
    }
    // It may wait for the end of a run in memory, which is at hand then.
    let limit_ms = if is_running { 2 * run::CANCEL_GRACE_MS } else { run::CANCEL_GRACE_MS };
    let mut hook: LocalBoxFuture<'static, ()> = Box::pin(async move {
        // The time of the run is that of the hook now, however long it was parked or whether it was over.
        let start = RunStart { begun_ms: handle.now().0, ..start };
        let Some(turn) = run::turn_of(&handle, &runner, message, start) else { return };
        let limit = handle.ports.clock.sleep(limit_ms);
        let hook = AssertUnwindSafe(runner.executor.cancel(&turn)).catch_unwind();
        let called = select(Box::pin(hook), limit).await;
        handle.run.set_telling(false);
        if let Either::Left((Err(_), _)) = called {
            // Like a process that died: where it is owed, the alarm calls it again.
            handle.observe(&Observation::AgentPanicked { task: handle.id() });
            return;
        }
        note(&handle);
        // It fails where storage does, which is told there.
        let _ = handle.flush();
    });
    // It begins before the run goes on, so that it finds that in memory.
    if hook.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        session.ports.runtime.spawn(hook);
    }
}

/// True if `cancel` still has to be called: the task ended within the last hour, not by its executor, which asked for a guaranteed call.
pub(in crate::session) fn is_owed(session: &TaskSession) -> bool {
    let ended = session.life.with_machine(|machine| {
        machine.ended_otherwise().then(|| machine.task().status.timestamp).flatten()
    });
    let Some(ended) = ended.flatten() else { return false };
    // Most executors do not ask for it, and need no look at the clock.
    session.runner().is_some_and(|runner| runner.executor.ensures_cancel())
        && session.now().millis_since(ended) <= LONGEST_MS
}

/// The executor knows of the end.
pub(in crate::session) fn note(session: &TaskSession) {
    if is_owed(session) {
        // That is always legal.
        let _ = session.step(Input::EndTold);
    }
}

/// Calls the hook if that is owed and no run is in memory.
pub(in crate::session) fn call_if_owed(session: &TaskSession) {
    let is_running = session.life.with_machine(|machine| machine.is_running());
    if is_running == Some(false) && is_owed(session) {
        call(session);
    }
}

/// For how long after the end of a task its executor is told again, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;
