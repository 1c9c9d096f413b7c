//! Webhooks that were registered in an older dialect: their notifications, and how they are found without an
//! id.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::http::memory::status;
use a2a::model::decode::read_json;
use a2a::model::{
    Artifact, Part, PushNotificationConfigRequest, TaskId, TaskPushNotificationConfig,
};
use a2a::{Outcome, Terms, WebhookCall};
use a2a_edge::operation::{manage_webhooks, send_message};
use a2a_edge::push::{NextNotification, Notification, Report};
use a2a_edge::session::{Sender, TaskSession};
use futures_executor::block_on;
use serde_json::{Value, json};

use crate::support::{Host, first, next, owned};

/// An agent that asks for input, and after the answer creates an artifact in two chunks.
fn asking() -> Host {
    Host::new(|turn, events| {
        Box::pin(async move {
            if turn.number == 1 {
                return events.require_input("which one?");
            }
            events.begin(Artifact::new("a", Part::text("one")))?;
            turn.sleep(10_000).await;
            events.append(Artifact::new("a", Part::text("two")), true)?;
            events.complete(Some("done"))
        })
    })
}

fn sender(host: &Host, dialect: Dialect) -> Sender {
    Sender { dialect, ..host.sender() }
}

fn send_as(host: &Host, session: &Rc<TaskSession>, dialect: Dialect, request: Value) {
    let request = serde_json::from_value(request).expect("a good request");
    let sent = send_message(session, sender(host, dialect), request, Terms::default());
    host.platform.run_until(sent).expect("an answer");
}

fn with_webhook(mut request: Value, webhook: Value) -> Value {
    request["configuration"] = json!({"taskPushNotificationConfig": webhook});
    request
}

fn call(session: &TaskSession, dialect: Dialect, call: WebhookCall) -> Result<Outcome, Error> {
    block_on(manage_webhooks(owned(session), call, dialect))
}

fn register(session: &TaskSession, dialect: Dialect, config: Value) -> TaskPushNotificationConfig {
    let config = Box::new(read_json(&config.to_string()).expect("a good config"));
    match call(session, dialect, WebhookCall::CreateTaskPushNotificationConfig(config)) {
        Ok(Outcome::PushConfig(made)) => made.config,
        other => panic!("{other:?}"),
    }
}

fn get(session: &TaskSession, id: &str) -> Result<String, Error> {
    let request = PushNotificationConfigRequest {
        tenant: None,
        task_id: TaskId::new("t").unwrap(),
        id: id.to_owned(),
    };
    match call(session, Dialect::V0_3, WebhookCall::GetTaskPushNotificationConfig(request))? {
        Outcome::PushConfig(shown) => Ok(shown.config.url),
        other => panic!("{other:?}"),
    }
}

/// All notifications of a webhook whose receiver accepts everything.
fn drain(session: &TaskSession, id: &str) -> Vec<Notification> {
    let mut sent = Vec::new();
    let mut asked = NextNotification { config_id: id.to_owned(), ..NextNotification::default() };
    while let Some(notification) = session.next_notification(asked.clone()).next {
        let report =
            Report { generation: notification.generation, status: Some(204), ..Report::default() };
        asked = NextNotification {
            lease: Some(notification.lease.clone()),
            report: Some(report),
            ..asked
        };
        sent.push(notification);
    }
    sent
}

#[test]
fn each_notification_is_the_task_as_it_was_after_its_event() {
    for (dialect, states) in [
        (
            Dialect::V0_3,
            ["submitted", "input-required", "working", "working", "working", "completed"],
        ),
        (
            Dialect::Legacy,
            ["submitted", "input-required", "working", "working", "working", "completed"],
        ),
    ] {
        let host = asking();
        let session = host.open();
        let url = "https://receiver.example/";
        send_as(&host, &session, dialect, with_webhook(first("hi"), json!({"url": url})));
        send_as(&host, &session, dialect, next("m2", "that one"));
        // Sent late, from storage: the task has continued meanwhile.
        drop(session);
        let session = host.open();
        let notifications = drain(&session, "t");
        assert!(notifications.iter().all(|notification| notification.dialect == dialect));
        let bodies = notifications.iter().map(|notification| read(&notification.body));
        let bodies: Vec<Value> = bodies.collect();
        let told: Vec<&str> =
            bodies.iter().map(|body| body["status"]["state"].as_str().unwrap()).collect();
        assert_eq!(told, states, "{dialect:?}");
        let said = |index: usize| bodies[index]["status"]["message"]["parts"][0]["text"].clone();
        assert_eq!((said(1), said(5)), (json!("which one?"), json!("done")), "{dialect:?}");
        let pieces = |index: usize| bodies[index]["artifacts"][0]["parts"].as_array().map(Vec::len);
        assert_eq!((2..6).map(pieces).collect::<Vec<_>>(), [None, Some(1), Some(2), Some(2)]);
        if dialect == Dialect::Legacy {
            let kinds: Vec<&str> =
                bodies.iter().map(|body| body["eventType"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["status", "status", "status", "artifact", "artifact", "status"]);
            assert!(bodies.iter().all(|body| body["taskId"] == "t" && body["id"] == "t"));
        }
    }
}

#[test]
fn a_webhook_that_is_far_behind_has_the_log_replayed_once() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            // Three pages of the log.
            let piece = || Artifact::new("a", Part::text(format!("#{}", " ".repeat(60_000))));
            events.begin(piece())?;
            for _ in 1..20 {
                turn.sleep(1_000).await;
                events.append(piece(), false)?;
            }
            events.complete(None)
        })
    });
    let session = host.open();
    let webhook = json!({"url": "https://receiver.example/"});
    send_as(&host, &session, Dialect::V0_3, with_webhook(first("hi"), webhook));
    drop(session);
    let session = host.open();
    let (loads, pages) = host.store.reads();
    let notifications = drain(&session, "t");
    let told: Vec<usize> =
        notifications.iter().map(|told| told.body.matches('#').count()).collect();
    assert_eq!(told, (0..=20).chain([20]).collect::<Vec<_>>());
    let (loads_after, pages_after) = host.store.reads();
    assert_eq!(loads_after, loads);
    // One read for each event, to find it, and the reads of the log.
    assert!(pages_after - pages <= notifications.len() + 10, "{}", pages_after - pages);
}

