//! One body that is being received, and its speed. The speed is computed from counts at the arrival of bytes, so no timer is
//! needed.

use std::f64::consts::LN_2;

use super::Sender;
use a2a::model::UnixMillis;

/// One body.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) sender: Sender,
    pub(super) bytes: Vec<u8>,
    /// The memory that is reserved for the body, in bytes.
    pub(super) taken: usize,
    received: usize,
    /// Two pairs of received bytes and the instant of that count, the newer pair second. At least [`WINDOW_BYTES`] arrived
    /// between the two, and less since the second.
    marks: [(usize, UnixMillis); 2],
    /// The recently received bytes at the instant `counted`: each byte counts half after every [`HALF_LIFE_MS`].
    lately: f64,
    counted: UnixMillis,
    pub(super) is_complete: bool,
}

impl Incoming {
    pub(super) fn new(sender: Sender, now: UnixMillis) -> Self {
        let (bytes, marks) = (Vec::new(), [(0, now); 2]);
        let (taken, received, lately, is_complete) = (0, 0, 0.0, false);
        Self { sender, bytes, taken, received, marks, lately, counted: now, is_complete }
    }

    /// Counts bytes that arrive now.
    pub(super) fn count(&mut self, more: usize, now: UnixMillis) {
        self.lately = self.lately_at(now) + more as f64;
        self.counted = now;
        self.received = self.received.saturating_add(more);
        let [_, newer] = self.marks;
        if self.received - newer.0 >= WINDOW_BYTES {
            self.marks = [newer, (self.received, now)];
        }
    }

    fn lately_at(&self, now: UnixMillis) -> f64 {
        self.lately * left_after(now.millis_since(self.counted))
    }

    /// The recently received bytes as a part of all received bytes. For a steady body, the value depends on its age, not on
    /// its speed.
    pub(super) fn part_lately(&self, now: UnixMillis) -> f64 {
        self.lately_at(now) / self.received.max(1) as f64
    }

    /// True if the body is stalled: hardly any bytes arrive any more. A steady body, however slow, is not stalled within the
    /// time limit of bodies.
    pub(super) fn stands_still(&self, now: UnixMillis) -> bool {
        self.received > 0 && self.part_lately(now) < STILL
    }

    /// The speed over the last window, in bytes per second, as the logarithm to base 2. Earlier bytes do not count.
    pub(super) fn speed(&self, now: UnixMillis) -> Option<u32> {
        let [(before, since), _] = self.marks;
        let bytes = u64::try_from(self.received - before).unwrap_or(u64::MAX);
        let rate = bytes.saturating_mul(1_000) / now.millis_since(since).max(LEAST_MS);
        rate.checked_ilog2()
    }
}

/// The part of a count that remains after this time: one half to the power of the number of half-lives.
///
/// `exp2` is not used: it would add a table of 4 KB to the module.
fn left_after(millis: u64) -> f64 {
    let halvings = i32::try_from(millis / HALF_LIFE_MS).unwrap_or(i32::MAX);
    // The rest by the series of e^-x, where x is below 0.7: 1 - x/1 (1 - x/2 (1 - x/3 …)).
    let x = (millis % HALF_LIFE_MS) as f64 / HALF_LIFE_MS as f64 * LN_2;
    let rest = (1..=TERMS).rev().fold(1.0, |sum, n| 1.0 - x / f64::from(n) * sum);
    0.5_f64.powi(halvings) * rest
}

/// The time after which a received byte counts half.
const HALF_LIFE_MS: u64 = 5_000;

/// The number of terms of the series, which is exact to 14 digits with them.
const TERMS: u32 = 14;

/// A body is stalled if the recently received part is smaller than this. A steady body stays above it for 144 s, and may take
/// 120 s; a stalled body falls below it after 22 s.
const STILL: f64 = 1.0 / 20.0;

/// The smallest number of bytes over which a speed is measured, if that many arrived.
const WINDOW_BYTES: usize = 32 * 1024;

/// The shortest time over which a speed is measured, in milliseconds: the clock does not advance while no future waits.
const LEAST_MS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_halves_after_each_half_life() {
        for millis in (0..60_000).step_by(7).chain([5_000, 10_000, 3_600_000]) {
            let exact = (-(millis as f64) / HALF_LIFE_MS as f64).exp2();
            let left = left_after(millis);
            assert!((left - exact).abs() <= exact * 1e-14, "{millis}: {left}, {exact}");
        }
        assert_eq!(left_after(0), 1.0);
        assert_eq!(left_after(u64::MAX), 0.0);
    }
}
