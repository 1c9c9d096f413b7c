//! One webhook of a task in memory: its owed events, its lease, and its job in the queue.

use serde::Serialize;

use super::past::Past;
use crate::push::{Delivery, GivenUp, Health, Report, RetryPolicy, Verdict};
use crate::task::TaskMachine;
use a2a::dialect::Dialect;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{EventFilter, Generation, TaskPushNotificationConfig, UnixMillis, to_json};

/// A webhook of the task.
pub(crate) struct Webhook {
    /// The registered config.
    pub(crate) config: TaskPushNotificationConfig,
    /// The dialect of the registration, in which the notifications are written.
    pub(in crate::session) dialect: Dialect,
    /// The state of its delivery.
    pub(crate) delivery: Delivery,
    /// The instant at which its job in the queue counts as lost; `None` if no job is known to be in the queue.
    lost_at: Option<UnixMillis>,
    /// The instant since which jobs of the webhook wait for a consumer; `None` if no job waits.
    waits_since: Option<UnixMillis>,
    /// True if the webhook was registered, or a consumer has sent a request for it, in this session. Otherwise the webhook was
    /// read from storage, and an event may be owed since an earlier session.
    is_watched: bool,
    /// The lease of the consumer that sends its notifications.
    lease: Option<Lease>,
    /// The generation of the event that a consumer is sending, until the consumer reports the result. A report of another
    /// generation is out of date.
    pending: Option<Generation>,
    /// The number of reports that are not stored yet.
    unsaved: u32,
    /// True if the webhook was stored at least once.
    pub(in crate::session) is_stored: bool,
    /// The replay of the log up to the newest sent event, while the webhook is behind and its notifications contain the whole
    /// task.
    pub(super) past: Option<Box<Past>>,
    /// The progress of the list of webhooks in trouble.
    pub(super) listing: Listing,
}

/// The progress of the list of webhooks in trouble for one webhook. The version and `listed` are 0 for a webhook that
/// never failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Listing {
    /// The number of the newest change for the list. The number grows with each change, also if the webhook is deleted and
    /// registered again.
    pub(in crate::session) version: u64,
    /// The number of the newest change that the list is known to have.
    pub(in crate::session) listed: u64,
}

impl Listing {
    /// True if the webhook has never failed.
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// True if the list lacks the newest change.
    fn is_owed(self) -> bool {
        self.listed < self.version
    }
}

/// The right to send the notifications of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lease {
    holder: String,
    /// The end of the lease: from this instant on, another consumer may get it.
    until: UnixMillis,
}

/// A webhook as it is stored: a line of JSON.
#[derive(Serialize)]
struct StoredWebhook<'a> {
    config: &'a TaskPushNotificationConfig,
    #[serde(skip_serializing_if = "Dialect::is_v1")]
    dialect: Dialect,
    delivery: &'a Delivery,
    #[serde(skip_serializing_if = "Listing::is_empty")]
    listing: Listing,
}

/// The instants at which webhooks need the alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Looks {
    /// The instant at which to check whether a consumer has sent a request.
    pub(in crate::session) look: Option<UnixMillis>,
    /// The instant of the next attempt of a failed notification.
    pub(in crate::session) retry: Option<UnixMillis>,
}

impl Looks {
    /// The earlier instant of each kind.
    pub(in crate::session) fn or(self, other: Self) -> Self {
        let earliest =
            |one: Option<UnixMillis>, two: Option<UnixMillis>| one.into_iter().chain(two).min();
        Self { look: earliest(self.look, other.look), retry: earliest(self.retry, other.retry) }
    }
}

