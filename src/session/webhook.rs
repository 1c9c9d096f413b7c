//! One webhook of a task in memory: what it is owed, who sends it, and whether a job for it is in the queue.

use serde::Serialize;

use super::past::Past;
use crate::push::{Delivery, GivenUp, Health, Report, RetryPolicy, Verdict};
use crate::task::TaskMachine;
use a2a::dialect::Dialect;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{EventFilter, TaskPushNotificationConfig, UnixMillis};

/// A webhook of the task.
pub(crate) struct Webhook {
    /// What the client registered.
    pub(crate) config: TaskPushNotificationConfig,
    /// The dialect in which it was registered, and which its notifications speak.
    pub(super) dialect: Dialect,
    /// How its notifications have fared.
    pub(crate) delivery: Delivery,
    /// While a job for it is in the queue, as far as is known: when that job counts as lost.
    lost_at: Option<UnixMillis>,
    /// Since when its jobs wait for a consumer, if they do.
    waits_since: Option<UnixMillis>,
    /// Whether this session knows since when something is owed, from a consumer or from the registration.
    is_watched: bool,
    /// Who sends its notifications.
    lease: Option<Lease>,
    /// The event that was given out last, until it is reported. Any other report is out of date.
    pending: Option<u64>,
    /// How many reports are not stored yet.
    unsaved: u32,
    /// Whether it is stored at all.
    pub(super) is_stored: bool,
    /// The task as it was after the newest event that was given out, while the webhook is behind and its notifications are the
    /// whole task.
    pub(super) past: Option<Box<Past>>,
}

/// The right to send the notifications of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lease {
    holder: String,
    /// From then on anybody may take it.
    until: UnixMillis,
}

/// A webhook as it is stored: a line of JSON.
#[derive(Serialize)]
struct StoredWebhook<'a> {
    config: &'a TaskPushNotificationConfig,
    #[serde(skip_serializing_if = "Dialect::is_v1")]
    dialect: Dialect,
    delivery: &'a Delivery,
}

/// When the alarm is needed for webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Looks {
    /// When to look whether a consumer has come.
    pub(super) look: Option<UnixMillis>,
    /// When a notification that has failed is tried again.
    pub(super) retry: Option<UnixMillis>,
}

impl Looks {
    /// The earlier instants of the two.
    pub(super) fn or(self, other: Self) -> Self {
        let earliest =
            |one: Option<UnixMillis>, two: Option<UnixMillis>| one.into_iter().chain(two).min();
        Self { look: earliest(self.look, other.look), retry: earliest(self.retry, other.retry) }
    }
}

impl Webhook {
    /// A new webhook, whose first event is the one after this generation.
    pub(super) fn new(config: TaskPushNotificationConfig, dialect: Dialect, after: u64) -> Self {
        Self {
            config,
            dialect,
            delivery: Delivery::after(after),
            lost_at: None,
            waits_since: None,
            is_watched: true,
            lease: None,
            pending: None,
            unsaved: 0,
            is_stored: false,
            past: None,
        }
    }

    /// Puts another config in its place, which goes on behind the newest event that this one got.
    pub(super) fn replace(&mut self, config: TaskPushNotificationConfig, dialect: Dialect) {
        let delivery = self.delivery.replaced();
        *self = Self { delivery, lost_at: self.lost_at, ..Self::new(config, dialect, 0) };
    }

    /// Sends again, from the event of this generation on. A report of what is under way does not count.
    pub(super) fn restart_from(&mut self, generation: u64) {
        self.delivery.restart_from(generation);
        self.pending = None;
        self.lease = None;
    }

