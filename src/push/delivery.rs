//! The delivery state of one webhook, and the decisions about retries, dead letters and suspension.

use std::collections::VecDeque;

use serde::{Serialize, Serializer};

use super::AnswerText;
use a2a::http::retry_after_ms;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Generation, UnixMillis, doubled};

/// The delivery state of one webhook. Stored with the task.
///
/// Events are sent one at a time, in their order: the next event only when the previous event was delivered or given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The generation up to which every event was delivered or given up. Events before the registration of the webhook count as
    /// delivered.
    pub done: Generation,
    /// The number of failed attempts at the next event.
    pub attempts: u32,
    /// The instant of the first failed attempt at the next event.
    #[serde(serialize_with = "number")]
    pub failing_since: Option<UnixMillis>,
    /// The instant of the next attempt.
    #[serde(serialize_with = "number")]
    pub retry_at: Option<UnixMillis>,
    /// The number of events in a row that were given up after all attempts. An event that the receiver refused does
    /// not count.
    pub given_up: u32,
    /// The health of the webhook.
    pub health: Health,
    /// The error of the newest failed attempt.
    pub last_error: Option<String>,
    /// The newest attempts, oldest first, up to 20.
    pub recent: VecDeque<Attempt>,
    /// The instant at which the newest attempt ended without an answer in time; `None` if it ended otherwise.
    #[serde(serialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub silent_at: Option<UnixMillis>,
    /// While suspended: true if the notification about the end of the task is still attempted, once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tells_end: bool,
    /// The instant since which the webhook is failing or suspended.
    #[serde(serialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub unhealthy_since: Option<UnixMillis>,
    /// The newest dead letters, oldest first, up to 20: events that were given up and not requested again.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub dead_letters: VecDeque<DeadLetter>,
}

/// An event that was given up, until its redelivery is requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// The event.
    pub generation: Generation,
    /// The error of the last attempt at the event.
    pub error: String,
    /// The instant of that attempt, in milliseconds since the epoch.
    pub at: i64,
}

/// The health of a webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Health {
    /// The newest event was delivered, or no event was sent yet.
    #[default]
    Active,
    /// The newest attempt failed.
    Failing,
    /// Too many events were given up: nothing is sent until the owner requests redelivery, except one attempt for the end of the
    /// task.
    Suspended,
}

/// The recent behavior of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// The receiver has never answered, or nothing was sent yet.
    #[default]
    Unknown,
    /// The receiver has answered recently.
    Answering,
    /// The newest attempt, within the last minute, received no answer in time.
    Silent,
}

/// One attempt to deliver an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The instant of the attempt, in milliseconds since the epoch.
    pub at: i64,
    /// The event.
    pub generation: Generation,
    /// The number of the attempt at this event, from 1.
    pub attempt: u32,
    /// The HTTP status of the answer; `None` if there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: u64,
    /// The outcome: `delivered`, `retry` or `givenUp`.
    pub outcome: String,
    /// The error, if the attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The beginning of the answer, if the attempt failed; kept for the newest attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerText>,
}

/// The report of a sender about one attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The event.
    pub generation: Generation,
    /// The instant of the attempt, in milliseconds since the epoch.
    pub at: i64,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: u64,
    /// The HTTP status of the answer; `None` if there was no answer.
    pub status: Option<u16>,
    /// The reason why there was no answer, or why nothing was sent.
    pub error: Option<String>,
    /// True if a retry is useless: the URL must not be called.
    pub is_hopeless: bool,
    /// True if the attempt timed out.
    pub is_timeout: bool,
    /// The receiver's `Retry-After` in seconds; see [`retry_after_s`].
    pub retry_after_s: Option<u64>,
    /// The beginning of the answer, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerText>,
}

/// The decision after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The event was delivered.
    Delivered,
    /// The event is attempted again later.
    Retry,
    /// The limit of attempts is reached; the event becomes a dead letter.
    GivenUp,
    /// The receiver refuses this event; it is not attempted again.
    Refused,
    /// The report is about an event that was already delivered or given up.
    Stale,
}

/// The limits of retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The highest number of attempts at an event.
    pub max_attempts: u32,
    /// The longest time during which an event is attempted, in milliseconds.
    pub max_age_ms: u64,
    /// The time before the second attempt, in milliseconds; it doubles from attempt to attempt.
    pub delay_ms: u64,
    /// The number of events given up in a row after which the webhook is suspended.
    pub suspend_after: u32,
}

