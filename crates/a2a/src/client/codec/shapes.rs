//! Answers of real servers: errors in every form, and answers with missing or additional members.

use serde_json::{Value, json};

use super::*;
use crate::client::RemoteError;
use crate::dialect::Dialect;
use crate::model::decode::decode;
use crate::model::{ContextId, TaskState};

fn wire(dialect: Dialect, binding: Binding) -> Wire {
    let url = "https://a.example".to_owned();
    let (tenant, is_trusted, streams) = (None, true, true);
    let connection = Connection { url: url.clone(), binding, dialect, tenant, is_trusted, streams };
    Wire::new(&Rc::new(connection), &Settings::new(url))
}

fn get() -> Call {
    Call::Task(TaskCall::GetTask(decode(json!({"id": "t"})).unwrap()))
}

fn send() -> Call {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    Call::Task(TaskCall::SendMessage(Box::new(decode(json!({"message": message})).unwrap())))
}

fn answer(status: u16, body: &str) -> HttpAnswer<String> {
    let (headers, url) = (Vec::new(), "https://a.example/x".to_owned());
    HttpAnswer { status, headers, body: body.to_owned(), url }
}

#[test]
fn errors_are_read_in_every_shape() {
    use Binding::{JsonRpc, Rest};
    use Dialect::{Legacy, V0_3, V1};
    let info = |reason: &str| json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}]);
    let rpc =
        |code: i32| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}});
    let plain = |status: &str| json!({"error": {"code": 404, "status": status, "message": "no"}});
    for (dialect, binding, status, body, code) in [
        (V1, JsonRpc, 200, rpc(-32001), -32001),
        (V1, JsonRpc, 400, rpc(-32602), -32602),
        (V1, JsonRpc, 503, rpc(-32603), -32603),
        // Codes that a server has invented.
        (V0_3, JsonRpc, 200, rpc(17), 17),
        (V0_3, JsonRpc, 500, json!({"error": {"code": -32603, "message": "no"}}), -32603),
        (
            V0_3,
            JsonRpc,
            200,
            json!({"jsonrpc": "2.0", "result": null, "error": {"code": -32001, "message": "no"}}),
            -32001,
        ),
        (
            V1,
            Rest,
            404,
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "no", "details": info("TASK_NOT_FOUND")}}),
            -32001,
        ),
        (
            V1,
            Rest,
            400,
            json!({"error": {"code": 400, "message": "no", "details": info("TASK_NOT_CANCELABLE")}}),
            -32002,
        ),
        (
            V1,
            Rest,
            409,
            json!({"error": {"code": 409, "message": "no", "details": info("GENERATION_MISMATCH")}}),
            -32010,
        ),
        (
            V1,
            Rest,
            400,
            json!({"error": {"code": 400, "message": "no", "details": info("PARSE_ERROR")}}),
            -32700,
        ),
        (V1, Rest, 404, plain("NOT_FOUND"), -32601),
        (V1, Rest, 400, json!({"error": {"message": "no"}}), -32602),
        (V1, Rest, 500, json!({"error": {"code": 500, "message": "no"}}), -32603),
        (V1, Rest, 404, json!({"error": {"code": 404, "message": "no such task"}}), -32001),
        (
            V1,
            Rest,
            404,
            json!({"type": "https://a2a-protocol.org/errors/task-not-found", "title": "no", "status": 404}),
            -32001,
        ),
        (V1, Rest, 400, json!({"type": "about:blank", "title": "Bad", "detail": "no"}), -32602),
        (V1, Rest, 422, json!({"detail": "no"}), -32602),
        (V1, Rest, 405, json!({"detail": "no"}), -32601),
        // 0.3 over HTTP+JSON: the forms of JavaScript, Python and Go, and ours, which combines
        // them.
        (V0_3, Rest, 404, json!({"code": -32001, "message": "no"}), -32001),
        (V0_3, Rest, 400, json!({"type": "TaskNotCancelableError", "message": "no"}), -32002),
        (
            V0_3,
            Rest,
            404,
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "no", "details": info("TASK_NOT_FOUND")}}),
            -32001,
        ),
        (
            V0_3,
            Rest,
            404,
            json!({"code": -32001, "type": "TaskNotFoundError", "message": "no", "error": {"code": 404, "message": "no"}}),
            -32001,
        ),
        (V0_3, Rest, 501, json!({"message": "no"}), -32004),
        (V0_3, Rest, 501, json!({"message": "Push Notification is not supported"}), -32003),
        (V0_3, Rest, 404, json!({"message": "Task not found"}), -32001),
        (
            V0_3,
            Rest,
            404,
            json!({"message": "Authenticated Extended Card is not configured"}),
            -32007,
        ),
        (V0_3, Rest, 409, json!({"message": "Task cannot be canceled"}), -32002),
        (V0_3, Rest, 501, json!({"message": "no such method"}), -32601),
        (Legacy, Rest, 404, json!({"error": "Task not found"}), -32001),
        (Legacy, Rest, 400, json!({"error": "no"}), -32602),
        (Legacy, Rest, 500, json!({"error": "no"}), -32603),
        (Legacy, JsonRpc, 400, rpc(-32700), -32700),
    ] {
        let read = wire(dialect, binding).answer(&get(), answer(status, &body.to_string()));
        let Err(ClientError::Remote(error)) = read else { panic!("{status} {body}: {read:?}") };
        assert_eq!((error.code, error.status), (code, status), "{body}");
        assert!(!error.message.is_empty(), "{body}");
    }
}

