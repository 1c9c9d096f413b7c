//! The webhooks of a task: what each of them is owed, and who is at it.
//!
//! Nothing is stored for a single notification: a webhook is owed every event behind the newest one that
//! it got. So an event and the debt are written together, the event path waits for nobody, and the alarm
//! looks after what the queue may have lost.

use serde::Serialize;

use super::TaskSession;
use super::frame::{self, Frame};
use crate::format;
use crate::port::{Observation, StoreError, WebhookJob};
use crate::push::{Delivery, Health, Report, RetryPolicy, Standing, Verdict};
use crate::task::TaskMachine;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{EventFilter, TaskPushNotificationConfig, UnixMillis};

/// A webhook of the task in memory.
pub(super) struct Hook {
    pub(super) config: TaskPushNotificationConfig,
    pub(super) delivery: Delivery,
    /// While a job for it is in the queue, as far as is known: when that counts as lost.
    lost_at: Option<UnixMillis>,
    /// Since when it waits for a sender, if it does.
    waits_since: Option<UnixMillis>,
    /// Whether this session knows since when something is owed, from a sender or from its registration.
    is_watched: bool,
    /// Who sends its notifications, and until when nobody else may.
    lease: Option<(String, UnixMillis)>,
    /// The event that was given out last, until it is reported. What else is reported is out of date.
    pending: Option<u64>,
    /// How many deliveries are not stored yet.
    unsaved: u32,
    /// Whether it is stored at all.
    pub(super) is_stored: bool,
}

/// A webhook as it is stored: a line of JSON.
#[derive(Serialize)]
struct StoredHook<'a> {
    config: &'a TaskPushNotificationConfig,
    delivery: &'a Delivery,
}

impl Hook {
    /// A new webhook, whose first event is the one after this generation.
    pub(super) fn new(config: TaskPushNotificationConfig, after: u64) -> Self {
        let delivery = Delivery::after(after);
        Self {
            config,
            delivery,
            lost_at: None,
            waits_since: None,
            is_watched: true,
            lease: None,
            pending: None,
            unsaved: 0,
            is_stored: false,
        }
    }

    /// Puts another config in its place, which goes on behind the newest event that this one got.
    pub(super) fn replace(&mut self, config: TaskPushNotificationConfig) {
        let delivery = self.delivery.replaced();
        *self = Self { delivery, lost_at: self.lost_at, ..Self::new(config, 0) };
    }

    /// Sends again, from the event of this generation on; what is under way does not count.
    pub(super) fn restart_from(&mut self, generation: u64) {
        self.delivery.restart_from(generation);
        self.pending = None;
        self.lease = None;
    }