impl Delivery {
    /// The state of a new webhook that receives the events after this generation.
    pub fn after(generation: Generation) -> Self {
        Self { done: generation, ..Self::default() }
    }

    /// The state of a webhook that replaces this one. The new webhook receives the same unsent events and has no failures.
    pub fn replaced(&self) -> Self {
        let (recent, dead_letters) = (self.recent.clone(), self.dead_letters.clone());
        Self { done: self.done, recent, dead_letters, ..Self::default() }
    }

    /// True if the webhook is failing or suspended, or has dead letters.
    pub fn is_in_trouble(&self) -> bool {
        self.health != Health::Active || !self.dead_letters.is_empty()
    }

    /// The instant since which the webhook is in trouble; `None` if it is not in trouble.
    pub fn troubled_since(&self) -> Option<UnixMillis> {
        let oldest = || self.dead_letters.front().map(|letter| UnixMillis(letter.at));
        self.unhealthy_since.or_else(oldest)
    }

    /// True if an unsent event may be sent at this instant.
    pub fn is_ready(&self, now: UnixMillis) -> bool {
        let is_open = self.health != Health::Suspended || self.tells_end;
        is_open && self.retry_at.is_none_or(|at| at <= now)
    }

    /// The recent behavior of the receiver.
    pub fn standing(&self, now: UnixMillis) -> Standing {
        let is_lately = |at: UnixMillis| now.millis_since(at) <= SILENT_MS;
        if self.silent_at.is_some_and(is_lately) {
            return Standing::Silent;
        }
        let has_answered = self.recent.iter().any(|attempt| attempt.status.is_some());
        if has_answered { Standing::Answering } else { Standing::Unknown }
    }

    /// Applies the report of a sender. `chance` is from 0 to 1 and spreads retries.
    pub fn report(
        &mut self,
        report: Report,
        policy: &RetryPolicy,
        now: UnixMillis,
        chance: f64,
    ) -> Verdict {
        if report.generation <= self.done {
            return Verdict::Stale;
        }
        let was_suspended = self.health == Health::Suspended;
        let verdict = match self.judge(&report, policy, now) {
            // While suspended, there is one attempt for the end of the task.
            Verdict::Retry if was_suspended => Verdict::GivenUp,
            verdict => verdict,
        };
        self.silent_at = report.is_timeout.then_some(now);
        let attempt = self.attempts + 1;
        let error = report.failure();
        self.note(Attempt {
            at: report.at,
            generation: report.generation,
            attempt,
            status: report.status,
            duration_ms: report.duration_ms,
            outcome: verdict.name().to_owned(),
            error: error.clone(),
            answer: report.answer.filter(|_| error.is_some()),
        });
        match verdict {
            // The events before the end remain unsent, so that the owner can request them.
            _ if was_suspended => self.tells_end = false,
            Verdict::Delivered => {
                self.settle(report.generation);
                self.given_up = 0;
                self.health = Health::Active;
            }
            Verdict::Retry => {
                self.attempts = attempt;
                self.failing_since.get_or_insert(now);
                let delay = delay_after(attempt, policy.delay_ms, chance);
                let asked = report.retry_after_s.unwrap_or(0).saturating_mul(1_000);
                let delay = delay.max(asked).min(MAX_DELAY_MS);
                self.retry_at = Some(now.after(delay));
                self.health = Health::Failing;
            }
            Verdict::GivenUp => {
                self.settle(report.generation);
                self.given_up = self.given_up.saturating_add(1);
                self.health = Health::Failing;
                if self.given_up >= policy.suspend_after {
                    self.health = Health::Suspended;
                    self.tells_end = true;
                }
            }
            Verdict::Refused => {
                self.settle(report.generation);
                // A receiver that answers 410 receives no notification about the end either.
                let is_gone = report.status == Some(410);
                self.health = if is_gone { Health::Suspended } else { Health::Failing };
            }
            Verdict::Stale => {}
        }
        if let Some(error) = &error
            && matches!(verdict, Verdict::GivenUp | Verdict::Refused)
        {
            let (generation, error) = (report.generation, error.clone());
            self.keep_letter(DeadLetter { generation, error, at: report.at });
        }
        if error.is_some() {
            self.last_error = error;
        }
        match self.health {
            Health::Active => self.unhealthy_since = None,
            Health::Failing | Health::Suspended => {
                self.unhealthy_since.get_or_insert(now);
            }
        }
        verdict
    }

