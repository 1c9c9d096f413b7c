//! Bodies that arrive at the same time, from honest clients and from attackers, in simulated time.

use a2a::model::UnixMillis;
use a2a_edge::room::{Room, SMALL_BYTES, Sender, Size};
use proptest::prelude::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The longest time for a body.
const PATIENCE_MS: u64 = 120_000;

const STEP_MS: u64 = 50;

/// The largest chunk that the platform delivers.
const CHUNK: usize = 32 * KIB;

/// A client that sends bodies repeatedly.
#[derive(Clone, Debug)]
struct Client {
    address: Option<String>,
    agent: String,
    length: usize,
    /// The number of bytes that are sent at once, and the number of bytes in each second after that.
    burst: usize,
    rate: usize,
    begins_ms: u64,
    /// The delay before the next body, after one was accepted, or was dropped and sent to its end.
    again_ms: Option<u64>,
    /// How long the client sends a body before it starts the next one.
    leaves_ms: u64,
}

impl Client {
    fn new(address: impl ToString, agent: impl ToString, length: usize) -> Self {
        let address = Some(address.to_string()).filter(|address| !address.is_empty());
        let (begins_ms, again_ms, leaves_ms) = (0, None, PATIENCE_MS);
        let (agent, burst, rate) = (agent.to_string(), 0, 0);
        Self { address, agent, length, burst, rate, begins_ms, again_ms, leaves_ms }
    }

    /// An attacker: sends most of the body at once, then almost nothing, and the next body as soon as this one is
    /// over.
    fn stalls(self) -> Self {
        Self { burst: self.length * 6 / 10, rate: 5, again_ms: Some(100), ..self }
    }

    fn fast(self) -> Self {
        self.at(10_000_000)
    }

    fn at(self, rate: usize) -> Self {
        Self { rate, ..self }
    }

    fn from(self, begins_ms: u64) -> Self {
        Self { begins_ms, ..self }
    }

    fn every(self, again_ms: u64) -> Self {
        Self { again_ms: Some(again_ms), ..self }
    }

    fn leaving_after(self, leaves_ms: u64) -> Self {
        Self { leaves_ms, ..self }
    }

    fn sender(&self) -> Sender {
        Sender { address: self.address.clone(), agent: self.agent.clone() }
    }
}

/// The outcomes of a client's bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    taken: usize,
    refused: usize,
}

/// A body that is being sent.
struct OnItsWay {
    id: u64,
    began: u64,
    sent: usize,
    is_kept: bool,
}

/// Lets the clients send for this time, and checks the limits of the room in every step.
fn run(clients: &[Client], for_ms: u64) -> Vec<Told> {
    let mut room = Room::default();
    let mut told = vec![Told::default(); clients.len()];
    let mut bodies: Vec<Option<OnItsWay>> = clients.iter().map(|_| None).collect();
    let mut next: Vec<Option<u64>> = clients.iter().map(|client| Some(client.begins_ms)).collect();
    for now_ms in (0..for_ms).step_by(STEP_MS as usize) {
        let now = UnixMillis(now_ms as i64);
        for (index, client) in clients.iter().enumerate() {
            if next[index].is_some_and(|next| next <= now_ms) {
                next[index] = None;
                let id = room.enter(client.sender(), now);
                bodies[index] = Some(OnItsWay { id, began: now_ms, sent: 0, is_kept: true });
            }
        }
        // Takes turns, with one chunk of each body.
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            for (index, client) in clients.iter().enumerate() {
                let Some(body) = &mut bodies[index] else { continue };
                let age_ms = now_ms - body.began;
                let come = client.burst + client.rate * age_ms as usize / 1000;
                let more = come.min(client.length).saturating_sub(body.sent).min(CHUNK);
                if more > 0 {
                    is_moving = true;
                    body.sent += more;
                    let free = room.extend(body.id, more, client.length, now);
                    assert!(free.as_ref().is_none_or(|free| free.len() == more));
                    body.is_kept &= free.is_some();
                    for size in [Size::Small, Size::Large] {
                        assert!(room.taken(size) <= size.room(), "{size:?} at {now_ms} ms");
                    }
                }
                let is_whole = body.sent == client.length;
                if is_whole {
                    let bytes = room.complete(body.id);
                    body.is_kept &= bytes.is_some();
                    assert!(bytes.is_none_or(|bytes| bytes.len() == client.length));
                    let counted = &mut told[index];
                    *if body.is_kept { &mut counted.taken } else { &mut counted.refused } += 1;
                }
                if is_whole || age_ms >= client.leaves_ms {
                    room.leave(body.id);
                    bodies[index] = None;
                    next[index] = client.again_ms.map(|pause| now_ms + pause);
                }
            }
        }
    }
    told
}

