//! Tasks whose ids their clients have chosen: a message with such an id begins the task or continues it.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::error::Error;
use a2a::model::{
    Generation, Message, Part, Role, SendMessageRequest, TaskId, TaskState, UnixMillis,
};
use a2a::{Outcome, Quota, Terms};
use a2a_agents::RunSettings;
use a2a_edge::auth::Caller;
use a2a_edge::executor::{Runner, Wait};
use a2a_edge::operation::{send_message, send_streaming_message, subscribe_to_task};
use a2a_edge::session::{FindAgent, Ids, Opening, Sender, SentCredentials, TaskSession};
use a2a_edge::trail::Trail;
use futures_util::future::join;
use serde_json::{Value, json};

use crate::support::{Host, first, limits, owned, reason, state, task};

/// The session of the object `o`, opened with the id that a client has chosen; with `None`, as an alarm opens
/// it.
fn open_as(host: &Host, chosen: Option<&str>) -> Rc<TaskSession> {
    let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
    let (executor, settings) = (host.executor.clone(), host.settings);
    let runner = Runner { executor, settings, outside: host.platform.outside() };
    let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
    let ids = Ids { object: TaskId::new("o").unwrap(), chosen: chosen.and_then(TaskId::new) };
    TaskSession::open(ids, store, ports, limits(), find, Opening::ByRequest).expect("storage works")
}

fn open(host: &Host) -> Rc<TaskSession> {
    open_as(host, Some("mine"))
}

fn message(id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

async fn send_on(
    session: &TaskSession,
    sender: Sender,
    request: Value,
    terms: Terms,
) -> Result<Outcome, Error> {
    let request: SendMessageRequest = serde_json::from_value(request).expect("a good request");
    send_message(session, sender, request, terms).await
}

fn said_by_client(session: &TaskSession) -> Vec<String> {
    let history = task(session).history;
    let asked = history.iter().filter(|message| message.role == Role::User);
    asked.map(Message::text).collect()
}

/// An agent that asks for input until the message is `stop`.
fn asking() -> Host {
    Host::new(|turn, events| {
        Box::pin(async move {
            match turn.message.text().as_str() {
                "stop" => events.complete(Some("done")),
                _ => events.require_input("and now?"),
            }
        })
    })
}

#[test]
fn a_message_begins_the_task_of_the_id_and_a_later_one_goes_on_with_it() {
    let host = asking();
    let session = open(&host);
    host.platform.run_until(host.send(&session, message("m1", "hi"))).expect("an answer");
    assert_eq!(task(&session).id, TaskId::new("mine").unwrap());
    let ids = task(&session).history.into_iter().map(|message| message.task_id);
    assert!(ids.into_iter().all(|id| id == TaskId::new("mine")));
    assert_eq!(state(&session), TaskState::InputRequired);
    host.platform.run_until(host.send(&session, message("m2", "stop"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!(said_by_client(&session), ["hi", "stop"]);
    let refused = host.platform.run_until(host.send(&session, message("m3", "more")));
    let refused = refused.expect_err("the task has ended").to_string();
    assert!(refused.contains("the task is completed"), "{refused}");
}

#[test]
fn what_is_stored_says_which_id_clients_know() {
    let host = asking();
    host.platform.run_until(host.send(&open(&host), message("m1", "hi"))).expect("an answer");
    // Opened as by an alarm or by the clean-up.
    let session = open_as(&host, None);
    assert_eq!(session.id(), &TaskId::new("mine").unwrap());
    host.platform.run_until(host.send(&session, message("m2", "stop"))).expect("an answer");
    assert_eq!(said_by_client(&session), ["hi", "stop"]);
}

#[test]
fn a_session_without_a_task_is_unfit_for_another_id() {
    let host = asking();
    let (nameless, mine) = (open_as(&host, None), TaskId::new("mine").unwrap());
    assert!(nameless.is_unfit_for(&mine), "it would begin a task of the id of its object");
    let session = open(&host);
    assert!(!session.is_unfit_for(&mine));
    host.platform.run_until(host.send(&session, message("m1", "hi"))).expect("an answer");
    assert!(!open_as(&host, None).is_unfit_for(&mine));
}

#[test]
fn an_id_of_which_there_is_no_task_is_named_by_the_error_and_nothing_is_written() {
    let host = asking();
    let session = open(&host);
    let found = session.owned_by("agent", &Caller::anonymous(), &Trail::default());
    assert_eq!(found.err(), Some(Error::TaskNotFound(TaskId::new("mine").unwrap())));
    let follow_up = json!({"message": {"messageId": "m", "taskId": "mine", "role": "ROLE_USER",
        "parts": [{"text": "x"}]}});
    let sent = host.platform.run_until(host.send(&session, follow_up));
    assert_eq!(sent.err(), Some(Error::TaskNotFound(TaskId::new("mine").unwrap())));
    host.platform.run_all();
    assert_eq!(host.store.stored(), None);
}

#[test]
fn a_task_of_a_chosen_id_exists_before_its_agent_says_anything() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(10).await;
            events.complete(None)
        })
    });
    let session = open(&host);
    let sent = host.send(&session, message("m1", "hi"));
    let clock = host.platform.ports().clock;
    let both = join(sent, async {
        clock.sleep(1).await;
        assert_eq!(state(&session), TaskState::Submitted);
        assert_eq!(host.rows(), 1);
        assert!(host.platform.alarm().is_some(), "a crash finds the task, and the alarm");
    });
    host.platform.run_until(both).0.expect("an answer");
    assert_eq!(state(&session), TaskState::Completed);
}

