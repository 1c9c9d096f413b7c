//! The isolation of callers: a foreign task does not exist for a caller, and the caller's requests have no
//! effect on it.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::task::{Context, Waker};

use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{Generation, Part, TaskId, TaskState, UnixMillis};
use a2a::{Call, FollowCall, Operation, Outcome, TaskCall, Terms};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::auth::Caller;
use a2a_edge::executor::{Runner, Wait};
use a2a_edge::operation;
use a2a_edge::port::Severity;
use a2a_edge::session::{
    FindAgent, NoAgent, OpenError, Opening, Posted, Sender, TaskSession, Visitor,
};
use a2a_edge::trail::Trail;
use futures_executor::block_on;
use serde_json::{Value, json};

use crate::support::{Host, cancel_task, first, limits, next};

const DAY_MS: i64 = 86_400_000;

fn caller(id: &str, group: Option<&str>) -> Caller {
    Caller { group: group.map(str::to_owned), ..Caller::new(id) }
}

/// All callers to whom the task of `jwt:alice` is unknown.
fn strangers() -> Vec<(&'static str, Caller)> {
    vec![
        ("agent", caller("jwt:bob", None)),
        ("agent", caller("key:alice", None)),
        ("agent", caller("jwt:alice", Some("@jwt:team"))),
        ("agent", caller("jwt:alice2", None)),
        ("agent", Caller::anonymous()),
        ("other", caller("jwt:alice", None)),
        ("", caller("jwt:alice", None)),
    ]
}

/// An agent whose run is parked for a day and then reports this; also returns the URLs of its callbacks.
fn parking() -> (Host, Rc<RefCell<Vec<String>>>) {
    let urls = Rc::new(RefCell::new(Vec::new()));
    let told = urls.clone();
    let settings = RunSettings { recovery: Some(Recovery::Resume), ..RunSettings::default() };
    let host = Host::new(move |turn, events| {
        let told = told.clone();
        Box::pin(async move {
            events.working(Some("waiting"))?;
            told.borrow_mut().push(turn.callback("paid")?.url().to_owned());
            turn.wait_until(Wait::for_millis(DAY_MS as u64)).await?;
            events.complete(Some("awake"))
        })
    });
    (Host { settings, ..host }, urls)
}

/// An agent that asks for input, and ends after the answer; it records its callers.
fn asking() -> (Host, Rc<RefCell<Vec<Caller>>>) {
    let callers = Rc::new(RefCell::new(Vec::new()));
    let noted = callers.clone();
    let host = Host::new(move |turn, events| {
        let noted = noted.clone();
        Box::pin(async move {
            noted.borrow_mut().push(turn.caller.clone());
            if turn.number == 1 {
                return events.require_input("which one?");
            }
            events.complete(Some("thanks"))
        })
    });
    (host, callers)
}

fn sender(host: &Host, caller: &Caller) -> Sender {
    Sender { caller: caller.clone(), ..host.sender() }
}

fn send_as(
    host: &Host,
    session: &Rc<TaskSession>,
    caller: &Caller,
    request: Value,
) -> Result<(), Error> {
    let request = serde_json::from_value(request).expect("a good request");
    let sent = operation::send_message(session, sender(host, caller), request, Terms::default());
    host.platform.run_until(sent).map(|_| ())
}

/// Opens a session for a visitor, while the object has nothing in memory.
fn visit(host: &Host, visitor: Visitor<'_>) -> Result<Rc<TaskSession>, OpenError> {
    visit_with(host, visitor, None)
}

fn visit_with(
    host: &Host,
    visitor: Visitor<'_>,
    no_agent: Option<NoAgent>,
) -> Result<Rc<TaskSession>, OpenError> {
    let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
    let (executor, settings) = (host.executor.clone(), host.settings);
    let runner = Runner { executor, settings, outside: host.platform.outside() };
    let find: FindAgent = Rc::new(move |_| match no_agent {
        Some(no_agent) => Err(no_agent),
        None => Ok(runner.clone()),
    });
    let id = TaskId::new("t").unwrap();
    TaskSession::open_for(visitor, id, store, ports, limits(), find, Opening::ByRequest)
}

