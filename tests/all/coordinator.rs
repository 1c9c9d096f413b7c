//! A coordinator through crashes: its process dies between any two polls, while the agents continue with their tasks, and
//! count their requests.

use std::cell::Cell;
use std::rc::Rc;

use a2a::model::TaskState;
use a2a_edge::port::Clock;
use serde_json::json;

use crate::support::coordinated::Coordinated;
use crate::support::front::Crash;
use crate::support::model::{Answer, BASE_URL};
use crate::support::remote::{Act, Habits};

const ASKED: &str = "Will it rain in Rome, and book a train there";
const DAY_MS: u64 = 86_400_000;

fn forecast(_: &str) -> Vec<(u64, Act)> {
    vec![
        (5, Act::Say("looking")),
        (3_000, Act::Chunk("a", "It is ", false)),
        (5, Act::Chunk("a", "sunny.", true)),
        (5, Act::Complete("done")),
    ]
}

fn booking(text: &str) -> Vec<(u64, Act)> {
    match text {
        "Monday" => vec![(100, Act::Chunk("b", "Booked.", true)), (5, Act::Complete("done"))],
        _ => vec![(50, Act::Ask("Which day?"))],
    }
}

fn for_ever(_: &str) -> Vec<(u64, Act)> {
    vec![(5, Act::Say("begun")), (DAY_MS, Act::Complete("late"))]
}

fn team(habits: Habits) -> Coordinated {
    Coordinated::new(habits, forecast, booking, json!({}))
}

/// Runs the conversation through crashes: each number is the number of polls before the process dies. Returns the number of
/// deaths.
fn live(team: &Coordinated, crashes: &[Crash]) -> usize {
    let turns = [(ASKED, TaskState::InputRequired), ("Monday", TaskState::Completed)];
    team.front.converse(&turns, crashes, |state| {
        if state == TaskState::InputRequired {
            assert_eq!(team.said(), "Which day?");
        }
    })
}

fn assert_whole(team: &Coordinated, told: &str) {
    assert_eq!(
        team.answer(),
        "Here are 2 results:\n- Weather: It is sunny.\n- Travel: Booked.",
        "{told}"
    );
    assert_eq!((team.weather.tasks(), team.travel.tasks()), (1, 1), "{told}");
    assert_eq!(team.weather.heard(), ["Will it rain in Rome"], "{told}");
    assert_eq!(team.travel.heard(), ["book a train there", "Monday"], "{told}");
}

#[test]
fn a_process_that_dies_at_any_poll_goes_on_with_each_task_and_begins_none_twice() {
    for habits in [Habits::ALL, Habits::POLLED] {
        let whole = team(habits);
        whole.front.note_moments();
        live(&whole, &[]);
        assert_whole(&whole, "without a crash");
        let crashes = whole.front.crashes();
        assert!(crashes.len() > 60, "{}", crashes.len());
        for crash in crashes {
            let team = team(habits);
            let deaths = live(&team, &[crash]);
            assert_whole(&team, &format!("{habits:?} {crash:?}"));
            assert_eq!(deaths, 1, "{habits:?} {crash:?}");
        }
    }
}

#[test]
fn one_that_dies_again_and_again_begins_none_twice_either() {
    for habits in [Habits::ALL, Habits::POLLED] {
        for first in 1..15 {
            let crashes: Vec<_> =
                (0..8).map(|nth| (1 + (first * 7 + nth * 5) % 23, nth % 2 == 0)).collect();
            let team = team(habits);
            live(&team, &crashes);
            assert_whole(&team, &format!("{habits:?} {crashes:?}"));
        }
    }
}