    fn to_json(&self) -> String {
        let stored = StoredHook { config: &self.config, delivery: &self.delivery };
        // The model has no map with keys other than strings, so encoding cannot fail.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Behind which generation the next event for the webhook is, if there is one.
    fn owed_after(&self, machine: &TaskMachine) -> Option<u64> {
        let Delivery { done, health, tells_end, .. } = self.delivery;
        if health == Health::Suspended {
            let end = machine.status_generation();
            let has_end = machine.state().is_terminal() && end > done;
            let is_wanted = self.config.events != EventFilter::Artifacts;
            return (tells_end && has_end && is_wanted).then(|| end.saturating_sub(1));
        }
        let newest = match self.config.events {
            EventFilter::All => machine.generation(),
            EventFilter::Status => machine.status_generation(),
            EventFilter::Artifacts => machine.artifact_generation(),
        };
        (newest > done).then_some(done)
    }

    /// Who may be sending its notifications now.
    fn holder(&self, now: UnixMillis) -> Option<&(String, UnixMillis)> {
        self.lease.as_ref().filter(|(_, until)| *until > now)
    }

    /// Whether a job belongs into the queue: something can be sent, no sender has the lease, and no earlier
    /// job may still come.
    fn needs_job(&self, machine: &TaskMachine, now: UnixMillis) -> bool {
        self.owed_after(machine).is_some()
            && self.delivery.is_ready(now)
            && self.holder(now).is_none()
            && self.lost_at.is_none_or(|at| at <= now)
    }

    /// A job goes into the queue. It counts as lost after a while, which grows with the time that the webhook
    /// has waited already: where senders are behind, more jobs would not help.
    fn note_queued(&mut self, machine: &TaskMachine, keep_alive_ms: u64, now: UnixMillis) {
        let due = self.delivery.retry_at.map(UnixMillis);
        let stored_since = || due.or(machine.task().status.timestamp).unwrap_or(now);
        let since = if self.is_watched { now } else { stored_since() };
        let since = *self.waits_since.get_or_insert(since);
        let waited = u64::try_from(now.0.saturating_sub(since.0)).unwrap_or(0);
        let pause = waited.min(MAX_LOOK_MS).max(keep_alive_ms);
        self.lost_at = Some(now.after(pause));
    }

    /// A sender has come: its job is not in the queue any more.
    fn note_sender(&mut self) {
        self.lease = None;
        self.lost_at = None;
        self.waits_since = None;
        self.is_watched = true;
    }
}

impl Decode for Hook {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let config = fields.object("config")?;
        let delivery = fields.object("delivery")?;
        Some(Self { delivery, is_stored: true, is_watched: false, ..Self::new(config, 0) })
    }
}

/// One notification to be sent, and to whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// Whose turn it is: to be shown with the report.
    pub lease: String,
    /// The event.
    pub generation: u64,
    /// It as it goes out: one StreamResponse (spec §3.2.3) as 1.0 JSON.
    pub body: String,
    /// Where to.
    pub config: TaskPushNotificationConfig,
    /// How the receiver answers, as far as is known.
    pub standing: Standing,
}

impl Decode for Notification {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            lease: fields.string("lease")?,
            generation: fields.number("generation")?,
            body: fields.string("body")?,
            config: fields.object("config")?,
            standing: Standing::named(&fields.string("standing").unwrap_or_default()),
        })
    }
}

/// What a sender of notifications asks its task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextNotification {
    /// The webhook.
    pub config_id: String,
    /// Its lease, once it has one.
    pub lease: Option<String>,
    /// What came of the notification before.
    pub report: Option<Report>,
    /// Whether it goes away now, although there may be more.
    pub leaves: bool,
}

impl Decode for NextNotification {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::COMMAND.check(fields)?;
        Some(Self {
            config_id: fields.string("configId")?,
            lease: fields.string("lease"),
            report: fields.object("report"),
            leaves: fields.boolean("leaves").unwrap_or_default(),
        })
    }
}

/// What a sender of notifications is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationTurn {
    /// What to send next; none if there is nothing for this sender to do.
    pub next: Option<Notification>,
    /// What was given up by the report: the event, and why.
    pub given_up: Option<GivenUp>,
}

impl Decode for NotificationTurn {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::TURN.check(fields)?;
        Some(Self { next: fields.object("next"), given_up: fields.object("givenUp") })
    }
}

/// An event that a webhook did not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenUp {
    /// The event.
    pub generation: u64,
    /// Why.
    pub error: String,
    /// Whether nothing more is sent to the webhook.
    pub is_suspended: bool,
}

impl Decode for GivenUp {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            generation: fields.number("generation")?,
            error: fields.string("error")?,
            is_suspended: fields.boolean("isSuspended").unwrap_or_default(),
        })
    }
}

impl TaskSession {
    /// Lets the senders know of what they can do now. Called whenever something may have changed.
    pub(super) fn poke(&self) {
        self.poke_those(|_| true);
    }