/// All calls of a caller about a task.
fn calls() -> Vec<Call> {
    let webhook = json!({"taskId": "t", "id": "c", "url": "https://example.com"});
    [
        (Operation::GetTask, json!({"id": "t"})),
        (Operation::CancelTask, json!({"id": "t"})),
        (Operation::DeleteTask, json!({"id": "t", "force": true})),
        (Operation::GetTaskTimeline, json!({"id": "t", "order": "desc"})),
        (Operation::SendMessage, next("m2", "go on")),
        (Operation::SendStreamingMessage, next("m2", "go on")),
        // A repetition of the owner's message.
        (Operation::SendMessage, next("m1", "hi")),
        (Operation::SubscribeToTask, json!({"id": "t"})),
        (Operation::CreateTaskPushNotificationConfig, webhook.clone()),
        (Operation::GetTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
        (Operation::ListTaskPushNotificationConfigs, json!({"taskId": "t"})),
        (Operation::DeleteTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
        (Operation::ListTaskPushNotificationDeliveries, json!({"taskId": "t", "id": "c"})),
        (
            Operation::RedeliverTaskPushNotifications,
            json!({"taskId": "t", "id": "c", "fromGeneration": 99}),
        ),
        (Operation::TestTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
        (
            Operation::VerifyTaskPushNotificationSignature,
            json!({"taskId": "t", "id": "c", "headers": {}, "body": ""}),
        ),
    ]
    .map(|(operation, params)| operation.decode(params).expect("good parameters"))
    .into()
}

/// Makes a call as the object does, with terms that would be refused if they were checked.
fn ask(
    host: &Host,
    session: &Rc<TaskSession>,
    agent: &str,
    caller: &Caller,
    call: Call,
) -> Result<(), Error> {
    let sender = Sender { agent: agent.to_owned(), ..sender(host, caller) };
    let (expected, after) = (Some(99), Some(99));
    let run_timeout_ms = Some(1);
    let terms = Terms {
        expected,
        run_timeout_ms,
        over_quota: Some(a2a::Quota::Tasks(1)),
        ..Terms::default()
    };
    let run = async {
        match call {
            Call::Task(TaskCall::SendMessage(request)) => {
                operation::send_message(session, sender, *request, terms).await.map(|_| ())
            }
            Call::Task(TaskCall::GetTask(request)) => {
                let terms = Terms { after, wait_ms: Some(60_000), ..Terms::default() };
                let task = session.owned_by(agent, caller, &Trail::default())?;
                operation::get_task(task, &request, terms).await.map(|_| ())
            }
            Call::Task(TaskCall::CancelTask(_)) => {
                operation::cancel_task(session.owned_by(agent, caller, &Trail::default())?, terms)
                    .map(|_| ())
            }
            Call::Task(TaskCall::DeleteTask(request)) => {
                let trail = Trail::default();
                if session.was_deleted_for(&Visitor::Caller(agent, caller, &trail)) {
                    return Ok(());
                }
                let task = session.owned_by(agent, caller, &trail)?;
                operation::delete_task(task, &request, terms).await
            }
            Call::Task(TaskCall::GetTaskTimeline(request)) => {
                let task = session.owned_by(agent, caller, &Trail::default())?;
                operation::get_task_timeline(task, &request, true).map(|_| ())
            }
            Call::Task(TaskCall::Webhook(call)) => {
                let task = session.owned_by(agent, caller, &Trail::default())?;
                operation::manage_webhooks(task, call, Dialect::V1).await.map(|_| ())
            }
            Call::Follow(FollowCall::SubscribeToTask(_)) => {
                let task = session.owned_by(agent, caller, &Trail::default())?;
                operation::subscribe_to_task(task, after.map(Generation), terms).map(|_| ())
            }
            Call::Follow(FollowCall::SendStreamingMessage(request)) => {
                operation::send_streaming_message(
                    session,
                    sender,
                    *request,
                    after.map(Generation),
                    terms,
                )
                .await
                .map(|_| ())
            }
            Call::List(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card => {
                panic!("no object answers {call:?}")
            }
        }
    };
    host.platform.run_until(run)
}

/// The externally visible state of an object.
fn traces(host: &Host) -> impl PartialEq + std::fmt::Debug + use<> {
    let index = host.platform.memory_index();
    let log = (host.platform.observed(Severity::Error), host.platform.frames());
    (
        host.store.stored(),
        host.platform.alarm(),
        host.platform.alarms_set(),
        index.row(&TaskId::new("t").unwrap()),
        log,
    )
}

fn unknown() -> Error {
    Error::TaskNotFound(TaskId::new("t").unwrap())
}

#[test]
fn for_strangers_a_task_in_memory_is_as_unknown_as_one_that_does_not_exist() {
    let alice = caller("jwt:alice", None);
    let (host, callers) = asking();
    let session = host.open();
    send_as(&host, &session, &alice, first("hi")).expect("an answer");
    host.platform.run_all();
    let (before, nothing) = (traces(&host), asking().0);
    for (agent, stranger) in strangers() {
        for call in calls() {
            let there = ask(&host, &session, agent, &stranger, call.clone());
            let empty = nothing.open();
            let nowhere = ask(&nothing, &empty, agent, &stranger, call.clone());
            assert_eq!(there, nowhere, "{agent} {stranger:?} {call:?}");
            assert_eq!(there, Err(unknown()), "{agent} {stranger:?} {call:?}");
        }
    }
    assert_eq!(traces(&host), before);
    assert_eq!(callers.borrow().len(), 1);
    assert_eq!(host.platform.take_jobs(), []);
    assert!(session.owned_by("agent", &alice, &Trail::default()).is_ok());
}

#[test]
fn a_stranger_opens_nothing_and_wakes_nothing() {
    let alice = caller("jwt:alice", None);
    let (host, _) = parking();
    send_as(&host, &host.open(), &alice, first("hi")).expect("an answer");
    host.platform.run_to(UnixMillis(1_000));
    host.platform.crash();
    // The wait is over, but its alarm has not rung yet.
    let alarm = host.platform.alarm();
    host.platform.restore_alarm(None);
    host.platform.run_to(UnixMillis(2 * DAY_MS));
    host.platform.restore_alarm(alarm);
    let before = traces(&host);
    for (agent, stranger) in strangers() {
        let opened = visit(&host, Visitor::Caller(agent, &stranger, &Trail::default()));
        assert_eq!(opened.err(), Some(OpenError::Denied), "{agent} {stranger:?}");
    }
    for (agent, token) in [("agent", "0".repeat(64)), ("agent", String::new())] {
        let opened = visit(&host, Visitor::Callback(agent, &token, Some("k")));
        assert_eq!(opened.err(), Some(OpenError::Denied), "a token that is of no callback");
    }
    assert_eq!(traces(&host), before);
    let told = host.platform.observed(Severity::Info);
    let denied = r#"{"event":"access denied","agent":"agent","caller":"jwt:bob","task":"t","#;
    assert!(told.iter().any(|line| line.starts_with(denied)), "{told:?}");

    let session =
        visit(&host, Visitor::Caller("agent", &alice, &Trail::default())).expect("it is hers");
    host.platform.run_all();
    let state = session
        .owned_by("agent", &alice, &Trail::default())
        .unwrap()
        .with_task(|task| task.status.state);
    assert_eq!(state, Some(TaskState::Completed), "her request has woken it");
}

#[test]
fn a_callback_is_found_by_its_token_at_its_agent_alone() {
    let alice = caller("jwt:alice", None);
    let (host, urls) = parking();
    send_as(&host, &host.open(), &alice, first("hi")).expect("an answer");
    host.platform.run_to(UnixMillis(1_000));
    host.platform.crash();
    let made = urls.borrow()[0].rsplit_once("/callbacks/t").unwrap().1.to_owned();
    assert_eq!(
        visit(&host, Visitor::Callback("other", &made, None)).err(),
        Some(OpenError::Denied)
    );
    let session = visit(&host, Visitor::Callback("agent", &made, None)).expect("its sender");
    assert_eq!(session.call_back("agent", &made, None, Part::text("paid")), Posted::Accepted);
}

#[test]
fn an_interrupted_run_is_not_for_strangers_to_recover() {
    let alice = caller("jwt:alice", None);
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            turn.sleep(1_000).await;
            events.complete(None)
        })
    });
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    send_as(&host, &host.open(), &alice, request).expect("an answer");
    host.platform.crash();
    let before = traces(&host);
    let bob = caller("jwt:bob", None);
    for no_agent in [None, Some(NoAgent::Unusable), Some(NoAgent::Missing)] {
        let opened = visit_with(&host, Visitor::Caller("agent", &bob, &Trail::default()), no_agent);
        assert_eq!(opened.err(), Some(OpenError::Denied), "{no_agent:?}");
    }
    assert_eq!(traces(&host), before);
    let opened = visit_with(
        &host,
        Visitor::Caller("agent", &alice, &Trail::default()),
        Some(NoAgent::Unusable),
    );
    assert_eq!(opened.err(), Some(OpenError::AgentUnusable("agent".to_owned())));
}

