//! Programs that are down for a while: runs wait while connections are refused, first in memory, then parked.

use a2a::http::HttpAnswer;
use a2a::http::memory::status;
use a2a::model::{Message, TaskState};
use a2a_edge::port::{Clock, Target};
use a2a_edge::task::{LogEntry, Park};
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::front::Front;
use crate::support::http_agent::{Answer, Fate, HttpAgent};

const REFUSED: &str = "Error: Network connection lost.";

/// A program that is down for this number of milliseconds from the start.
fn down_for(down_ms: i64, settings: &Value, run: &Value) -> (Front, HttpAgent) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front_with(&platform, settings, run);
    agent.answer_with(move |asked| {
        if asked.at_ms < down_ms {
            Answer::down(REFUSED)
        } else {
            Answer::json(&json!([
                {"do": "artifact", "text": "here I am"},
                {"do": "complete", "text": "done"},
            ]))
        }
    });
    (front, agent)
}

fn said(front: &Front) -> String {
    let task = front.task().expect("a task");
    task.status.message.as_ref().map(Message::text).unwrap_or_default()
}

fn parks(front: &Front) -> Vec<Park> {
    let parked = |entry| if let LogEntry::Parked(park) = entry { Some(park) } else { None };
    front.entries().into_iter().filter_map(parked).collect()
}

/// The attempts in the requests to a program that was never reached before; all requests say that nothing was received yet.
fn attempts(agent: &HttpAgent) -> Vec<u64> {
    let asked = agent.asked();
    assert!(asked.iter().all(|asked| asked.body()["resumes"] == json!(false)));
    let keys: Vec<_> = asked.iter().map(|asked| asked.header("idempotency-key")).collect();
    assert!(keys.iter().all(|key| key.is_some() && *key == keys[0]), "{keys:?}");
    asked.iter().map(|asked| asked.body()["attempt"].as_u64().expect("a number")).collect()
}

#[test]
fn a_program_that_is_down_for_40_s_answers_once_when_it_is_back() {
    let (front, agent) = down_for(40_000, &json!({}), &json!({}));
    front.send("go");
    front.run(None, || agent.asked().len() == 7);
    assert_eq!((front.state(), said(&front).as_str()), (Some(TaskState::Working), ""));
    front.settle();
    front.finish();
    assert_eq!((front.state(), said(&front).as_str()), (Some(TaskState::Completed), "done"));
    let task = front.task().unwrap();
    assert_eq!(task.artifacts.len(), 1);
    assert_eq!(attempts(&agent), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let whole = agent.asked().iter().filter(|asked| asked.fate() == Fate::Whole).count();
    assert_eq!(whole, 1, "one answer");
    let at: Vec<i64> = agent.asked().iter().map(|asked| asked.at_ms).collect();
    assert!(at[8] < 50_000, "it is asked again soon: {at:?}");
}

#[test]
fn a_wait_costs_two_rows_and_an_alarm_for_each_long_pause() {
    let (front, agent) = down_for(i64::MAX, &json!({}), &json!({}));
    front.send("go");
    front.run(None, || agent.asked().len() == 5);
    let parks = |at: usize| {
        let rows = front.store.stored().expect("a task").log.len();
        (agent.asked().len() == at, rows, front.platform.alarms_set())
    };
    let (is_there, rows, alarms) = parks(5);
    assert!(is_there);
    front.run(None, || agent.asked().len() == 9);
    let (is_there, later_rows, later_alarms) = parks(9);
    assert!(is_there);
    // The run was parked after the fifth request, and again after the ninth: four waits are over.
    assert_eq!(later_rows - rows, 8);
    assert!(later_alarms - alarms <= 8, "{} alarms", later_alarms - alarms);
}

#[test]
fn a_program_that_stays_down_fails_the_task_after_a_minute_with_what_to_do() {
    for (reason, told) in [
        (REFUSED, "refused or lost the connection"),
        (
            "Error: internal error; reference = x1",
            "cannot be reached (Error: internal error; reference = x1)",
        ),
        (
            "no route to https://agent.example/turn",
            "cannot be reached (no route to https://agent.example/turn)",
        ),
    ] {
        let (front, agent) = down_for(i64::MAX, &json!({}), &json!({}));
        agent.answers(vec![Answer::down(reason)]);
        front.send("go");
        front.settle();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Failed));
        assert_eq!(
            said(&front),
            format!(
                "the agent's program at agent.example {told}, 10 times in 60 s; is it running?"
            )
        );
        let at: Vec<i64> = agent.asked().iter().map(|asked| asked.at_ms).collect();
        assert_eq!((at.len(), at[9] - at[0]), (10, 60_000), "{at:?}");
        let known: Vec<(u32, i64)> = parks(&front)
            .into_iter()
            .map(|park| (park.unanswered.expect("why").times, park.until_ms - park.at_ms))
            .collect();
        assert_eq!(known, [(5, 4_000), (6, 8_000), (7, 15_000), (8, 15_000), (9, 14_300)]);
    }
}

