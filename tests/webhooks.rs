//! What webhooks are owed and who sends it, through the in-memory twins of the platform.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod support;

use std::rc::Rc;

use a2a_edge::auth::Caller;
use a2a_edge::error::Error;
use a2a_edge::model::decode::read_json;
use a2a_edge::model::{
    Artifact, Part, PushNotificationConfigRequest, TaskId, TaskPushNotificationConfig,
};
use a2a_edge::operation::{Call, NextNotification, Outcome, TaskSession, manage_webhooks};
use a2a_edge::port::Platform;
use a2a_edge::port::memory::MemoryPlatform;
use a2a_edge::push::Report;
use proptest::prelude::*;
use serde_json::json;

use support::{Host, first, limits};

/// An agent whose task has `count` chunks, with time between them.
fn chunks(count: usize) -> Host {
    Host::new(move |turn, events| {
        Box::pin(async move {
            for index in 0..count {
                let chunk = Artifact::new("a", Part::text(index.to_string()));
                match index {
                    0 => events.begin(chunk)?,
                    _ => events.append(chunk, index + 1 == count)?,
                }
                turn.sleep(10).await;
            }
            events.complete(None)
        })
    })
}

fn config(rest: serde_json::Value) -> TaskPushNotificationConfig {
    let mut config = json!({"id": "hook", "url": "https://receiver.example/"});
    config.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    read_json(&config.to_string()).expect("a good config")
}

/// Begins a task with a webhook, and lets it come to its end.
fn complete(host: &Host, rest: serde_json::Value) -> Rc<TaskSession> {
    let session = host.open();
    let mut request = first("hi");
    request["configuration"] = json!({"taskPushNotificationConfig": {
        "id": "hook", "url": "https://receiver.example/",
    }});
    let webhook = &mut request["configuration"]["taskPushNotificationConfig"];
    webhook.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    session
}

fn manage(session: &TaskSession, call: Call) -> Result<Outcome, Error> {
    manage_webhooks(session, "agent", &Caller::anonymous(), call)
}

fn create(session: &TaskSession, config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    match manage(session, Call::CreateTaskPushNotificationConfig(Box::new(config))) {
        Ok(Outcome::PushConfig(made)) => *made,
        other => panic!("{other:?}"),
    }
}

fn ask(
    session: &TaskSession,
    lease: Option<String>,
    report: Option<Report>,
) -> Option<(u64, String)> {
    let config_id = "hook".to_owned();
    let asked = NextNotification { config_id, lease, report, leaves: false };
    let next = session.next_notification(asked).next?;
    assert!(!next.body.contains('\n'));
    Some((next.generation, next.lease))
}

fn answered(generation: u64, status: u16) -> Option<Report> {
    Some(Report { generation, status: Some(status), ..Report::default() })
}

/// Sends all that is owed to a receiver that takes everything; gives the generations.
fn drain(session: &TaskSession) -> Vec<u64> {
    let mut sent = Vec::new();
    let mut next = ask(session, None, None);
    while let Some((generation, lease)) = next {
        sent.push(generation);
        next = ask(session, Some(lease), answered(generation, 204));
    }
    sent
}

fn pass(platform: &MemoryPlatform, millis: u64) {
    platform.run_until(platform.sleep(millis));
}

#[test]
fn a_webhook_gets_every_event_in_order_and_one_job_at_a_time() {
    let host = chunks(30);
    let session = complete(&host, json!({}));
    assert_eq!(host.platform.take_jobs().len(), 1);
    assert_eq!(drain(&session), (1..=32).collect::<Vec<u64>>());
    assert_eq!(host.platform.take_jobs(), [], "nothing more is owed");
    assert_eq!(drain(&session), Vec::<u64>::new());
    assert_eq!(drain(&host.open()), Vec::<u64>::new(), "and that is stored");
}

#[test]
fn filters_skip_what_is_not_wanted() {
    for (events, expected) in
        [("status", vec![1, 7]), ("artifacts", vec![2, 3, 4, 5, 6]), ("all", (1..=7).collect())]
    {
        let host = chunks(5);
        let session = complete(&host, json!({"events": events}));
        assert_eq!(drain(&session), expected, "{events}");
        assert_eq!(drain(&host.open()), Vec::<u64>::new(), "{events}");
    }
}

#[test]
fn one_sender_at_a_time_has_the_lease() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let (generation, lease) = ask(&session, None, None).unwrap();
    assert_eq!(ask(&session, None, None), None, "somebody is at it");
    assert_eq!(ask(&session, Some("another".to_owned()), None), None);
    let (second, lease) = ask(&session, Some(lease), answered(generation, 200)).unwrap();
    assert_eq!(second, 2);
    // The holder is gone: after a while the next one may have it, with the same event.
    pass(&host.platform, limits().webhook_timeout_ms + 5_000);
    let (again, _) = ask(&session, None, None).unwrap();
    assert_eq!(again, 2);
    // The first one was only late: what it reports is counted once.
    assert_eq!(ask(&session, Some(lease), answered(2, 200)), None, "the lease is another's");
}

