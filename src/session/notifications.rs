//! Sends the notifications of a task: puts jobs into the queue, and returns the next event to a consumer.

use std::borrow::Cow;

use super::TaskSession;
use super::debts::{self, Troubles};
use super::followers::{self, frame};
use super::journal::Journal;
use super::webhooks::Webhook;
use crate::port::{Observation, StoreError, WebhookJob};
use crate::push::{
    GivenUp, NextNotification, Notification, NotificationTurn, Report, RetryPolicy, Verdict,
};
use a2a::dialect::Dialect;
use a2a::model::{EventFilter, Generation};

/// Puts a job into the queue for each webhook that needs a job. Called after each change that may create such a need.
pub(super) fn enqueue_due(session: &TaskSession) {
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

/// Records the report of a consumer. Returns the next notification of the webhook, if a notification is owed and no other
/// consumer has the lease.
pub(super) fn next_notification(
    session: &TaskSession,
    asked: NextNotification,
) -> NotificationTurn {
    let NextNotification { config_id, lease, report, leaves } = asked;
    let given_up = report.and_then(|report| take_report(session, &config_id, report));
    let next = give_out_next(session, &config_id, lease.as_deref(), leaves);
    debts::pay::<Troubles>(session);
    // Other webhooks already have their jobs, or the alarm is set for the instant at which they need a job.
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
                session.store_webhook(config_id);
            }
            None
        }
        Verdict::Retry => {
            session.store_webhook(config_id);
            None
        }
        Verdict::GivenUp | Verdict::Refused => {
            session.store_webhook(config_id);
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
    let next = after.and_then(|after| {
        // The events are read from storage.
        session.flush().ok()?;
        let found = of_event_after(&session.journal, after, filter, |generation, json| {
            let TaskSession { id, life, journal, .. } = session;
            let task = || {
                let found = session.webhooks.task_at(config_id, generation, id, life, journal);
                found.map_err(|error| session.reading_failed(&error)).ok().flatten()
            };
            dialect.notification(json, task, now).map(Cow::into_owned)
        });
        found.map_err(|error| session.reading_failed(&error)).ok().flatten()
    });
    let must_be_stored = |webhook: &mut Webhook| webhook.must_be_stored(next.is_some());
    if session.webhooks.with(config_id, must_be_stored)? {
        session.store_webhook(config_id);
    }
    if next.is_none() {
        session.webhooks.forget_past(config_id);
    }
    let (generation, body) = next?;
    let lease = String::from(session.ports.random.new_id());
    let until = now.after(session.limits.webhook_timeout_ms.saturating_add(LEASE_SLACK_MS));
    let (config, dialect, standing) = session.webhooks.with(config_id, |webhook| {
        webhook.give_out(generation, lease.clone(), until);
        (webhook.config.clone(), webhook.dialect, webhook.delivery.standing(now))
    })?;
    let trace = session.life.with_machine(|machine| {
        machine.run().and_then(|run| run.request.trail.trace.as_deref().cloned())
    });
    let trace = trace.flatten();
    Some(Notification { lease, generation, body, dialect, config, standing, trace })
}

/// The body of the notification about the event of a generation. `None` if it is not stored, or was sent as the task of then.
pub(super) fn body_of(
    session: &TaskSession,
    dialect: Dialect,
    generation: Generation,
) -> Option<String> {
    session.flush().ok()?;
    let after = Generation(generation.0.checked_sub(1)?);
    let body =
        |_, json: &str| dialect.notification(json, || None, session.now()).map(Cow::into_owned);
    let found = of_event_after(&session.journal, after, EventFilter::All, body);
    let found = found.map_err(|error| session.reading_failed(&error)).ok().flatten();
    found.filter(|(found, _)| *found == generation).map(|(_, body)| body)
}

/// Finds the first stored event after the generation `after` that matches the filter. Returns the generation of the event, and
/// the result of `make` for the event.
///
/// # Errors
///
/// If storage fails.
fn of_event_after<T>(
    journal: &Journal,
    mut after: Generation,
    filter: EventFilter,
    make: impl Fn(Generation, &str) -> Option<T>,
) -> Result<Option<(Generation, T)>, StoreError> {
    loop {
        let (frames, has_more) = followers::frames_after(journal, after)?;
        for (generation, json) in frames.iter().flat_map(|text| frame::events_in(text)) {
            if frame::passes(filter, json) {
                return Ok(make(generation, json).map(|made| (generation, made)));
            }
            after = after.max(generation);
        }
        if !has_more || frames.is_empty() {
            return Ok(None);
        }
    }
}

/// The length of a lease beyond the timeout of an attempt, in milliseconds.
const LEASE_SLACK_MS: u64 = 5_000;
