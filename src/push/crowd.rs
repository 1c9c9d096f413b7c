//! How long senders wait for receivers, so that those who do not answer are in nobody's way.
//!
//! A batch of the queue is over when its notifications are on their way; what is left to do goes on behind it. So
//! a receiver that is silent holds up no other batch. How much may go on like that is bounded here.

use super::Standing;
use a2a::model::UnixMillis;

/// The jobs of an isolate whose batches are over.
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
    /// Takes the jobs of a batch in, which hold this many bytes, and gives the number to be shown to
    /// [`leave`](Self::leave); `None` if there is no room, or the platform would not wait for them.
    pub fn enter(
        &mut self,
        jobs: usize,
        bytes: usize,
        timeout_ms: u64,
        now: UnixMillis,
    ) -> Option<u64> {
        // A group that the platform has ended does not leave.
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

    /// The jobs of a batch are done.
    pub fn leave(&mut self, id: u64) {
        self.groups.retain(|group| group.id != id);
    }
}

/// How long a receiver may take to answer, in milliseconds. `timeout_ms` is the longest time; `is_waited_for`
/// says that the next batch waits for this one.
pub fn patience_ms(standing: Standing, timeout_ms: u64, is_waited_for: bool) -> u64 {
    match (standing, is_waited_for) {
        (Standing::Silent, _) | (Standing::Unknown, true) => timeout_ms.min(SHORT_PATIENCE_MS),
        (Standing::Unknown, false) | (Standing::Answering, _) => timeout_ms,
    }
}

/// How many receivers that were silent lately one batch calls at a time, of the six that it may call.
pub const MAX_SILENT_AT_ONCE: usize = 4;

/// How long a receiver may take that was silent lately, in milliseconds.
const SHORT_PATIENCE_MS: u64 = 2_000;

/// How many jobs may go on at a time behind their batches.
const MAX_JOBS: usize = 256;

/// How many bytes the events that they send first have, all together.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How long the platform lets an isolate go on behind a batch, in milliseconds.
const MAX_WAIT_MS: i64 = 30_000;

/// The longest timeout with which a job is sure to end within that time, having had its turn of 10 s.
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
