//! The models' usage by turns: how it is stored, reported and counted, with the in-memory implementations of the
//! platform.

use std::rc::Rc;

use crate::support::{Host, cancel_task, first, limits, next, reason, state, task};
use a2a::error::Error;
use a2a::model::{Message, SendMessageRequest, TaskState};
use a2a::{Allowance, DayLimit, Terms, UsedUp};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::executor::{Events, ExecutorError, Turn};
use a2a_edge::operation::send_message;
use a2a_edge::port::Clock;
use a2a_edge::session::{Sender, TaskSession};
use a2a_edge::task::{LogEntry, TaskMachine};
use a2a_edge::twins::MemoryUsage;
use a2a_edge::usage::{USAGE, Usage};
use futures_util::future::{LocalBoxFuture, select};
use serde_json::{Value, json};

fn used(requests: u64, tokens: u64) -> Usage {
    Usage { requests, input_tokens: tokens, output_tokens: 1, cost_micros: 2 * tokens }
}

/// An agent that executes the words of its message.
fn obedient<'a>(
    turn: &'a Turn,
    events: &'a Events,
) -> LocalBoxFuture<'a, Result<(), ExecutorError>> {
    Box::pin(async move {
        for word in turn.message.text().split_whitespace() {
            match word {
                "step" => {
                    turn.step("model", async || {
                        turn.sleep(5).await;
                        turn.record_usage(used(1, 100));
                        Ok(())
                    })
                    .await?;
                }
                // The model has answered, but its answer was unusable.
                "useless" => {
                    let asked = turn.step("model", async || {
                        turn.record_usage(used(1, 100));
                        Err::<(), _>(ExecutorError("useless".to_owned()))
                    });
                    let _ = asked.await;
                }
                "dropped" => {
                    let step = turn.step("model", async || {
                        turn.record_usage(used(1, 100));
                        turn.sleep(1_000).await;
                        Ok(())
                    });
                    select(Box::pin(step), Box::pin(turn.sleep(10))).await;
                }
                // The model's answer broke off.
                "broken" => {
                    turn.step("model", async || {
                        turn.record_repeated_usage(used(1, 30));
                        turn.sleep(1_000).await;
                        turn.record_usage(used(1, 100));
                        Ok(())
                    })
                    .await?;
                }
                "loose" => turn.record_usage(used(1, 100)),
                // Two models in a step, and one for a request that came to nothing.
                "named" => {
                    turn.step("models", async || {
                        turn.record_usage_of("small", used(1, 10));
                        turn.record_usage_of("large", used(1, 100));
                        turn.record_repeated_usage_of("small", used(1, 5));
                        turn.sleep(5).await;
                        Ok(())
                    })
                    .await?;
                }
                "ask" => events.require_input("more?")?,
                "fail" => return Err(ExecutorError("failed".to_owned())),
                "panic" => panic!("as asked"),
                "hang" => std::future::pending().await,
                "sum" => events.working(Some(&turn.usage().input_tokens.to_string()))?,
                "limit" => events.working(Some(&format!("{:?}", turn.used_up())))?,
                "complete" => events.complete(None)?,
                other => panic!("{other}"),
            }
        }
        Ok(())
    })
}

fn host() -> Host {
    let settings = RunSettings { recovery: Some(Recovery::Resume), ..RunSettings::default() };
    Host { settings, ..Host::new(obedient) }
}

fn sums(host: &Host) -> &MemoryUsage {
    host.platform.memory_usage()
}

const DAY: &str = "1970-01-01";

fn sum(host: &Host) -> Usage {
    sums(host).sum(DAY, "anonymous", "agent")
}

fn send(host: &Host, session: &Rc<TaskSession>, request: Value) {
    host.platform.run_until(host.send(session, request)).expect("an answer");
}

/// A task with this first message.
fn told(words: &str) -> (Host, Rc<TaskSession>) {
    let host = host();
    let session = host.open();
    send(&host, &session, first(words));
    (host, session)
}

fn metadata(session: &TaskSession) -> Value {
    let metadata = task(session).metadata.map(|metadata| metadata.members()).unwrap_or_default();
    metadata.get(USAGE).cloned().unwrap_or_default()
}

#[test]
fn models_are_counted_by_their_names_also_over_a_crash() {
    let (host, session) = told("named loose named ask");
    send(&host, &session, next("m2", "named complete"));
    let parts = |session: &TaskSession| {
        let turns = sums(&host).turns();
        assert_eq!(state(session), TaskState::Completed);
        turns.iter().map(|turn| json!(turn.turn.models)).collect::<Vec<_>>()
    };
    let expected = [
        json!({"large": [2, 200, 2, 400], "small": [4, 30, 4, 60]}),
        json!({"large": [1, 100, 1, 200], "small": [2, 15, 2, 30]}),
    ];
    assert_eq!(parts(&session), expected);
    assert_eq!(sum(&host).requests, 10, "what has no name is in the sum");
    // The log says the same to a process that comes later.
    let stored = host.store.stored().expect("a task");
    let lines = stored.log.iter().flat_map(|row| row.batch.lines.lines());
    let replayed = TaskMachine::replay(lines.map(|line| LogEntry::parse(line).unwrap())).unwrap();
    let models: Vec<Value> = replayed.usage().behind(0).map(|turn| json!(turn.models)).collect();
    assert_eq!(models, expected);
}

