//! The usage that agents behind HTTP report: in the metadata of the task and in the sums of its caller, once for each turn.

use a2a::model::{Message, TaskState};
use a2a_edge::task::LogEntry;
use a2a_edge::twins::MemoryPlatform;
use a2a_edge::usage::{USAGE, Usage};
use serde_json::{Value, json};

use crate::support::front::Front;
use crate::support::http_agent::{Answer, HttpAgent};

fn front() -> (MemoryPlatform, Front, HttpAgent) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &json!({}));
    (platform, front, agent)
}

/// Sends a text and waits for the end of the turn.
fn ask(front: &Front, text: &str) {
    front.send(text);
    front.settle();
    front.finish();
}

fn used(tokens: u64) -> Value {
    json!({"inputTokens": tokens, "outputTokens": 1, "costMicros": 2 * tokens})
}

/// The verb `usage`.
fn verb(tokens: u64) -> Value {
    let mut verb = used(tokens);
    verb["do"] = json!("usage");
    verb
}

fn done(tokens: u64) -> Value {
    json!({"do": "complete", "usage": used(tokens)})
}

fn sum(platform: &MemoryPlatform) -> Usage {
    platform.memory_usage().sum("1970-01-01", "anonymous", "agent")
}

fn usage(requests: u64, input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { requests, input_tokens, output_tokens, cost_micros: 2 * input_tokens }
}

fn metadata(front: &Front) -> Value {
    let metadata = front.task().and_then(|task| task.metadata);
    metadata.and_then(|metadata| metadata.members().get(USAGE).cloned()).unwrap_or_default()
}

/// The usage in the metadata of the event that ended the turn last.
fn told_at_end(front: &Front) -> Value {
    let statuses = front.entries().into_iter().filter_map(|entry| match entry {
        LogEntry::StatusUpdate(event) => event.metadata,
        _ => None,
    });
    let last = statuses.last().expect("the metadata of a status");
    last.members().get(USAGE).cloned().unwrap_or_default()
}

#[test]
fn a_verb_and_the_end_of_an_answer_report_what_the_turn_has_used_so_far_in_every_kind_of_answer() {
    let (early, end) = (verb(40), json!({"do": "complete"}));
    for verbs in [
        vec![done(100)],
        vec![verb(100), end.clone()],
        vec![early.clone(), verb(100), end.clone()],
        vec![early.clone(), done(100)],
        // A lower number takes nothing back, and what is said again adds nothing.
        vec![verb(100), early, verb(100), done(100)],
        vec![verb(100), json!({"do": "fail", "text": "no"})],
        vec![verb(100), json!({"do": "input_required", "text": "which?"})],
        vec![json!({"do": "reply", "text": "at once", "usage": used(100)})],
        vec![verb(100), json!({"do": "reply", "text": "at once"})],
    ] {
        for answer in [
            Answer::json(&Value::from(verbs.clone())),
            Answer::lines(&verbs),
            Answer::events(&verbs).split_every(7),
        ] {
            let (platform, front, agent) = front();
            agent.answers(vec![answer]);
            ask(&front, "go");
            let told =
                json!({"requests": 1, "inputTokens": 100, "outputTokens": 1, "cost": 0.0002});
            assert_eq!(metadata(&front), told, "{verbs:?}");
            assert_eq!(told_at_end(&front), told, "{verbs:?}");
            assert_eq!(sum(&platform), usage(1, 100, 1), "{verbs:?}");
            assert_eq!(platform.memory_usage().turns().len(), 1, "{verbs:?}");
        }
    }
}

#[test]
fn turns_of_a_task_add_up() {
    let (platform, front, agent) = front();
    let asks = json!({"do": "input_required", "text": "which?", "usage": used(100)});
    agent.answers(vec![Answer::json(&asks), Answer::json(&done(30))]);
    ask(&front, "one");
    ask(&front, "two");
    assert_eq!(metadata(&front)["inputTokens"], 130);
    assert_eq!(sum(&platform), usage(2, 130, 2));
    let told: Vec<Value> =
        agent.asked().iter().map(|asked| asked.body()["usage"].clone()).collect();
    assert_eq!(told, [Value::Null, Value::Null], "that of another turn is not that of this one");
}

