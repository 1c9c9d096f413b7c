//! The memory for the bodies of requests: how much all bodies that are received at the same time may occupy, and which of them
//! is dropped when memory is short. Pure: time is an argument, and the bytes are stored here, so the bytes of a dropped body
//! are freed at once, even while its request waits.
//!
//! There are two rooms. A body begins in the room for *small* bodies and moves to the room for *large* bodies when it needs
//! more than [`SMALL_BYTES`], so large bodies never displace small ones. Within a room, among the bodies that are not
//! complete, the dropped body is chosen in this order:
//!
//! 1. Stalled bodies first: hardly any of their bytes arrived recently.
//! 2. Otherwise the bodies of the address that occupies most, if that is more than its share of the room; then those of the
//!    agent that occupies most, if that is more than its share.
//! 3. Among these, the small body with the smallest recently received part, so that a body that has just begun is kept. For
//!    large bodies, the slowest; among bodies of similar speed, the one that began last, so that the others can finish.
//!
//! There is no minimum speed: a slow body is dropped only if another body needs the room.

mod incoming;

use std::cmp::Ordering;

use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;
use incoming::Incoming;

/// The bodies of an isolate that are being received or wait to be parsed.
#[derive(Debug, Default)]
pub struct Room {
    /// In the order in which they began.
    bodies: SortedMap<u64, Incoming>,
    entered: u64,
}

/// The sender of a body, and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The sender's address; all unknown addresses count as one.
    pub address: Option<String>,
    /// The agent to which the body is sent.
    pub agent: String,
}

impl Room {
    /// Registers a body that begins to arrive. Returns its number for the other methods. The body occupies no memory yet.
    pub fn enter(&mut self, sender: Sender, now: UnixMillis) -> u64 {
        self.entered += 1;
        self.bodies.insert(self.entered, Incoming::new(sender, now));
        self.entered
    }

    /// Reserves room for the next `more` bytes of a body, of which at most `most` are expected in total, and returns the slice
    /// for these bytes. `None` if the body was dropped, now or before.
    pub fn extend(
        &mut self,
        id: u64,
        more: usize,
        most: usize,
        now: UnixMillis,
    ) -> Option<&mut [u8]> {
        let body = self.bodies.get_mut(&id)?;
        body.count(more, now);
        let before = body.bytes.len();
        let needed = before.saturating_add(more);
        if needed > body.taken {
            // Memory reserved in advance never makes a small body a large one.
            let most = if needed <= SMALL_BYTES { most.min(SMALL_BYTES) } else { most };
            let ahead = body.taken.saturating_mul(2).max(FIRST_BYTES).min(most).max(needed);
            // No body is dropped for memory that is only reserved in advance.
            let is_free = self.taken_beside(id, Size::of(ahead)) + ahead <= Size::of(ahead).room();
            let taken = if is_free { ahead } else { needed };
            self.make_way(id, taken, now);
            let body = self.bodies.get_mut(&id)?;
            body.taken = taken;
            body.bytes.reserve_exact(taken - before);
        }
        let body = self.bodies.get_mut(&id)?;
        body.bytes.resize(needed, 0);
        body.bytes.get_mut(before..)
    }

    /// Marks a body as complete and returns its bytes, which count as occupied until it leaves. A complete body is not dropped
    /// any more. `None` if the body was dropped.
    pub fn complete(&mut self, id: u64) -> Option<Vec<u8>> {
        let body = self.bodies.get_mut(&id)?;
        body.is_complete = true;
        Some(std::mem::take(&mut body.bytes))
    }

    /// Removes a body that is not needed any more.
    pub fn leave(&mut self, id: u64) {
        self.bodies.remove(&id);
    }

    /// The memory that all bodies of this size occupy.
    pub fn taken(&self, size: Size) -> usize {
        self.taken_beside(0, size)
    }

    /// The memory that all bodies of this size except one occupy.
    fn taken_beside(&self, id: u64, size: Size) -> usize {
        let others = self
            .bodies
            .iter()
            .filter(|(known, body)| **known != id && Size::of(body.taken) == size);
        others.map(|(_, body)| body.taken).sum()
    }