    /// It as it is stored.
    pub(super) fn to_json(&self) -> String {
        let Self { config, dialect, delivery, .. } = self;
        let stored = StoredWebhook { config, dialect: *dialect, delivery };
        // The model has no map with keys other than strings, so encoding cannot fail.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// It is stored as it stands.
    pub(super) fn note_stored(&mut self) {
        self.unsaved = 0;
        self.is_stored = true;
    }

    /// The generation behind which the next event for the webhook is, if there is one.
    pub(super) fn owed_after(&self, machine: &TaskMachine) -> Option<u64> {
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

    /// The lease, unless it is over.
    fn lease(&self, now: UnixMillis) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.until > now)
    }

    /// Whether a job has to be put into the queue: something can be sent, nobody has the lease, and no earlier
    /// job may still come.
    pub(super) fn needs_job(&self, machine: &TaskMachine, now: UnixMillis) -> bool {
        self.owed_after(machine).is_some()
            && self.delivery.is_ready(now)
            && self.lease(now).is_none()
            && self.lost_at.is_none_or(|at| at <= now)
    }

    /// A job goes into the queue. It counts as lost after a while, which grows with the time that the webhook
    /// has waited already: if the consumers are behind, more jobs would not help.
    pub(super) fn note_queued(
        &mut self,
        machine: &TaskMachine,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) {
        let due = self.delivery.retry_at.map(UnixMillis);
        let stored_since = || due.or(machine.task().status.timestamp).unwrap_or(now);
        let since = if self.is_watched { now } else { stored_since() };
        let since = *self.waits_since.get_or_insert(since);
        let pause_ms = now.millis_since(since).min(MAX_LOOK_MS).max(keep_alive_ms);
        self.lost_at = Some(now.after(pause_ms));
    }

    /// The queue did not take the job.
    pub(super) fn note_not_queued(&mut self) {
        self.lost_at = None;
    }

    /// When the alarm is needed for this webhook.
    pub(super) fn looks(
        &self,
        machine: &TaskMachine,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) -> Looks {
        if self.owed_after(machine).is_none() {
            return Looks::default();
        }
        let soon = now.after(keep_alive_ms);
        let retry_at = self.delivery.retry_at.map(UnixMillis).filter(|at| *at > now);
        match (self.lease(now), retry_at) {
            // The holder reports, or else the lease ends.
            (Some(lease), _) => Looks { look: Some(soon.max(lease.until)), retry: None },
            (None, Some(at)) => Looks { look: None, retry: Some(at) },
            (None, None) => Looks { look: Some(self.lost_at.unwrap_or(soon)), retry: None },
        }
    }

    /// A consumer has come, which shows this lease if it has one. Whether it may send: nobody else has the lease.
    pub(super) fn admit(&mut self, lease: Option<&str>, now: UnixMillis) -> bool {
        if self.lease(now).is_some_and(|held| Some(held.holder.as_str()) != lease) {
            return false;
        }
        // Its job is not in the queue any more.
        self.lease = None;
        self.lost_at = None;
        self.waits_since = None;
        self.is_watched = true;
        true
    }

    /// The event of this generation is given to the holder of this new lease.
    pub(super) fn give_out(&mut self, generation: u64, holder: String, until: UnixMillis) {
        self.lease = Some(Lease { holder, until });
        self.pending = Some(generation);
    }

    /// Takes what a consumer reports; none if the report is out of date.
    pub(super) fn report(
        &mut self,
        report: Report,
        policy: &RetryPolicy,
        now: UnixMillis,
        chance: f64,
    ) -> Option<(Verdict, GivenUp)> {
        let generation = report.generation;
        self.pending.take_if(|pending| *pending == generation)?;
        let verdict = self.delivery.report(report, policy, now, chance);
        self.unsaved += 1;
        let error = self.delivery.last_error.clone().unwrap_or_default();
        let is_suspended = self.delivery.health == Health::Suspended;
        Some((verdict, GivenUp { generation, error, is_suspended }))
    }

    /// Whether reports that are not stored have to be: some are left when there is nothing more to send, and too
    /// many would be repeated after a crash.
    pub(super) fn must_be_stored(&self, has_more: bool) -> bool {
        self.unsaved >= MAX_UNSAVED || (self.unsaved > 0 && !has_more)
    }
}

