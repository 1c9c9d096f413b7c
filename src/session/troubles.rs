//! What a task owes to the list of webhooks in trouble: one row for each of its webhooks that is failing or suspended, or has dead
//! letters. The list follows in the background, and neither the task nor a notification waits for it; what it could not follow
//! stays owed and is retried.
//!
//! How far the list has followed is stored with the webhook, so a crash between a change and its row has the row written later,
//! once too often at most. A webhook that was never in trouble owes nothing. One that is deleted is forgotten by the object, and
//! taken off the list as long as this session lives; a row that is left behind goes with its task.

use std::rc::Rc;

use super::index::within_limit;
use super::{TaskSession, notifications};
use crate::port::{ListedChange, Observation, WebhookChange};

/// Whether the list has not followed all webhooks.
pub(super) fn is_owed(session: &TaskSession) -> bool {
    session.webhooks.owe_listing()
}

/// Lets the list follow, unless that is under way or waits for a retry.
pub(super) fn tell(session: &TaskSession) {
    // Most tasks owe nothing, and need no look at the clock.
    if !is_owed(session) || session.health.is_broken() {
        return;
    }
    if let Some(handle) = session.handle()
        && session.troubles.begin(OWED, session.now())
    {
        session.ports.runtime.spawn(Box::pin(tell_owed(handle)));
    }
}

/// Tells the list until nothing is owed, or it cannot follow now.
async fn tell_owed(session: Rc<TaskSession>) {
    while let Some(change) = next(&session) {
        let facts = session.life.facts();
        let (owner, agent) = facts.map(|facts| (facts.owner, facts.agent)).unwrap_or_default();
        let listed = ListedChange { owner, agent, change: change.clone() };
        let following = session.ports.webhook_list.follow(listed);
        match within_limit(session.ports.clock.as_ref(), following).await {
            Ok(()) => note_listed(&session, &change),
            Err(reason) => {
                let (failures, retry_ms) = session.troubles.note_failed(session.now());
                let (task, webhook, reason) = (session.id(), change.id.as_str(), reason.as_str());
                session.observe(&Observation::WebhookUnlisted {
                    task,
                    webhook,
                    failures,
                    retry_ms,
                    reason,
                });
                break;
            }
        }
    }
    session.troubles.end();
    session.arm();
}

fn next(session: &TaskSession) -> Option<WebhookChange> {
    if session.health.is_broken() {
        return None;
    }
    session.webhooks.next_change(session.id())
}

fn note_listed(session: &TaskSession, change: &WebhookChange) {
    session.troubles.note_paid(NOT_OWED);
    session.webhooks.note_listed(change);
    if !session.health.is_broken() {
        // If this is lost by a crash, the row is written once more, which changes nothing.
        notifications::store(session, &change.id);
    }
}

/// How far the list has to come, and how far it has: each webhook knows that of itself, so there is one step.
const OWED: u64 = 1;
const NOT_OWED: u64 = 0;
