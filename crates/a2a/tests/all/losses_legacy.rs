//! The losses of 1.0 in a round trip through A2A 0.1; docs/dialects.md has the same list.

use crate::arbitrary::{self, less_0_1};
use a2a::binding::jsonrpc::RequestId;
use a2a::binding::{Binding, Reply};
use a2a::dialect::{Dialect, StreamState};
use a2a::model::decode::decode;
use a2a::model::{Artifact, Message, StreamResponse, Task, TaskState, TaskStatus};
use a2a::{Operation, Outcome, ShownTask};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_task_loses_only_what_the_version_has_not(task in arbitrary::task()) {
        let json = serde_json::to_string(&task).unwrap();
        let shown = ShownTask { json: json.into(), generation: 1, ..ShownTask::default() };
        let answer = reply().outcome(&Outcome::Task(shown)).expect("an answer");
        let said: Value = serde_json::from_str(&answer.body).unwrap();
        let list = |name: &str| said["result"][name].as_array().cloned().unwrap_or_default();
        let read = Task {
            status: status(&said["result"]["status"]),
            artifacts: list("artifacts").iter().map(artifact).collect(),
            history: list("history").iter().map(message).collect(),
            ..decode(json!({"id": said["result"]["id"], "contextId": said["result"]["sessionId"],
                "metadata": said["result"]["metadata"], "status": {"state": "TASK_STATE_WORKING"}})).unwrap()
        };
        prop_assert_eq!(read, less_0_1::task(task));
    }

    #[test]
    fn an_event_loses_only_what_the_version_has_not(event in arbitrary::event()) {
        let json = serde_json::to_string(&event).unwrap();
        let told = reply().stream_text(&json, None, &mut StreamState::default()).expect("an event");
        let frames: Vec<(&str, Value)> = told.text.split_terminator("\n\n").map(frame).collect();
        let (kind, said) = &frames[0];
        match event {
            StreamResponse::StatusUpdate(update) => {
                prop_assert_eq!(*kind, "status");
                prop_assert_eq!(&said["id"], update.task_id.as_str());
                prop_assert_eq!(metadata(said), metadata(&serde_json::to_value(&update).unwrap()));
                let state = update.status.state;
                prop_assert_eq!(said["final"] == true, state.is_terminal() || state.is_interrupted());
                prop_assert_eq!(status(&said["status"]), less_0_1::status(update.status));
            }
            StreamResponse::ArtifactUpdate(update) => {
                prop_assert_eq!(*kind, "artifact");
                prop_assert_eq!(&said["id"], update.task_id.as_str());
                prop_assert_eq!(metadata(said), metadata(&serde_json::to_value(&update).unwrap()));
                prop_assert_eq!(said["artifact"]["append"] == true, update.append);
                prop_assert_eq!(said["artifact"]["lastChunk"] == true, update.last_chunk);
                prop_assert_eq!(artifact(&said["artifact"]), less_0_1::artifact(0, update.artifact));
            }
            // A stream does not contain the history and the metadata of a task, nor the artifacts of a task that
            // has ended.
            StreamResponse::Task(task) => {
                prop_assert_eq!(*kind, "status");
                let is_last = task.status.state.is_terminal() || task.status.state.is_interrupted();
                prop_assert_eq!(frames.len(), if is_last { 1 } else { 1 + task.artifacts.len() });
                prop_assert_eq!(status(&said["status"]), less_0_1::status(task.status));
            }
            StreamResponse::Message(said_instead) => {
                let told = status(&said["status"]);
                prop_assert_eq!((*kind, told.state, said["final"] == true), ("status", TaskState::Completed, true));
                prop_assert_eq!(told.message, Some(less_0_1::message(said_instead)));
            }
        }
    }
}

fn reply() -> Reply {
    Reply::json_rpc(RequestId::NULL).in_dialect(Dialect::Legacy)
}

/// The name and the event of a frame.
fn frame(text: &str) -> (&str, Value) {
    let (name, data) = text.split_once('\n').expect("two lines");
    let data = data.strip_prefix("data: ").expect("data");
    let mut data: Value = serde_json::from_str(data).expect("JSON");
    (name.strip_prefix("event: ").expect("a name"), data["result"].take())
}

fn metadata(holder: &Value) -> Option<Value> {
    holder.get("metadata").cloned()
}

/// Decodes a message in the form of a client.
fn message(said: &Value) -> Message {
    let params = json!({"id": "t", "message": said});
    let read = Dialect::Legacy.decode(Binding::JsonRpc, Operation::SendMessage, params);
    read.expect("a message").call.message().unwrap().message.clone()
}

fn status(said: &Value) -> TaskStatus {
    let state = said["state"].as_str().unwrap().to_ascii_uppercase().replace('-', "_");
    let status =
        json!({"state": format!("TASK_STATE_{state}"), "timestamp": said.get("timestamp")});
    TaskStatus { message: said.get("message").map(message), ..decode(status).expect("a status") }
}

fn artifact(said: &Value) -> Artifact {
    let parts = message(&json!({"role": "agent", "parts": said["parts"]})).parts;
    let mut artifact = said.clone();
    artifact["parts"] = json!([{"text": ""}]);
    artifact["artifactId"] = json!(said["index"].to_string());
    Artifact { parts, ..decode(artifact).expect("an artifact") }
}
