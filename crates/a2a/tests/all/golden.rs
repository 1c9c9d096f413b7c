//! Values in older dialects, as data: `golden/<dialect>/*.json` are lists of cases, each with the same value in 1.0 and in
//! the dialect over each of its bindings.

use a2a::binding::jsonrpc::{Envelope, RequestId};
use a2a::binding::{Binding, MediaType, Reply};
use a2a::dialect::{Dialect, StreamState};
use a2a::error::Error;
use a2a::model::decode::{decode, read_json};
use a2a::model::{ShownWebhook, Task, TaskPushNotificationConfig, UnixMillis};
use a2a::{Operation, Outcome, ShownTask};
use serde_json::{Value, json};

const BINDINGS: [(&str, Binding); 2] = [("jsonrpc", Binding::JsonRpc), ("rest", Binding::Rest)];

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/golden/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a golden file");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn binding(case: &Value) -> Binding {
    let found = BINDINGS.iter().find(|(name, _)| case["binding"] == *name);
    found.unwrap_or_else(|| panic!("{case} has no binding")).1
}

fn operation(case: &Value) -> Operation {
    Operation::named(case["operation"].as_str().unwrap()).unwrap()
}

fn reply(binding: Binding, dialect: Dialect) -> Reply {
    let reply = match binding {
        Binding::JsonRpc => Reply::json_rpc(request_id()),
        Binding::Rest => Reply::rest(MediaType::Json),
    };
    reply.in_dialect(dialect)
}

fn request_id() -> RequestId {
    let envelope = Envelope::parse(br#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, 10);
    envelope.unwrap().id
}

/// The result in an answer or in an event, without the envelope of the binding.
fn bare(binding: Binding, json: &str) -> Value {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("{json}"));
    match binding {
        Binding::JsonRpc => {
            assert_eq!((&value["jsonrpc"], &value["id"]), (&json!("2.0"), &json!(7)), "{json}");
            value["result"].clone()
        }
        Binding::Rest => value,
    }
}

fn outcome(case: &Value) -> Outcome {
    let inner = &case["1.0"];
    let text = inner.to_string();
    let task = || {
        // The JSON text that the object writes.
        let task: Task = decode(inner.clone()).expect("a task of 1.0");
        let json = serde_json::to_string(&task).unwrap().into();
        ShownTask { json, generation: 3, ..ShownTask::default() }
    };
    let webhook = |value: &Value| {
        let config: TaskPushNotificationConfig = decode(value.clone()).expect("a webhook of 1.0");
        ShownWebhook { config, has: None }
    };
    match case["outcome"].as_str().unwrap() {
        "Task" => Outcome::Task(task()),
        "SentTask" => Outcome::SentTask(task()),
        "SentMessage" => Outcome::SentMessage(Box::new(decode(inner.clone()).unwrap())),
        "Tasks" => Outcome::Tasks(text),
        "PushConfig" => Outcome::PushConfig(Box::new(webhook(inner))),
        "PushConfigs" => {
            Outcome::PushConfigs(inner.as_array().unwrap().iter().map(webhook).collect())
        }
        "Deleted" => Outcome::Deleted,
        "Card" => Outcome::Card(text),
        other => panic!("there is no outcome {other}"),
    }
}

fn requests_mean_what_those_of_1_0_mean(dialect: Dialect, folder: &str) {
    for case in cases(&format!("{folder}/requests")) {
        let read = dialect.decode(binding(&case), operation(&case), case["older"].clone());
        let meant = operation(&case).decode(case["1.0"].clone()).expect("parameters of 1.0");
        assert_eq!(read.map(|read| read.call), Ok(meant), "{}", case["name"]);
    }
}

fn refusals_name_the_fields_of_the_dialect(dialect: Dialect, folder: &str) {
    for case in cases(&format!("{folder}/refusals")) {
        let read = dialect.decode(binding(&case), operation(&case), case["older"].clone());
        let Err(Error::InvalidParams(found)) = read else { panic!("{}: {read:?}", case["name"]) };
        let found = found.into_iter().map(|found| (found.field, json!(found.description)));
        let found = Value::Object(found.collect());
        assert_eq!(found, case["fields"], "{}", case["name"]);
    }
}

fn results_are_written(dialect: Dialect, folder: &str) {
    for case in cases(&format!("{folder}/results")) {
        for (name, binding) in BINDINGS.iter().filter(|(name, _)| case.get(name).is_some()) {
            let answer = reply(*binding, dialect).outcome(&outcome(&case)).expect("an answer");
            assert_eq!(bare(*binding, &answer.body), case[name], "{} {name}", case["name"]);
        }
    }
}

