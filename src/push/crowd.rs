//! Limits the time that senders wait for receivers, so that silent receivers do not delay other notifications.
//!
//! A batch of the queue ends when its notifications were sent; waiting for the answers continues after the batch. So a silent receiver
//! does not delay the next batch. This file limits the number of jobs that continue after their batch.

use super::Standing;
use a2a::model::UnixMillis;

/// The jobs of an isolate that continue after their batches.
#[derive(Debug, Default)]
pub struct Crowd {
    groups: Vec<Group>,
    entered: u64,
}

/// The jobs of one batch.
#[derive(Debug)]
struct Group {
    id: u64,
    jobs: usize,
    bytes: usize,
    until: UnixMillis,
}

impl Crowd {
    /// Adds the jobs of a batch with this number of bytes, and returns the id for [`leave`](Self::leave). `None` if there is no
    /// room, or the platform would not wait for the jobs.
    pub fn enter(
        &mut self,
        jobs: usize,
        bytes: usize,
        timeout_ms: u64,
        now: UnixMillis,
    ) -> Option<u64> {
        // A group that the platform has ended never calls `leave`.
        self.groups.retain(|group| group.until > now);
        let (all, all_bytes) = self.groups.iter().fold((jobs, bytes), |(jobs, bytes), group| {
            (jobs.saturating_add(group.jobs), bytes.saturating_add(group.bytes))
        });
        if all > MAX_JOBS || all_bytes > MAX_BYTES || timeout_ms > MAX_TIMEOUT_MS {
            return None;
        }
        self.entered += 1;
        let until = UnixMillis(now.0.saturating_add(MAX_WAIT_MS));
        self.groups.push(Group { id: self.entered, jobs, bytes, until });
        Some(self.entered)
    }

    /// Removes the jobs of a batch.
    pub fn leave(&mut self, id: u64) {
        self.groups.retain(|group| group.id != id);
    }
}

/// The timeout for a receiver's answer, in milliseconds. `timeout_ms` is the longest timeout; `is_waited_for` is true if the next
/// batch waits for this batch.
pub fn patience_ms(standing: Standing, timeout_ms: u64, is_waited_for: bool) -> u64 {
    match (standing, is_waited_for) {
        (Standing::Silent, _) | (Standing::Unknown, true) => timeout_ms.min(SHORT_PATIENCE_MS),
        (Standing::Unknown, false) | (Standing::Answering, _) => timeout_ms,
    }
}

/// The number of recently silent receivers that a batch calls at the same time, of its six connections.
pub const MAX_SILENT_AT_ONCE: usize = 4;

/// The timeout for a recently silent receiver, in milliseconds.
const SHORT_PATIENCE_MS: u64 = 2_000;

/// The highest number of jobs that continue after their batches.
const MAX_JOBS: usize = 256;

/// The highest sum of the sizes of their first events, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The time for which the platform keeps an isolate after a batch, in milliseconds.
const MAX_WAIT_MS: i64 = 30_000;

/// The longest timeout with which a job still ends within that time, after it has waited up to 10 s for its turn.
const MAX_TIMEOUT_MS: u64 = 15_000;

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT_MS: u64 = 10_000;

    #[test]
    fn what_goes_on_behind_batches_is_bounded() {
        let mut crowd = Crowd::default();
        let now = UnixMillis(0);
        let ids: Vec<u64> =
            std::iter::from_fn(|| crowd.enter(6, 6_000, TIMEOUT_MS, now)).take(1_000).collect();
        assert_eq!(ids.len(), MAX_JOBS / 6);
        crowd.leave(ids[3]);
        assert!(crowd.enter(6, 6_000, TIMEOUT_MS, now).is_some(), "one has left");
        assert_eq!(crowd.enter(6, 6_000, TIMEOUT_MS, now), None);
        let later = UnixMillis(MAX_WAIT_MS);
        assert!(crowd.enter(6, 6_000, TIMEOUT_MS, later).is_some(), "the others were ended");

        let mut crowd = Crowd::default();
        assert!(crowd.enter(1, MAX_BYTES, TIMEOUT_MS, now).is_some());
        assert_eq!(crowd.enter(1, 1, TIMEOUT_MS, now), None, "too many bytes");
        assert_eq!(Crowd::default().enter(1, 1, MAX_TIMEOUT_MS + 1, now), None, "too long");
    }

    #[test]
    fn who_was_silent_has_two_seconds_and_who_is_unknown_if_others_wait() {
        for (standing, is_waited_for, patience) in [
            (Standing::Answering, false, 10_000),
            (Standing::Answering, true, 10_000),
            (Standing::Unknown, false, 10_000),
            (Standing::Unknown, true, 2_000),
            (Standing::Silent, false, 2_000),
            (Standing::Silent, true, 2_000),
        ] {
            assert_eq!(patience_ms(standing, TIMEOUT_MS, is_waited_for), patience, "{standing:?}");
            assert_eq!(patience_ms(standing, 100, is_waited_for), 100, "{standing:?}");
        }
    }
}