#[test]
fn the_agent_file_says_how_long_to_wait() {
    for (settings, requests, told) in [
        (json!({"unreachable_wait_ms": 1_000}), 4, "connection, 4 times in 1 s; is it running?"),
        (
            json!({"unreachable_wait_ms": 900_000}),
            22,
            "connection, 22 times in 900 s; is it running?",
        ),
        (
            json!({"unreachable_wait_ms": 0}),
            3,
            "https://agent.example/turn did not answer: Error: Network connection lost. (asked 3 times)",
        ),
        (
            json!({"unreachable_wait_ms": 0, "attempts": 1}),
            1,
            "https://agent.example/turn did not answer: Error: Network connection lost.",
        ),
        // `attempts` applies only to requests that were answered.
        (json!({"attempts": 1}), 10, "connection, 10 times in 60 s; is it running?"),
    ] {
        let (front, agent) = down_for(i64::MAX, &settings, &json!({}));
        front.send("go");
        front.settle();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Failed));
        let said = said(&front);
        assert!(said.ends_with(told), "{settings}: {said}");
        assert_eq!(agent.asked().len(), requests, "{settings}: {said}");
    }
}

#[test]
fn a_run_that_may_not_be_parked_waits_in_memory_within_its_time() {
    let fails = json!({"recovery": "fail"});
    let (front, agent) = down_for(40_000, &json!({}), &fails);
    front.send("go");
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Completed), "{}", said(&front));
    assert_eq!((attempts(&agent).len(), parks(&front).len()), (9, 0));

    let short = json!({"recovery": "fail", "timeout_ms": 10_000});
    let (front, agent) = down_for(i64::MAX, &json!({}), &short);
    front.send("go");
    front.settle();
    front.finish();
    let told = "the agent's program at agent.example refused or lost the connection, 6 times in 8 s; is it running?";
    assert_eq!((front.state(), said(&front).as_str()), (Some(TaskState::Failed), told));
    assert_eq!(agent.asked().len(), 6);
}

#[test]
fn the_wait_is_no_time_of_the_run() {
    let (front, agent) = down_for(40_000, &json!({}), &json!({"timeout_ms": 10_000}));
    front.send("go");
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Completed), "{}", said(&front));
    let left = agent.asked().last().unwrap().body()["timeLeftMs"].as_u64().unwrap();
    assert!((6_000..7_000).contains(&left), "{left}");
}

#[test]
fn a_cancel_in_the_wait_ends_it_at_once_and_no_turn_is_posted() {
    for (requests, cancel_url) in [(3, None), (7, None), (3, Some("/stop")), (7, Some("/stop"))] {
        let more = cancel_url.map_or(json!({}), |url| json!({"cancel_url": url}));
        let (front, agent) = down_for(i64::MAX, &more, &json!({}));
        front.send("go");
        front.run(None, || agent.asked().len() == requests);
        let canceled = front.platform.now();
        front.cancel();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Canceled));
        let asked = agent.asked();
        let later: Vec<&str> = asked[requests..].iter().map(|asked| asked.url.as_str()).collect();
        // The program may have lost the connection and still be working, so if it has a `cancel_url`, it is called.
        let told = cancel_url.map(|_| "https://agent.example/stop");
        assert_eq!(later, told.into_iter().collect::<Vec<_>>());
        assert!(asked[requests..].iter().all(|asked| asked.at_ms - canceled.0 < 100));
    }
}