#[test]
fn a_cancel_reaches_every_task_wherever_the_process_dies() {
    for habits in [Habits::ALL, Habits::POLLED] {
        for (after_ms, at) in (0..40).map(|at| (1_000, at)).chain((0..20).map(|at| (1, at))) {
            for keeps in [false, true] {
                let team = Coordinated::new(habits, for_ever, for_ever, json!({}));
                let front = &team.front;
                front.send(ASKED);
                let begun = || team.weather.tasks() + team.travel.tasks() == 2;
                front.run(None, || begun() && front.platform.now().0 >= after_ms);
                front.cancel();
                front.run(Some((at, keeps)), || false);
                // A cancellation that was answered is durable.
                if front.state() != Some(TaskState::Canceled) {
                    front.cancel();
                }
                front.finish();
                let told = format!("{habits:?} {after_ms} {at} {keeps}");
                assert_eq!(front.state(), Some(TaskState::Canceled), "{told}");
                assert_eq!(team.weather.states(), ["TASK_STATE_CANCELED"], "{told}");
                assert_eq!(team.travel.states(), ["TASK_STATE_CANCELED"], "{told}");
            }
        }
    }
}

#[test]
fn a_cancel_reaches_a_task_whose_question_nobody_has_answered() {
    let team = team(Habits::ALL);
    assert_eq!(team.ask(ASKED), Some(TaskState::InputRequired));
    team.front.cancel();
    team.front.finish();
    assert_eq!(team.travel.states(), ["TASK_STATE_CANCELED"]);
    assert_eq!(team.weather.states(), ["TASK_STATE_COMPLETED"]);
    assert_eq!(team.weather.count("CancelTask"), 0, "what has ended is left alone");
}

#[test]
fn an_agent_that_is_down_is_left_out_and_the_others_work() {
    let team = team(Habits::ALL);
    team.travel.set_down(true);
    assert_eq!(team.ask(ASKED), Some(TaskState::Completed));
    assert_eq!(team.answer(), "Weather says: It is sunny.");
}

#[test]
fn a_turn_gives_no_more_tasks_than_its_limit() {
    let limits = json!({"limits": {"delegations": 1}});
    let team = Coordinated::new(Habits::ALL, forecast, booking, limits);
    assert_eq!(team.ask(ASKED), Some(TaskState::Completed));
    assert_eq!(team.weather.tasks() + team.travel.tasks(), 1);
    assert!(team.answer().contains("no more than 1 tasks"), "{}", team.answer());
}

