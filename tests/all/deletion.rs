//! A task that its caller deletes: who may, what is answered, and what remains.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::error::Error;
use a2a::model::{GetTaskRequest, TaskId, TaskState};
use a2a::{Call, Operation, Outcome, TaskCall, Terms};
use a2a_edge::auth::Caller;
use a2a_edge::operation::send_message;
use a2a_edge::port::{Clock, Runtime, Severity};
use a2a_edge::push::NextNotification;
use a2a_edge::session::{Deletion, Sender, TaskSession};
use serde_json::json;

use crate::support::{
    Host, cancel_task, delete_task, first, get_task, limits, manage_webhooks, owned,
};

/// An agent that asks, waits for a minute, or is done, as it is told.
fn host() -> Host {
    Host::new(|turn, events| {
        Box::pin(async move {
            match turn.message.text().as_str() {
                "ask" => events.require_input("which?"),
                "wait" => {
                    events.working(Some("waiting"))?;
                    turn.sleep(60_000).await;
                    events.complete(None)
                }
                _ => events.complete(Some("done")),
            }
        })
    })
}

fn begun(host: &Host, text: &str) -> Rc<TaskSession> {
    let session = host.open();
    let mut request = first(text);
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, request)).unwrap();
    pass(host, 1_000);
    session
}

fn delete(host: &Host, session: &TaskSession, force: bool) -> Result<(), Error> {
    host.platform.run_until(delete_task(session, "agent", &Caller::anonymous(), force))
}

fn get(host: &Host, session: &TaskSession) -> Result<Outcome, Error> {
    let request = GetTaskRequest { tenant: None, id: id(), history_length: None };
    let caller = Caller::anonymous();
    host.platform.run_until(get_task(session, "agent", &caller, &request, Terms::default()))
}

/// Lets this time pass.
fn pass(host: &Host, millis: u64) {
    host.platform.run_until(host.platform.sleep(millis));
}

fn id() -> TaskId {
    TaskId::new("t").unwrap()
}

fn unknown<T>() -> Result<T, Error> {
    Err(Error::TaskNotFound(id()))
}

fn is_listed(host: &Host) -> bool {
    host.platform.memory_index().row(&id()).is_some()
}

#[test]
fn a_finished_task_is_gone_at_once_and_a_day_later_without_a_trace() {
    let host = host();
    let session = begun(&host, "hi");
    assert!(is_listed(&host));
    assert_eq!(delete(&host, &session, false), Ok(()));
    for session in [session, host.open()] {
        assert_eq!(get(&host, &session), unknown());
        let canceled = cancel_task(&session, "agent", &Caller::anonymous(), Terms::default());
        assert_eq!(canceled, unknown());
        assert!(!is_listed(&host));
        assert_eq!(delete(&host, &session, false), Ok(()), "again");
    }
    let stored = host.store.stored().unwrap();
    assert!(!format!("{stored:?}").contains("done"), "{stored:?}");
    let alarm = host.platform.alarm().expect("an alarm");
    assert_eq!(alarm, host.platform.now().after(86_400_000));
    pass(&host, 86_400_001);
    assert!(host.platform.memory_index().keeps_out(&id()));
    host.platform.memory_index().set_failing(true);
    host.platform.run_until(host.open().wake());
    assert!(host.store.stored().is_some(), "the index has to forget it first");
    host.platform.memory_index().set_failing(false);
    host.platform.run_until(host.open().wake());
    assert_eq!(host.store.stored(), None);
    assert!(!host.platform.memory_index().keeps_out(&id()));
    assert_eq!(delete(&host, &host.open(), false), unknown());
}

#[test]
fn only_its_owner_learns_that_it_was_deleted() {
    let host = host();
    let session = begun(&host, "hi");
    delete(&host, &session, false).unwrap();
    let bob = Caller::new("jwt:bob");
    for (agent, caller) in [("agent", &bob), ("other", &Caller::anonymous())] {
        let asked = host.platform.run_until(delete_task(&session, agent, caller, true));
        assert_eq!(asked, unknown(), "{agent} {caller:?}");
    }
}

#[test]
fn a_task_that_has_not_ended_is_deleted_only_by_force() {
    for text in ["ask", "wait"] {
        let host = host();
        let session = begun(&host, text);
        let before = host.store.stored();
        let refused = delete(&host, &session, false).unwrap_err();
        assert_eq!(refused.wire().code, -32004);
        assert!(refused.to_string().ends_with("cancel it first, or delete it with force"));
        assert_eq!(host.store.stored(), before, "nothing has changed");
        assert_eq!(delete(&host, &session, true), Ok(()));
        assert_eq!(get(&host, &session), unknown());
        // The run ends, and changes nothing.
        let remains = host.store.stored();
        host.platform.run_all();
        assert_eq!(host.store.stored().map(|stored| stored.log), remains.map(|stored| stored.log));
        assert!(!is_listed(&host));
        assert_eq!(host.platform.observed(Severity::Error), Vec::<String>::new());
    }
}

#[test]
fn those_who_wait_for_the_task_learn_that_it_is_gone() {
    let host = host();
    let session = begun(&host, "wait");
    let told = Rc::new(RefCell::new(None));
    let (waiting, answer) = (session.clone(), told.clone());
    host.platform.spawn(Box::pin(async move {
        let request = GetTaskRequest { tenant: None, id: id(), history_length: None };
        let caller = Caller::anonymous();
        // The generation that the cancel makes does not end the wait.
        let terms = Terms { after: Some(99), wait_ms: Some(60_000), ..Terms::default() };
        let got = get_task(&waiting, "agent", &caller, &request, terms).await;
        answer.replace(Some(got.map(|_| ())));
    }));
    let now = host.platform.now();
    assert_eq!(delete(&host, &session, true), Ok(()));
    pass(&host, 10);
    assert_eq!(told.take(), Some(unknown()));
    assert_eq!(host.platform.now(), now.after(10), "at once");
}