/// Checks that all bodies of these clients were accepted, and that there were some.
fn assert_taken(clients: &[Client], told: &[Told]) {
    for (client, told) in clients.iter().zip(told) {
        assert!(told.taken > 0 && told.refused == 0, "{told:?} {client:?}");
    }
}

/// Honest clients who start a second after an attack: with small bodies in pieces, bodies of a megabyte, and the
/// largest ones.
fn honest(address: &str, agent: &str) -> Vec<Client> {
    let of = |length: usize| Client::new(address, agent, length).fast().from(1_000).every(3_000);
    let slow = Client::new(address, agent, 30_000).at(5_000).from(1_000).every(3_000);
    vec![of(300), of(30_000), of(MIB), of(4 * MIB), slow]
}

#[test]
fn honest_bodies_are_taken_beside_bodies_that_stand_still() {
    for (what, attackers) in [
        ("one address", (0..40).map(|_| Client::new("a", "open", MIB)).collect::<Vec<_>>()),
        ("many addresses", (0..40).map(|n| Client::new(n, "open", MIB)).collect()),
        (
            "many addresses, large bodies",
            (0..40).map(|n| Client::new(n, "open", 4 * MIB)).collect(),
        ),
        ("no address, one agent", (0..17).map(|_| Client::new("", "open", MIB)).collect()),
        ("no address, several agents", (0..40).map(|n| Client::new("", n % 5, MIB)).collect()),
    ] {
        for (address, agent) in [("b", "open"), ("b", "other"), ("", "open"), ("", "other")] {
            println!("{what}, beside {address:?} to {agent}");
            let honest = honest(address, agent);
            let attackers = attackers.iter().cloned().map(Client::stalls);
            let all: Vec<Client> = honest.iter().cloned().chain(attackers).collect();
            assert_taken(&honest, &run(&all, 25_000));
        }
    }
}

/// Phones that each send a megabyte in half a minute, starting one second apart.
fn phones(address: &str, from_ms: u64) -> Vec<Client> {
    let phone = |n: u64| Client::new(address, "open", MIB).at(40_000).from(from_ms + 1_000 * n);
    (0..4).map(phone).collect()
}

#[test]
fn slow_honest_bodies_are_taken_when_others_stand_still() {
    let still = |n: u64| Client::new(n, "open", MIB).stalls();
    for attackers in [
        (0..40).map(still).collect::<Vec<_>>(),
        // Each attacker leaves after a while, and sends another body at once.
        (0..40).map(|n| still(n).from(100 * n).leaving_after(4_000)).collect(),
    ] {
        for address in ["b", ""] {
            let phones = phones(address, 5_000);
            let all: Vec<Client> = phones.iter().chain(&attackers).cloned().collect();
            assert_taken(&phones, &run(&all, 36_000));
        }
    }
}

#[test]
fn slow_honest_bodies_are_taken_beside_much_faster_ones_of_one_address_or_to_another_agent() {
    // Each attacker leaves its body when nearly all of it has arrived, and starts the next one.
    let flood = |address: u64, agent: &str| {
        let bursts = Client::new(address, agent, 4 * MIB).stalls().leaving_after(1_000);
        Client { burst: 4 * MIB - 1_000, ..bursts }
    };
    let phones = phones("b", 0);
    for attackers in [
        (0..6).map(|n| flood(1, "open").from(n * 150)).collect::<Vec<_>>(),
        (0..6).map(|n| flood(n, "other").from(n * 150)).collect(),
    ] {
        let all: Vec<Client> = phones.iter().chain(&attackers).cloned().collect();
        assert_taken(&phones, &run(&all, 32_000));
    }
}

#[test]
fn small_bodies_that_stand_still_are_bounded_and_keep_no_others_out() {
    for attackers in [
        (0..400).map(|n| Client::new(n, "open", SMALL_BYTES)).collect::<Vec<_>>(),
        (0..400).map(|_| Client::new("a", "open", SMALL_BYTES)).collect(),
        (0..400).map(|_| Client::new("", "open", SMALL_BYTES)).collect(),
    ] {
        let honest = honest("b", "open");
        let attackers = attackers
            .into_iter()
            .map(|client| Client { burst: client.length - 100, ..client.stalls() });
        let all: Vec<Client> = honest.iter().cloned().chain(attackers).collect();
        assert_taken(&honest, &run(&all, 10_000));
    }
}

#[test]
fn of_bodies_as_slow_as_each_other_those_that_began_first_end() {
    // Together the bodies need three times the room.
    let phones: Vec<Client> =
        (0..100).map(|n| Client::new(n, "open", MIB).at(20_000).from(100 * n)).collect();
    let told = run(&phones, 70_000);
    assert!(told[..15].iter().all(|told| told.taken == 1), "{told:?}");
}