#[test]
fn a_model_is_told_what_each_agent_came_to_and_answers_no_task_but_its_own() {
    let keys = json!({"base_url": BASE_URL});
    let team = Coordinated::new(Habits::POLLED, forecast, booking, keys);
    team.model.answers([
        Answer::call("a", "travel", r#"{"prompt": "x", "task_id": "remote-1"}"#)
            .and_call("b", "travel", r#"{"prompt": "a train"}"#)
            .and_call("c", "weather", "{}"),
        Answer::call("d", "weather", r#"{"prompt": "Monday", "task_id": "remote-1"}"#).and_call(
            "e",
            "travel",
            r#"{"prompt": "Monday", "task_id": "remote-1"}"#,
        ),
        Answer::say("done"),
    ]);
    assert_eq!(team.ask("go"), Some(TaskState::Completed), "{}", team.said());
    let asked = team.model.asked();
    let prompt = asked[0].said_by("system");
    assert!(prompt.contains("## Travel") && prompt.contains("tool `weather`"), "{prompt}");
    assert_eq!(asked[0].tools()[..2], ["weather", "travel"]);
    let told = |nth: usize| asked[nth].results().into_iter().map(|(_, text)| text);
    let first: Vec<String> = told(1).collect();
    assert!(first[0].starts_with("[FAILED] there is no task remote-1"), "{first:?}");
    assert_eq!(first[1], "[INPUT_REQUIRED:task_id=remote-1] Which day?");
    assert_eq!(first[2], "[FAILED] the argument prompt is missing: say what the agent is to do");
    let second: Vec<String> = told(2).collect();
    assert_eq!(second[0], "[FAILED] remote-1 is a task of another agent, travel");
    assert_eq!(second[1], "[COMPLETED] Booked.");
    assert_eq!((team.weather.tasks(), team.travel.tasks()), (0, 1));
}

#[test]
fn an_agent_that_takes_longer_than_the_run_may_is_canceled_and_the_model_still_answers() {
    for habits in [Habits::ALL, Habits::POLLED] {
        let team = Coordinated::new(habits, for_ever, booking, json!({"base_url": BASE_URL}));
        team.model.answers([
            Answer::call("a", "weather", r#"{"prompt": "Will it rain?"}"#),
            Answer::say("I cannot tell."),
        ]);
        assert_eq!(team.ask("go"), Some(TaskState::Completed), "{}", team.said());
        assert_eq!(team.answer(), "I cannot tell.");
        assert_eq!(
            team.model.last().results(),
            [("a".to_owned(), "[TIMEOUT]".to_owned())],
            "{habits:?}"
        );
        assert_eq!(team.weather.states(), ["TASK_STATE_CANCELED"]);
    }
}

#[test]
fn an_agent_that_never_answers_takes_no_longer_than_a_call_of_it_may() {
    for habits in [Habits::ALL, Habits::POLLED] {
        for (total_ms, least_ms) in [(15_000, 15_000), (86_400_000, 260_000)] {
            let called = json!({"timeout_ms": total_ms, "max_retries": 9});
            let keys = json!({"base_url": BASE_URL});
            let team = Coordinated::calling(habits, [for_ever, booking], &keys, &called);
            team.weather.withhold_answers_to_messages();
            let told = format!("{habits:?} {total_ms}");
            let (platform, heard) = (team.front.platform.clone(), Rc::new(Cell::new(0)));
            let noted = heard.clone();
            team.model.answer_with(move |asked| match asked.results().as_slice() {
                [] => Answer::call("a", "weather", r#"{"prompt": "Will it rain?"}"#),
                _ => {
                    noted.set(platform.now().0);
                    Answer::say("I cannot tell.")
                }
            });
            assert_eq!(team.ask("go"), Some(TaskState::Completed), "{told} {}", team.said());
            assert_eq!(team.answer(), "I cannot tell.", "{told}");
            assert_eq!(
                team.model.last().results(),
                [("a".to_owned(), "[TIMEOUT]".to_owned())],
                "{told}"
            );
            let (heard, most_ms) = (heard.get(), i64::min(total_ms, 299_000));
            assert!((least_ms..=most_ms + 100).contains(&heard), "{told}: {heard}");
            assert_eq!(team.weather.states(), ["TASK_STATE_CANCELED"], "what it began: {told}");
        }
    }
}

#[test]
fn a_task_that_could_not_be_followed_is_canceled_when_ours_ends() {
    let keys = json!({"base_url": BASE_URL});
    let team = Coordinated::new(Habits::POLLED, for_ever, booking, keys);
    let weather = team.weather.clone();
    team.model.answer_with(move |asked| {
        let isnt_told = asked.results().is_empty();
        weather.set_down(false);
        if isnt_told {
            Answer::call("a", "weather", r#"{"prompt": "Will it rain?"}"#)
        } else {
            Answer::say("I cannot tell.")
        }
    });
    team.front.send("go");
    team.front.run(None, || team.weather.count("GetTask") > 0);
    team.weather.set_down(true);
    team.front.settle();
    team.front.finish();
    assert_eq!(team.front.state(), Some(TaskState::Completed), "{}", team.said());
    let (_, told) = team.model.last().results().remove(0);
    assert!(told.starts_with("[FAILED] following the task failed: "), "{told}");
    assert_eq!(team.weather.states(), ["TASK_STATE_CANCELED"]);
}

#[test]
fn a_task_that_nobody_can_answer_any_more_is_canceled() {
    let keys = json!({"base_url": BASE_URL});
    let team = Coordinated::new(Habits::ALL, forecast, booking, keys);
    team.model.answers([
        Answer::call("a", "travel", r#"{"prompt": "a train"}"#),
        Answer::say("I do not know the day."),
    ]);
    assert_eq!(team.ask("go"), Some(TaskState::Completed));
    assert_eq!(team.travel.states(), ["TASK_STATE_CANCELED"]);
}
