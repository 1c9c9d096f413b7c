//! Limits the test notifications of a task, and the checks of signatures. The limits are kept in memory, so they end when the object of the task leaves memory.

use std::collections::VecDeque;

use a2a::model::UnixMillis;

/// The tests and checks of a task that are under way, and those of the last minute.
#[derive(Debug, Default)]
pub struct Trials {
    /// The ids of the webhooks.
    under_way: Vec<String>,
    begun: VecDeque<UnixMillis>,
}

impl Trials {
    /// Begins a test of a webhook, which lasts until [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// The number of seconds to wait: for a webhook whose test is under way, and for a task with too many tests in a minute.
    pub fn begin(&mut self, webhook: &str, now: UnixMillis) -> Result<(), u32> {
        while self.begun.front().is_some_and(|begun| now.millis_since(*begun) >= PERIOD_MS) {
            self.begun.pop_front();
        }
        if self.under_way.iter().any(|known| known == webhook) {
            return Err(RETRY_S);
        }
        if let Some(oldest) = self.begun.front().filter(|_| self.begun.len() >= MAX_IN_PERIOD) {
            let left_ms = PERIOD_MS.saturating_sub(now.millis_since(*oldest));
            return Err(u32::try_from(left_ms.div_ceil(1_000)).unwrap_or(RETRY_S));
        }
        self.begun.push_back(now);
        self.under_way.push(webhook.to_owned());
        Ok(())
    }

    /// Ends the test of a webhook.
    pub fn end(&mut self, webhook: &str) {
        self.under_way.retain(|known| known != webhook);
    }
}

/// The highest number of tests of a task in [`PERIOD_MS`].
const MAX_IN_PERIOD: usize = 6;

/// One minute, in milliseconds.
const PERIOD_MS: u64 = 60_000;

/// How long a caller is told to wait for the end of a test, in seconds.
const RETRY_S: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_has_one_test_at_a_time_and_a_task_some_in_a_minute() {
        let mut trials = Trials::default();
        assert_eq!(trials.begin("a", UnixMillis(0)), Ok(()));
        assert_eq!(trials.begin("a", UnixMillis(1)), Err(RETRY_S));
        assert_eq!(trials.begin("b", UnixMillis(1)), Ok(()), "another webhook");
        trials.end("a");
        for at in 2..6 {
            assert_eq!(trials.begin("a", UnixMillis(at)), Ok(()));
            trials.end("a");
        }
        assert_eq!(trials.begin("a", UnixMillis(10_000)), Err(50));
        assert_eq!(trials.begin("a", UnixMillis(59_999)), Err(1));
        assert_eq!(trials.begin("b", UnixMillis(60_000)), Err(RETRY_S), "still under way");
        assert_eq!(trials.begin("a", UnixMillis(60_000)), Ok(()));
    }
}