#[test]
fn a_direct_message_completes_the_task_as_its_status() {
    let host =
        Host::new(|_, events| Box::pin(async move { events.reply(vec![Part::text("hello")]) }));
    let session = open(&host);
    let outcome = host.platform.run_until(host.send(&session, message("m1", "hi")));
    assert!(matches!(outcome, Ok(Outcome::SentTask(_))), "{outcome:?}");
    let stored = open_as(&host, None);
    assert_eq!((state(&stored), reason(&stored).as_str()), (TaskState::Completed, "hello"));
    assert_eq!(host.rows(), 1);
}

#[test]
fn of_two_first_messages_at_the_same_time_one_begins_the_task_and_the_other_goes_on_with_it() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(5).await;
            let second = turn.next_message().await.text();
            events.complete(Some(&format!("{} {second}", turn.message.text())))
        })
    });
    let session = open(&host);
    let both =
        join(host.send(&session, message("m1", "one")), host.send(&session, message("m2", "two")));
    let (one, two) = host.platform.run_until(both);
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    assert_eq!(said_by_client(&session), ["one", "two"]);
    assert_eq!(reason(&session), "one two");
    assert_eq!(task(&open(&host)), task(&session));
}

#[test]
fn the_same_message_again_changes_nothing() {
    let host = asking();
    let session = open(&host);
    for _ in 0..2 {
        host.platform.run_until(host.send(&session, message("m1", "hi"))).expect("an answer");
    }
    assert_eq!(said_by_client(&session), ["hi"]);
    assert_eq!(state(&session), TaskState::InputRequired);
}

#[test]
fn a_stranger_neither_continues_the_task_nor_begins_another() {
    let host = asking();
    let session = open(&host);
    host.platform.run_until(host.send(&session, message("m1", "hi"))).expect("an answer");
    let stranger = Sender { caller: Caller::new("key:bob"), ..host.sender() };
    let sent = send_on(&session, stranger, message("m2", "stop"), Terms::default());
    let refused = host.platform.run_until(sent);
    assert_eq!(refused.err(), Some(Error::TaskNotFound(TaskId::new("mine").unwrap())));
    assert_eq!(said_by_client(&session), ["hi"]);
}

#[test]
fn a_quota_that_is_used_up_lets_a_task_go_on_and_none_begin() {
    let over = Terms { over_quota: Some(Quota::Tasks(3)), ..Terms::default() };
    let host = asking();
    let session = open(&host);
    let sent = send_on(&session, host.sender(), message("m1", "hi"), over);
    assert_eq!(host.platform.run_until(sent).err(), Some(Error::OverQuota(Quota::Tasks(3))));
    assert_eq!(host.store.stored(), None);
    host.platform.run_until(host.send(&session, message("m1", "hi"))).expect("an answer");
    let sent = send_on(&session, host.sender(), message("m2", "stop"), over);
    assert!(host.platform.run_until(sent).is_ok());
    assert_eq!(state(&session), TaskState::Completed);
}