impl Webhook {
    /// A new webhook that gets the events after this generation.
    pub(in crate::session) fn new(
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        after: Generation,
    ) -> Self {
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
            listing: Listing::default(),
        }
    }

    /// Replaces the config. The webhook continues after the newest event that was sent to it.
    pub(in crate::session) fn replace(
        &mut self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        now: UnixMillis,
    ) {
        let was_in_trouble = self.delivery.is_in_trouble();
        let delivery = self.delivery.replaced();
        let (lost_at, listing) = (self.lost_at, self.listing);
        *self = Self { delivery, lost_at, listing, ..Self::new(config, dialect, Generation::NONE) };
        self.note_changed(was_in_trouble, now);
    }

    /// Records a change for the list, if the webhook is in trouble now or was before.
    fn note_changed(&mut self, was_in_trouble: bool, now: UnixMillis) {
        if was_in_trouble || self.delivery.is_in_trouble() {
            let now = u64::try_from(now.0).unwrap_or(0);
            self.listing.version = now.max(self.listing.version.saturating_add(1));
        }
    }

    /// True if the list of webhooks in trouble lacks its newest change.
    pub(in crate::session) fn owes_listing(&self) -> bool {
        self.listing.is_owed()
    }

    /// Restarts the webhook: it gets the events from this generation on again. The report of the attempt in progress, if there
    /// is one, will be ignored.
    pub(in crate::session) fn restart_from(&mut self, generation: Generation, now: UnixMillis) {
        let was_in_trouble = self.delivery.is_in_trouble();
        self.delivery.restart_from(generation);
        self.note_changed(was_in_trouble, now);
        self.pending = None;
        self.lease = None;
    }

    /// The stored form.
    pub(super) fn to_json(&self) -> String {
        let Self { config, dialect, delivery, listing, .. } = self;
        let stored = StoredWebhook { config, dialect: *dialect, delivery, listing: *listing };
        // The model has no map with keys other than strings, so encoding cannot fail.
        to_json(&stored).unwrap_or_default()
    }

    /// Records that the present state is stored.
    pub(in crate::session) fn note_stored(&mut self) {
        self.unsaved = 0;
        self.is_stored = true;
    }

    /// The generation before the next owed event; `None` if no event is owed.
    pub(in crate::session) fn owed_after(&self, machine: &TaskMachine) -> Option<Generation> {
        let Delivery { done, health, tells_end, .. } = self.delivery;
        if health == Health::Suspended {
            let end = machine.status_generation();
            let has_end = machine.state().is_terminal() && end > done;
            let is_wanted = self.config.events != EventFilter::Artifacts;
            return (tells_end && has_end && is_wanted).then(|| end.before(1));
        }
        let newest = match self.config.events {
            EventFilter::All => machine.generation(),
            EventFilter::Status => machine.status_generation(),
            EventFilter::Artifacts => machine.artifact_generation(),
        };
        (newest > done).then_some(done)
    }

    /// The lease, unless it has ended.
    fn lease(&self, now: UnixMillis) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.until > now)
    }

    /// True if the queue needs a job: a notification can be sent, no consumer has the lease, and no earlier job may still be in the
    /// queue.
    pub(super) fn needs_job(&self, machine: &TaskMachine, now: UnixMillis) -> bool {
        self.owed_after(machine).is_some()
            && self.delivery.is_ready(now)
            && self.lease(now).is_none()
            && self.lost_at.is_none_or(|at| at <= now)
    }

    /// Records that a job is put into the queue. The time until the job counts as lost grows with the time that the webhook has
    /// waited already: if the consumers are behind, additional jobs would not speed up the delivery.
    pub(super) fn note_queued(
        &mut self,
        machine: &TaskMachine,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) {
        let due = self.delivery.retry_at;
        let stored_since = || due.or(machine.task().status.timestamp).unwrap_or(now);
        let since = if self.is_watched { now } else { stored_since() };
        let since = *self.waits_since.get_or_insert(since);
        let pause_ms = now.millis_since(since).min(MAX_LOOK_MS).max(keep_alive_ms);
        self.lost_at = Some(now.after(pause_ms));
    }

    /// Records that the queue did not accept the job.
    pub(in crate::session) fn note_not_queued(&mut self) {
        self.lost_at = None;
    }

    /// The instants at which this webhook needs the alarm.
    pub(in crate::session) fn looks(
        &self,
        machine: &TaskMachine,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) -> Looks {
        if self.owed_after(machine).is_none() {
            return Looks::default();
        }
        let soon = now.after(keep_alive_ms);
        let retry_at = self.delivery.retry_at.filter(|at| *at > now);
        match (self.lease(now), retry_at) {
            // The holder of the lease may report earlier; if not, check when the lease ends.
            (Some(lease), _) => Looks { look: Some(soon.max(lease.until)), retry: None },
            (None, Some(at)) => Looks { look: None, retry: Some(at) },
            (None, None) => Looks { look: Some(self.lost_at.unwrap_or(soon)), retry: None },
        }
    }

    /// Handles the request of a consumer, with the holder of the consumer's lease if there is one. Returns true if the consumer
    /// may send: no other consumer has the lease.
    pub(in crate::session) fn admit(&mut self, lease: Option<&str>, now: UnixMillis) -> bool {
        if self.lease(now).is_some_and(|held| Some(held.holder.as_str()) != lease) {
            return false;
        }
        // The job is no longer in the queue: the consumer has it.
        self.lease = None;
        self.lost_at = None;
        self.waits_since = None;
        self.is_watched = true;
        true
    }

    /// Records that the event of this generation is sent by the holder of a new lease.
    pub(in crate::session) fn give_out(
        &mut self,
        generation: Generation,
        holder: String,
        until: UnixMillis,
    ) {
        self.lease = Some(Lease { holder, until });
        self.pending = Some(generation);
    }

    /// Applies the report of a consumer. Returns `None` if the report is out of date.
    pub(in crate::session) fn report(
        &mut self,
        report: Report,
        policy: &RetryPolicy,
        now: UnixMillis,
        chance: f64,
    ) -> Option<(Verdict, GivenUp)> {
        let generation = report.generation;
        self.pending.take_if(|pending| *pending == generation)?;
        let was_in_trouble = self.delivery.is_in_trouble();
        let verdict = self.delivery.report(report, policy, now, chance);
        if verdict != Verdict::Stale {
            self.note_changed(was_in_trouble, now);
        }
        self.unsaved += 1;
        let error = self.delivery.last_error.clone().unwrap_or_default();
        let is_suspended = self.delivery.health == Health::Suspended;
        Some((verdict, GivenUp { generation, error, is_suspended }))
    }

    /// True if the reports must be stored now: no event is left to send, or too many notifications would be repeated after a
    /// crash.
    pub(in crate::session) fn must_be_stored(&self, has_more: bool) -> bool {
        self.unsaved >= MAX_UNSAVED || (self.unsaved > 0 && !has_more)
    }
}