#[test]
fn what_is_no_error_of_the_protocol_keeps_its_status() {
    for (status, body) in [
        (502, "<html><body>Bad gateway</body></html>"),
        (404, "<!doctype html>"),
        (404, ""),
        (302, ""),
        (429, r#"{"message": "slow down"}"#),
        (503, r#"{"error": "overloaded"}"#),
        (401, r#"{"detail": "Not authenticated"}"#),
        (500, "[]"),
        (500, r#"{"x": 1}"#),
    ] {
        for binding in [Binding::JsonRpc, Binding::Rest] {
            let read = wire(Dialect::V1, binding).answer(&get(), answer(status, body));
            let Err(ClientError::Http(HttpError::Status { status: found, .. })) = read else {
                panic!("{status} {body}: {read:?}");
            };
            assert_eq!(found, status);
        }
    }
}

#[test]
fn a_success_without_sense_is_told() {
    for (binding, body, told) in [
        (
            Binding::JsonRpc,
            "<html>\n <p>x",
            "cannot be used: it is not JSON (expected value at line 1 column 1) and begins with \"<html> <p>x\"",
        ),
        (Binding::JsonRpc, "", "it is no object"),
        (Binding::JsonRpc, "[]", "it is no object"),
        (Binding::JsonRpc, r#"{"jsonrpc": "2.0", "id": 1}"#, "neither a result nor an error"),
        (
            Binding::JsonRpc,
            r#"{"result": {"id": "t"}}"#,
            "GetTask cannot be read: status is required",
        ),
        (
            Binding::JsonRpc,
            r#"{"result": {"id": 1, "status": {"state": "done"}}}"#,
            "status.state must be one of",
        ),
        (
            Binding::Rest,
            r#"{"id": "t", "status": {"state": "completed", "message": {"parts": [{}]}}}"#,
            "status.message.parts[0] has none of",
        ),
        (Binding::Rest, "null", "must be an object"),
    ] {
        let read = wire(Dialect::V1, binding).answer(&get(), answer(200, body));
        let error = read.expect_err(body);
        assert!(!matches!(error, ClientError::Remote(_)), "{error:?}");
        assert!(error.to_string().contains(told), "{body}: {error}");
    }
}

#[test]
fn errors_of_another_version_are_known() {
    let remote = |code: i32, message: &str, data: Option<Value>| {
        let message = message.to_owned();
        ClientError::Remote(Box::new(RemoteError { code, message, data, status: 200 }))
    };
    let status = |status| {
        let (url, begins) = (String::new(), String::new());
        ClientError::Http(HttpError::Status { url, status, begins })
    };
    for (error, expected) in [
        (remote(-32601, "Method not found", None), true),
        (remote(-32009, "version", None), true),
        (remote(-32602, "invalid", Some(json!([{"loc": ["params", "message", "kind"]}]))), true),
        (remote(-32602, "it is a path of A2A 0.1; send A2A-Version: 1.0", None), true),
        (remote(-32602, "needs parts", None), false),
        (remote(-32001, "Task not found", None), false),
        (remote(-32603, "kind of broken", None), false),
        (status(404), true),
        (status(405), true),
        (status(500), false),
        (ClientError::Ended, false),
    ] {
        assert_eq!(error.looks_like_other_version(), expected, "{error:?}");
    }
}

#[test]
fn tasks_are_read_in_the_words_of_any_version() {
    let minimal = |state: Value| json!({"id": "t", "contextId": "c", "status": {"state": state}});
    for (state, expected) in [
        (json!("TASK_STATE_COMPLETED"), TaskState::Completed),
        (json!(3), TaskState::Completed),
        (json!("completed"), TaskState::Completed),
        (json!("TASK_STATE_CANCELLED"), TaskState::Canceled),
        (json!("input-required"), TaskState::InputRequired),
        (json!("unknown"), TaskState::Working),
        (json!("TASK_STATE_UNSPECIFIED"), TaskState::Working),
    ] {
        for result in [minimal(state.clone()), json!({"task": minimal(state.clone())})] {
            for (dialect, binding) in [
                (Dialect::V1, Binding::Rest),
                (Dialect::V0_3, Binding::Rest),
                (Dialect::V1, Binding::JsonRpc),
                (Dialect::Legacy, Binding::JsonRpc),
            ] {
                let body = match binding {
                    Binding::JsonRpc => json!({"jsonrpc": "2.0", "id": 1, "result": result}),
                    Binding::Rest => result.clone(),
                };
                for call in [get(), send()] {
                    let read = wire(dialect, binding).answer(&call, answer(200, &body.to_string()));
                    let Ok(Answer::Task(task)) = read else { panic!("{body}: {read:?}") };
                    assert_eq!(
                        (task.status.state, task.context_id),
                        (expected, ContextId::new("c"))
                    );
                    assert!(task.history.is_empty() && task.artifacts.is_empty());
                }
            }
        }
    }
}

#[test]
fn what_an_answer_can_do_without_may_be_missing() {
    let task = json!({"id": "t", "kind": "task", "sessionId": "s", "invented": {"x": 1}, "metadata": [],
        "status": {"state": "completed", "timestamp": "2026-01-05T09:00:01.25", "message": {"role": "agent", "parts": []}},
        "history": [{"parts": [{"text": "a"}]}, {"state": "working"}],
        "artifacts": [{"parts": [{"type": "text", "text": "b"}]}, {"index": 0, "parts": []}, {"artifactId": "x", "parts": [{"kind": "data", "data": {"data": 1}}]}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "result": task}).to_string();
    let read = wire(Dialect::V0_3, Binding::JsonRpc).answer(&send(), answer(200, &body));
    let Ok(Answer::Task(task)) = read else { panic!("{read:?}") };
    assert_eq!(task.context_id, ContextId::new("s"));
    assert_eq!(task.status.timestamp.map(|at| at.0), Some(1_767_603_601_250));
    assert_eq!(task.history.len(), 1);
    assert!(!task.history[0].message_id.is_empty());
    let ids: Vec<_> = task.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
    assert_eq!(ids, ["artifact-0", "artifact-1", "x"]);
    assert_eq!(task.artifacts[2].parts[0].as_data(), Some(json!({"data": 1})));
}

#[test]
fn events_are_read_in_any_shape() {
    use StreamResponse::{ArtifactUpdate, Message, StatusUpdate, Task};
    let status = json!({"state": "working"});
    let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}]});
    let parts = json!([{"text": "x"}]);
    let is_task = |event: &StreamResponse| matches!(event, Task(_));
    let is_message = |event: &StreamResponse| matches!(event, Message(_));
    let is_status = |event: &StreamResponse| matches!(event, StatusUpdate(_));
    let is_artifact = |event: &StreamResponse| matches!(event, ArtifactUpdate(_));
    type Check = fn(&StreamResponse) -> bool;
    for (event, check) in [
        (json!({"task": {"id": "t", "status": status}}), is_task as Check),
        (json!({"id": "t", "status": status}), is_task),
        (json!({"kind": "task", "id": "t", "status": status}), is_task),
        (json!({"message": {"role": "agent", "parts": parts}}), is_message),
        (json!({"msg": {"role": "ROLE_AGENT", "content": parts}}), is_message),
        (json!({"role": "agent", "parts": parts}), is_message),
        (json!({"statusUpdate": {"taskId": "t", "status": status}}), is_status),
        (json!({"taskId": "t", "status": status}), is_status),
        (json!({"id": "t", "status": status, "final": false}), is_status),
        (json!({"kind": "status-update", "taskId": "t", "status": status}), is_status),
        (json!({"artifactUpdate": {"taskId": "t", "artifact": artifact}}), is_artifact),
        (json!({"taskId": "t", "artifact": artifact}), is_artifact),
        (json!({"id": "t", "artifact": artifact}), is_artifact),
    ] {
        for dialect in [Dialect::V1, Dialect::V0_3] {
            let read = wire(dialect, Binding::Rest).event(None, &event.to_string());
            assert!(read.as_ref().is_ok_and(check), "{event}: {read:?}");
        }
    }
    let legacy = wire(Dialect::Legacy, Binding::Rest);
    let read = |event: Value| legacy.event(None, &event.to_string()).unwrap();
    assert!(is_status(&read(json!({"id": "t", "status": status}))));
    assert!(is_task(&read(json!({"id": "t", "status": status, "sessionId": "s"}))));
    let chunk = json!({"index": 2, "append": true, "lastChunk": true, "parts": parts});
    let ArtifactUpdate(update) = read(json!({"id": "t", "artifact": chunk})) else { panic!() };
    assert!(update.append && update.last_chunk);
    assert_eq!(update.artifact.artifact_id, "artifact-2");
}

#[test]
fn an_event_may_be_an_error() {
    for (name, data, code) in [
        (
            None,
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}}),
            -32001,
        ),
        (
            Some("error"),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "no"}}),
            -32603,
        ),
        (Some("error"), json!({"error": {"code": 500, "message": "no"}}), -32603),
        (Some("error"), json!({"message": "no"}), -32603),
        (None, json!({"error": "no"}), -32603),
    ] {
        for (dialect, binding) in [(Dialect::V1, Binding::JsonRpc), (Dialect::V0_3, Binding::Rest)]
        {
            let read = wire(dialect, binding).event(name, &data.to_string());
            let Err(ClientError::Remote(error)) = read else { panic!("{data}: {read:?}") };
            assert_eq!(error.code, code, "{data}");
        }
    }
    for data in ["", "[DONE]", "{}", r#"{"result": {}}"#, r#"{"result": 1}"#] {
        let read = wire(Dialect::V1, Binding::JsonRpc).event(None, data);
        assert!(matches!(read, Err(ClientError::Unexpected(_))), "{data}: {read:?}");
    }
}

