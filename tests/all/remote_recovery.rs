//! A proxy for a remote agent through crashes: its process dies between any two polls, while the remote agent continues
//! and counts its requests.

use a2a::model::TaskState;
use a2a_agents::RunSettings;
use a2a_edge::port::Clock;

use crate::support::front::{Crash, Front};
use crate::support::remote::{Act, Habits};

/// The behaviours of the remote agent.
const ALL: [Habits; 3] = [Habits::ALL, Habits::POLLED, TELLING];

/// A remote agent that streams and calls webhooks.
const TELLING: Habits = Habits { sends_webhooks: true, ..Habits::ALL };

/// A task with a status, chunks, a long pause, a question, and an end.
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

/// Runs the task through crashes: each number is the number of polls before the process dies.
fn live_through(habits: Habits, crashes: &[Crash]) -> (Front, usize) {
    let front = Front::new(habits, plan);
    let deaths = live(&front, crashes);
    (front, deaths)
}

/// Returns the number of deaths.
fn live(front: &Front, crashes: &[Crash]) -> usize {
    let turns = [("go", TaskState::InputRequired), ("yes", TaskState::Completed)];
    front.converse(&turns, crashes, |_| {})
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
        let crashes = all_crashes(habits);
        assert!(crashes.len() > 50, "{}", crashes.len());
        for crash in crashes {
            let (front, deaths) = live_through(habits, &[crash]);
            assert_whole(&front, habits, &[crash]);
            assert_eq!(deaths, 1, "{habits:?} {crash:?}");
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
    let crashes = early_crashes(habits);
    let mut most = 0;
    for crash in &crashes {
        let (front, _) = live_through(habits, &[*crash]);
        assert_eq!(front.transcript(), WHOLE, "{crash:?}");
        most = most.max(front.remote.tasks());
    }
    assert_eq!(most, 2, "a crash between the send and the row with its answer");
    // One of the two abilities is sufficient.
    for habits in [Habits { lists: true, ..habits }, Habits { knows_repetitions: true, ..habits }] {
        for crash in early_crashes(habits) {
            let (front, _) = live_through(habits, &[crash]);
            assert_whole(&front, habits, &[crash]);
        }
    }
}

/// Crashes before the first answer is stored, and shortly after that.
fn early_crashes(habits: Habits) -> Vec<Crash> {
    all_crashes(habits).into_iter().filter(|(at, _)| *at < 60).collect()
}

/// All crashes with different states after them.
fn all_crashes(habits: Habits) -> Vec<Crash> {
    let front = Front::new(habits, plan);
    front.note_moments();
    live(&front, &[]);
    assert_whole(&front, habits, &[]);
    front.crashes()
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
                // A cancellation that was answered is durable.
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

#[test]
fn a_process_that_dies_when_a_run_is_given_up_cancels_the_remote_task_all_the_same() {
    let settings =
        RunSettings { timeout_ms: Some(10_000), max_attempts: Some(100), ..RunSettings::default() };
    for habits in [Habits::ALL, Habits::POLLED] {
        for at in 0..40 {
            for keeps in [false, true] {
                let front = Front::new(habits, |_| vec![(DAY_MS, Act::Complete("late"))]);
                let front = front.with_run(settings);
                front.remote.withhold_answers_to_messages();
                front.send("slow");
                front.run(None, || front.platform.now().0 >= 9_000);
                front.run(Some((at, keeps)), || false);
                front.finish();
                let told = format!("{habits:?} {at} {keeps}");
                assert_eq!(front.state(), Some(TaskState::Failed), "{told}");
                assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{told}");
                assert!(front.platform.now().0 < 3_600_000, "nothing rings for ever: {told}");
            }
        }
    }
}

const DAY_MS: u64 = 86_400_000;