    /// Sends the events from this generation on again, delivered or not. Their dead letters are removed.
    pub fn restart_from(&mut self, generation: Generation) {
        self.dead_letters.retain(|letter| letter.generation < generation);
        self.unhealthy_since = None;
        self.settle(generation.before(1));
        self.given_up = 0;
        self.health = Health::Active;
        self.tells_end = false;
    }

    fn judge(&self, report: &Report, policy: &RetryPolicy, now: UnixMillis) -> Verdict {
        match report.status {
            Some(200..=299) => return Verdict::Delivered,
            Some(408 | 425 | 429 | 500..=599) => {}
            Some(_) => return Verdict::Refused,
            None if report.is_hopeless => return Verdict::GivenUp,
            None => {}
        }
        let age_ms = now.millis_since(self.failing_since.unwrap_or(now));
        let is_last = self.attempts + 1 >= policy.max_attempts || age_ms >= policy.max_age_ms;
        if is_last { Verdict::GivenUp } else { Verdict::Retry }
    }

    fn settle(&mut self, generation: Generation) {
        self.done = generation;
        self.attempts = 0;
        self.failing_since = None;
        self.retry_at = None;
    }

    fn keep_letter(&mut self, letter: DeadLetter) {
        self.dead_letters.retain(|known| known.generation != letter.generation);
        if self.dead_letters.len() >= MAX_DEAD_LETTERS {
            self.dead_letters.pop_front();
        }
        self.dead_letters.push_back(letter);
    }

    fn note(&mut self, attempt: Attempt) {
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(attempt);
        let mut bytes = 0;
        for attempt in self.recent.iter_mut().rev() {
            bytes += attempt.answer.as_ref().map_or(0, |answer| answer.text.len());
            attempt.answer.take_if(|_| bytes > MAX_ANSWER_BYTES);
        }
    }
}

impl Report {
    /// The error of the attempt; `None` if the receiver has accepted the notification.
    pub fn failure(&self) -> Option<String> {
        match self.status {
            Some(200..=299) => None,
            Some(status) => Some(format!("the receiver answered {status}")),
            None => Some(self.error.clone().unwrap_or_else(|| "no answer".to_owned())),
        }
    }
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retry => "retry",
            Self::GivenUp | Self::Refused => "givenUp",
            Self::Stale => "stale",
        }
    }
}

/// The delay after this number of failed attempts, in milliseconds. It doubles up to [`MAX_DELAY_MS`], and is spread over its upper half
/// so that many webhooks are not retried at once.
fn delay_after(attempts: u32, first_ms: u64, chance: f64) -> u64 {
    let delay = doubled(first_ms, attempts, MAX_DELAY_MS);
    (delay as f64 * (0.5 + chance / 2.0)) as u64
}

/// Parses the header `Retry-After`, seconds or a date (RFC 9110 §10.2.3), to seconds. At most the longest delay; `None` for any
/// other text.
pub fn retry_after_s(text: &str, now: UnixMillis) -> Option<u64> {
    Some(retry_after_ms(text, now)?.min(MAX_DELAY_MS).div_ceil(1_000))
}

/// Serializes an instant as a number of milliseconds since the epoch.
fn number<S: Serializer>(at: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.0).serialize(serializer)
}

impl Decode for Delivery {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            done: Generation(fields.number("done")?),
            attempts: fields.number("attempts")?,
            failing_since: fields.number("failingSince").map(UnixMillis),
            retry_at: fields.number("retryAt").map(UnixMillis),
            given_up: fields.number("givenUp")?,
            health: match fields.string("health")?.as_str() {
                "active" => Health::Active,
                "failing" => Health::Failing,
                _ => Health::Suspended,
            },
            last_error: fields.string("lastError"),
            recent: fields.list("recent").unwrap_or_default().into(),
            silent_at: fields.number("silentAt").map(UnixMillis),
            tells_end: fields.boolean("tellsEnd").unwrap_or_default(),
            unhealthy_since: fields.number("unhealthySince").map(UnixMillis),
            dead_letters: fields.list("deadLetters").unwrap_or_default().into(),
        })
    }
}