#[test]
fn a_task_that_nobody_knows_of_stays_so_when_a_stranger_asks() {
    let alice = caller("jwt:alice", None);
    let host = Host::new(|_, events| Box::pin(async move { events.complete(None) }));
    let session = host.open();
    let request = serde_json::from_value(first("hi")).unwrap();
    let sender = sender(&host, &alice);
    let sent = operation::send_message(&session, sender, request, Terms::default());
    let mut sent = Box::pin(sent);
    let context = &mut Context::from_waker(Waker::noop());
    assert!(sent.as_mut().poll(context).is_pending(), "the answer waits for the index");
    while host.rows() == 0 {
        host.platform.poll_each(&mut || ControlFlow::Break(()));
    }
    let bob = caller("jwt:bob", None);
    assert_eq!(session.owned_by("agent", &bob, &Trail::default()).map(|_| ()), Err(unknown()));
    assert_eq!(host.platform.alarms_set(), 0);
    assert!(session.owned_by("agent", &alice, &Trail::default()).is_ok());
    assert_eq!(host.platform.alarms_set(), 1, "now somebody knows of it");
    host.platform.run_until(sent).expect("an answer");
}

#[test]
fn a_group_shares_its_tasks_and_each_of_its_callers_is_known_to_the_executor() {
    let (host, callers) = asking();
    let team = |id: &str| caller(id, Some("@jwt:team"));
    let (alice, bob) = (team("jwt:alice"), team("jwt:bob"));
    let session = host.open();
    send_as(&host, &session, &alice, first("hi")).expect("an answer");
    host.platform.run_all();
    let facts = host.store.stored().unwrap().facts;
    assert_eq!(facts.owner, "@jwt:team");
    assert_eq!(
        host.platform.memory_index().row(&TaskId::new("t").unwrap()).unwrap().owner,
        "@jwt:team"
    );

    // A new object, so that the stored data decide.
    host.platform.crash();
    let session =
        visit(&host, Visitor::Caller("agent", &bob, &Trail::default())).expect("the group's");
    assert!(session.owned_by("agent", &bob, &Trail::default()).is_ok());
    assert!(
        session.owned_by("agent", &caller("jwt:bob", None), &Trail::default()).is_err(),
        "without the claim"
    );
    assert!(
        session
            .owned_by("agent", &caller("jwt:bob", Some("@jwt:else")), &Trail::default(),)
            .is_err()
    );
    send_as(&host, &session, &bob, next("m2", "this one")).expect("an answer");
    host.platform.run_all();
    let ids: Vec<String> = callers.borrow().iter().map(|caller| caller.id.clone()).collect();
    assert_eq!(ids, ["jwt:alice", "jwt:bob"]);
    let canceled = cancel_task(&session, "agent", &alice, Terms::default());
    assert!(matches!(canceled, Err(Error::TaskNotCancelable { .. })), "it has ended: {canceled:?}");
}