#[test]
fn a_turn_is_counted_once_when_it_is_over_and_before_its_answer() {
    let (host, session) = told("step step complete");
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!((sum(&host), sums(&host).statements()), (used(2, 200).with_output(2), 1));
    let turn = &sums(&host).turns()[0];
    assert_eq!((turn.task.as_str(), turn.turn.turn), ("t", 1));
    host.platform.run_all();
    let session = host.open();
    host.platform.run_all();
    assert_eq!(sums(&host).statements(), 1, "what is counted is not counted again");
    let told = json!({"requests": 2, "inputTokens": 200, "outputTokens": 2, "cost": 0.0004});
    assert_eq!(metadata(&session), told);
    let status = host.platform.frames().join("\n");
    assert!(status.contains(USAGE), "those who follow the task are told, too: {status}");
}

#[test]
fn turns_of_a_task_are_counted_each_and_told_together() {
    let (host, session) = told("step ask");
    assert_eq!((sum(&host), sums(&host).statements()), (used(1, 100), 1));
    send(&host, &session, next("m2", "complete"));
    assert_eq!(sums(&host).statements(), 1, "a turn that has used nothing is not counted");
    let (host, session) = told("step ask");
    host.platform.run_until(host.platform.sleep(90_000_000));
    send(&host, &session, next("m2", "step step complete"));
    let days: Vec<(String, u64)> = sums(&host)
        .turns()
        .iter()
        .map(|turn| (turn.turn.day(), turn.turn.usage.requests))
        .collect();
    assert_eq!(days, [(DAY.to_owned(), 1), ("1970-01-02".to_owned(), 2)]);
    assert_eq!(metadata(&session)["requests"], 3);
}

#[test]
fn a_turn_counts_however_it_ends() {
    for (words, requests, end) in [
        ("step fail", 1, TaskState::Failed),
        ("step", 1, TaskState::Failed),
        ("step panic", 1, TaskState::Failed),
        ("step useless complete", 2, TaskState::Completed),
        ("dropped complete", 1, TaskState::Completed),
        ("loose complete", 1, TaskState::Completed),
        ("step hang", 1, TaskState::Failed),
        ("ask step", 1, TaskState::InputRequired),
    ] {
        let mut host = host();
        host.settings.timeout_ms = Some(20_000);
        host.settings.max_attempts = Some(2);
        let session = host.open();
        // After a panic, the client receives an error.
        let _ = host.platform.run_until(host.send(&session, first(words)));
        host.platform.run_all();
        assert_eq!((state(&session), sum(&host).requests), (end, requests), "{words}");
    }
}

#[test]
fn a_canceled_turn_counts_with_what_comes_after_the_cancel() {
    let host = host();
    let session = host.open();
    let request = |text: &str| {
        let mut request = first(text);
        request["configuration"] = json!({"returnImmediately": true});
        request
    };
    send(&host, &session, request("step step complete"));
    host.platform.run_until(host.platform.sleep(6));
    let caller = a2a_edge::auth::Caller::anonymous();
    cancel_task(&session, "agent", &caller, Terms::default()).expect("canceled");
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Canceled);
    assert_eq!(sum(&host).requests, 2, "the second step was answered after the cancel");
}

#[test]
fn what_the_sums_do_not_take_is_counted_later_and_fails_no_task() {
    let host = host();
    sums(&host).set_failing(true);
    let session = host.open();
    send(&host, &session, first("step complete"));
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!(sum(&host), Usage::NOTHING);
    let expected = "task t: what it has used is not counted yet, attempt 1, next in 1000 ms: the sums were told to fail";
    assert_eq!(host.platform.errors(), [expected]);
    let alarm = host.platform.alarm().expect("an alarm");
    assert!(alarm.0 - host.platform.now().0 <= 1_000);

    // The process dies; the alarm alone counts the usage, for the day of the turn.
    host.platform.crash();
    sums(&host).set_failing(false);
    host.platform.run_until(host.platform.sleep(200_000_000));
    let session = host.open();
    host.platform.run_until(session.wake());
    assert_eq!(sum(&host), used(1, 100));
}