impl Standing {
    /// Parses the name in the answer of an object; an unknown name becomes `Unknown`.
    pub fn named(name: &str) -> Self {
        match name {
            "answering" => Self::Answering,
            "silent" => Self::Silent,
            _ => Self::Unknown,
        }
    }
}

impl Decode for DeadLetter {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            generation: Generation(fields.number("generation")?),
            error: fields.string("error")?,
            at: fields.number("at")?,
        })
    }
}

impl Decode for Attempt {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            at: fields.number("at")?,
            generation: Generation(fields.number("generation")?),
            attempt: fields.number("attempt")?,
            status: fields.number("status"),
            duration_ms: fields.number("durationMs")?,
            outcome: fields.string("outcome")?,
            error: fields.string("error"),
            answer: fields.object("answer"),
        })
    }
}

impl Decode for Report {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            generation: Generation(fields.number("generation")?),
            at: fields.number("at")?,
            duration_ms: fields.number("durationMs")?,
            status: fields.number("status"),
            error: fields.string("error"),
            is_hopeless: fields.boolean("isHopeless").unwrap_or_default(),
            is_timeout: fields.boolean("isTimeout").unwrap_or_default(),
            // A number out of range is ignored: otherwise the report could not be read, and the attempt would never count.
            retry_after_s: fields.member("retryAfterS").and_then(|value| value.as_u64()),
            answer: fields.object("answer"),
        })
    }
}

/// The number of attempts that are stored for a webhook.
const MAX_RECENT: usize = 20;

/// The highest sum of the sizes of the stored answers of a webhook, in bytes. The oldest are dropped first.
const MAX_ANSWER_BYTES: usize = 4_096;

/// The number of dead letters that are stored for a webhook.
const MAX_DEAD_LETTERS: usize = 20;

/// The longest time between two attempts: one hour, in milliseconds.
const MAX_DELAY_MS: u64 = 3_600_000;