#[test]
fn a_program_that_restarts_in_an_answer_is_waited_for_and_goes_on() {
    let (front, agent) = down_for(0, &json!({}), &json!({}));
    agent.answer_with(|asked| match (asked.number, asked.at_ms) {
        (1, _) => {
            Answer::lines(&[json!({"do": "artifact", "id": "a", "text": "half", "more": true})])
                .then_breaks()
        }
        (_, ..30_000) => Answer::down(REFUSED),
        _ => Answer::json(
            &json!([{"do": "artifact", "id": "a", "text": "whole"}, {"do": "complete"}]),
        ),
    });
    front.send("go");
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Completed), "{}", said(&front));
    assert_eq!(front.task().unwrap().artifacts[0].text().as_deref(), Some("whole"));
    let asked = agent.asked();
    let told: Vec<(u64, bool)> = asked
        .iter()
        .map(|asked| (asked.body()["attempt"].as_u64().unwrap(), asked.body()["resumes"] == true))
        .collect();
    let expected: Vec<(u64, bool)> = (1..=asked.len() as u64).map(|nth| (nth, nth > 1)).collect();
    assert_eq!(told, expected);
}

#[test]
fn a_program_that_breaks_each_time_it_is_back_is_not_asked_for_ever() {
    let (front, agent) = down_for(0, &json!({}), &json!({}));
    // The program is down for 20 s after each request that it has received.
    let back = std::cell::Cell::new(0);
    agent.answer_with(move |asked| {
        if asked.at_ms < back.get() {
            return Answer::down(REFUSED);
        }
        back.set(asked.at_ms + 20_000);
        Answer::lines(&[json!({"do": "working", "text": "on it"})]).then_breaks()
    });
    front.send("go");
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Failed));
    let whole = said(&front);
    assert!(whole.contains("broke off: the connection was reset (asked "), "{whole}");
    let notes = front.transcript().iter().filter(|said| *said == "on it").count();
    assert_eq!(notes, 3, "as often as `attempts` says");
}

#[test]
fn cloudflare_answers_in_the_place_of_a_server_that_it_cannot_reach() {
    for (status, requests, told) in [
        (
            521,
            10,
            "the agent's program at agent.example refused the connection, 10 times in 60 s; is it running?",
        ),
        (
            522,
            10,
            "program at agent.example cannot be reached (status 522), 10 times in 60 s; is it running?",
        ),
        (
            530,
            10,
            "program at agent.example cannot be reached (status 530), 10 times in 60 s; is it running?",
        ),
        // These statuses come from a running program or proxy.
        (502, 3, "https://agent.example/turn answered 502: so it is (asked 3 times)"),
        (520, 3, "https://agent.example/turn answered 520: so it is (asked 3 times)"),
    ] {
        let (front, agent) = down_for(0, &json!({}), &json!({}));
        agent.answers(vec![Answer::status(status, "so it is")]);
        front.send("go");
        front.settle();
        front.finish();
        let said = said(&front);
        assert!(said.ends_with(told), "{said}");
        assert_eq!((front.state(), agent.asked().len()), (Some(TaskState::Failed), requests));
    }
}

#[test]
fn a_bound_worker_that_is_not_there_is_waited_for_and_one_that_throws_is_not() {
    let at = "the agent's program at the service WORDS";
    let lost = "10 times in 60 s; is it running?";
    for (answer, requests, told) in [
        (Err(REFUSED), 10, format!("{at} refused or lost the connection, {lost}")),
        (
            Err("Error: internal error; reference = x1"),
            10,
            format!("{at} cannot be reached (Error: internal error; reference = x1), {lost}"),
        ),
        (
            Ok("Worker \"words\" not found. Make sure it is running locally."),
            10,
            format!("{at} is not started, {lost}"),
        ),
        (
            Ok("no words left"),
            3,
            "the service WORDS answered 503: no words left (asked 3 times)".to_owned(),
        ),
        (
            Err("Error: no such word"),
            3,
            "the service WORDS did not answer: Error: no such word (asked 3 times)".to_owned(),
        ),
    ] {
        let platform = MemoryPlatform::default();
        let words = platform.bind(Target::Service("WORDS".to_owned()));
        words.answer_with(move |_, _| match answer {
            Ok(body) => Ok(HttpAnswer { body: body.to_owned(), ..status(503) }),
            Err(reason) => Err(reason.to_owned()),
        });
        let (front, _) = HttpAgent::front(&platform, &json!({"service": "WORDS"}));
        front.send("go");
        front.settle();
        front.finish();
        assert_eq!((said(&front), words.called().len()), (told, requests));
        assert_eq!(front.state(), Some(TaskState::Failed));
    }
}