    /// Drops bodies until the body `id` may occupy `taken` bytes, or is dropped itself.
    fn make_way(&mut self, id: u64, taken: usize, now: UnixMillis) {
        let size = Size::of(taken);
        while self.bodies.contains_key(&id) && self.taken_beside(id, size) + taken > size.room() {
            // A body that is larger than the whole room is dropped itself; no other body is.
            let can_be = taken <= size.room();
            let gone = can_be.then(|| self.who_gives_way(id, taken, now)).flatten().unwrap_or(id);
            self.bodies.remove(&gone);
        }
    }

    /// The body to drop so that `asking` may occupy `taken` bytes: any body of that size, including `asking`.
    fn who_gives_way(&self, asking: u64, taken: usize, now: UnixMillis) -> Option<u64> {
        let size = Size::of(taken);
        let is_beside = |body: &Incoming| body.taken > 0 && Size::of(body.taken) == size;
        let beside = self.bodies.iter().filter(|(id, body)| **id == asking || is_beside(body));
        let mut crowd: Vec<Candidate<'_>> = beside
            .map(|(id, body)| {
                let taken = if *id == asking { taken } else { body.taken };
                Candidate { id: *id, taken, body }
            })
            .collect();
        let stands_still = |one: &Candidate<'_>| one.gives_way() && one.body.stands_still(now);
        if crowd.iter().any(stands_still) {
            crowd.retain(stands_still);
        } else {
            keep_greediest(&mut crowd, size.share(), |body| body.sender.address.as_deref());
            keep_greediest(&mut crowd, size.share(), |body| Some(body.sender.agent.as_str()));
        }
        let candidates = crowd.iter().filter(|one| one.gives_way());
        let first = candidates.min_by(|one, other| match size {
            Size::Small => one.body.part_lately(now).total_cmp(&other.body.part_lately(now)),
            Size::Large => one.goes_before(other, now),
        });
        first.map(|one| one.id)
    }
}

/// A body that may be dropped.
struct Candidate<'r> {
    id: u64,
    /// The bytes that the body occupies or needs.
    taken: usize,
    body: &'r Incoming,
}

impl Candidate<'_> {
    fn gives_way(&self) -> bool {
        !self.body.is_complete
    }

    fn goes_before(&self, other: &Self, now: UnixMillis) -> Ordering {
        self.body.speed(now).cmp(&other.body.speed(now)).then(other.id.cmp(&self.id))
    }
}

/// Reduces the candidates to the group that occupies most, if that is more than its share. A group in which no body can be
/// dropped is skipped.
fn keep_greediest<'r>(
    crowd: &mut Vec<Candidate<'r>>,
    share: usize,
    group: impl Fn(&'r Incoming) -> Option<&'r str>,
) {
    let mut groups = SortedMap::<Option<&str>, (usize, bool)>::new();
    for one in &*crowd {
        let (taken, gives_way) = groups.get_or_insert_with(group(one.body), Default::default);
        *taken += one.taken;
        *gives_way |= one.gives_way();
    }
    let greedy = groups.into_iter().filter(|(_, (taken, gives_way))| *gives_way && *taken > share);
    if let Some((greediest, _)) = greedy.max_by_key(|(_, (taken, _))| *taken) {
        crowd.retain(|one| group(one.body) == greediest);
    }
}

/// The room that a body is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For bodies of at most [`SMALL_BYTES`].
    Small,
    /// For larger bodies.
    Large,
}

impl Size {
    fn of(taken: usize) -> Self {
        if taken <= SMALL_BYTES { Self::Small } else { Self::Large }
    }

    /// The size of the room, in bytes.
    pub fn room(self) -> usize {
        match self {
            Self::Small => SMALL_ROOM_BYTES,
            Self::Large => LARGE_ROOM_BYTES,
        }
    }

    /// How much the bodies of one address, or of one agent, may occupy while others need the room, in bytes: for large bodies
    /// as much as one body of the default size limit.
    pub fn share(self) -> usize {
        self.room() / 4
    }
}

/// The largest size of a small body, in bytes.
pub const SMALL_BYTES: usize = 64 * 1024;

/// The size of the room for small bodies, in bytes.
const SMALL_ROOM_BYTES: usize = 4 * 1024 * 1024;

/// The size of the room for large bodies, in bytes.
const LARGE_ROOM_BYTES: usize = 16 * 1024 * 1024;

/// The memory that is first reserved for a body, in bytes, unless its first piece is larger.
const FIRST_BYTES: usize = 4 * 1024;
