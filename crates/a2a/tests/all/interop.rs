//! Round trips of our JSON through the official Rust types of A2A 1.0, in both directions.

use a2a::model::{self, StreamResponse, Task};
use a2a_of_lf::{StreamResponse as Theirs, Task as TheirTask};
use serde_json::{Value, json};

/// A task with all possible members.
fn full_task() -> Value {
    let parts = json!([
        {"text": ""},
        {"text": "hi", "mediaType": "text/plain", "metadata": {"k": [1, 2.5, null]}},
        {"raw": "+/8=", "filename": "f.bin", "mediaType": "application/octet-stream"},
        {"url": "https://example.com/x", "filename": "x"},
        {"data": {"z": 1, "a": [true, "x", {"deep": 1.25}]}},
        {"data": [1, 2]},
    ]);
    let message = |id: &str, role: &str| {
        json!({"messageId": id, "contextId": "c", "taskId": "t", "role": role, "parts": parts,
            "metadata": {"a": {"b": 1}}, "extensions": ["https://example.com/ext"],
            "referenceTaskIds": ["t0"]})
    };
    json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message("m2", "ROLE_AGENT"),
            "timestamp": "2026-01-05T09:00:01.250Z"},
        "artifacts": [{"artifactId": "a", "name": "n", "description": "d", "parts": parts,
            "metadata": {"x": 1}, "extensions": ["https://example.com/ext"]}],
        "history": [message("m1", "ROLE_USER")],
        "metadata": {"key": "value"},
    })
}

fn events() -> Vec<Value> {
    let states = model::TaskState::ALL.map(model::TaskState::wire_name);
    let mut events: Vec<Value> = states
        .iter()
        .map(|state| {
            json!({"statusUpdate": {"taskId": "t", "contextId": "c", "metadata": {"a": 1},
                "status": {"state": state, "timestamp": "2026-01-05T09:00:01.250Z"}}})
        })
        .collect();
    let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}]});
    for (append, last_chunk) in [(false, false), (true, false), (true, true)] {
        let mut update = json!({"taskId": "t", "contextId": "c", "artifact": artifact});
        for (key, is_set) in [("append", append), ("lastChunk", last_chunk)] {
            if is_set {
                update[key] = json!(true);
            }
        }
        events.push(json!({"artifactUpdate": update}));
    }
    events.push(json!({"task": full_task()}));
    events.push(json!({"message": full_task()["history"][0]}));
    events
}

#[test]
fn what_we_write_the_official_types_read_and_write_the_same() {
    for event in events() {
        let ours: StreamResponse = serde_json::from_value(event.clone()).unwrap();
        let written = serde_json::to_value(&ours).unwrap();
        assert_eq!(written, event, "ours loses something");
        let theirs: Theirs = serde_json::from_value(written).unwrap();
        let back: StreamResponse =
            serde_json::from_value(serde_json::to_value(&theirs).unwrap()).unwrap();
        assert_eq!(back, ours, "lost on the way through the official types");
    }
}

#[test]
fn what_the_official_types_write_we_read() {
    let theirs: TheirTask = serde_json::from_value(full_task()).unwrap();
    let ours: Task = serde_json::from_value(serde_json::to_value(&theirs).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&ours).unwrap(), full_task());
}

#[test]
fn a_task_made_with_the_official_types_is_ours() {
    let message =
        a2a_of_lf::Message::new(a2a_of_lf::Role::User, vec![a2a_of_lf::Part::text("hello")]);
    let request = json!({"message": serde_json::to_value(&message).unwrap()});
    let read: model::SendMessageRequest = serde_json::from_value(request).unwrap();
    assert_eq!(read.message.text(), "hello");
    assert_eq!(read.message.role, model::Role::User);
    assert_eq!(read.message.message_id, message.message_id);
}
