//! The list of failing webhooks follows the webhooks of a task, with the in-memory implementations of the platform.

use std::rc::Rc;

use a2a::WebhookCall;
use a2a::model::decode::read_json;
use a2a::model::{Artifact, Part};
use a2a_edge::auth::Caller;
use a2a_edge::config::Limits;
use a2a_edge::port::{Clock, WebhookTroubles};
use a2a_edge::push::{Health, NextNotification, Report};
use a2a_edge::session::TaskSession;
use a2a_edge::twins::MemoryWebhookList;
use serde_json::{Value, json};

use crate::support::{Host, first, limits, manage_webhooks};

/// A finished task with five events, none of which was sent to its webhook `hook` yet.
fn finished() -> (Host, Rc<TaskSession>) {
    let host = Host::new(|_, events| {
        Box::pin(async move {
            for index in 0..3 {
                let chunk = Artifact::new("a", Part::text(index.to_string()));
                match index {
                    0 => events.begin(chunk)?,
                    _ => events.append(chunk, index == 2)?,
                }
            }
            events.complete(None)
        })
    });
    let session = host.open_within(one_try());
    let mut request = first("hi");
    request["configuration"] = json!({"taskPushNotificationConfig": {
        "id": "hook", "url": "https://user.example:8443/hook?key=secret", "token": "secret",
    }});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    host.platform.run_all();
    (host, session)
}

fn one_try() -> Limits {
    Limits { webhook_attempts: 2, ..limits() }
}

/// Sends the next notifications to a receiver with these answers; returns the generations.
fn send(host: &Host, session: &TaskSession, answers: &[u16]) -> Vec<u64> {
    let asked = |lease, report, leaves| {
        let asked = NextNotification { config_id: "hook".to_owned(), lease, report, leaves };
        session.next_notification(asked).next
    };
    let mut sent = Vec::new();
    let mut next = asked(None, None, false);
    for (nth, status) in answers.iter().enumerate() {
        let Some(notification) = next else { break };
        let (generation, at) = (notification.generation, host.platform.now().0);
        sent.push(generation.0);
        let report = Report { generation, at, status: Some(*status), ..Report::default() };
        next = asked(Some(notification.lease), Some(report), nth + 1 == answers.len());
    }
    host.platform.run_all();
    sent
}

fn list(host: &Host) -> &MemoryWebhookList {
    host.platform.memory_webhook_list()
}

fn troubles(host: &Host) -> WebhookTroubles {
    list(host).troubles("hook").expect("a row")
}

fn shown(host: &Host) -> Value {
    serde_json::from_str(&troubles(host).shown).unwrap()
}

fn pass(host: &Host, millis: u64) {
    host.platform.run_until(host.platform.sleep(millis));
}

fn manage(session: &TaskSession, call: WebhookCall) {
    manage_webhooks(session, "agent", &Caller::anonymous(), call).expect("done");
}

fn redeliver(host: &Host, session: &TaskSession, generation: u64) {
    let request = json!({"taskId": "t", "id": "hook", "fromGeneration": generation}).to_string();
    let request = read_json(&request).unwrap();
    manage(session, WebhookCall::RedeliverTaskPushNotifications(request));
    host.platform.run_all();
}

#[test]
fn a_webhook_that_works_is_no_row_and_costs_no_statement() {
    let (host, session) = finished();
    assert_eq!(send(&host, &session, &[200, 204, 200, 200, 200]), [1, 2, 3, 4, 5]);
    host.platform.run_until(host.open_within(one_try()).wake());
    host.platform.run_all();
    assert_eq!((list(&host).statements(), list(&host).troubles("hook")), (0, None));
    let stored = host.store.stored().unwrap().webhooks.concat();
    assert!(!stored.contains("listing") && !stored.contains("deadLetters"), "{stored}");
}