fn read(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn webhooks_of_several_dialects_are_told_each_in_its_own() {
    let host = asking();
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    let url = |name: &str| format!("https://{name}.example/");
    for (dialect, id) in [(Dialect::V1, "new"), (Dialect::V0_3, "old"), (Dialect::Legacy, "oldest")]
    {
        register(&session, dialect, json!({"taskId": "t", "id": id, "url": url(id)}));
    }
    host.platform.run_until(host.send(&session, next("m2", "that one"))).expect("an answer");
    let last = |id: &str| read(&drain(&host.open(), id).pop().expect("a notification").body);
    assert_eq!(last("new")["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!((&last("old")["kind"], &last("oldest")["kind"]), (&json!("task"), &Value::Null));
}

#[test]
fn filters_hold_in_every_dialect() {
    for (events, count) in [("status", 4), ("artifacts", 2), ("all", 6)] {
        let host = asking();
        let session = host.open();
        let webhook = json!({"url": "https://receiver.example/", "events": events});
        send_as(&host, &session, Dialect::Legacy, with_webhook(first("hi"), webhook));
        send_as(&host, &session, Dialect::Legacy, next("m2", "that one"));
        assert_eq!(drain(&session, "t").len(), count, "{events}");
    }
}

#[test]
fn a_task_has_one_webhook_without_an_id_in_older_dialects() {
    let host = asking();
    let session = host.open();
    let url = |name: &str| format!("https://{name}.example/");
    let webhook = json!({"url": url("one")});
    send_as(&host, &session, Dialect::Legacy, with_webhook(first("hi"), webhook));
    assert_eq!(get(&session, ""), Ok(url("one")));
    let replaced = register(&session, Dialect::V0_3, json!({"taskId": "t", "url": url("two")}));
    assert_eq!(replaced.id, "t");
    assert_eq!((get(&session, ""), get(&session, "t")), (Ok(url("two")), Ok(url("two"))));
    // A webhook in a message also replaces the existing one.
    let webhook = json!({"url": url("three")});
    send_as(&host, &session, Dialect::V0_3, with_webhook(next("m2", "that one"), webhook));
    assert_eq!(get(&session, ""), Ok(url("three")));
    let other = register(&session, Dialect::V1, json!({"taskId": "t", "url": url("four")}));
    assert_ne!(other.id, "t", "in 1.0 a task may have several");
    assert_eq!(get(&session, ""), Ok(url("three")), "the one that was registered first");
}

#[test]
fn a_task_without_webhooks_has_no_first_one() {
    let host = asking();
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(get(&session, ""), Err(Error::TaskNotFound(TaskId::new("t").unwrap())));
}

#[test]
fn a_test_is_the_present_state_in_the_dialect_of_the_webhook_and_changes_nothing() {
    for dialect in [Dialect::V1, Dialect::V0_3, Dialect::Legacy] {
        let host = asking();
        let session = host.open();
        let webhook = json!({"id": "c", "url": "https://receiver.example/"});
        send_as(&host, &session, dialect, with_webhook(first("hi"), webhook));
        send_as(&host, &session, dialect, next("m2", "that one"));
        assert_eq!(drain(&session, "c").len(), 6);
        let before = host.store.stored().unwrap().webhooks;
        let bodies: Rc<RefCell<Vec<String>>> = Rc::default();
        let seen = bodies.clone();
        host.platform.memory_http().answer_with(move |_, body| {
            seen.borrow_mut().push(body.to_owned());
            Ok(status(503))
        });
        let test = || {
            let request = json!({"taskId": "t", "id": "c"}).to_string();
            let test = WebhookCall::TestTaskPushNotificationConfig(read_json(&request).unwrap());
            match call(&session, Dialect::V1, test) {
                Ok(Outcome::Deliveries(json)) => serde_json::from_str::<Value>(&json).unwrap(),
                other => panic!("{other:?}"),
            }
        };
        let told = test();
        assert_eq!(
            (&told["outcome"], &told["status"], &told["error"]),
            (&json!("failed"), &json!(503), &json!("the receiver answered 503"))
        );
        let body: Value = serde_json::from_str(&bodies.borrow()[0]).unwrap();
        let (metadata, state) = match dialect {
            Dialect::V1 => {
                (&body["statusUpdate"]["metadata"], &body["statusUpdate"]["status"]["state"])
            }
            Dialect::V0_3 | Dialect::Legacy => (&body["metadata"], &body["status"]["state"]),
        };
        assert_eq!(metadata["urn:a2a-edge:webhooks:v1/test"], true, "{dialect:?} {body}");
        let completed = if dialect == Dialect::V1 { "TASK_STATE_COMPLETED" } else { "completed" };
        assert_eq!(state, completed, "{dialect:?}");
        assert_eq!(host.store.stored().unwrap().webhooks, before, "nothing is stored");
        assert_eq!(drain(&session, "c").len(), 0, "nothing is owed");
    }
}
