//! A proxy agent for a remote one: what it forwards in both directions, what it stores, and its requests.

use a2a::client::Settings;
use a2a::model::{ContextId, TaskState, UnixMillis};
use a2a_agents::RunSettings;
use a2a_edge::port::Clock;
use serde_json::json;

use crate::support::front::Front;
use crate::support::remote::{Act, Habits, URL, counted};

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;

/// The behaviours of the remote agent: with streams, and without.
const BOTH: [Habits; 2] = [Habits::ALL, Habits::POLLED];

fn poem(_: &str) -> Vec<(u64, Act)> {
    vec![
        (10, Act::Say("writing")),
        (10, Act::Chunk("poem", "roses are ", false)),
        (2_000, Act::Chunk("poem", "red", true)),
        (10, Act::Chunk("note", "for you", true)),
        (10, Act::Complete("done")),
    ]
}

#[test]
fn what_the_remote_agent_says_becomes_what_ours_says() {
    for habits in BOTH {
        let front = Front::new(habits, poem);
        front.send("a poem");
        front.settle();
        assert_eq!(front.state(), Some(TaskState::Completed), "{habits:?}");
        assert_eq!(
            front.transcript(),
            ["a poem", "writing", "done", "poem: roses are red", "note: for you"],
            "{habits:?}"
        );
        assert_eq!(front.remote.tasks(), 1);
        let sent = &front.remote.sent()[0];
        assert_eq!(sent["message"]["parts"], json!([{"text": "a poem"}]));
        assert_eq!(sent["message"]["metadata"]["from"], "client");
        assert_eq!(sent["configuration"]["acceptedOutputModes"], json!(["text/plain"]));
    }
}

#[test]
fn a_remote_that_never_answers_takes_no_longer_than_a_call_of_it_may() {
    for habits in BOTH {
        let settings = Settings { timeout_ms: 15_000, max_retries: 9, ..Settings::new(URL) };
        let front = Front::new(habits, poem).calling(settings);
        front.remote.withhold_answers_to_messages();
        front.send("a poem");
        front.settle();
        assert_eq!(front.state(), Some(TaskState::Failed), "{habits:?}");
        let now = front.platform.now().0;
        assert!((15_000..16_000).contains(&now), "{habits:?} {now}");
        let said = front.transcript().join(", ");
        assert!(
            said.contains("the remote agent has not answered within 15000 ms"),
            "{habits:?} {said}"
        );
    }
}

#[test]
fn ends_of_every_kind_are_kept() {
    type End = (fn(&str) -> Vec<(u64, Act)>, TaskState, &'static str);
    let ends: [End; 3] = [
        (|_| vec![(5, Act::Reject("not my field"))], TaskState::Rejected, "not my field"),
        (|_| vec![(5, Act::Fail("no ink"))], TaskState::Failed, "no ink"),
        (|_| vec![(5, Act::Answer("hello"))], TaskState::Completed, "hello"),
    ];
    for habits in BOTH {
        for (plan, state, text) in ends {
            let front = Front::new(habits, plan);
            front.send("hi");
            front.settle();
            assert_eq!(front.state(), Some(state), "{habits:?}");
            assert_eq!(front.transcript(), ["hi", text], "{habits:?}");
        }
    }
}

#[test]
fn a_question_is_passed_up_and_its_answer_goes_to_the_same_task() {
    let plan = |text: &str| match text {
        "book" => vec![(5, Act::Ask("for how many?"))],
        "four" => vec![(5, Act::Say("looking")), (5, Act::AskForAuth("whose card?"))],
        _ => vec![(5, Act::Complete("booked"))],
    };
    for habits in BOTH {
        let front = Front::new(habits, plan);
        front.send("book");
        front.settle();
        assert_eq!(front.state(), Some(TaskState::InputRequired), "{habits:?}");
        // Another process receives the answer.
        front.finish();
        front.die();
        front.send("four");
        front.run(None, || front.state() == Some(TaskState::AuthRequired));
        front.send("mine");
        front.run(None, || front.state().is_some_and(TaskState::is_terminal));
        assert_eq!(
            front.transcript(),
            ["book", "for how many?", "four", "looking", "whose card?", "mine", "booked"],
            "{habits:?}"
        );
        assert_eq!(front.remote.tasks(), 1, "{habits:?}");
        assert_eq!(front.remote.heard(), ["book", "four", "mine"], "{habits:?}");
    }
}

#[test]
fn a_cancel_ends_the_remote_task_too() {
    for habits in BOTH {
        // While the remote agent works, and while the run is parked.
        for wait_ms in [1_000, 10 * MINUTE_MS] {
            let front = Front::new(habits, |_| vec![(DAY_MS, Act::Complete("late"))]);
            front.send("slow");
            front.run(None, || front.platform.now() >= UnixMillis(wait_ms as i64));
            front.cancel();
            front.run(None, || front.remote.states() == ["TASK_STATE_CANCELED"]);
            assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{habits:?} {wait_ms}");
            front.finish();
            assert_eq!(front.state(), Some(TaskState::Canceled));
            assert_eq!(front.remote.count("CancelTask"), 1);
        }
    }
}

#[test]
fn a_cancel_while_the_message_is_not_answered_finds_the_remote_task_and_ends_it() {
    for habits in BOTH {
        let front = Front::new(habits, |_| vec![(DAY_MS, Act::Complete("late"))]);
        front.remote.withhold_answers_to_messages();
        front.send("slow");
        front.run(None, || front.platform.now() >= UnixMillis(1_000));
        front.cancel();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Canceled), "{habits:?}");
        assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{habits:?}");
        assert_eq!(front.remote.count("CancelTask"), 1);
    }
}

