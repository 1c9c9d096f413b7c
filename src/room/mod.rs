//! The room for the bodies of requests: how much memory all that come in at the same time may take, and which of them gives
//! way when it is short. Pure: time is an argument, and the bytes are kept here, so that those of a body that gives way are
//! gone at once, whatever its request waits for.
//!
//! There are two rooms. A body begins in the one for *small* bodies and moves to the one for *large* bodies when it needs more
//! than [`SMALL_BYTES`], so large bodies never keep small ones out. Within a room, among the bodies that are not complete:
//!
//! 1. Those that stand still give way first: hardly any of their bytes came lately.
//! 2. Otherwise those of the address that takes most, if that is more than its share of the room; then those of the agent that
//!    takes most, if that is more than its share.
//! 3. Among these, of small bodies the one of which the least part came lately: a body that has just begun gets in. Of large
//!    bodies the slowest; of those that are about as fast as each other, the one that began last, so that the others end.
//!
//! No rate is too slow by itself: who is slow gives way only to others who need the room.

mod incoming;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use a2a::model::UnixMillis;
use incoming::Incoming;

/// The bodies of an isolate that come in or wait to be read.
#[derive(Debug, Default)]
pub struct Room {
    /// By the order in which they began.
    bodies: BTreeMap<u64, Incoming>,
    entered: u64,
}

/// Who sends a body, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The address that it comes from; all whose address is not known count as one.
    pub address: Option<String>,
    /// The agent that it is for.
    pub agent: String,
}

impl Room {
    /// A body begins to come in. Gives the number to be shown to the other methods. It takes no memory yet.
    pub fn enter(&mut self, sender: Sender, now: UnixMillis) -> u64 {
        self.entered += 1;
        self.bodies.insert(self.entered, Incoming::new(sender, now));
        self.entered
    }

    /// Makes room for the next `more` bytes of a body, of which at most `most` are expected altogether, and gives the place
    /// to write them to. `None` if the body gave way, now or before: nothing of it is kept.
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
            // No small body becomes a large one by what it takes in advance.
            let most = if needed <= SMALL_BYTES { most.min(SMALL_BYTES) } else { most };
            let ahead = body.taken.saturating_mul(2).max(FIRST_BYTES).min(most).max(needed);
            // Nobody gives way to what is taken in advance.
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

    /// All of a body has come: its bytes, whose memory it takes until it leaves. It does not give way any more. `None` if it
    /// did.
    pub fn complete(&mut self, id: u64) -> Option<Vec<u8>> {
        let body = self.bodies.get_mut(&id)?;
        body.is_complete = true;
        Some(std::mem::take(&mut body.bytes))
    }

    /// A body is not needed any more.
    pub fn leave(&mut self, id: u64) {
        self.bodies.remove(&id);
    }

    /// The memory that the bodies of this size take.
    pub fn taken(&self, size: Size) -> usize {
        self.taken_beside(0, size)
    }

    /// The memory that the bodies of this size take but for one.
    fn taken_beside(&self, id: u64, size: Size) -> usize {
        let others = self
            .bodies
            .iter()
            .filter(|(known, body)| **known != id && Size::of(body.taken) == size);
        others.map(|(_, body)| body.taken).sum()
    }

    /// Lets bodies give way until this one may take so much, or gives way itself.
    fn make_way(&mut self, id: u64, taken: usize, now: UnixMillis) {
        let size = Size::of(taken);
        while self.bodies.contains_key(&id) && self.taken_beside(id, size) + taken > size.room() {
            // What there is no room for at all takes nobody else's.
            let can_be = taken <= size.room();
            let gone = can_be.then(|| self.who_gives_way(id, taken, now)).flatten().unwrap_or(id);
            self.bodies.remove(&gone);
        }
    }

    /// The body that gives way so that one of them may take so much: any of its size, also itself.
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

/// A body when room is short.
struct Candidate<'r> {
    id: u64,
    /// What it takes, or asks for.
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

/// Keeps of a crowd the group that takes most, if that is more than its share. One in which nobody gives way does not count.
fn keep_greediest<'r>(
    crowd: &mut Vec<Candidate<'r>>,
    share: usize,
    group: impl Fn(&'r Incoming) -> Option<&'r str>,
) {
    let mut groups = BTreeMap::<Option<&str>, (usize, bool)>::new();
    for one in &*crowd {
        let (taken, gives_way) = groups.entry(group(one.body)).or_default();
        *taken += one.taken;
        *gives_way |= one.gives_way();
    }
    let greedy = groups.into_iter().filter(|(_, (taken, gives_way))| *gives_way && *taken > share);
    if let Some((greediest, _)) = greedy.max_by_key(|(_, (taken, _))| *taken) {
        crowd.retain(|one| group(one.body) == greediest);
    }
}

/// Which room a body is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// It takes at most [`SMALL_BYTES`].
    Small,
    /// It takes more.
    Large,
}

impl Size {
    fn of(taken: usize) -> Self {
        if taken <= SMALL_BYTES { Self::Small } else { Self::Large }
    }

    /// What all bodies of this size may take, in bytes.
    pub fn room(self) -> usize {
        match self {
            Self::Small => SMALL_ROOM_BYTES,
            Self::Large => LARGE_ROOM_BYTES,
        }
    }

    /// What those of one address, or of one agent, may take while others need the room, in bytes: for large bodies one of the
    /// largest size, unless a setting allows larger ones.
    pub fn share(self) -> usize {
        self.room() / 4
    }
}

/// Bodies of up to this size are small, in bytes.
pub const SMALL_BYTES: usize = 64 * 1024;

/// What all small bodies may take of the memory of an isolate.
const SMALL_ROOM_BYTES: usize = 4 * 1024 * 1024;

/// What all large bodies may take.
const LARGE_ROOM_BYTES: usize = 16 * 1024 * 1024;

/// What a body takes first, in bytes, if it does not begin with more.
const FIRST_BYTES: usize = 4 * 1024;