#[test]
fn a_turn_whose_counting_was_not_confirmed_is_counted_once() {
    let host = host();
    sums(&host).set_lossy(true);
    let session = host.open();
    send(&host, &session, first("step complete"));
    assert_eq!((sum(&host), sums(&host).statements()), (used(1, 100), 1));
    host.platform.crash();
    sums(&host).set_lossy(false);
    let session = host.open();
    host.platform.run_all();
    assert_eq!((sum(&host), sums(&host).statements()), (used(1, 100), 2));
    drop(session);
    host.open();
    host.platform.run_all();
    assert_eq!(sums(&host).statements(), 2);
}

#[test]
fn a_turn_knows_what_it_has_used_before_it_was_interrupted() {
    let host = host();
    let session = host.open();
    let mut request = first("step step sum complete");
    request["configuration"] = json!({"returnImmediately": true});
    send(&host, &session, request);
    host.platform.run_until(host.platform.sleep(6));
    drop(session);
    host.platform.crash();
    let session = host.open();
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Completed);
    let history = task(&session).history;
    assert_eq!(history.last().map(Message::text).as_deref(), Some("200"));
    assert_eq!((sum(&host).requests, sums(&host).statements()), (2, 1));
}

#[test]
fn what_came_to_nothing_counts_and_is_told_besides_also_when_the_process_dies_before_the_step_ends()
{
    for crashes in [false, true] {
        let host = host();
        let session = host.open();
        let mut request = first("step broken complete");
        request["configuration"] = json!({"returnImmediately": true});
        send(&host, &session, request);
        host.platform.run_until(host.platform.sleep(100));
        let session = if crashes {
            drop(session);
            host.platform.crash();
            host.open()
        } else {
            session
        };
        host.platform.run_all();
        assert_eq!(state(&session), TaskState::Completed);
        // The resumed attempt repeats the step.
        let times = if crashes { 2 } else { 1 };
        let repeated = json!({"requests": times, "inputTokens": 30 * times, "outputTokens": times, "cost": 0.00006 * times as f64});
        assert_eq!(metadata(&session)["repeated"], repeated, "{crashes}");
        let all = used(2 + times, 200 + 30 * times).with_output(2 + times);
        assert_eq!((sum(&host), sums(&host).statements()), (all, 1), "{crashes}");
        assert_eq!(metadata(&session)["requests"], 2 + times);
    }
}

#[test]
fn tasks_that_use_nothing_are_not_counted() {
    let (host, session) = told("complete");
    host.platform.run_all();
    assert_eq!((sums(&host).statements(), metadata(&session)), (0, Value::Null));
}

#[test]
fn a_send_of_a_caller_that_has_used_up_its_day_is_refused_unless_it_is_repeated() {
    let host = host();
    let used_up = UsedUp { limit: DayLimit::Tokens(10), seconds: 60 };
    let over = Terms { used_up: Some(used_up), ..Terms::default() };
    let session = host.open();
    let request: SendMessageRequest = serde_json::from_value(first("step ask")).unwrap();
    let sender = || Sender { fingerprint: Some(request.fingerprint()), ..host.sender() };
    let send = |request: &SendMessageRequest, terms| {
        host.platform.run_until(send_message(&session, sender(), request.clone(), terms))
    };
    assert_eq!(send(&request, over), Err(Error::UsedUp(used_up)));
    assert!(send(&request, Terms::default()).is_ok());
    assert!(send(&request, over).is_ok(), "the same send gets the same answer");
    let more: SendMessageRequest = serde_json::from_value(next("m2", "ask")).unwrap();
    assert_eq!(send(&more, over), Err(Error::UsedUp(used_up)));
    assert!(send(&more, Terms::default()).is_ok());
    assert!(send(&more, over).is_ok());
}

#[test]
fn a_turn_knows_when_it_has_used_up_what_its_caller_had_left() {
    for (left, words, expected) in [
        (Some(Allowance { tokens: Some(150), cost_micros: None }), "step limit complete", "None"),
        (
            Some(Allowance { tokens: Some(150), cost_micros: None }),
            "step step limit complete",
            "Some(Tokens(150))",
        ),
        (
            Some(Allowance { tokens: None, cost_micros: Some(200) }),
            "step limit complete",
            "Some(CostMicros(200))",
        ),
        (None, "step limit complete", "None"),
    ] {
        let host = host();
        let session = host.open_within(limits());
        let request: SendMessageRequest = serde_json::from_value(first(words)).unwrap();
        let sender = Sender { allowance: left, ..host.sender() };
        let sent = send_message(&session, sender, request, Terms::default());
        host.platform.run_until(sent).expect("an answer");
        let said = task(&session).history.last().map(Message::text).unwrap_or_default();
        assert_eq!(said, expected, "{words} {}", reason(&session));
    }
}

/// For sums of several requests, each of which wrote one token.
trait WithOutput {
    fn with_output(self, tokens: u64) -> Self;
}

impl WithOutput for Usage {
    fn with_output(self, tokens: u64) -> Self {
        Self { output_tokens: tokens, ..self }
    }
}