#[test]
fn an_answer_that_is_repeated_counts_once_and_a_higher_number_counts_instead() {
    for (second, tokens) in [(100, 100), (160, 160), (30, 100)] {
        let (platform, front, agent) = front();
        let broken = Answer::lines(&[json!({"do": "working", "text": "on it"}), verb(100)]);
        agent.answers(vec![broken.then_breaks(), Answer::lines(&[verb(second), done(second)])]);
        ask(&front, "go");
        assert_eq!(front.state(), Some(TaskState::Completed));
        assert_eq!(sum(&platform), usage(1, tokens, 1), "{second}");
        let asked = agent.asked();
        assert_eq!(
            (&asked[0].body()["usage"], &asked[0].body()["resumes"]),
            (&Value::Null, &json!(false))
        );
        let known =
            json!({"requests": 1, "inputTokens": 100, "outputTokens": 1, "costMicros": 200});
        assert_eq!(
            (&asked[1].body()["usage"], &asked[1].body()["resumes"]),
            (&known, &json!(true))
        );
    }
}

#[test]
fn a_turn_that_is_asked_for_again_after_a_crash_counts_once() {
    let (platform, front, agent) = front();
    agent.answer_with(|asked| match asked.number {
        1 => Answer::lines(&[json!({"do": "artifact", "id": "a", "text": "x"}), verb(100)])
            .then_hangs(),
        _ => Answer::lines(&[json!({"do": "artifact", "id": "a", "text": "x"}), done(100)]),
    });
    front.send("go");
    front.run(None, || front.task().is_some_and(|task| !task.artifacts.is_empty()));
    front.die();
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Completed));
    assert_eq!((agent.asked().len(), sum(&platform)), (2, usage(1, 100, 1)));
    // A crash behind the end of the turn.
    front.die();
    front.finish();
    assert_eq!((agent.asked().len(), sum(&platform)), (2, usage(1, 100, 1)));
}

#[test]
fn a_run_that_is_parked_because_its_program_is_down_keeps_what_was_used() {
    let (platform, front, agent) = front();
    agent.answer_with(|asked| match asked.at_ms {
        0..500 => Answer::lines(&[verb(100)]).then_breaks(),
        500..20_000 => Answer::down("Error: Network connection lost."),
        _ => Answer::json(&done(130)),
    });
    front.send("go");
    front.run(None, || front.entries().iter().any(|entry| matches!(entry, LogEntry::Parked(_))));
    front.die();
    front.settle();
    front.finish();
    assert_eq!(front.state(), Some(TaskState::Completed));
    let last = agent.asked().last().expect("a request").body();
    assert_eq!((&last["usage"]["inputTokens"], &last["resumes"]), (&json!(100), &json!(true)));
    assert_eq!(sum(&platform), usage(1, 130, 1));
    assert_eq!(platform.memory_usage().turns().len(), 1);
}

#[test]
fn what_was_used_before_a_mistake_or_a_cancel_counts() {
    let (platform, front, agent) = front();
    agent.answers(vec![Answer::lines(&[verb(100), json!({"do": "usage", "inputTokens": 1.5})])]);
    ask(&front, "go");
    let task = front.task().expect("a task");
    let text = task.status.message.as_ref().map(Message::text).unwrap_or_default();
    assert!(text.contains("line 2: `inputTokens` of `usage` must be a whole number"), "{text}");
    assert_eq!((front.state(), sum(&platform)), (Some(TaskState::Failed), usage(1, 100, 1)));

    let (platform, front, agent) = self::front();
    agent.answers(vec![
        Answer::lines(&[verb(100), json!({"do": "working", "text": "on it"})]).then_hangs(),
    ]);
    front.send("go");
    front.run(None, || front.state() == Some(TaskState::Working));
    front.cancel();
    front.finish();
    assert_eq!((front.state(), sum(&platform)), (Some(TaskState::Canceled), usage(1, 100, 1)));
}

#[test]
fn an_answer_without_usage_counts_nothing() {
    let (platform, front, agent) = front();
    agent.answers(vec![Answer::json(&json!({"do": "complete", "usage": {"requests": 0}}))]);
    ask(&front, "go");
    assert_eq!(metadata(&front), Value::Null);
    assert_eq!(platform.memory_usage().statements(), 0);
}