#[test]
fn the_alarm_finds_what_the_queue_has_lost() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    host.platform.run_all();
    host.platform.take_jobs();
    let alarm = host.platform.alarm().expect("an alarm").0;
    let soon = i64::try_from(limits().keep_alive_ms).unwrap();
    assert!(alarm <= host.platform.now().0 + soon);
    pass(&host.platform, limits().keep_alive_ms);
    host.platform.run_until(session.wake());
    pass(&host.platform, 1);
    assert_eq!(host.platform.take_jobs().len(), 1);
}

#[test]
fn what_fails_is_retried_by_the_alarm() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    host.platform.run_all();
    host.platform.take_jobs();
    let (generation, lease) = ask(&session, None, None).unwrap();
    assert_eq!(ask(&session, Some(lease), answered(generation, 500)), None);
    assert_eq!(host.platform.take_jobs(), [], "not before its time");
    let left = host.platform.alarm().expect("an alarm").0 - host.platform.now().0;
    assert_eq!(left, 3_750, "5 s, spread");
    // Also if the object was gone meanwhile.
    host.platform.crash();
    let reopened = host.open();
    assert_eq!(ask(&reopened, None, None), None);
    pass(&host.platform, 3_750);
    host.platform.run_until(reopened.wake());
    pass(&host.platform, 1);
    assert_eq!(host.platform.take_jobs().len(), 1);
    assert_eq!(drain(&reopened), [1, 2, 3, 4, 5]);
}

#[test]
fn a_webhook_that_is_deleted_gets_nothing_more() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let (generation, lease) = ask(&session, None, None).unwrap();
    let request = PushNotificationConfigRequest {
        tenant: None,
        task_id: TaskId::new("t"),
        id: "hook".to_owned(),
    };
    let delete = || Call::DeleteTaskPushNotificationConfig(request.clone());
    let get = || Call::GetTaskPushNotificationConfig(request.clone());
    assert_eq!(manage(&session, delete()), Ok(Outcome::PushConfigDeleted));
    assert_eq!(ask(&session, Some(lease), answered(generation, 200)), None);
    assert_eq!(manage(&session, delete()), Ok(Outcome::PushConfigDeleted));
    let gone = Err(Error::TaskNotFound(TaskId::new("t")));
    assert_eq!(manage(&session, get()), gone);
    assert_eq!(manage(&host.open(), get()), gone);
    let caller = Caller::anonymous();
    assert_eq!(manage_webhooks(&session, "other", &caller, delete()), gone);
}

#[test]
fn a_webhook_of_a_task_that_is_there_gets_what_happens_from_then_on() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let made = create(&session, config(json!({"id": "late"})));
    assert!(made.signing_secret.unwrap().reveal().starts_with("whsec_"));
    assert_eq!(made.task_id, TaskId::new("t"));
    let nameless = config(json!({"id": ""}));
    assert!(!create(&session, nameless).id.is_empty());
    let asked = NextNotification { config_id: "late".to_owned(), ..NextNotification::default() };
    assert_eq!(session.next_notification(asked).next, None);
}

#[test]
fn a_direct_message_leaves_no_webhook() {
    let host =
        Host::new(|_, events| Box::pin(async move { events.reply(vec![Part::text("hello")]) }));
    let session = complete(&host, json!({}));
    host.platform.run_all();
    assert_eq!(host.store.stored(), None);
    assert_eq!(host.platform.take_jobs(), []);
    assert_eq!(ask(&session, None, None), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Senders that die with what they know, receivers that fail, objects that are lost: every event comes
    /// in order, and is repeated only where somebody died.
    #[test]
    fn every_event_comes_in_order_whatever_happens(
        deeds in proptest::collection::vec(0..10u8, 0..60),
        count in 1..30usize,
    ) {
        let host = chunks(count);
        let mut session = complete(&host, json!({}));
        host.platform.run_all();
        let newest = session.generation();
        let mut received: Vec<u64> = Vec::new();
        let mut deaths = 0;
        let mut lease = None;
        let mut report = None;
        for deed in deeds {
            match ask(&session, lease.take(), report.take()) {
                None => {
                    // Nothing to do now: time passes, and the alarm sees to it.
                    pass(&host.platform, limits().keep_alive_ms);
                    host.platform.run_until(session.wake());
                }
                Some((generation, held)) => match deed {
                    0 => deaths += 1,
                    1 => {
                        received.push(generation);
                        deaths += 1;
                    }
                    2 => {
                        received.push(generation);
                        deaths += 1;
                        host.platform.crash();
                        session = host.open();
                    }
                    3 => {
                        lease = Some(held);
                        report = answered(generation, 503);
                    }
                    _ => {
                        received.push(generation);
                        lease = Some(held);
                        report = answered(generation, 200);
                    }
                },
            }
        }
        if let Some((generation, held)) = ask(&session, lease, report) {
            received.push(generation);
            ask(&session, Some(held), answered(generation, 200));
        }
        for _ in 0..20 {
            pass(&host.platform, 3_600_000);
            host.platform.run_until(session.wake());
            received.extend(drain(&session));
        }
        let mut seen = received.clone();
        seen.dedup();
        let mut first_seen = Vec::new();
        for generation in received {
            if !first_seen.contains(&generation) {
                first_seen.push(generation);
            }
        }
        prop_assert_eq!(first_seen, (1..=newest).collect::<Vec<u64>>());
        let backwards = seen.windows(2).filter(|pair| pair[1] < pair[0]).count();
        prop_assert!(backwards <= deaths, "{:?} with {} deaths", seen, deaths);
    }
}