impl Decode for Webhook {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let config = fields.object("config")?;
        let dialect = Dialect::read(fields, "dialect")?;
        let delivery = fields.object("delivery")?;
        let new = Self::new(config, dialect, 0);
        Some(Self { delivery, is_stored: true, is_watched: false, ..new })
    }
}

/// How long a job counts as being in the queue at most: one hour, in milliseconds.
const MAX_LOOK_MS: u64 = 3_600_000;

/// How many reports go unstored at most: as many notifications may be repeated after a crash.
const MAX_UNSAVED: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    fn webhook() -> Webhook {
        let config = r#"{"id": "w", "taskId": "t", "url": "https://receiver.example/"}"#;
        Webhook::new(read_json(config).unwrap(), Dialect::V1, 0)
    }

    /// Version 0.1.0 stored no dialect, and spoke 1.0.
    #[test]
    fn a_webhook_without_a_dialect_is_one_of_1_0() {
        let stored = webhook().to_json();
        assert!(stored.starts_with(r#"{"config":{"id":"w""#) && !stored.contains("dialect"));
        assert_eq!(read_json::<Webhook>(&stored).unwrap().dialect, Dialect::V1);
        let of_later = stored.replacen('{', r#"{"dialect":"9.9","#, 1);
        let refused = read_json::<Webhook>(&of_later).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("dialect") && refused.contains("9.9"), "{refused}");
    }

    #[test]
    fn one_consumer_at_a_time_is_admitted_until_its_lease_ends() {
        let mut webhook = webhook();
        assert!(webhook.admit(None, UnixMillis(0)));
        webhook.give_out(1, "one".to_owned(), UnixMillis(100));
        assert!(!webhook.admit(None, UnixMillis(99)));
        assert!(!webhook.admit(Some("two"), UnixMillis(99)));
        assert!(webhook.admit(Some("one"), UnixMillis(99)), "the holder comes back");
        webhook.give_out(1, "one".to_owned(), UnixMillis(100));
        assert!(webhook.admit(None, UnixMillis(100)), "the lease is over");
    }

    #[test]
    fn only_the_event_that_was_given_out_is_reported_and_only_once() {
        let policy =
            RetryPolicy { max_attempts: 8, max_age_ms: 1_000, delay_ms: 10, suspend_after: 3 };
        let mut webhook = webhook();
        let report = |webhook: &mut Webhook, generation| {
            let report = Report { generation, status: Some(200), ..Report::default() };
            webhook.report(report, &policy, UnixMillis(0), 0.5).map(|(verdict, _)| verdict)
        };
        assert_eq!(report(&mut webhook, 1), None);
        webhook.give_out(1, "one".to_owned(), UnixMillis(100));
        assert_eq!(report(&mut webhook, 2), None);
        assert_eq!(report(&mut webhook, 1), Some(Verdict::Delivered));
        assert_eq!(report(&mut webhook, 1), None);
        assert!(!webhook.must_be_stored(true) && webhook.must_be_stored(false));
        webhook.note_stored();
        assert!(!webhook.must_be_stored(false));
    }

    #[test]
    fn the_earlier_of_two_looks_counts() {
        let looks = |look: Option<i64>, retry: Option<i64>| Looks {
            look: look.map(UnixMillis),
            retry: retry.map(UnixMillis),
        };
        assert_eq!(looks(Some(5), None).or(looks(Some(3), Some(9))), looks(Some(3), Some(9)));
        assert_eq!(looks(None, Some(1)).or(looks(None, None)), looks(None, Some(1)));
    }

    #[test]
    fn a_webhook_is_read_as_it_was_stored() {
        let mut webhook = webhook();
        webhook.delivery.done = 7;
        let read: Webhook = read_json(&webhook.to_json()).unwrap();
        assert_eq!((read.config, read.delivery), (webhook.config, webhook.delivery));
        assert!(read.is_stored);
    }
}
