//! What a task owes to the sums of usage: its turns that are over and have used something of models. They are counted in the
//! background, and the task never waits for that; what could not be counted stays owed and is retried.
//!
//! What a step has used is stored in the row of its result, so a turn owes what its steps say, however it ended. A crash between
//! counting a turn and noting that here has it counted again, which changes nothing: the sums know the turn.

use std::rc::Rc;

use super::TaskSession;
use super::debt::Progress;
use super::index::within_limit;
use crate::port::{Counted, CountedTurn, Observation};
use crate::task::Input;
use crate::usage::{StepUsage, TurnUsage, Usage};
use a2a::model::TaskId;

/// The newest turn that is to be counted; 0 while there is none.
pub(super) fn wanted(session: &TaskSession) -> u64 {
    session.life.with_machine(|machine| machine.turn_to_count()).unwrap_or(0)
}

/// Whether a turn that is over is not counted.
pub(super) fn is_owed(session: &TaskSession) -> bool {
    session.usage.owes(wanted(session))
}

/// Counts the turns that are over, unless that is under way or waits for a retry.
pub(super) fn count(session: &TaskSession) {
    // What is not stored yet could be undone. Most tasks owe nothing, and need no look at the clock.
    if !is_owed(session) || session.health.is_broken() || session.journal.unsaved_bytes() > 0 {
        return;
    }
    if let Some(handle) = session.handle()
        && session.usage.begin(wanted(session), session.now())
    {
        session.ports.runtime.spawn(Box::pin(count_owed(handle)));
    }
}

/// Counts the turn of a run that has ended without storing anything at its end, and has the alarm look after that.
pub(super) fn count_at_end(session: &TaskSession) {
    if is_owed(session) {
        count(session);
        session.arm();
    }
}

/// Waits until the turns that are over are counted: for `INDEX_WAIT_MS` at most, and not at all where that is known to fail.
pub(super) async fn until_counted(session: &TaskSession) {
    let limit_ms = session.limits.index_wait_ms;
    if is_owed(session) {
        session.usage.until_paid(wanted(session), session.ports.clock.sleep(limit_ms)).await;
    }
}

/// Takes what the run has used and no step has told: it was recorded outside of steps, or by one that was dropped.
pub(super) fn settle(session: &TaskSession) {
    if let Some(usage) = take_recorded(session) {
        // It is always legal while the run is under way.
        let _ = session.step(Input::Used(usage));
    }
}

/// What the run has recorded and no step has told.
pub(super) fn take_recorded(session: &TaskSession) -> Option<StepUsage> {
    let used = session.run.take_used();
    told(session, used)
}

/// Takes what the run has used for requests whose answers came to nothing. It is stored with what is stored next, and not with the
/// step that is under way: the process may die before that ends.
pub(super) fn settle_repeated(session: &TaskSession) {
    // What a run has used before there is a task is told by its next step.
    if session.life.exists()
        && let Some(usage) = told(session, Usage::NOTHING)
    {
        // It is always legal while the run is under way.
        let _ = session.step(Input::Used(usage));
    }
}

/// What was used, with what is known of requests whose answers came to nothing.
fn told(session: &TaskSession, used: Usage) -> Option<StepUsage> {
    let repeated = session.run.take_repeated();
    let used = used.plus(repeated);
    (!used.is_nothing()).then(|| StepUsage { at_ms: session.now().0, used, repeated })
}

/// What the turn has used so far, all attempts together.
pub(super) fn of_turn(session: &TaskSession) -> Usage {
    let stored = session.life.with_machine(|machine| machine.usage().of_turn(machine.turn()));
    stored.unwrap_or_default().plus(session.run.used())
}

/// Counts until nothing is owed, or a turn cannot be counted now.
async fn count_owed(session: Rc<TaskSession>) {
    while let Some(turn) = next(&session) {
        let counting = session.ports.usage.count(counted_turn(&session, turn));
        match within_limit(session.ports.clock.as_ref(), counting).await {
            // If this is lost by a crash, the turn is counted once more, which changes nothing.
            Ok(()) => session.usage.note_paid(turn.turn),
            Err(reason) => {
                retry_later(&session, &reason);
                break;
            }
        }
        store_progress(&session);
    }
    session.usage.end();
    session.arm();
}

/// The oldest turn that is over and not counted.
fn next(session: &TaskSession) -> Option<TurnUsage> {
    if session.health.is_broken() {
        return None;
    }
    let (reached, wanted) = (session.usage.reached(), wanted(session));
    let found = session.life.with_machine(|machine| machine.usage().behind(reached).next());
    found.flatten().filter(|found| found.turn <= wanted)
}

fn counted_turn(session: &TaskSession, turn: TurnUsage) -> CountedTurn {
    let facts = session.life.facts();
    let (owner, agent) = facts.map(|facts| (facts.owner, facts.agent)).unwrap_or_default();
    CountedTurn { task: TaskId::new(session.object()), owner, agent, turn }
}

fn retry_later(session: &TaskSession, reason: &str) {
    let (failures, retry_ms) = session.usage.note_failed(session.now());
    let task = session.id();
    session.observe(&Observation::UsageUncounted { task, failures, retry_ms, reason });
    store_progress(session);
}

fn store_progress(session: &TaskSession) {
    let Some(progress) = session.usage.unstored().filter(|_| !session.health.is_broken()) else {
        return;
    };
    match session.store.set_counted(progress.into()) {
        Ok(()) => session.usage.note_stored(progress),
        Err(error) => {
            let (task, reason) = (session.id(), error.to_string());
            session.observe(&Observation::StoringFailed { task, reason: &reason });
        }
    }
}

impl From<Counted> for Progress {
    fn from(Counted { turn, failures }: Counted) -> Self {
        Self { reached: turn, failures }
    }
}

impl From<Progress> for Counted {
    fn from(Progress { reached, failures }: Progress) -> Self {
        Self { turn: reached, failures }
    }
}
