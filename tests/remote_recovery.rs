//! A front of a remote agent through crashes: its process dies between any two polls, while the remote agent goes on and
//! counts what it is asked.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod support;

use a2a::model::TaskState;
use a2a_edge::port::Clock;

use support::front::Front;
use support::remote::{Act, Habits};

/// How the remote agent works.
const ALL: [Habits; 3] = [Habits::ALL, Habits::POLLED, TELLING];

/// Streams, and posts to webhooks.
const TELLING: Habits = Habits { sends_webhooks: true, ..Habits::ALL };

/// A task with a note, chunks, a long silence, a question, and an end.
fn plan(text: &str) -> Vec<(u64, Act)> {
    match text {
        "go" => vec![
            (5, Act::Say("begun")),
            (5, Act::Chunk("a", "one ", false)),
            (3_000, Act::Chunk("a", "two ", false)),
            (200_000, Act::Chunk("a", "three", true)),
            (5, Act::Ask("on?")),
        ],
        _ => vec![(5, Act::Chunk("b", "four", true)), (3_000, Act::Complete("done"))],
    }
}

const WHOLE: [&str; 7] = ["go", "begun", "on?", "yes", "done", "a: one two three", "b: four"];

/// Runs the task through crashes: each number is how often the process is polled before it dies.
fn live_through(habits: Habits, crashes: &[(usize, bool)]) -> (Front, usize) {
    let front = Front::new(habits, plan);
    let mut crashes = crashes.iter().copied();
    let mut deaths = 0;
    for (text, state) in [("go", TaskState::InputRequired), ("yes", TaskState::Completed)] {
        loop {
            // What the client got no answer to it sends again.
            if !front.transcript().iter().any(|said| said == text) {
                front.send_as(text, text);
            }
            if front.run(crashes.next(), || front.state() == Some(state)) {
                break;
            }
            deaths += 1;
        }
    }
    (front, deaths)
}

fn assert_whole(front: &Front, habits: Habits, crashes: &[(usize, bool)]) {
    let told = format!("{habits:?} {crashes:?}");
    assert_eq!(front.transcript(), WHOLE, "{told}");
    assert_eq!(front.remote.tasks(), 1, "{told}");
    assert_eq!(front.remote.heard(), ["go", "yes"], "{told}");
}

#[test]
fn a_process_that_dies_at_any_poll_loses_nothing_and_begins_no_second_task() {
    for habits in ALL {
        let (front, _) = live_through(habits, &[]);
        assert_whole(&front, habits, &[]);
        let polls = front.polls();
        assert!(polls > 50, "{polls}");
        // With a stream everything happens that happens without one, and more.
        let pace = if habits == Habits::ALL { 1 } else { 3 };
        for at in (0..polls).step_by(pace) {
            let keeps = at / pace % 2 == 0;
            for keeps in [keeps, !keeps].into_iter().take(if at < 60 { 2 } else { 1 }) {
                let (front, deaths) = live_through(habits, &[(at, keeps)]);
                assert_whole(&front, habits, &[(at, keeps)]);
                assert!(deaths <= 1);
            }
        }
    }
}

#[test]
fn one_that_dies_again_and_again_loses_nothing_either() {
    for habits in ALL {
        for first in 1..15 {
            let crashes: Vec<_> =
                (0..8).map(|nth| (1 + (first * 7 + nth * 5) % 23, nth % 2 == 0)).collect();
            let (front, _) = live_through(habits, &crashes);
            assert_whole(&front, habits, &crashes);
        }
    }
}

#[test]
fn a_server_that_neither_lists_nor_knows_repetitions_may_get_a_second_task() {
    let habits = Habits { lists: false, knows_repetitions: false, ..Habits::POLLED };
    let polls = live_through(habits, &[]).0.polls();
    let mut most = 0;
    for at in 0..polls.min(60) {
        let (front, _) = live_through(habits, &[(at, false)]);
        assert_eq!(front.transcript(), WHOLE, "{at}");
        most = most.max(front.remote.tasks());
    }
    assert_eq!(most, 2, "a crash between the send and the row with its answer");
    // It is enough that it does one of both.
    for habits in [Habits { lists: true, ..habits }, Habits { knows_repetitions: true, ..habits }] {
        for at in 0..polls.min(60) {
            let (front, _) = live_through(habits, &[(at, false)]);
            assert_whole(&front, habits, &[(at, false)]);
        }
    }
}

#[test]
fn a_process_that_dies_during_a_cancel_cancels_the_remote_task_all_the_same() {
    for (habits, parked) in [(Habits::ALL, false), (Habits::POLLED, false), (Habits::ALL, true)] {
        for at in 0..40 {
            for keeps in [false, true] {
                let front = Front::new(habits, |_| {
                    vec![(5, Act::Say("begun")), (DAY_MS, Act::Complete("late"))]
                });
                front.send("slow");
                front.run(None, || front.platform.now().0 >= if parked { 600_000 } else { 1_000 });
                front.cancel();
                front.run(Some((at, keeps)), || false);
                // A cancel that the client was told of is durable.
                if front.state() != Some(TaskState::Canceled) {
                    front.cancel();
                }
                front.finish();
                let told = format!("{habits:?} {at} {keeps} {parked}");
                assert_eq!(front.state(), Some(TaskState::Canceled), "{told}");
                assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{told}");
                assert!(front.platform.now().0 < 3_600_000, "nothing rings for ever: {told}");
            }
        }
    }
}

const DAY_MS: u64 = 86_400_000;