#[test]
fn a_stream_begins_the_task_or_goes_on_with_a_snapshot() {
    let host = asking();
    let session = open(&host);
    let follow = |request: Value, after| {
        let request: SendMessageRequest = serde_json::from_value(request).expect("a good request");
        let begun =
            send_streaming_message(&session, host.sender(), request, after, Terms::default());
        host.platform.run_until(begun).map(|beginning| beginning.frames)
    };
    let refused =
        follow(message("m1", "hi"), Some(Generation(5))).expect_err("there is no event 5");
    assert!(matches!(refused, Error::InvalidParams(_)), "{refused:?}");
    assert_eq!(host.store.stored(), None, "and nothing has begun");
    assert!(follow(message("m1", "hi"), None).expect("a stream").is_empty());
    host.platform.run_all();
    // A stream whose connection breaks before its first frame is requested again.
    for _ in 0..2 {
        let frames = follow(message("m2", "stop"), None).expect("a stream");
        assert!(frames[0].starts_with('S') && frames[0].contains(r#""id":"mine""#), "{frames:?}");
        host.platform.run_all();
    }
    assert_eq!(said_by_client(&session), ["hi", "stop"]);
    let missed = subscribe_to_task(owned(&session), Some(Generation::NONE), Terms::default())
        .expect("a stream");
    assert!(missed.frames[0].starts_with("E1\n"), "{:?}", missed.frames);
}

#[test]
fn a_run_of_a_chosen_id_that_was_lost_goes_on() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            if turn.attempt == 1 {
                turn.sleep(60_000).await;
            }
            events.complete(Some(&format!("attempt {}", turn.attempt)))
        })
    });
    let recovery = Some(a2a_agents::Recovery::Resume);
    let host = Host { settings: RunSettings { recovery, ..RunSettings::default() }, ..host };
    let session = open(&host);
    let mut request = message("m1", "hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    drop(session);
    host.platform.crash();
    let session = open_as(&host, None);
    host.platform.run_until(session.wake());
    host.platform.run_all();
    assert_eq!((session.id().as_str(), reason(&session).as_str()), ("mine", "attempt 2"));
}

#[test]
fn what_has_to_be_unique_goes_by_the_object() {
    let urls = Rc::new(RefCell::new(Vec::new()));
    let told = urls.clone();
    let host = Host::new(move |turn, events| {
        let told = told.clone();
        Box::pin(async move {
            if turn.number == 2 {
                let given = turn.credentials().await?.and_then(|given| given.get("token"));
                let url = turn.callback("paid")?.url().to_owned();
                told.borrow_mut().extend([url, turn.unique_id().to_owned()]);
                turn.wait_until(Wait::for_millis(1_000)).await?;
                let given = given.map(|secret| secret.reveal().len());
                return events.complete(Some(&format!("{} {given:?}", turn.task_id)));
            }
            events.require_auth("who are you?")
        })
    });
    let recovery = Some(a2a_agents::Recovery::Resume);
    let host = Host { settings: RunSettings { recovery, ..RunSettings::default() }, ..host };
    let session = open(&host);
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    let sealed = a2a_edge::twins::MemoryVault::seal("o", r#"{"token":"abcdefgh"}"#);
    let credentials = Some(SentCredentials { sealed, is_part: true });
    let sender = Sender { credentials, ..host.sender() };
    let sent = send_on(&session, sender, message("m2", "it is me"), Terms::default());
    host.platform.run_until(sent).expect("an answer");
    host.platform.run_to(UnixMillis(i64::from(u32::MAX)));
    host.platform.run_until(session.wake());
    host.platform.run_all();
    assert_eq!(reason(&session), "mine Some(8)");
    let told = urls.borrow();
    assert!(told[0].starts_with("https://agents.example/agent/callbacks/o"), "{told:?}");
    assert_eq!(told[1], "o");
}

#[test]
fn who_waits_no_longer_than_a_moment_gets_the_task_as_it_is() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            let millis = turn.message.text().parse().unwrap_or(0);
            turn.sleep(millis).await;
            events.complete(None)
        })
    });
    let hurried = Terms { answer_within_ms: Some(250), ..Terms::default() };
    for (takes, expected) in [("200", "COMPLETED"), ("300", "SUBMITTED")] {
        let host = another(&host);
        let session = open(&host);
        let sent = send_on(&session, host.sender(), message("m1", takes), hurried);
        let answer = host.platform.run_until(sent).expect("an answer");
        let Outcome::SentTask(shown) = answer else { panic!("{answer:?}") };
        assert!(shown.json.contains(expected), "{takes}: {}", shown.json);
    }
}

/// Another object for the same agent.
fn another(host: &Host) -> Host {
    Host {
        store: Default::default(),
        platform: Default::default(),
        executor: host.executor.clone(),
        settings: host.settings,
        secrets: host.secrets.clone(),
    }
}
