//! The hook `AgentExecutor::cancel` of a run that is not in memory: called for a parked run whose task was canceled, and, where the
//! executor wants it for sure, for every run that did not come to its own end, again after a crash.

use futures_util::future::select;

use super::{TaskSession, run};
use crate::task::{Input, RunStart};

/// Calls the hook, with the turn of the newest run. It has as long as that of a run that is under way.
pub(super) fn call(session: &TaskSession) {
    let start = session
        .life
        .with_machine(|machine| machine.run().cloned().zip(machine.message_of_run().cloned()));
    let (Some(handle), Some((start, message))) = (session.handle(), start.flatten()) else {
        return;
    };
    let Some(runner) = session.runner() else { return };
    if !session.run.set_telling(true) {
        return;
    }
    session.ports.runtime.spawn(Box::pin(async move {
        // The time of the run is that of the hook now, however long it was parked or whether it was over.
        let start = RunStart { begun_ms: handle.now().0, ..start };
        let Some(turn) = run::turn_of(&handle, &runner, message, start) else { return };
        let limit = handle.ports.clock.sleep(run::CANCEL_GRACE_MS);
        select(runner.executor.cancel(&turn), limit).await;
        handle.run.set_telling(false);
        note(&handle);
        // It fails where storage does, which is told there.
        let _ = handle.flush();
    }));
}

/// Whether the task has ended lately, not by its executor, and that wants to be told for sure, which is not done.
pub(super) fn is_owed(session: &TaskSession) -> bool {
    let ended = session.life.with_machine(|machine| {
        machine.ended_otherwise().then(|| machine.task().status.timestamp).flatten()
    });
    let Some(ended) = ended.flatten() else { return false };
    // Most executors do not ask for it, and need no look at the clock.
    session.runner().is_some_and(|runner| runner.executor.ensures_cancel())
        && session.now().millis_since(ended) <= LONGEST_MS
}

/// The executor knows of the end.
pub(super) fn note(session: &TaskSession) {
    if is_owed(session) {
        // That is always legal.
        let _ = session.step(Input::EndTold);
    }
}

/// Calls the hook if that is owed and no run is in memory.
pub(super) fn call_if_owed(session: &TaskSession) {
    let is_running = session.life.with_machine(|machine| machine.is_running());
    if is_running == Some(false) && is_owed(session) {
        call(session);
    }
}

/// For how long after the end of a task its executor is told again, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;
