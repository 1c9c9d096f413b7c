//! One body that is being received, and its speed. The speed is computed from counts at the arrival of bytes, so no timer is
//! needed.

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

/// The part of a count that remains after this time.
fn left_after(millis: u64) -> f64 {
    (-(millis as f64) / HALF_LIFE_MS).exp2()
}

/// The time after which a received byte counts half.
const HALF_LIFE_MS: f64 = 5_000.0;

/// A body is stalled if the recently received part is smaller than this. A steady body stays above it for 144 s, and may take
/// 120 s; a stalled body falls below it after 22 s.
const STILL: f64 = 1.0 / 20.0;

/// The smallest number of bytes over which a speed is measured, if that many arrived.
const WINDOW_BYTES: usize = 32 * 1024;

/// The shortest time over which a speed is measured, in milliseconds: the clock does not advance while no future waits.
const LEAST_MS: u64 = 10;