#[test]
fn a_body_that_is_complete_does_not_give_way_and_its_memory_is_free_when_it_leaves() {
    let (mut room, now) = (Room::default(), UnixMillis(0));
    let sender = || Sender { address: None, agent: "open".to_owned() };
    let complete: Vec<u64> = (0..4)
        .map(|_| {
            let id = room.enter(sender(), now);
            assert!(room.extend(id, 4 * MIB, 4 * MIB, now).is_some());
            assert_eq!(room.complete(id).unwrap().len(), 4 * MIB);
            id
        })
        .collect();
    let later = UnixMillis(60_000);
    let late = room.enter(sender(), later);
    assert!(room.extend(late, SMALL_BYTES, MIB, later).is_some(), "a small one has its own room");
    assert!(room.extend(late, 1, MIB, later).is_none(), "all others are complete");
    assert_eq!(room.taken(Size::Small), 0, "its bytes are gone");
    assert!(room.complete(late).is_none());
    room.leave(complete[0]);
    let next = room.enter(sender(), later);
    assert!(room.extend(next, 4 * MIB, 4 * MIB, later).is_some());
}

#[test]
fn a_body_for_which_there_is_no_room_at_all_takes_nobody_elses() {
    let (mut room, now) = (Room::default(), UnixMillis(0));
    let mut enter = |agent: &str| {
        let sender = Sender { address: None, agent: agent.to_owned() };
        let id = room.enter(sender, now);
        (id, room.extend(id, MIB, MIB, now).is_some())
    };
    let (one, other) = (enter("a"), enter("b"));
    assert!(one.1 && other.1);
    assert!(room.extend(one.0, 16 * MIB, 32 * MIB, now).is_none());
    assert_eq!(room.taken(Size::Large), MIB);
    assert!(room.complete(other.0).is_some());
}

#[test]
fn the_bytes_of_a_body_that_gives_way_are_gone_at_once() {
    let (mut room, now) = (Room::default(), UnixMillis(0));
    let sender =
        |address: &str| Sender { address: Some(address.to_owned()), agent: "a".to_owned() };
    let still: Vec<u64> = (0..4).map(|n| room.enter(sender(&n.to_string()), now)).collect();
    for id in &still {
        room.extend(*id, 4 * MIB - 1, 4 * MIB - 1, now).unwrap();
    }
    assert_eq!(room.taken(Size::Large), 16 * MIB - 4);
    let later = UnixMillis(1_000);
    let fast = room.enter(sender("b"), later);
    room.extend(fast, 100 * KIB, MIB, later).unwrap();
    assert_eq!(room.taken(Size::Large), 12 * MIB - 3 + 100 * KIB);
    let gone = still.iter().filter(|id| room.extend(**id, 1, 4 * MIB, later).is_none());
    assert_eq!(gone.count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// The body comes from an address that uses at most its share; the others send anything to any agent.
    #[test]
    fn a_body_that_is_faster_than_all_attackers_is_never_refused(
        attackers in prop::collection::vec(
            (0..30_u8, 0..4_u8, 1..4_200_000_usize, 0.0..1.0_f64, 0..5_000_usize, 0..4_u64),
            0..60,
        ),
        agent in 0..4_u8,
        length in 1..4_194_304_usize,
    ) {
        let attackers = attackers.into_iter().map(|(address, agent, length, part, rate, begins)| {
            let client = Client::new(address, agent, length).at(rate).from(begins * 100);
            Client { burst: (length as f64 * part) as usize, ..client }
        });
        let honest = Client::new("honest", agent, length).fast().from(2_000).every(500);
        let all: Vec<Client> = std::iter::once(honest.clone()).chain(attackers).collect();
        assert_taken(&[honest], &run(&all, 8_000));
    }

    /// `run` checks the limits of the room in each step.
    #[test]
    fn the_room_is_never_overdrawn(
        clients in prop::collection::vec(
            (0..6_u8, 0..3_u8, 1..5_000_000_usize, 0..1_500_000_usize, 0..2_000_000_usize, 0..1_000_u64),
            1..50,
        ),
    ) {
        let clients: Vec<Client> = clients
            .into_iter()
            .map(|(address, agent, length, burst, rate, begins)| {
                let address = if address == 0 { String::new() } else { address.to_string() };
                let client = Client::new(address, agent, length).at(rate).from(begins).every(50);
                Client { burst, leaves_ms: 1_200, ..client }
            })
            .collect();
        run(&clients, 2_000);
    }
}
