//! One body that comes in, and how it comes. Counts that are made when bytes come tell it, so no timer is needed.

use super::Sender;
use a2a::model::UnixMillis;

/// One body.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) sender: Sender,
    pub(super) bytes: Vec<u8>,
    /// The memory that it takes, in bytes.
    pub(super) taken: usize,
    received: usize,
    /// How much had come when. The second one is the newer; at least [`WINDOW_BYTES`] came between the two, and less since.
    marks: [(usize, UnixMillis); 2],
    /// The bytes that came, each counted as half after every [`HALF_LIFE_MS`]; of the instant `counted`.
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

    /// Counts the next bytes, which come now.
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

    /// The part of what it holds that came lately: of a body that comes steadily this tells its age, not its speed.
    pub(super) fn part_lately(&self, now: UnixMillis) -> f64 {
        self.lately_at(now) / self.received.max(1) as f64
    }

    /// Whether hardly anything comes any more. One that comes steadily, however slowly, does not stand still in the time that
    /// bodies have.
    pub(super) fn stands_still(&self, now: UnixMillis) -> bool {
        self.received > 0 && self.part_lately(now) < STILL
    }

    /// The bytes in a second at which the last of it came, as a power of two. What came at once before counts for nothing.
    pub(super) fn speed(&self, now: UnixMillis) -> Option<u32> {
        let [(before, since), _] = self.marks;
        let bytes = u64::try_from(self.received - before).unwrap_or(u64::MAX);
        let rate = bytes.saturating_mul(1_000) / now.millis_since(since).max(LEAST_MS);
        rate.checked_ilog2()
    }
}

/// What is left of a count after this time.
fn left_after(millis: u64) -> f64 {
    (-(millis as f64) / HALF_LIFE_MS).exp2()
}

/// How long it takes until what came counts as half.
const HALF_LIFE_MS: f64 = 5_000.0;

/// A body of which a smaller part came lately stands still. One that comes steadily is above it for 144 s, and has 120 s; one
/// of which no more comes is below it after 22 s.
const STILL: f64 = 1.0 / 20.0;

/// By how many bytes at least a speed is told, if so many came.
const WINDOW_BYTES: usize = 32 * 1024;

/// The least time by which a speed is told, in milliseconds: the clock stands still while nothing is waited for.
const LEAST_MS: u64 = 10;
