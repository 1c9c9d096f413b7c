//! Sends the notifications of a task: puts jobs into the queue, and returns the next event to a consumer.

use super::webhook::Webhook;
use crate::port::{Observation, StoreError, WebhookJob};
use crate::push::{
    GivenUp, NextNotification, Notification, NotificationTurn, Report, RetryPolicy, Verdict,
};
use crate::session::TaskSession;
use crate::session::debts::{self, Troubles};
use crate::session::followers::{self, frame};
use crate::session::run::tracing::span;
use a2a::dialect::Dialect;
use a2a::model::{EventFilter, Task, UnixMillis};

/// Puts a job into the queue for each webhook that needs one. Called after each change that may create such a need.
pub(in crate::session) fn enqueue_due(session: &TaskSession) {
    enqueue_those(session, |_| true);
}

fn enqueue_those(session: &TaskSession, is_meant: impl Fn(&Webhook) -> bool) {
    if session.health.is_broken() || session.webhooks.is_empty() {
        return;
    }
    let now = session.now();
    let due = session
        .life
        .with_machine(|machine| session.webhooks.take_due(machine, now, is_meant))
        .unwrap_or_default();
    for config_id in due {
        enqueue(session, config_id);
    }
}

fn enqueue(session: &TaskSession, config_id: String) {
    let (Some(session), Some(facts)) = (session.handle(), session.life.facts()) else { return };
    let task = session.id().clone();
    let job = WebhookJob { agent: facts.agent, task, config_id: config_id.clone() };
    let runtime = session.ports.runtime.clone();
    runtime.spawn(Box::pin(async move {
        if let Err(reason) = session.ports.queue.enqueue(job).await {
            let (task, webhook) = (session.id(), config_id.as_str());
            session.observe(&Observation::QueueFailed { task, webhook, reason: &reason });
            session.webhooks.with(&config_id, Webhook::note_not_queued);
        }
    }));
}

/// Records the report of a consumer, and returns the next notification of the webhook, if there is one and no other consumer has the
/// lease.
pub(in crate::session) fn next_notification(
    session: &TaskSession,
    asked: NextNotification,
) -> NotificationTurn {
    let NextNotification { config_id, lease, report, leaves } = asked;
    let given_up = report.and_then(|report| take_report(session, &config_id, report));
    let next = give_out_next(session, &config_id, lease.as_deref(), leaves);
    debts::pay::<Troubles>(session);
    // Other webhooks have their jobs already, or the alarm is set for the instant at which they need one.
    enqueue_those(session, |webhook| webhook.config.id == config_id);
    session.arm();
    NotificationTurn { next, given_up }
}

fn take_report(session: &TaskSession, config_id: &str, report: Report) -> Option<GivenUp> {
    let limits = &session.limits;
    let policy = RetryPolicy {
        max_attempts: limits.webhook_attempts,
        max_age_ms: limits.webhook_max_age_ms,
        delay_ms: limits.webhook_retry_ms,
        suspend_after: limits.webhook_suspend_after,
    };
    let (now, chance) = (session.now(), session.ports.random.chance());
    let reported =
        session.webhooks.with(config_id, |webhook| webhook.report(report, &policy, now, chance));
    let (verdict, given_up) = reported??;
    match verdict {
        Verdict::Delivered | Verdict::Stale => {
            // Usually stored together with later reports: repeating some notifications after a crash costs less than a row for each report.
            if session.webhooks.with(config_id, |webhook| webhook.owes_listing()) == Some(true) {
                store(session, config_id);
            }
            None
        }
        Verdict::Retry => {
            store(session, config_id);
            None
        }
        Verdict::GivenUp | Verdict::Refused => {
            store(session, config_id);
            Some(given_up)
        }
    }
}

/// Returns the next notification, if the consumer has the lease or no consumer has it.
fn give_out_next(
    session: &TaskSession,
    config_id: &str,
    lease: Option<&str>,
    leaves: bool,
) -> Option<Notification> {
    let now = session.now();
    let (after, filter, dialect) = session.webhooks.with(config_id, |webhook| {
        if !webhook.admit(lease, now) {
            return None;
        }
        let may_send = !leaves && webhook.delivery.is_ready(now);
        let after = session.life.with_machine(|machine| webhook.owed_after(machine)).flatten();
        Some((after.filter(|_| may_send), webhook.config.events, webhook.dialect))
    })??;
    let next =
        after.and_then(|after| event_after(session, config_id, after, (filter, dialect), now));
    let must_be_stored = |webhook: &mut Webhook| webhook.must_be_stored(next.is_some());
    if session.webhooks.with(config_id, must_be_stored)? {
        store(session, config_id);
    }
    if next.is_none() {
        session.webhooks.with(config_id, |webhook| webhook.past = None);
    }
    let (generation, body) = next?;
    let lease = session.ports.random.new_id();
    let until = now.after(session.limits.webhook_timeout_ms.saturating_add(LEASE_SLACK_MS));
    let (config, dialect, standing) = session.webhooks.with(config_id, |webhook| {
        webhook.give_out(generation, lease.clone(), until);
        (webhook.config.clone(), webhook.dialect, webhook.delivery.standing(now))
    })?;
    let trace = session.life.with_machine(|machine| {
        machine.run().and_then(|run| run.request.trail.trace.as_deref().cloned())
    });
    let trace = trace.flatten().map(|trace| trace.within(&span(session.ports.random.as_ref())));
    Some(Notification { lease, generation, body, dialect, config, standing, trace })
}

/// The first event after a generation that the filter lets through, as a notification in the dialect, with its generation.
fn event_after(
    session: &TaskSession,
    config_id: &str,
    after: u64,
    (filter, dialect): (EventFilter, Dialect),
    now: UnixMillis,
) -> Option<(u64, String)> {
    let mut after = after;
    loop {
        let (frames, has_more) = followers::frames_after(session, after).ok()?;
        for text in &frames {
            for (generation, json) in frame::events_in(text) {
                if frame::passes(filter, json) {
                    let task = || task_after(session, config_id, generation);
                    let body = dialect.notification(json, task, now)?;
                    return Some((generation, body.into_owned()));
                }
                after = after.max(generation);
            }
        }
        if !has_more || frames.is_empty() {
            return None;
        }
    }
}

/// The task after the event of a generation.
fn task_after(session: &TaskSession, config_id: &str, generation: u64) -> Option<Task> {
    if generation == session.life.generation() {
        session.webhooks.with(config_id, |webhook| webhook.past = None);
        return session.life.with_task(Task::clone);
    }
    let mut past = session.webhooks.with(config_id, |webhook| webhook.past.take())?;
    let found = past.get_or_insert_default().at(session, generation).map(|task| task.cloned());
    session.webhooks.with(config_id, |webhook| webhook.past = past);
    let found = found.inspect_err(|error| {
        let (task, reason) = (session.id(), error.to_string());
        session.observe(&Observation::ReadingFailed { task, reason: &reason });
    });
    found.ok().flatten()
}

/// Stores the present state of a webhook. If storing fails, the newest notifications are repeated after a crash.
pub(in crate::session) fn store(session: &TaskSession, config_id: &str) {
    if let Err(error) = session.webhooks.store(config_id) {
        note_failure(session, &error);
    }
}

/// Reports to the observer that a webhook could not be stored.
pub(super) fn note_failure(session: &TaskSession, error: &StoreError) {
    let reason = error.to_string();
    session.observe(&Observation::StoringFailed { task: session.id(), reason: &reason });
}

/// The length of a lease beyond the timeout of an attempt, in milliseconds.
const LEASE_SLACK_MS: u64 = 5_000;