#[test]
fn webhooks_are_read_in_any_shape() {
    let call = Call::from(WebhookCall::GetTaskPushNotificationConfig(
        decode(json!({"taskId": "t", "id": "w"})).unwrap(),
    ));
    let authentication = json!({"schemes": ["Bearer", "Basic"], "credentials": "c"});
    let config =
        json!({"id": "w", "url": "https://cb", "token": "k", "authentication": authentication});
    let expected: TaskPushNotificationConfig =
        decode(json!({"taskId": "t", "id": "w", "url": "https://cb",
        "token": "k", "authentication": {"scheme": "Bearer", "credentials": "c"}}))
        .unwrap();
    let name = "tasks/t/pushNotificationConfigs/w";
    for shape in [
        config.clone(),
        json!({"taskId": "t", "pushNotificationConfig": config}),
        json!({"id": "t", "pushNotificationConfig": config}),
        json!({"name": name, "pushNotificationConfig": config}),
        json!({"name": name, "pushNotificationConfig": {"url": "https://cb", "token": "k", "authentication": authentication}}),
    ] {
        let read =
            wire(Dialect::V0_3, Binding::Rest).answer(&call, answer(200, &shape.to_string()));
        assert_eq!(read, Ok(Answer::Webhook(Box::new(expected.clone()))), "{shape}");
    }
}