#[test]
fn a_run_that_is_given_up_cancels_the_remote_task() {
    let over_its_time = RunSettings { timeout_ms: Some(10_000), ..RunSettings::default() };
    let idle = RunSettings { idle_timeout_ms: Some(5_000), ..RunSettings::default() };
    for (settings, reason) in
        [(over_its_time, "has not answered within 8000 ms"), (idle, "no progress")]
    {
        for habits in BOTH {
            // Both if the run knows the remote task, and if the answer with its id was lost.
            for begins in ["ask", "work"] {
                let front = Front::new(habits, |text: &str| match text {
                    "ask" => vec![(5, Act::Ask("which?"))],
                    _ => vec![(DAY_MS, Act::Complete("late"))],
                });
                let front = front.with_run(settings);
                if begins == "ask" {
                    front.send("ask");
                    front.settle();
                }
                front.remote.withhold_answers_to_messages();
                front.send("work");
                front.finish();
                let told = format!("{habits:?} {begins} {:?}", front.transcript());
                assert_eq!(front.state(), Some(TaskState::Failed), "{told}");
                let said = front.task().unwrap().status.message.unwrap().text();
                assert!(said.contains(reason), "{told}");
                assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{told}");
                assert_eq!(front.remote.count("CancelTask"), 1, "{told}");
                assert!(front.platform.now().0 < 3_600_000, "nothing rings for ever: {told}");
            }
        }
    }
}

#[test]
fn a_run_that_is_lost_in_its_last_attempt_cancels_the_remote_task() {
    for habits in BOTH {
        let settings = RunSettings { max_attempts: Some(1), ..RunSettings::default() };
        let front =
            Front::new(habits, |_| vec![(DAY_MS, Act::Complete("late"))]).with_run(settings);
        front.send("work");
        front.run(None, || front.platform.now() >= UnixMillis(1_000));
        front.die();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Failed), "{habits:?}");
        assert_eq!(front.remote.states(), ["TASK_STATE_CANCELED"], "{habits:?}");
        assert_eq!(front.remote.count("CancelTask"), 1);
    }
}

#[test]
fn a_task_that_fails_there_or_here_by_itself_is_not_canceled() {
    let front = Front::new(Habits::ALL, |_| vec![(5, Act::Fail("no ink"))]);
    front.send("a poem");
    front.finish();
    assert_eq!(front.remote.count("CancelTask"), 0);
    let front = Front::new(Habits::ALL, poem);
    front.remote.set_down(true);
    front.send("a poem");
    front.settle();
    front.remote.set_down(false);
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Failed));
    assert_eq!(front.remote.asked().iter().filter(|asked| *asked != "down").count(), 0);
}

#[test]
fn messages_that_come_meanwhile_are_passed_on() {
    let plan = |text: &str| match text {
        "begin" => vec![(5 * MINUTE_MS, Act::Say("still here"))],
        "faster" => vec![],
        _ => vec![(5, Act::Complete("stopped"))],
    };
    for habits in BOTH {
        let front = Front::new(habits, plan);
        front.send("begin");
        front.run(None, || front.platform.now() >= UnixMillis(1_000));
        front.send("faster");
        front.run(None, || front.remote.heard().len() == 2);
        // At this time the run is parked.
        front.run(None, || front.platform.now() >= UnixMillis(20 * MINUTE_MS as i64));
        front.die();
        front.send("stop");
        front.settle();
        assert_eq!(front.remote.heard(), ["begin", "faster", "stop"], "{habits:?}");
        assert_eq!(front.state(), Some(TaskState::Completed), "{habits:?}");
        assert_eq!(front.remote.sent().len(), 3, "each once");
    }
    let refusing = Habits { takes_messages: false, ..Habits::ALL };
    let busy = |_: &str| vec![(1_000, Act::Say("busy")), (20_000, Act::Complete("done"))];
    let front = Front::new(refusing, busy);
    front.send("begin");
    front.run(None, || front.platform.now() >= UnixMillis(1_000));
    front.send("faster");
    front.settle();
    assert_eq!(front.remote.heard(), ["begin"]);
    let said = front.transcript();
    assert_eq!(said.len(), 5, "{said:?}");
    assert!(said[3].starts_with("the remote agent did not take the message: "), "{said:?}");
    assert_eq!(said[4], "done");
}

