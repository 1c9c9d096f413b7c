//! Agents behind HTTP through crashes: our process dies between any two polls, and the agent answers differently each time.
//! At the end, the task contains exactly one answer.

use std::collections::BTreeSet;

use a2a::model::{Message, Task, TaskState};
use a2a_edge::port::Clock;
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::front::{Crash, Front};
use crate::support::http_agent::{Answer, Asked, Fate, HttpAgent};

/// The agent's answer to its `number`th request: two artifacts in pieces, the second one without an id.
fn verbs(number: usize) -> Vec<Value> {
    vec![
        json!({"do": "working", "text": format!("{number}: begun")}),
        json!({"do": "artifact", "id": "poem", "text": format!("{number}: roses "), "more": true}),
        json!({"do": "append", "id": "poem", "text": format!("{number}: are ")}),
        json!({"do": "append", "id": "poem", "text": format!("{number}: red"), "last": true}),
        json!({"do": "artifact", "data": {"number": number}}),
    ]
}

/// Runs two turns, of which the first ends with a question, with one crash. Returns the front and the agent at the end.
fn live(streams: bool, crash: Option<Crash>) -> (Front, HttpAgent) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &json!({"event_interval_ms": 0}));
    agent.answer_with(move |asked| {
        let mut verbs = verbs(asked.number);
        verbs.push(match asked.body()["turn"].as_u64() {
            Some(1) => {
                json!({"do": "input_required", "text": format!("{}: and now?", asked.number)})
            }
            _ => json!({"do": "complete", "text": format!("{}: done", asked.number)}),
        });
        if streams {
            Answer::events(&verbs).paced(700)
        } else {
            Answer::json(&Value::from(verbs)).after(2_000)
        }
    });
    let mut crash = crash;
    let mut sent = 0;
    for _ in 0..40 {
        match front.state() {
            // The client repeats a message that was lost in the crash.
            None => front.send_as("m1", "first"),
            Some(TaskState::InputRequired)
                if front.task().unwrap().history.iter().all(|it| it.message_id != "m2") =>
            {
                sent += 1;
                front.send_as("m2", "second");
            }
            Some(state) if state.is_terminal() => break,
            Some(_) => {}
        }
        let is_next = |task: Task| task.status.state == TaskState::InputRequired && sent == 0;
        let before = crash.take();
        let polls = front.polls();
        let lives = front.run(before, || {
            front.state().is_some_and(|state| state.is_terminal())
                || front.task().is_some_and(is_next)
        });
        if lives && let Some((at, keeps)) = before {
            // The process has survived these polls, so the crash is due in a later run.
            crash = Some((at.saturating_sub(front.polls() - polls), keeps));
        }
    }
    front.finish();
    (front, agent)
}

fn number_of(text: &str) -> u64 {
    text.split(':').next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Checks that all pieces of the artifacts, and the end, belong to a single request in each turn: the newest one that has
/// created the artifact.
fn check(front: &Front, agent: &HttpAgent, crash: Option<Crash>) {
    let task = front.task().unwrap_or_else(|| panic!("{crash:?}: no task"));
    assert_eq!(task.status.state, TaskState::Completed, "{crash:?}: {:?}", task.status.message);
    let end = task.status.message.as_ref().map(Message::text).unwrap();
    assert!(end.ends_with("done"), "{crash:?}: {end}");
    let last = number_of(&end);
    let poem = task.artifacts.iter().find(|it| it.artifact_id == "poem").unwrap();
    assert_eq!(
        poem.text().unwrap(),
        format!("{last}: roses {last}: are {last}: red"),
        "{crash:?}: an artifact mixes answers"
    );
    let ids: Vec<&str> = task.artifacts.iter().map(|it| it.artifact_id.as_str()).collect();
    assert_eq!(ids, ["poem", "artifact-1-1", "artifact-2-1"], "{crash:?}");
    let data = |at: usize| {
        serde_json::to_value(&task.artifacts[at].parts).unwrap()[0]["data"]["number"].as_u64()
    };
    let question =
        task.history.iter().map(Message::text).find(|text| text.ends_with("and now?")).unwrap();
    assert_eq!((data(1), data(2)), (Some(number_of(&question)), Some(last)), "{crash:?}");

    let asked = agent.asked();
    let keys: BTreeSet<(u64, &str)> = asked
        .iter()
        .map(|asked| {
            (asked.body()["turn"].as_u64().unwrap(), asked.header("idempotency-key").unwrap())
        })
        .collect();
    assert_eq!(keys.len(), 2, "{crash:?}: one key for each turn");
    for asked in &asked {
        let body = asked.body();
        let is_again = body["attempt"].as_u64() > Some(1);
        assert_eq!(body["resumes"] == json!(true), is_again, "{crash:?}: {body}");
        let said: Vec<&Value> =
            body["task"]["artifacts"].as_array().into_iter().flatten().collect();
        assert!(
            !is_again || body["task"].is_object(),
            "{crash:?}: what was said is shown: {said:?}"
        );
    }
    let whole = asked.iter().filter(|asked| asked.fate() == Fate::Whole).count();
    assert!((2..=3).contains(&whole), "{crash:?}: {whole} whole answers");
}

#[test]
fn whenever_the_process_dies_the_task_holds_one_answer_for_each_turn() {
    for streams in [true, false] {
        let (front, agent) = live(streams, None);
        check(&front, &agent, None);
        assert_eq!(agent.asked().len(), 2);
        let polls = front.polls();
        let mut resumed = 0;
        for crash in (0..polls).flat_map(|at| [(at, false), (at, true)]) {
            let (front, agent) = live(streams, Some(crash));
            check(&front, &agent, Some(crash));
            resumed += usize::from(
                agent.asked().iter().any(|asked| asked.body()["resumes"] == json!(true)),
            );
        }
        assert!(resumed > 10, "{resumed} of {polls} crashes were in an exchange");
    }
}

#[test]
fn an_answer_whose_end_is_stored_is_not_asked_for_again() {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &json!({}));
    agent.answers(vec![Answer::json(&json!({"do": "input_required", "text": "?"}))]);
    front.send("go");
    front.settle();
    front.die();
    front.finish();
    assert_eq!((front.state(), agent.asked().len()), (Some(TaskState::InputRequired), 1));
}