#[test]
fn a_row_says_what_is_wrong_without_secrets_and_goes_when_the_webhook_works() {
    let (host, session) = finished();
    send(&host, &session, &[200, 503]);
    let failing = shown(&host);
    assert_eq!((troubles(&host).health, troubles(&host).dead_letters), (Health::Failing, 0));
    assert_eq!(failing["url"], "https://user.example:8443");
    assert_eq!(failing["lastError"], "the receiver answered 503");
    assert_eq!((&failing["health"], &failing["deadLetters"]), (&json!("failing"), &json!([])));
    assert_eq!(failing["nextAttemptAt"].as_i64(), Some(host.platform.now().0 + 3_750));
    assert!(!troubles(&host).shown.contains("secret"));
    let since = troubles(&host).since_ms;

    pass(&host, 3_750);
    send(&host, &session, &[500]);
    assert_eq!(troubles(&host).since_ms, since, "the row keeps its place");
    assert_eq!(shown(&host)["deadLetters"][0]["generation"], 2);
    assert_eq!(shown(&host)["givenUp"], 1);

    send(&host, &session, &[200]);
    let row = shown(&host);
    assert_eq!((troubles(&host).health, &row["failingSince"]), (Health::Active, &Value::Null));
    assert_eq!(row["deadLetters"][0]["error"], "the receiver answered 500", "it is healthy again");

    redeliver(&host, &session, 2);
    assert_eq!(list(&host).troubles("hook"), None, "its event is on its way again");
    assert_eq!(send(&host, &session, &[200, 200, 200, 200]), [2, 3, 4, 5]);
    assert_eq!((list(&host).troubles("hook"), list(&host).statements()), (None, 4));
}

#[test]
fn suspension_is_shown_until_the_owner_sends_again_or_deletes_the_webhook() {
    let (host, session) = finished();
    send(&host, &session, &[410]);
    assert_eq!((troubles(&host).health, troubles(&host).dead_letters), (Health::Suspended, 1));
    redeliver(&host, &session, 1);
    assert_eq!(list(&host).troubles("hook"), None);
    send(&host, &session, &[410]);
    assert_eq!(troubles(&host).health, Health::Suspended);
    let request = read_json(r#"{"taskId": "t", "id": "hook"}"#).unwrap();
    manage(&session, WebhookCall::DeleteTaskPushNotificationConfig(request));
    host.platform.run_all();
    assert_eq!(list(&host).troubles("hook"), None);
    // A new webhook with the same id has its own row, which late statements about the old one do not change.
    let webhook = json!({"taskId": "t", "id": "hook", "url": "https://other.example/"}).to_string();
    let webhook = Box::new(read_json(&webhook).unwrap());
    manage(&session, WebhookCall::CreateTaskPushNotificationConfig(webhook));
    redeliver(&host, &session, 4);
    send(&host, &session, &[404]);
    assert_eq!(shown(&host)["url"], "https://other.example");
}

#[test]
fn a_list_that_fails_delays_nothing_and_is_told_by_the_alarm() {
    let (host, session) = finished();
    list(&host).set_failing(true);
    assert_eq!(send(&host, &session, &[400, 200, 200, 200, 200]), [1, 2, 3, 4, 5]);
    assert_eq!(list(&host).troubles("hook"), None);
    let told = host.platform.errors().join("\n");
    assert!(told.contains("the list of webhooks does not show how hook fares yet"), "{told}");
    let alarm = host.platform.alarm().expect("an alarm for the debt");
    assert!(alarm.0 <= host.platform.now().0 + 60_000);

    // The object leaves memory, and its alarm rings when the list works again.
    host.platform.crash();
    list(&host).set_failing(false);
    assert!(host.platform.ring(alarm));
    let reopened = host.open_within(one_try());
    host.platform.run_until(reopened.wake());
    host.platform.run_all();
    assert_eq!((troubles(&host).health, troubles(&host).dead_letters), (Health::Active, 1));
    let statements = list(&host).statements();
    drop(reopened);
    host.platform.run_until(host.open_within(one_try()).wake());
    host.platform.run_all();
    assert_eq!(list(&host).statements(), statements, "nothing more is owed");
}

#[test]
fn a_row_whose_answer_is_lost_is_written_once_more() {
    let (host, session) = finished();
    list(&host).set_lossy(true);
    send(&host, &session, &[404]);
    assert_eq!(troubles(&host).dead_letters, 1);
    host.platform.crash();
    list(&host).set_lossy(false);
    let reopened = host.open_within(one_try());
    host.platform.run_all();
    assert_eq!((troubles(&host).dead_letters, list(&host).statements()), (1, 2));
    send(&host, &reopened, &[200]);
    assert_eq!(troubles(&host).health, Health::Active);
}