#[test]
fn a_conversation_stays_one_and_is_nobody_elses() {
    let plan = |_: &str| vec![(5, Act::Complete("done"))];
    let first = Front::new(Habits::ALL, plan);
    let second = first.beside();
    let another = first.beside();
    let somebody_else = first.beside().with_caller("jwt:mallory");
    for (front, context) in
        [(&first, "ours"), (&second, "ours"), (&another, "another"), (&somebody_else, "ours")]
    {
        front.send_parts(vec![a2a::model::Part::text("hi")], Some(context));
        front.settle();
        front.finish();
    }
    let sent = first.remote.sent();
    let contexts: Vec<_> = sent.iter().map(|sent| &sent["message"]["contextId"]).collect();
    assert_eq!(contexts[0], contexts[1], "the same conversation");
    assert_ne!(contexts[0], contexts[2]);
    assert_ne!(contexts[0], contexts[3], "the same id of another caller");
    assert_eq!(first.task().unwrap().context_id, ContextId::new("ours"));
}

#[test]
fn a_task_of_three_days_is_asked_for_seldom() {
    let three_days = |_: &str| {
        vec![
            (5, Act::Say("begun")),
            (DAY_MS, Act::Chunk("report", "half", false)),
            (2 * DAY_MS, Act::Chunk("report", " and whole", true)),
            (10, Act::Complete("done")),
        ]
    };
    let expected = ["go", "begun", "done", "report: half and whole"];
    let told = Habits { sends_webhooks: true, ..Habits::ALL };
    let told_but_polled = Habits { streams: false, ..told };
    for (habits, most) in
        [(Habits::ALL, 200), (Habits::POLLED, 200), (told, 120), (told_but_polled, 120)]
    {
        let front = Front::new(habits, three_days);
        front.send("go");
        front.settle();
        assert_eq!(front.transcript(), expected, "{habits:?}");
        let late_ms = front.platform.now().millis_since(UnixMillis(3 * DAY_MS as i64));
        let slack_ms = if habits.sends_webhooks { 1_000 } else { 3 * DAY_MS / 15 };
        let asked = front.remote.asked();
        assert!(late_ms <= slack_ms, "{habits:?}: {late_ms} ms late, {:?}", counted(&asked));
        assert!(asked.len() <= most, "{habits:?}: {} requests, {:?}", asked.len(), counted(&asked));
        assert_eq!(front.remote.count("card"), 1);
    }
}

#[test]
fn a_remote_agent_that_is_away_for_a_while_is_waited_for() {
    let front = Front::new(Habits::ALL, |_| vec![(30 * MINUTE_MS, Act::Complete("done"))]);
    front.send("go");
    front.run(None, || front.platform.now() >= UnixMillis(10 * MINUTE_MS as i64));
    front.remote.set_down(true);
    front.run(None, || front.platform.now() >= UnixMillis(40 * MINUTE_MS as i64));
    assert_eq!(front.state(), Some(TaskState::Working));
    let said = front.transcript();
    assert_eq!(said.len(), 2, "it is told once: {said:?}");
    assert!(said[1].starts_with("the remote agent cannot be reached now: "), "{said:?}");
    front.remote.set_down(false);
    front.settle();
    assert_eq!(front.state(), Some(TaskState::Completed));
}

#[test]
fn a_task_that_was_begun_is_found_where_every_answer_to_the_message_was_lost() {
    for habits in BOTH {
        let front = Front::new(habits, poem);
        front.remote.lose_answers_to_messages();
        front.send("a poem");
        front.settle();
        assert_eq!(front.state(), Some(TaskState::Completed), "{habits:?}");
        assert_eq!(front.remote.tasks(), 1, "{habits:?}");
        assert!(front.remote.sent().len() > 1, "it was sent again, under the same id");
        assert_eq!(front.transcript().last().unwrap(), "note: for you", "{habits:?}");
    }
}

#[test]
fn one_that_cannot_be_reached_at_all_fails_the_task_with_the_reason() {
    let front = Front::new(Habits::ALL, poem);
    front.remote.set_down(true);
    front.send("go");
    front.settle();
    assert_eq!(front.state(), Some(TaskState::Failed));
    let said = front.transcript();
    assert!(said[1].starts_with("the remote agent was not reached: "), "{said:?}");
    assert!(said[1].contains("it is down"), "{said:?}");
}