#[test]
fn a_path_stands_below_the_url_of_the_interface() {
    for (url, path, expected) in [
        ("https://a.example", "tasks/t", "https://a.example/tasks/t"),
        ("https://a.example/", "tasks?a=b", "https://a.example/tasks?a=b"),
        ("https://a.example/x/", "v1/tasks", "https://a.example/x/v1/tasks"),
        ("https://a.example/x?key=1", "tasks", "https://a.example/x/tasks?key=1"),
        ("https://a.example/x?key=1", "tasks?a=b", "https://a.example/x/tasks?a=b&key=1"),
    ] {
        assert_eq!(below(url, path), expected);
    }
}

#[test]
fn requests_have_the_headers_of_their_version() {
    let settings = Settings {
        extensions: vec!["urn:a".to_owned(), "urn:b".to_owned()],
        ..Settings::new("https://a.example")
    };
    let options = CallOptions {
        idempotency_key: Some("key".to_owned()),
        last_event_id: Some("7".to_owned()),
        ..CallOptions::default()
    };
    let follow =
        Call::Follow(crate::call::FollowCall::SubscribeToTask(decode(json!({"id": "t"})).unwrap()));
    for (dialect, binding, version, extensions) in [
        (Dialect::V1, Binding::JsonRpc, Some("1.0"), "a2a-extensions"),
        (Dialect::V1, Binding::Rest, Some("1.0"), "a2a-extensions"),
        (Dialect::V0_3, Binding::Rest, Some("0.3"), "x-a2a-extensions"),
        (Dialect::Legacy, Binding::JsonRpc, None, "x-a2a-extensions"),
    ] {
        let wire = Wire::new(&wire(dialect, binding).connection, &settings);
        for (call, accept) in
            [(send(), "application/json"), (follow.clone(), "text/event-stream, application/json")]
        {
            let request = wire.request(&call, &options).unwrap();
            let header = |name: &str| {
                let found = request.headers.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.as_str())
            };
            assert_eq!(header("a2a-version"), version, "{dialect:?}");
            assert_eq!(header(extensions), Some("urn:a, urn:b"), "{dialect:?}");
            assert_eq!(header("accept"), Some(accept));
            assert_eq!(header("idempotency-key"), Some("key"));
            assert_eq!(header("last-event-id"), Some("7"));
            let has_body = request.method == "POST";
            assert_eq!(header("content-type"), has_body.then_some("application/json"));
        }
    }
}
