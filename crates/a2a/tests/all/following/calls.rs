//! Single calls: retried and final failures, keys, deadlines, and cancellations.

use a2a::client::simulation::{SimulatedAnswer, Simulation};
use a2a::client::{CallOptions, Client, ClientError, Outcome, Settings, create_message};
use a2a::model::{
    GetTaskRequest, Message, SendMessageConfiguration, SendMessageRequest, TaskId,
    TaskPushNotificationConfig, UnixMillis, decode::read_json,
};
use a2a::{Call, TaskCall, WebhookCall};
use serde_json::json;

/// A client of a server with these answers in order; the last one is repeated.
fn client(answers: Vec<fn() -> SimulatedAnswer>) -> (Simulation, Client) {
    let simulation = Simulation::default();
    simulation.serve("agent.example", move |request| match request.method {
        "GET" => SimulatedAnswer::card("https://agent.example/"),
        _ => answers[(request.call_number - 1).min(answers.len() - 1)](),
    });
    let client = Client::new(Settings::new("https://agent.example"), simulation.ports());
    (simulation, client)
}

fn busy() -> SimulatedAnswer {
    SimulatedAnswer::status(503)
}

fn limited() -> SimulatedAnswer {
    SimulatedAnswer::status(429)
}

fn lost() -> SimulatedAnswer {
    SimulatedAnswer::refused("reset")
}

fn done() -> SimulatedAnswer {
    let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
    SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "result": {"task": task}}))
}

fn webhook() -> SimulatedAnswer {
    let webhook = json!({"id": "w", "taskId": "t", "url": "https://a.example"});
    SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "result": webhook}))
}

fn hook(id: &str) -> Call {
    let json = format!(r#"{{"taskId": "t", "id": "{id}", "url": "https://a.example"}}"#);
    let webhook: TaskPushNotificationConfig = read_json(&json).expect("a webhook");
    WebhookCall::CreateTaskPushNotificationConfig(Box::new(webhook)).into()
}

fn get() -> Call {
    let request =
        GetTaskRequest { tenant: None, id: TaskId::new("t").unwrap(), history_length: None };
    Call::Task(TaskCall::GetTask(request))
}

#[test]
fn what_could_be_done_twice_is_not_repeated() {
    type Answers = Vec<fn() -> SimulatedAnswer>;
    let rows: [(Call, Answers, bool, usize); 5] = [
        (hook("w"), vec![lost, webhook], true, 2),
        (hook(""), vec![lost, webhook], false, 1),
        (hook(""), vec![busy, webhook], false, 1),
        (hook(""), vec![limited, webhook], true, 2),
        (get(), vec![lost, busy, limited, busy], false, 4),
    ];
    for (call, answers, succeeds, requests) in rows {
        let (simulation, client) = client(answers);
        let answer = simulation.run(client.call(&call, &CallOptions::default()));
        assert_eq!(answer.is_ok(), succeeds, "{call:?}: {answer:?}");
        assert_eq!(simulation.requests().len() - 1, requests, "{call:?}");
    }
}

#[test]
fn pauses_double_and_vary_between_half_and_all_of_it() {
    for (chance, expected) in [(0.0, [500, 1_000, 2_000]), (1.0, [1_000, 2_000, 4_000])] {
        let (simulation, client) = client(vec![busy]);
        simulation.set_chance(chance);
        let failed = simulation.run(client.call(&get(), &CallOptions::default()));
        assert!(
            matches!(failed, Err(ClientError::Busy { retry_after_ms: None, .. })),
            "{failed:?}"
        );
        let at: Vec<u64> =
            simulation.requests().iter().skip(1).map(|request| request.at_ms).collect();
        let pauses: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(pauses, expected);
    }
}

#[test]
fn a_call_ends_by_its_deadline() {
    let options = CallOptions { deadline: Some(UnixMillis(1_500)), ..CallOptions::default() };
    // The rest of the time is too short for another attempt.
    let (simulation, client_of_busy) = client(vec![busy]);
    let failed = simulation.run(client_of_busy.call(&get(), &options));
    assert!(matches!(failed, Err(ClientError::Busy { .. })), "{failed:?}");
    assert_eq!((simulation.requests().len() - 1, simulation.now_ms()), (2, 750));
    // The answer does not arrive before the deadline.
    let (simulation, client_of_nobody) = client(vec![|| done().after(5_000)]);
    let failed = simulation.run(client_of_nobody.call(&get(), &options));
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!((simulation.requests().len() - 1, simulation.now_ms()), (1, 1_500));
    // The body arrives slowly, byte by byte.
    let (simulation, client) = client(vec![|| {
        let drops = std::iter::repeat_n([" "; 1], 50);
        drops.fold(SimulatedAnswer::status(200), |answer, [drop]| answer.text(drop).wait(100))
    }]);
    let failed = simulation.run(client.call(&get(), &options));
    assert_eq!((failed, simulation.now_ms()), (Err(ClientError::Timeout), 1_500));
}

fn request(message: Message) -> SendMessageRequest {
    let configuration = SendMessageConfiguration::default();
    SendMessageRequest { tenant: None, message, configuration, metadata: None }
}

#[test]
fn a_send_that_begins_a_task_has_a_key_that_fits_a_header() {
    let id = |id: &str, task_id: Option<&str>, key: Option<&str>| {
        let (simulation, client) = client(vec![done]);
        let message = Message {
            message_id: id.to_owned(),
            task_id: task_id.and_then(TaskId::new),
            ..create_message("hi", client.ports())
        };
        let call = Call::Task(TaskCall::SendMessage(Box::new(request(message))));
        let idempotency_key = key.map(str::to_owned);
        let options = CallOptions { idempotency_key, ..CallOptions::default() };
        simulation.run(client.call(&call, &options)).expect("an answer");
        simulation.requests()[1].header("idempotency-key").map(str::to_owned)
    };
    assert_eq!(id("m-1", None, None).as_deref(), Some("m-1"));
    assert_eq!(id("m-1", None, Some("own")).as_deref(), Some("own"));
    assert_eq!(id("m-1", Some("t"), None), None);
    for strange in [&"x".repeat(256), "a b", "é", "a\nb"] {
        let key = id(strange, None, None).expect("a key");
        assert!(key.starts_with("message-") && key.len() == 24, "{key}");
        assert_eq!(id(strange, None, None), Some(key), "it is the same each time");
    }
}

#[test]
fn a_cancel_of_a_task_that_has_ended_gives_the_task() {
    let refused = || {
        let error = json!({"code": -32002, "message": "it has ended"});
        SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "error": error}))
    };
    let ended = || {
        let task =
            json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
        SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "result": task}))
    };
    let (simulation, client) = client(vec![refused, ended]);
    let task = simulation.run(client.cancel_until(TaskId::new("t").unwrap(), UnixMillis(9_000)));
    assert!(task.expect("a task").status.state.is_terminal());
}

#[test]
fn a_call_without_an_agent_says_why() {
    let simulation = Simulation::default();
    let client = Client::new(Settings::new("https://agent.example"), simulation.ports());
    let message = create_message("hi", client.ports());
    let observed = simulation.run(client.send_and_observe(message, || false));
    assert_eq!(observed.outcome, Outcome::Failed);
    assert!(
        observed.text.starts_with("submit failed: https://agent.example/"),
        "{}",
        observed.text
    );
    assert!(matches!(observed.error, Some(ClientError::Http(_))));
}
