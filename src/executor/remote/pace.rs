//! The pauses between two polls of a remote task.

use crate::port::Random;

/// The pause before the next poll of a run in memory, in milliseconds. `before` is the previous pause: the next pause
/// is a quarter longer, up to 5 s.
pub(in crate::executor) fn in_memory(first_ms: u64, before: Option<u64>) -> u64 {
    before.map_or(first_ms, |before| (before + before / 4).min(SHORTEST_PARK_MS).max(first_ms))
}

/// The time for which a run is parked before its next poll, in milliseconds. `before` is the previous such time, if
/// nothing has changed since.
///
/// The pause begins at 5 s and grows by half each time, up to 5 min; from there it grows by a 16th, so it stays in
/// proportion to the whole silence: about 80 polls in three days. If the remote agent sends webhooks, polls are needed
/// only after a lost webhook: the pause begins at 5 min and doubles, up to an hour.
pub(in crate::executor) fn parked(before: Option<u64>, has_webhook: bool) -> u64 {
    match (before, has_webhook) {
        (None, false) => SHORTEST_PARK_MS,
        (None, true) => LONG_PARK_MS,
        (Some(before), true) => (2 * before).clamp(LONG_PARK_MS, LONGEST_WEBHOOK_PARK_MS),
        (Some(before), false) if before < LONG_PARK_MS => (before + before / 2).min(LONG_PARK_MS),
        (Some(before), false) => (before + before / 16).min(LONGEST_PARK_MS),
    }
}

/// A pause made up to 2 % shorter or longer at random, so that tasks that began at the same time do not always poll at
/// the same time.
pub(in crate::executor) fn spread(millis: u64, random: &dyn Random) -> u64 {
    (millis as f64 * (0.98 + 0.04 * random.chance())) as u64
}

const SHORTEST_PARK_MS: u64 = 5_000;
const LONG_PARK_MS: u64 = 300_000;
const LONGEST_WEBHOOK_PARK_MS: u64 = 3_600_000;
const LONGEST_PARK_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(has_webhook: bool, within_ms: u64) -> Vec<u64> {
        let mut pauses = vec![parked(None, has_webhook)];
        while pauses.iter().sum::<u64>() < within_ms {
            pauses.push(parked(pauses.last().copied(), has_webhook));
        }
        pauses
    }

    #[test]
    fn pauses_grow_from_five_seconds_to_five_minutes_and_then_with_the_silence() {
        let three_days = pauses(false, 3 * 86_400_000);
        assert_eq!(&three_days[..4], [5_000, 7_500, 11_250, 16_875]);
        assert!(three_days.len() < 90, "{}", three_days.len());
        let mut silence = 0;
        for pause in three_days {
            assert!(pause <= 300_000.max(silence / 3), "{pause} after {silence}");
            silence += pause;
        }
        // After a long silence: one poll a day.
        assert!(pauses(false, 365 * 86_400_000).len() < 365 + 120);
    }

    #[test]
    fn with_webhooks_it_is_asked_every_hour() {
        let three_days = pauses(true, 3 * 86_400_000);
        assert_eq!(&three_days[..5], [300_000, 600_000, 1_200_000, 2_400_000, 3_600_000]);
        assert!(three_days.len() < 80);
    }

    #[test]
    fn in_memory_the_pauses_grow_to_five_seconds() {
        let mut pause = in_memory(1_000, None);
        let mut count = 1;
        let mut silence = pause;
        while silence < 60_000 {
            pause = in_memory(1_000, Some(pause));
            assert!((1_000..=5_000).contains(&pause));
            silence += pause;
            count += 1;
        }
        assert!(count < 25, "{count}");
        assert_eq!(in_memory(8_000, Some(8_000)), 8_000, "as the settings say");
    }
}