#[test]
fn a_key_repeats_the_send_of_a_group_and_of_nobody_else() {
    let (host, callers) = asking();
    let team = |id: &str| caller(id, Some("@jwt:team"));
    let session = host.open();
    let keyed =
        |caller: &Caller| Sender { fingerprint: Some("f".to_owned()), ..sender(&host, caller) };
    let send = |caller: &Caller| {
        let request = serde_json::from_value(first("hi")).unwrap();
        let sent = operation::send_message(&session, keyed(caller), request, Terms::default());
        host.platform.run_until(sent).map(|_| ())
    };
    assert_eq!(send(&team("jwt:alice")), Ok(()));
    assert_eq!(send(&team("jwt:bob")), Ok(()), "repeated by another of the group");
    assert_eq!(callers.borrow().len(), 1);
    // The name of the object contains the owner, so other callers never reach this object; if one did, it would
    // learn nothing.
    assert!(send(&caller("jwt:bob", None)).is_err());
}

#[test]
fn an_operator_has_the_tasks_of_its_agent_and_each_use_is_told() {
    let (host, callers) = asking();
    let (alice, operator) = (caller("jwt:alice", None), caller("key:ops", None));
    let session = host.open();
    send_as(&host, &session, &alice, first("hi")).expect("an answer");
    host.platform.run_all();
    drop(session);
    assert_eq!(visit(&host, Visitor::Operator("other")).err(), Some(OpenError::Denied));
    let session = visit(&host, Visitor::Operator("agent")).expect("a task of this agent");
    assert_eq!(
        session.owned_by("agent", &operator, &Trail::default()).map(|_| ()),
        Err(unknown()),
        "is no owner"
    );
    let operated = |agent: &str, operation: Operation| {
        session
            .operated_by(agent, &operator, operation, &Trail::default())
            .map(|task| task.generation())
    };
    assert!(operated("agent", Operation::GetTask).is_ok());
    assert_eq!(operated("other", Operation::GetTask), Err(unknown()));
    for operation in [Operation::SendMessage, Operation::GetTaskPushNotificationConfig] {
        assert!(matches!(operated("agent", operation), Err(Error::PermissionDenied(_))));
    }
    let task =
        session.operated_by("agent", &operator, Operation::CancelTask, &Trail::default()).unwrap();
    operation::cancel_task(task, Terms::default()).expect("it waits for input");
    let told = host.platform.observed(Severity::Info);
    let uses: Vec<Value> = told
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line["event"] == "operator acted")
        .collect();
    assert_eq!(uses.len(), 5, "{told:?}");
    let (caller, task) = (&uses[4]["caller"], &uses[4]["task"]);
    assert_eq!(
        (caller, task, &uses[4]["operation"]),
        (&json!("key:ops"), &json!("t"), &json!("CancelTask"))
    );
    assert_eq!(callers.borrow().len(), 1);
}