    fn poke_those(&self, is_meant: impl Fn(&Hook) -> bool) {
        if self.is_broken() || self.hooks().borrow().is_empty() {
            return;
        }
        let now = self.ports().clock.now();
        let keep_alive_ms = self.limits().keep_alive_ms;
        let due: Vec<String> = self
            .with_machine(|machine| {
                let mut hooks = self.hooks().borrow_mut();
                let hooks = hooks.iter_mut().filter(|hook| is_meant(hook));
                let due = hooks.filter(|hook| hook.needs_job(machine, now));
                due.map(|hook| {
                    hook.note_queued(machine, keep_alive_ms, now);
                    hook.config.id.clone()
                })
                .collect()
            })
            .unwrap_or_default();
        for config_id in due {
            self.enqueue(config_id);
        }
    }

    fn enqueue(&self, config_id: String) {
        let (Some(session), Some(facts)) = (self.me(), self.facts()) else { return };
        let task = self.id().clone();
        let job = WebhookJob { agent: facts.agent, task, config_id: config_id.clone() };
        self.ports().runtime.spawn(Box::pin(async move {
            if let Err(error) = session.ports().queue.enqueue(job).await {
                let (task, webhook) = (session.id(), config_id.as_str());
                session.observe(&Observation::QueueFailed { task, webhook, reason: &error });
                session.with_hook(&config_id, |hook| hook.lost_at = None);
            }
        }));
    }

    /// When to look whether a sender has come to the webhooks that are owed something, and when the next one
    /// that has failed is tried again.
    pub(super) fn webhook_wants(&self) -> (Option<UnixMillis>, Option<UnixMillis>) {
        let hooks = self.hooks().borrow();
        let now = self.ports().clock.now();
        let soon = now.after(self.limits().keep_alive_ms);
        let wants = self.with_machine(|machine| {
            let owed = hooks.iter().filter(|hook| hook.owed_after(machine).is_some());
            owed.fold((None, None), |(look, retry): (Option<_>, Option<_>), hook| {
                let earliest = |known: Option<UnixMillis>, at: UnixMillis| {
                    Some(known.map_or(at, |known| known.min(at)))
                };
                let retry_at = hook.delivery.retry_at.map(UnixMillis).filter(|at| *at > now);
                match (hook.holder(now), retry_at) {
                    // The holder reports, or else the lease ends.
                    (Some((_, until)), _) => (earliest(look, soon.max(*until)), retry),
                    (None, Some(at)) => (look, earliest(retry, at)),
                    (None, None) => (earliest(look, hook.lost_at.unwrap_or(soon)), retry),
                }
            })
        });
        wants.unwrap_or_default()
    }

    /// Takes what a sender reports, and gives it the next notification of its webhook, if there is one and
    /// nobody else is at it.
    pub fn next_notification(&self, asked: NextNotification) -> NotificationTurn {
        let mut turn = NotificationTurn::default();
        if let Some(report) = asked.report {
            turn.given_up = self.take_report(&asked.config_id, report);
        }
        turn.next = self.lease(&asked.config_id, asked.lease.as_deref(), asked.leaves);
        // The others have their jobs, or an alarm for when they need one.
        self.poke_those(|hook| hook.config.id == asked.config_id);
        self.arm();
        turn
    }

    fn take_report(&self, config_id: &str, report: Report) -> Option<GivenUp> {
        let now = self.ports().clock.now();
        let limits = self.limits();
        let policy = RetryPolicy {
            max_attempts: limits.webhook_attempts,
            max_age_ms: limits.webhook_max_age_ms,
            delay_ms: limits.webhook_retry_ms,
            suspend_after: limits.webhook_suspend_after,
        };
        let generation = report.generation;
        let chance = self.ports().random.chance();
        let (verdict, given_up) = self.with_hook(config_id, |hook| {
            hook.pending.take_if(|pending| *pending == generation)?;
            let verdict = hook.delivery.report(report, &policy, now, chance);
            hook.unsaved += 1;
            let error = hook.delivery.last_error.clone().unwrap_or_default();
            let is_suspended = hook.delivery.health == Health::Suspended;
            Some((verdict, GivenUp { generation, error, is_suspended }))
        })??;
        if verdict != Verdict::Delivered && verdict != Verdict::Stale {
            self.store_hook(config_id);
        }
        matches!(verdict, Verdict::GivenUp | Verdict::Refused).then_some(given_up)
    }