fn events_are_written(dialect: Dialect, folder: &str) {
    for case in cases(&format!("{folder}/events")) {
        for (name, binding) in BINDINGS.iter().filter(|(name, _)| case.get(name).is_some()) {
            let event = case["1.0"].to_string();
            let state = &mut StreamState::default();
            let told = reply(*binding, dialect).stream_text(&event, Some(3), state);
            let told = told.expect("an event");
            let frame = told.text.strip_prefix("id: 3\ndata: ").expect("a frame");
            let frame = frame.strip_suffix("\n\n").expect("a whole frame");
            assert_eq!(bare(*binding, frame), case[name], "{} {name}", case["name"]);
            assert_eq!(json!(told.is_last), case["last"], "{} {name}", case["name"]);
        }
    }
}

#[test]
fn requests_of_0_3_mean_what_those_of_1_0_mean() {
    requests_mean_what_those_of_1_0_mean(Dialect::V0_3, "v0_3");
}

#[test]
fn refusals_name_the_fields_of_0_3() {
    refusals_name_the_fields_of_the_dialect(Dialect::V0_3, "v0_3");
}

#[test]
fn results_are_written_in_0_3() {
    results_are_written(Dialect::V0_3, "v0_3");
}

#[test]
fn events_are_written_in_0_3() {
    events_are_written(Dialect::V0_3, "v0_3");
}

#[test]
fn messages_of_0_3_are_read_as_they_are_written() {
    for case in cases("v0_3/messages") {
        let message: a2a::model::Message = decode(case["1.0"].clone()).expect("a message of 1.0");
        for (name, binding) in BINDINGS {
            let reply = reply(binding, Dialect::V0_3);
            let answer = reply.outcome(&Outcome::SentMessage(Box::new(message.clone())));
            let written = bare(binding, &answer.unwrap().body);
            let written = if binding == Binding::Rest { &written["message"] } else { &written };
            assert_eq!(*written, case[name], "{} {name}", case["name"]);
            let params = json!({"message": case[name]});
            let read = Dialect::V0_3.decode(binding, Operation::SendMessage, params).unwrap();
            let read = &read.call.message().unwrap().message;
            assert_eq!(*read, message, "{} {name}", case["name"]);
        }
    }
}

#[test]
fn a_webhook_of_0_3_is_asked_for_without_its_id() {
    let params = json!({"id": "t-1"});
    let operation = Operation::GetTaskPushNotificationConfig;
    let read = Dialect::V0_3.decode(Binding::JsonRpc, operation, params).unwrap();
    let expected = a2a::model::PushNotificationConfigRequest {
        tenant: None,
        task_id: a2a::model::TaskId::new("t-1").unwrap(),
        id: String::new(),
    };
    assert_eq!(read.call, a2a::WebhookCall::GetTaskPushNotificationConfig(expected).into());
}

#[test]
fn a_notification_in_0_3_is_the_task() {
    let case = &cases("v0_3/results")[0];
    let task: Task = read_json(&case["1.0"].to_string()).unwrap();
    let body = Dialect::V0_3.notification("{}", || Some(task), UnixMillis(0)).expect("a body");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), case["jsonrpc"]);
    assert_eq!(Dialect::V0_3.notification("{}", || None, UnixMillis(0)), None);
}

#[test]
fn an_unknown_task_of_0_3_over_json_rpc_has_the_text_of_the_specification() {
    let id = a2a::model::TaskId::new("t-1").unwrap();
    let answer = reply(Binding::JsonRpc, Dialect::V0_3).error(&Error::TaskNotFound(id));
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(
        (&body["error"]["code"], &body["error"]["message"]),
        (&json!(-32001), &json!("Task not found"))
    );
}

#[test]
fn an_error_of_0_3_over_http_is_read_by_all_sdks() {
    let id = a2a::model::TaskId::new("t-1").unwrap();
    let answer = reply(Binding::Rest, Dialect::V0_3).error(&Error::TaskNotFound(id));
    assert_eq!(answer.status, 404);
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org", "metadata": {"taskId": "t-1"}});
    assert_eq!(
        body,
        json!({"code": -32001, "type": "TaskNotFoundError", "message": "task not found",
            "error": {"code": 404, "status": "NOT_FOUND", "message": "task not found", "details": [info]}})
    );
}
