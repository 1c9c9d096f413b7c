//! Counts the requests for one turn, and measures the time without an answer.

use super::super::Turn;
use crate::port::Random;
use crate::task::Unanswered;
use a2a::model::UnixMillis;

/// The requests for a turn so far. When the run is parked, the counts are stored in the log as [`Unanswered`].
pub(super) struct Tries {
    /// The total number of requests.
    asked: u32,
    /// The number of requests that were answered faultily and have to be repeated.
    faulty: u32,
    /// The number of unanswered requests since the last answer, and when the first of them failed.
    outage: Option<(u32, UnixMillis)>,
    /// True if a request may have been answered in part.
    has_said: bool,
}

impl Tries {
    /// The requests of the earlier runs that this run resumes.
    pub(super) fn before(turn: &Turn) -> Self {
        let before = turn.run_task.unanswered();
        // The log does not record how far an interrupted request had proceeded.
        let interrupted = turn.attempt.saturating_sub(1);
        let Some(Unanswered { times, since_ms, asked, faulty }) = before else {
            let has_said = turn.resumes;
            return Self { asked: interrupted, faulty: 0, outage: None, has_said };
        };
        Self {
            asked: asked.saturating_add(interrupted),
            faulty,
            outage: (times > 0).then_some((times, UnixMillis(since_ms))),
            has_said: interrupted > 0 || times < asked,
        }
    }

    /// Counts the next request and returns its number, from 1.
    pub(super) fn begin(&mut self) -> u32 {
        self.asked = self.asked.saturating_add(1);
        self.asked
    }

    /// The total number of requests.
    pub(super) fn asked(&self) -> u32 {
        self.asked
    }

    /// True if a request may have been answered in part.
    pub(super) fn has_said(&self) -> bool {
        self.has_said
    }

    /// Records that the answer to the newest request had a fault; `has_begun` is true if verbs were read before the
    /// fault.
    pub(super) fn note_fault(&mut self, has_begun: bool) -> u32 {
        self.outage = None;
        self.has_said |= has_begun;
        self.faulty = self.faulty.saturating_add(1);
        self.faulty
    }

    /// Records that the newest request was not answered. Returns the number of milliseconds to wait before the next
    /// request; `None` if no program has answered for `limit_ms`.
    pub(super) fn note_silence(
        &mut self,
        now: UnixMillis,
        limit_ms: u64,
        random: &dyn Random,
    ) -> Option<u64> {
        let (times, since) = self.outage.unwrap_or((0, now));
        let times = times.saturating_add(1);
        self.outage = Some((times, since));
        pause_ms(times, now.millis_since(since), limit_ms, random.chance())
    }

    /// The number of unanswered requests in a row, and the number of milliseconds since the first of them failed.
    pub(super) fn silence(&self, now: UnixMillis) -> (u32, u64) {
        self.outage.map_or((0, 0), |(times, since)| (times, now.millis_since(since)))
    }

    /// The counts that a resuming run needs.
    pub(super) fn unanswered(&self) -> Unanswered {
        let (times, since) = self.outage.unwrap_or((0, UnixMillis(0)));
        Unanswered { times, since_ms: since.0, asked: self.asked, faulty: self.faulty }
    }
}

/// The pause after the `times`th unanswered request, in milliseconds, if there was no answer for `passed_ms`. The first
/// pauses are in [`PAUSES_MS`]; each later pause is a quarter of `passed_ms`. A random change makes each pause up to a
/// tenth longer or shorter. The last pause ends at `limit_ms`; a pause is extended to `limit_ms` if only a short pause
/// would follow. `None` if `passed_ms` has reached `limit_ms`.
fn pause_ms(times: u32, passed_ms: u64, limit_ms: u64, chance: f64) -> Option<u64> {
    let left_ms = limit_ms.checked_sub(passed_ms).filter(|left_ms| *left_ms > 0)?;
    let index = usize::try_from(times.saturating_sub(1)).unwrap_or(usize::MAX);
    let known_ms = PAUSES_MS.get(index).copied();
    let base_ms = known_ms.unwrap_or_else(|| LONG_PAUSE_MS.max(passed_ms / 4));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "minutes"
    )]
    let spread_ms = (base_ms as f64 * (0.9 + chance / 5.0)) as u64;
    Some(if left_ms < spread_ms + spread_ms / 2 { left_ms } else { spread_ms })
}

/// The first pauses, in milliseconds; they are short, so that a run quickly notices the restart of a program.
const PAUSES_MS: [u64; 6] = [200, 500, 1_000, 2_000, 4_000, 8_000];
const LONG_PAUSE_MS: u64 = 15_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses of a whole wait, if each request fails at once.
    fn pauses(limit_ms: u64, chance: f64) -> Vec<u64> {
        let (mut pauses, mut passed_ms) = (Vec::new(), 0);
        while let Some(pause_ms) = pause_ms(pauses.len() as u32 + 1, passed_ms, limit_ms, chance) {
            pauses.push(pause_ms);
            passed_ms += pause_ms;
        }
        assert_eq!(passed_ms, limit_ms, "the last request is sent at the end");
        pauses
    }

    #[test]
    fn a_minute_is_ten_requests_whatever_chance_says() {
        assert_eq!(
            pauses(60_000, 0.5),
            [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 14_300]
        );
        for chance in [0.0, 0.2, 0.9, 0.999] {
            let pauses = pauses(60_000, chance);
            assert_eq!(pauses.len(), 9, "{pauses:?}");
        }
    }

    #[test]
    fn longer_waits_ask_seldom_and_shorter_ones_end_in_time() {
        for (limit_ms, most) in [(1, 1), (200, 1), (1_000, 3), (10_000, 7), (900_000, 23)] {
            for chance in [0.0, 0.5, 0.999] {
                let pauses = pauses(limit_ms, chance);
                assert!((1..=most).contains(&pauses.len()), "{limit_ms}: {pauses:?}");
            }
        }
        assert_eq!(pause_ms(1, 0, 0, 0.5), None);
    }
}