    /// Gives the next notification to whoever has the lease, or takes it if it is free.
    fn lease(&self, config_id: &str, lease: Option<&str>, leaves: bool) -> Option<Notification> {
        let now = self.ports().clock.now();
        let (after, filter, unsaved) = self.with_hook(config_id, |hook| {
            if hook.holder(now).is_some_and(|(holder, _)| Some(holder.as_str()) != lease) {
                return None;
            }
            hook.note_sender();
            let may_send = !leaves && hook.delivery.is_ready(now);
            let after = self.with_machine(|machine| hook.owed_after(machine)).flatten();
            Some((after.filter(|_| may_send), hook.config.events, hook.unsaved))
        })??;
        let next = after.and_then(|after| self.event_after(after, filter));
        if unsaved >= MAX_UNSAVED || (unsaved > 0 && next.is_none()) {
            self.store_hook(config_id);
        }
        let (generation, body) = next?;
        let lease = self.ports().random.new_id();
        let patience = self.limits().webhook_timeout_ms.saturating_add(LEASE_SLACK_MS);
        let (config, standing) = self.with_hook(config_id, |hook| {
            hook.lease = Some((lease.clone(), now.after(patience)));
            hook.pending = Some(generation);
            (hook.config.clone(), hook.delivery.standing(now))
        })?;
        Some(Notification { lease, generation, body, config, standing })
    }

    /// The first event after a generation that a filter lets through.
    fn event_after(&self, after: u64, filter: EventFilter) -> Option<(u64, String)> {
        let mut after = after;
        loop {
            let (frames, has_more) = self.frames_after(after).ok()?;
            for text in &frames {
                let Some(Frame::Events(first, events)) = Frame::parse(text) else { continue };
                for (generation, (_, json)) in (first..).zip(events) {
                    if frame::passes(filter, json) {
                        return Some((generation, json.to_owned()));
                    }
                    after = after.max(generation);
                }
            }
            if !has_more || frames.is_empty() {
                return None;
            }
        }
    }

    pub(super) fn with_hook<T>(&self, id: &str, change: impl FnOnce(&mut Hook) -> T) -> Option<T> {
        let mut hooks = self.hooks().borrow_mut();
        hooks.iter_mut().find(|hook| hook.config.id == id).map(change)
    }

    /// Stores a webhook as it stands; a failure leaves it behind, and its newest deliveries are repeated.
    pub(super) fn store_hook(&self, id: &str) {
        let Some(json) = self.with_hook(id, |hook| hook.to_json()) else { return };
        match self.store().put_webhook(id, &json) {
            Ok(()) => {
                self.with_hook(id, |hook| {
                    hook.unsaved = 0;
                    hook.is_stored = true;
                });
            }
            Err(error) => {
                let (task, reason) = (self.id(), error.reason());
                self.observe(&Observation::StoringFailed { task, reason });
            }
        }
    }

    /// Stores the webhooks that came with the message that began the task.
    pub(super) fn store_new_hooks(&self) -> Result<(), StoreError> {
        let mut hooks = self.hooks().borrow_mut();
        for hook in hooks.iter_mut().filter(|hook| !hook.is_stored) {
            self.store().put_webhook(&hook.config.id, &hook.to_json())?;
            hook.is_stored = true;
        }
        Ok(())
    }
}

/// How long a job counts as being in the queue at most: one hour, in milliseconds.
const MAX_LOOK_MS: u64 = 3_600_000;

/// How many deliveries go unstored at most: as many may be repeated after a crash.
const MAX_UNSAVED: u32 = 10;

/// How much longer than a request may take a lease is, in milliseconds.
const LEASE_SLACK_MS: u64 = 5_000;