impl Decode for Webhook {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let config = fields.object("config")?;
        let dialect = Dialect::read(fields, "dialect")?;
        let delivery = fields.object("delivery")?;
        let listing = fields.object("listing").unwrap_or_default();
        let new = Self::new(config, dialect, Generation::NONE);
        Some(Self { delivery, listing, is_stored: true, is_watched: false, ..new })
    }
}

impl Decode for Listing {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { version: fields.number("version")?, listed: fields.number("listed")? })
    }
}

/// The longest time for which a job counts as being in the queue: one hour, in milliseconds.
const MAX_LOOK_MS: u64 = 3_600_000;

/// The highest number of reports that are not stored: this number of notifications may be repeated after a crash.
const MAX_UNSAVED: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    fn webhook() -> Webhook {
        let config = r#"{"id": "w", "taskId": "t", "url": "https://receiver.example/"}"#;
        Webhook::new(read_json(config).unwrap(), Dialect::V1, Generation::NONE)
    }

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
        webhook.give_out(Generation(1), "one".to_owned(), UnixMillis(100));
        assert!(!webhook.admit(None, UnixMillis(99)));
        assert!(!webhook.admit(Some("two"), UnixMillis(99)));
        assert!(webhook.admit(Some("one"), UnixMillis(99)), "the holder comes back");
        webhook.give_out(Generation(1), "one".to_owned(), UnixMillis(100));
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
        assert_eq!(report(&mut webhook, Generation(1)), None);
        webhook.give_out(Generation(1), "one".to_owned(), UnixMillis(100));
        assert_eq!(report(&mut webhook, Generation(2)), None);
        assert_eq!(report(&mut webhook, Generation(1)), Some(Verdict::Delivered));
        assert_eq!(report(&mut webhook, Generation(1)), None);
        assert!(!webhook.must_be_stored(true) && webhook.must_be_stored(false));
        webhook.note_stored();
        assert!(!webhook.must_be_stored(false));
    }

    #[test]
    fn the_list_is_owed_each_change_of_a_webhook_in_trouble_and_nothing_of_another() {
        let policy =
            RetryPolicy { max_attempts: 1, max_age_ms: 1_000, delay_ms: 10, suspend_after: 3 };
        let mut webhook = webhook();
        let version_after = |webhook: &mut Webhook, status, at| {
            let generation = webhook.delivery.done.next();
            webhook.give_out(generation, "one".to_owned(), UnixMillis(at + 100));
            let report = Report { generation, status: Some(status), ..Report::default() };
            webhook.report(report, &policy, UnixMillis(at), 0.5).unwrap();
            webhook.listing.version
        };
        assert_eq!(version_after(&mut webhook, 200, 10), 0, "it was never in trouble");
        assert!(!webhook.owes_listing() && !webhook.to_json().contains("listing"));
        assert_eq!(version_after(&mut webhook, 500, 20), 20);
        assert_eq!(version_after(&mut webhook, 500, 20), 21, "in the same millisecond");
        webhook.listing.listed = 21;
        assert!(!webhook.owes_listing());
        assert_eq!(version_after(&mut webhook, 200, 30), 30, "healthy, with dead letters");
        let read: Webhook = read_json(&webhook.to_json()).unwrap();
        assert_eq!(read.listing, Listing { version: 30, listed: 21 });
        webhook.restart_from(Generation(2), UnixMillis(40));
        assert_eq!((webhook.listing.version, webhook.owes_listing()), (40, true));
        assert!(!webhook.delivery.is_in_trouble());
        webhook.restart_from(Generation(1), UnixMillis(50));
        let config = webhook.config.clone();
        webhook.replace(config, Dialect::V1, UnixMillis(60));
        assert_eq!(webhook.listing.version, 40, "nothing that the list shows has changed");
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
        webhook.delivery.done = Generation(7);
        let read: Webhook = read_json(&webhook.to_json()).unwrap();
        assert_eq!((read.config, read.delivery), (webhook.config, webhook.delivery));
        assert!(read.is_stored);
    }
}