#[test]
fn a_cancel_is_told_also_where_the_process_dies_behind_it() {
    let run = |crash: Option<Crash>| {
        let platform = MemoryPlatform::default();
        let (front, agent) = HttpAgent::front(&platform, &json!({"cancel_url": "/stop"}));
        agent.answer_with(|asked| {
            if asked.url.ends_with("/stop") {
                Answer::status(204, "").after(500)
            } else {
                Answer::events(&[json!({"do": "working"})]).then_hangs()
            }
        });
        front.send("go");
        front.run(None, || front.state() == Some(TaskState::Working));
        front.cancel();
        let polls = front.polls();
        if !front.run(crash, || false) {
            front.finish();
        }
        (front.polls() - polls, front, agent)
    };
    let (polls, ..) = run(None);
    for crash in (0..polls).flat_map(|at| [(at, false), (at, true)]) {
        let (_, front, agent) = run(Some(crash));
        if front.state() != Some(TaskState::Canceled) {
            // The process died before the cancellation was stored, so its client has no answer.
            continue;
        }
        let told = agent.asked().iter().filter(|asked| asked.url.ends_with("/stop")).count();
        assert!((1..=2).contains(&told), "{crash:?}: told {told} times");
    }
}

/// Runs a task whose agent is down until an instant, with one crash. Returns the front at the end, the requests to the agent
/// for the task, and the time of the crash.
fn wait_through(down_ms: i64, crash: Option<Crash>) -> (Front, Vec<Asked>, Option<i64>) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &json!({}));
    agent.answer_with(move |asked| {
        if asked.at_ms < down_ms {
            Answer::down("Error: Network connection lost.")
        } else {
            Answer::json(&json!([{"do": "artifact", "text": "a"}, {"do": "complete"}]))
        }
    });
    let has_ended = || front.state().is_some_and(TaskState::is_terminal);
    front.send_as("m1", "go");
    let (mut died, mut died_with_it) = (None, 0);
    if !front.run(crash, has_ended) {
        died = Some(platform.now().0);
        if front.state().is_none() {
            // The client repeats a message that was lost in the crash.
            died_with_it = agent.asked().len();
            front.send_as("m1", "go");
        }
        front.run(None, has_ended);
    }
    front.finish();
    (front, agent.asked().split_off(died_with_it), died)
}

#[test]
fn whenever_the_process_dies_the_wait_for_a_program_goes_on_with_what_is_left_of_it() {
    for (down_ms, state) in [(30_000, TaskState::Completed), (i64::MAX, TaskState::Failed)] {
        let polls = wait_through(down_ms, None).0.polls();
        let mut behind_parks = 0;
        for crash in (0..polls).flat_map(|at| [(at, false), (at, true)]).map(Some).chain([None]) {
            let (front, asked, died) = wait_through(down_ms, crash);
            let task = front.task().unwrap_or_else(|| panic!("{crash:?}: no task"));
            let text = task.status.message.as_ref().map(Message::text).unwrap_or_default();
            assert_eq!(task.status.state, state, "{crash:?}: {text}");
            let (begun, end) = (asked[0].at_ms, asked.last().unwrap().at_ms);
            let keys: BTreeSet<_> =
                asked.iter().map(|asked| asked.header("idempotency-key").unwrap()).collect();
            assert_eq!(keys.len(), 1, "{crash:?}");
            // An alarm detects a run that dies in memory.
            let found_ms = 35_000;
            if state == TaskState::Completed {
                let whole = asked.iter().filter(|asked| asked.fate() == Fate::Whole).count();
                assert!((1..=2).contains(&whole), "{crash:?}: {whole} answers");
                assert_eq!(task.artifacts.len(), 1, "{crash:?}");
                assert!(end - begun < 50_000 + found_ms, "{crash:?}: {begun} to {end}");
                continue;
            }
            assert!(asked.len() <= 15, "{crash:?}: {} requests", asked.len());
            assert!(end - begun >= 60_000, "{crash:?}: {begun} to {end}");
            assert!(end - begun < 64_000 + found_ms, "{crash:?}: {begun} to {end}");
            // From the first park on, the number of attempts is stored.
            if died.is_some_and(|died| died - begun < 4_000) {
                continue;
            }
            behind_parks += 1;
            let attempts: Vec<u64> =
                asked.iter().map(|asked| asked.body()["attempt"].as_u64().unwrap()).collect();
            assert!(attempts.is_sorted_by(|a, b| a < b), "{crash:?}: {attempts:?}");
            let seconds = (end - begun + 999) / 1_000;
            // If the process dies during a request, it is unknown whether the request was answered.
            let told = [0, 1].map(|unknown| {
                let times = asked.len() - unknown;
                format!("connection, {times} times in {seconds} s; is it running?")
            });
            assert!(told.iter().any(|told| text.ends_with(told)), "{crash:?}: {told:?}: {text}");
        }
        assert!(
            state == TaskState::Completed || behind_parks > 30,
            "{behind_parks} crashes behind a park"
        );
    }
}