#[test]
fn an_operator_sees_of_webhooks_that_they_are_there_and_none_of_their_secrets() {
    let (host, _) = asking();
    let alice = caller("jwt:alice", None);
    let session = host.open();
    send_as(&host, &session, &alice, first("hi")).expect("an answer");
    let webhook = json!({"taskId": "t", "id": "c", "url": "https://u:p@example.com/hidden?key=hidden",
        "token": "hidden", "authentication": {"scheme": "Bearer", "credentials": "hidden"}});
    let call = |operation: Operation, params: Value| match operation.decode(params).unwrap() {
        Call::Task(TaskCall::Webhook(call)) => call,
        other => panic!("{other:?}"),
    };
    let create = call(Operation::CreateTaskPushNotificationConfig, webhook);
    let task = session.owned_by("agent", &alice, &Trail::default()).unwrap();
    block_on(operation::manage_webhooks(task, create, Dialect::V1)).expect("it is registered");
    let list = || call(Operation::ListTaskPushNotificationConfigs, json!({"taskId": "t"}));
    let shown = |task| match block_on(operation::manage_webhooks(task, list(), Dialect::V1)) {
        Ok(Outcome::PushConfigs(webhooks)) => serde_json::to_string(&webhooks).unwrap(),
        other => panic!("{other:?}"),
    };
    let owned = shown(session.owned_by("agent", &alice, &Trail::default()).unwrap());
    assert_eq!(owned.matches("hidden").count(), 4, "the owner is known, and sees them: {owned}");
    let operator = caller("key:ops", None);
    let operation = Operation::ListTaskPushNotificationConfigs;
    let operated =
        shown(session.operated_by("agent", &operator, operation, &Trail::default()).unwrap());
    assert!(operated.contains(r#""https://example.com""#), "{operated}");
    assert!(!operated.contains("hidden"), "{operated}");
    let params = json!({"taskId": "t", "id": "c", "fromGeneration": 1});
    let again = call(Operation::RedeliverTaskPushNotifications, params);
    let operation = Operation::RedeliverTaskPushNotifications;
    let task = session.operated_by("agent", &operator, operation, &Trail::default()).unwrap();
    let sent = block_on(operation::manage_webhooks(task, again, Dialect::V1));
    let Ok(Outcome::PushConfig(sent)) = sent else {
        panic!("it is sent again");
    };
    let sent = serde_json::to_string(&sent).unwrap();
    assert!(sent.contains(r#""https://example.com""#) && !sent.contains("hidden"), "{sent}");
}