/// The time during which a receiver that did not answer in time counts as silent: one minute, in milliseconds. After some retries
/// the delay is longer than that, so a receiver that is only slow gets the full timeout again.
const SILENT_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    const POLICY: RetryPolicy =
        RetryPolicy { max_attempts: 3, max_age_ms: 100_000, delay_ms: 1_000, suspend_after: 2 };

    fn answered(generation: Generation, status: u16) -> Report {
        Report { generation, status: Some(status), ..Report::default() }
    }

    #[test]
    fn answers_of_failed_attempts_are_kept_up_to_a_sum_of_bytes() {
        let mut delivery = Delivery::default();
        let of = |bytes: usize| Some(AnswerText { text: "x".repeat(bytes), is_cut: true });
        let policy = RetryPolicy { max_attempts: 100, ..POLICY };
        for (status, bytes) in (0..30).map(|_| (503, 512)).chain([(503, 9), (200, 9)]) {
            let report = Report { answer: of(bytes), ..answered(Generation(1), status) };
            delivery.report(report, &policy, UnixMillis(0), 0.5);
        }
        let kept: Vec<_> = delivery.recent.iter().map(|attempt| attempt.answer.clone()).collect();
        let mut expected = vec![None; 11];
        expected.extend((0..7).map(|_| of(512)));
        assert_eq!(kept, [expected, vec![of(9), None]].concat());
        let stored = serde_json::to_string(&delivery).unwrap();
        assert_eq!(read_json::<Delivery>(&stored).unwrap(), delivery);
    }

    #[test]
    fn answers_are_judged() {
        for (status, verdict) in [
            (200, Verdict::Delivered),
            (204, Verdict::Delivered),
            (299, Verdict::Delivered),
            (199, Verdict::Refused),
            (301, Verdict::Refused),
            (307, Verdict::Refused),
            (400, Verdict::Refused),
            (401, Verdict::Refused),
            (403, Verdict::Refused),
            (404, Verdict::Refused),
            (408, Verdict::Retry),
            (410, Verdict::Refused),
            (413, Verdict::Refused),
            (422, Verdict::Refused),
            (425, Verdict::Retry),
            (429, Verdict::Retry),
            (500, Verdict::Retry),
            (503, Verdict::Retry),
            (599, Verdict::Retry),
            (600, Verdict::Refused),
        ] {
            let mut delivery = Delivery::after(Generation::NONE);
            let given =
                delivery.report(answered(Generation(1), status), &POLICY, UnixMillis(0), 1.0);
            assert_eq!(given, verdict, "{status}");
        }
    }

    #[test]
    fn what_fails_is_tried_again_with_growing_pauses_and_then_given_up() {
        let mut delivery = Delivery::after(Generation(4));
        let no_answer = || Report { generation: Generation(5), ..Report::default() };
        let mut pauses = Vec::new();
        for _ in 0..2 {
            assert_eq!(delivery.report(no_answer(), &POLICY, UnixMillis(0), 1.0), Verdict::Retry);
            pauses.push(delivery.retry_at.unwrap().0);
            assert!(!delivery.is_ready(UnixMillis(0)));
            assert_eq!((delivery.done, delivery.health), (Generation(4), Health::Failing));
        }
        assert_eq!(pauses, [1_000, 2_000]);
        assert_eq!(delivery.report(no_answer(), &POLICY, UnixMillis(0), 1.0), Verdict::GivenUp);
        assert_eq!((delivery.done, delivery.given_up), (Generation(5), 1));
        assert_eq!(delivery.last_error.as_deref(), Some("no answer"));
        assert!(delivery.is_ready(UnixMillis(0)), "the next event has its own attempts");
        for _ in 0..POLICY.max_attempts {
            delivery.report(answered(Generation(6), 503), &POLICY, UnixMillis(0), 1.0);
        }
        assert_eq!((delivery.health, delivery.tells_end), (Health::Suspended, true));
        delivery.restart_from(Generation(5));
        assert_eq!((delivery.done, delivery.health), (Generation(4), Health::Active));
        delivery.report(answered(Generation(5), 200), &POLICY, UnixMillis(0), 1.0);
        assert_eq!(
            (delivery.done, delivery.health, delivery.given_up),
            (Generation(5), Health::Active, 0)
        );
        assert_eq!(
            delivery.report(answered(Generation(5), 200), &POLICY, UnixMillis(0), 0.0),
            Verdict::Stale
        );
        let outcomes: Vec<&str> =
            delivery.recent.iter().map(|attempt| attempt.outcome.as_str()).collect();
        let twice = ["retry", "retry", "givenUp", "retry", "retry", "givenUp", "delivered"];
        assert_eq!(outcomes, twice);
    }

    #[test]
    fn what_is_given_up_or_refused_is_a_dead_letter_until_it_is_asked_for_again() {
        let mut delivery = Delivery::after(Generation::NONE);
        assert!(!delivery.is_in_trouble());
        delivery.report(answered(Generation(1), 503), &POLICY, UnixMillis(5), 0.0);
        assert!(delivery.is_in_trouble() && delivery.dead_letters.is_empty());
        assert_eq!(
            (delivery.unhealthy_since, delivery.troubled_since()),
            (Some(UnixMillis(5)), Some(UnixMillis(5)))
        );
        delivery.report(
            Report { at: 7, ..answered(Generation(1), 404) },
            &POLICY,
            UnixMillis(8),
            0.0,
        );
        delivery.report(
            Report { at: 9, ..answered(Generation(2), 422) },
            &POLICY,
            UnixMillis(9),
            0.0,
        );
        delivery.report(answered(Generation(3), 204), &POLICY, UnixMillis(10), 0.0);
        let letter = |generation, status: u16, at| DeadLetter {
            generation,
            error: format!("the receiver answered {status}"),
            at,
        };
        assert_eq!(
            delivery.dead_letters,
            [letter(Generation(1), 404, 7), letter(Generation(2), 422, 9)]
        );
        assert_eq!((delivery.health, delivery.unhealthy_since), (Health::Active, None));
        assert_eq!(
            delivery.troubled_since(),
            Some(UnixMillis(7)),
            "healthy again, and there are dead letters"
        );
        let text = serde_json::to_string(&delivery).unwrap();
        assert_eq!(read_json::<Delivery>(&text).unwrap(), delivery);
        assert_eq!(delivery.replaced().dead_letters.len(), 2, "of the webhook in its place");

        delivery.restart_from(Generation(2));
        assert_eq!(delivery.dead_letters, [letter(Generation(1), 404, 7)]);
        delivery.report(
            Report { at: 11, ..answered(Generation(2), 410) },
            &POLICY,
            UnixMillis(11),
            0.0,
        );
        assert_eq!(
            delivery.dead_letters,
            [letter(Generation(1), 404, 7), letter(Generation(2), 410, 11)]
        );
        assert_eq!(delivery.unhealthy_since, Some(UnixMillis(11)));
        delivery.restart_from(Generation(1));
        assert!(!delivery.is_in_trouble());
        assert_eq!(delivery.troubled_since(), None);
    }

    #[test]
    fn the_newest_dead_letters_are_kept_and_a_webhook_that_never_failed_stores_none() {
        let mut delivery = Delivery::after(Generation::NONE);
        delivery.report(answered(Generation(1), 200), &POLICY, UnixMillis(0), 0.0);
        let text = serde_json::to_string(&delivery).unwrap();
        assert!(!text.contains("deadLetters") && !text.contains("unhealthySince"), "{text}");
        for generation in 2..40 {
            delivery.report(answered(Generation(generation), 400), &POLICY, UnixMillis(0), 0.0);
        }
        let kept: Vec<u64> = delivery.dead_letters.iter().map(|kept| kept.generation.0).collect();
        assert_eq!(kept, (20..40).collect::<Vec<_>>());
    }

    #[test]
    fn receivers_are_left_alone_as_long_as_they_want() {
        let mut delivery = Delivery::after(Generation::NONE);
        let report = Report { retry_after_s: Some(30), ..answered(Generation(1), 429) };
        delivery.report(report, &POLICY, UnixMillis(0), 0.0);
        assert_eq!(delivery.retry_at, Some(UnixMillis(30_000)));
        let mut delivery = Delivery::after(Generation::NONE);
        let report = Report { retry_after_s: Some(u64::MAX), ..answered(Generation(1), 503) };
        delivery.report(report, &POLICY, UnixMillis(0), 0.0);
        assert_eq!(delivery.retry_at, Some(UnixMillis(3_600_000)));
    }

    #[test]
    fn retry_after_is_read_within_bounds() {
        let now = UnixMillis::parse("2026-01-05T09:00:00.000Z").unwrap();
        for (text, seconds) in [
            ("0", Some(0)),
            (" 30 ", Some(30)),
            ("3600", Some(3_600)),
            ("3601", Some(3_600)),
            ("9223372036854775807", Some(3_600)),
            ("9223372036854775808", Some(3_600)),
            ("18446744073709551615", Some(3_600)),
            ("18446744073709551616", Some(3_600)),
            ("99999999999999999999999999999999", Some(3_600)),
            ("Mon, 05 Jan 2026 09:00:30 GMT", Some(30)),
            ("Mon, 05 Jan 2026 08:00:00 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(3_600)),
            ("-1", None),
            ("+5", None),
            ("1.5", None),
            ("1e9", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after_s(text, now), seconds, "{text}");
        }
    }

    #[test]
    fn a_report_counts_whatever_its_numbers_are() {
        for retry_after in ["9223372036854775808", "18446744073709551615", "-1", "1e300", r#""x""#]
        {
            let text = format!(
                r#"{{"generation":1,"at":0,"durationMs":1,"status":503,"retryAfterS":{retry_after}}}"#
            );
            let report = read_json::<Report>(&text).expect(&text);
            let mut delivery = Delivery::after(Generation::NONE);
            let verdict = delivery.report(report, &POLICY, UnixMillis(0), 0.0);
            assert_eq!(verdict, Verdict::Retry, "{text}");
            assert!(
                delivery.retry_at.is_some_and(|at| (500..=3_600_000).contains(&at.0)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_the_receiver_refuses_does_not_count_against_it() {
        let mut delivery = Delivery::after(Generation::NONE);
        for (generation, status) in (1..).zip([400, 401, 403, 404, 413, 422, 307]) {
            let verdict = delivery.report(
                answered(Generation(generation), status),
                &POLICY,
                UnixMillis(0),
                0.0,
            );
            assert_eq!((verdict, delivery.given_up), (Verdict::Refused, 0), "{status}");
            assert_eq!((delivery.done, delivery.health), (Generation(generation), Health::Failing));
        }
    }

    #[test]
    fn the_end_is_tried_once_although_suspended() {
        let one_try = RetryPolicy { max_attempts: 1, ..POLICY };
        for status in [200, 503, 404] {
            let mut delivery = Delivery::after(Generation::NONE);
            delivery.report(answered(Generation(1), 503), &one_try, UnixMillis(0), 0.0);
            delivery.report(answered(Generation(2), 503), &one_try, UnixMillis(0), 0.0);
            assert_eq!((delivery.health, delivery.tells_end), (Health::Suspended, true));
            assert!(delivery.is_ready(UnixMillis(0)));
            let verdict =
                delivery.report(answered(Generation(9), status), &POLICY, UnixMillis(0), 0.0);
            assert!(!matches!(verdict, Verdict::Retry | Verdict::Stale), "{status}");
            assert_eq!((delivery.health, delivery.tells_end), (Health::Suspended, false));
            assert_eq!(delivery.done, Generation(2), "what is before the end stays owed");
            assert!(!delivery.is_ready(UnixMillis(i64::MAX)));
        }
    }

    #[test]
    fn who_was_silent_is_so_for_a_while() {
        let mut delivery = Delivery::after(Generation::NONE);
        assert_eq!(delivery.standing(UnixMillis(0)), Standing::Unknown);
        let silent = |generation| Report { generation, is_timeout: true, ..Report::default() };
        delivery.report(silent(Generation(1)), &POLICY, UnixMillis(0), 0.0);
        assert_eq!(delivery.standing(UnixMillis(0).after(SILENT_MS)), Standing::Silent);
        assert_eq!(delivery.standing(UnixMillis(0).after(SILENT_MS + 1)), Standing::Unknown);
        let text = serde_json::to_string(&delivery).unwrap();
        assert_eq!(read_json::<Delivery>(&text).unwrap(), delivery);
        delivery.report(answered(Generation(1), 503), &POLICY, UnixMillis(1), 0.0);
        assert_eq!(delivery.standing(UnixMillis(1)), Standing::Answering);
        for standing in [Standing::Unknown, Standing::Answering, Standing::Silent] {
            let name = serde_json::to_value(standing).unwrap();
            assert_eq!(Standing::named(name.as_str().unwrap()), standing);
        }
    }

    #[test]
    fn rows_of_earlier_versions_are_read() {
        let text = r#"{"done":4,"attempts":0,"failingSince":null,"retryAt":null,"givenUp":3,
            "health":"suspended","lastError":"x","recent":[]}"#;
        let delivery = read_json::<Delivery>(text).unwrap();
        assert_eq!((delivery.done, delivery.health), (Generation(4), Health::Suspended));
        assert!(!delivery.is_ready(UnixMillis(i64::MAX)), "nothing is sent unasked");
    }

    #[test]
    fn who_is_gone_is_not_called_again_and_what_is_too_old_is_given_up() {
        let mut delivery = Delivery::after(Generation::NONE);
        delivery.report(answered(Generation(1), 410), &POLICY, UnixMillis(0), 0.0);
        assert_eq!(delivery.health, Health::Suspended);
        let mut delivery = Delivery::after(Generation::NONE);
        delivery.report(answered(Generation(1), 500), &POLICY, UnixMillis(0), 0.0);
        let verdict =
            delivery.report(answered(Generation(1), 500), &POLICY, UnixMillis(100_000), 0.0);
        assert_eq!(verdict, Verdict::GivenUp);
    }

    #[test]
    fn what_is_kept_is_read_as_it_was_written() {
        let mut delivery = Delivery::after(Generation(3));
        for generation in 4..40 {
            delivery.report(answered(Generation(generation), 200), &POLICY, UnixMillis(9), 0.5);
        }
        delivery.report(answered(Generation(40), 500), &POLICY, UnixMillis(9), 0.5);
        assert_eq!(delivery.recent.len(), MAX_RECENT);
        let text = serde_json::to_string(&delivery).unwrap();
        assert_eq!(read_json::<Delivery>(&text).unwrap(), delivery);
        let report =
            Report { error: Some("x".to_owned()), is_hopeless: true, ..answered(Generation(1), 2) };
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(read_json::<Report>(&text).unwrap(), report);
    }
}