#[test]
fn two_deletions_at_the_same_time_are_one() {
    let host = host();
    let session = begun(&host, "wait");
    let caller = Caller::anonymous();
    let both = futures_util::future::join(
        delete_task(&session, "agent", &caller, true),
        delete_task(&session, "agent", &caller, true),
    );
    assert_eq!(host.platform.run_until(both), (Ok(()), Ok(())));
    assert_eq!(host.store.stored().unwrap().log.len(), 1);
}

#[test]
fn its_key_begins_no_other_task_for_a_day() {
    let host = host();
    let keyed = || Sender { fingerprint: Some("f".to_owned()), ..host.sender() };
    let send = |session: &Rc<TaskSession>| {
        let request = serde_json::from_value(first("hi")).unwrap();
        host.platform.run_until(send_message(session, keyed(), request, Terms::default()))
    };
    let session = host.open();
    assert!(send(&session).is_ok());
    delete(&host, &session, false).unwrap();
    for session in [session, host.open()] {
        let refused = send(&session).unwrap_err().to_string();
        let expected = "invalid parameters: Idempotency-Key is that of a task that was deleted; take another key";
        assert_eq!(refused, expected);
    }
    pass(&host, 86_400_001);
    host.platform.run_until(host.open().wake());
    assert!(send(&host.open()).is_ok(), "the key is free");
}

#[test]
fn its_webhooks_get_nothing_more() {
    let host = host();
    let session = begun(&host, "hi");
    let params = json!({"taskId": "t", "id": "c", "url": "https://r.example/"});
    let call = Operation::CreateTaskPushNotificationConfig.decode(params).unwrap();
    let Call::Task(TaskCall::Webhook(create)) = call else { panic!("{call:?}") };
    manage_webhooks(&session, "agent", &Caller::anonymous(), create).unwrap();
    assert_eq!(host.store.stored().unwrap().webhooks.len(), 1);
    delete(&host, &session, false).unwrap();
    for session in [session, host.open()] {
        let asked = NextNotification {
            config_id: "c".to_owned(),
            lease: None,
            report: None,
            leaves: false,
        };
        let turn = session.next_notification(asked);
        assert!(turn.next.is_none() && turn.given_up.is_none());
    }
    assert!(host.store.stored().unwrap().webhooks.is_empty());
}

#[test]
fn an_index_that_fails_is_told_later_and_the_caller_repeats() {
    let host = host();
    let session = begun(&host, "hi");
    host.platform.memory_index().set_failing(true);
    assert_eq!(delete(&host, &session, false), Err(Error::Internal { task: None }));
    assert_eq!(get(&host, &session), unknown(), "it is deleted all the same");
    assert!(is_listed(&host));
    let alarm = host.platform.alarm().expect("an alarm");
    assert!(alarm <= host.platform.now().after(2_000), "{alarm:?}");
    host.platform.memory_index().set_failing(false);
    assert_eq!(delete(&host, &host.open(), false), Ok(()));
    assert!(!is_listed(&host));
}

#[test]
fn the_end_of_retention_does_not_remove_what_keeps_it_deleted() {
    let host = host();
    let session = begun(&host, "hi");
    delete(&host, &session, false).unwrap();
    let remains = host.store.stored();
    for deletion in [Deletion::AllButItsRow, Deletion::Whole] {
        assert!(host.platform.run_until(host.open().expire(deletion)), "its row may go");
    }
    assert_eq!(host.store.stored(), remains);
    // A retention that is shorter than a day does not, either.
    let limits = a2a_edge::config::Limits { retention_ms: 1_000, ..limits() };
    pass(&host, 2_000);
    host.platform.run_until(host.open_within(limits).wake());
    assert_eq!(host.store.stored(), remains);
}

#[test]
fn the_use_of_models_is_counted_first() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            let usage = a2a_edge::usage::Usage {
                requests: 1,
                input_tokens: 7,
                output_tokens: 1,
                cost_micros: 0,
            };
            turn.step("ask", async || {
                turn.record_usage(usage);
                Ok(())
            })
            .await?;
            events.complete(None)
        })
    });
    host.platform.memory_usage().set_failing(true);
    let session = begun(&host, "hi");
    let before = host.store.stored();
    let refused = delete(&host, &session, false);
    assert_eq!(refused, Err(Error::Internal { task: Some(id()) }), "nothing else has it");
    assert_eq!(host.store.stored().map(|stored| stored.log), before.map(|stored| stored.log));
    assert_eq!(owned(&session).with_task(|task| task.status.state), Some(TaskState::Completed));
    host.platform.memory_usage().set_failing(false);
    assert_eq!(delete(&host, &session, false), Ok(()));
    let turns = host.platform.memory_usage().turns();
    assert_eq!(turns.iter().map(|turn| turn.turn.usage.input_tokens).sum::<u64>(), 7);
    // Once the sums have forgotten the turn, nothing counts it again: neither this session nor what is stored.
    host.platform.memory_usage().forget();
    let statements = host.platform.memory_usage().statements();
    for session in [session, host.open(), host.open()] {
        assert_eq!(delete(&host, &session, true), Ok(()));
        host.platform.run_until(session.wake());
        pass(&host, 120_000);
    }
    assert_eq!(host.platform.memory_usage().statements(), statements);
    assert_eq!(host.platform.memory_usage().turns().len(), 0);
}
