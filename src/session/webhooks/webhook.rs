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
    pub(in crate::session) dialect: Dialect,
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
    /// How far the list of webhooks in trouble has followed.
    pub(super) listing: Listing,
}

/// How far the list of webhooks in trouble has followed the changes of one. Both numbers are 0 for a webhook that was never in
/// trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Listing {
    /// The newest change that the list is to show: a number that grows, also if the webhook is deleted and registered again.
    pub(in crate::session) version: u64,
    /// The newest change that it is known to show.
    pub(in crate::session) listed: u64,
}

impl Listing {
    /// Whether a webhook was never in trouble.
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the list has not got the newest change.
    fn is_owed(self) -> bool {
        self.listed < self.version
    }
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
    #[serde(skip_serializing_if = "Listing::is_empty")]
    listing: Listing,
}

/// When the alarm is needed for webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Looks {
    /// When to look whether a consumer has come.
    pub(in crate::session) look: Option<UnixMillis>,
    /// When a notification that has failed is tried again.
    pub(in crate::session) retry: Option<UnixMillis>,
}

impl Looks {
    /// The earlier instants of the two.
    pub(in crate::session) fn or(self, other: Self) -> Self {
        let earliest =
            |one: Option<UnixMillis>, two: Option<UnixMillis>| one.into_iter().chain(two).min();
        Self { look: earliest(self.look, other.look), retry: earliest(self.retry, other.retry) }
    }
}

impl Webhook {
    /// A new webhook, whose first event is the one after this generation.
    pub(in crate::session) fn new(
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        after: u64,
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

    /// Puts another config in its place, which goes on behind the newest event that this one got.
    pub(in crate::session) fn replace(
        &mut self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        now: UnixMillis,
    ) {
        let was_in_trouble = self.delivery.is_in_trouble();
        let delivery = self.delivery.replaced();
        let (lost_at, listing) = (self.lost_at, self.listing);
        *self = Self { delivery, lost_at, listing, ..Self::new(config, dialect, 0) };
        self.note_changed(was_in_trouble, now);
    }

    /// Takes down that the list has to follow, if the webhook is in trouble or was before the change.
    fn note_changed(&mut self, was_in_trouble: bool, now: UnixMillis) {
        if was_in_trouble || self.delivery.is_in_trouble() {
            let now = u64::try_from(now.0).unwrap_or(0);
            self.listing.version = now.max(self.listing.version.saturating_add(1));
        }
    }

    /// Whether the list of webhooks in trouble has not got its newest change.
    pub(super) fn owes_listing(&self) -> bool {
        self.listing.is_owed()
    }

    /// Sends again, from the event of this generation on. A report of what is under way does not count.
    pub(super) fn restart_from(&mut self, generation: u64, now: UnixMillis) {
        let was_in_trouble = self.delivery.is_in_trouble();
        self.delivery.restart_from(generation);
        self.note_changed(was_in_trouble, now);
        self.pending = None;
        self.lease = None;
    }

    /// It as it is stored.
    pub(super) fn to_json(&self) -> String {
        let Self { config, dialect, delivery, listing, .. } = self;
        let stored = StoredWebhook { config, dialect: *dialect, delivery, listing: *listing };
        // The model has no map with keys other than strings, so encoding cannot fail.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// It is stored as it stands.
    pub(in crate::session) fn note_stored(&mut self) {
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
        let due = self.delivery.retry_at;
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
            // The holder reports, or else the lease ends.
            (Some(lease), _) => Looks { look: Some(soon.max(lease.until)), retry: None },
            (None, Some(at)) => Looks { look: None, retry: Some(at) },
            (None, None) => Looks { look: Some(self.lost_at.unwrap_or(soon)), retry: None },
        }
    }

    /// A consumer has come, which shows this lease if it has one. Whether it may send: nobody else has the lease.
    pub(in crate::session) fn admit(&mut self, lease: Option<&str>, now: UnixMillis) -> bool {
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
        let listing = fields.object("listing").unwrap_or_default();
        let new = Self::new(config, dialect, 0);
        Some(Self { delivery, listing, is_stored: true, is_watched: false, ..new })
    }
}

impl Decode for Listing {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { version: fields.number("version")?, listed: fields.number("listed")? })
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
    fn the_list_is_owed_each_change_of_a_webhook_in_trouble_and_nothing_of_another() {
        let policy =
            RetryPolicy { max_attempts: 1, max_age_ms: 1_000, delay_ms: 10, suspend_after: 3 };
        let mut webhook = webhook();
        let version_after = |webhook: &mut Webhook, status, at| {
            let generation = webhook.delivery.done + 1;
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
        webhook.restart_from(2, UnixMillis(40));
        assert_eq!((webhook.listing.version, webhook.owes_listing()), (40, true));
        assert!(!webhook.delivery.is_in_trouble());
        webhook.restart_from(1, UnixMillis(50));
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
        webhook.delivery.done = 7;
        let read: Webhook = read_json(&webhook.to_json()).unwrap();
        assert_eq!((read.config, read.delivery), (webhook.config, webhook.delivery));
        assert!(read.is_stored);
    }
}
