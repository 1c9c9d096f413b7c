//! The losses of 1.0 in a round trip through an older dialect; docs/dialects.md has the same list.

use crate::arbitrary::{self, less_0_3};
use a2a::binding::jsonrpc::RequestId;
use a2a::binding::{Binding, MediaType, Reply};
use a2a::dialect::{Dialect, Habits, StreamState};
use a2a::model::decode::decode;
use a2a::model::{
    Artifact, Message, Part, PartContent, StreamResponse, Task, TaskPushNotificationConfig,
    TaskState, TaskStatus,
};
use a2a::{Operation, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_in_0_3_loses_only_what_the_version_has_not(event in arbitrary::event()) {
        for binding in [Binding::JsonRpc, Binding::Rest] {
            let reader = Reader { binding };
            prop_assert_eq!(reader.event(&said(binding, &event)), less_0_3::event(binding, event.clone()));
        }
    }

    #[test]
    fn a_webhook_in_0_3_loses_what_the_extension_adds(
        id in "[a-z]{1,5}", token in proptest::option::of("[a-z]{1,5}"), scheme in proptest::option::of("[A-Z]{1,5}"),
    ) {
        let mut webhook = json!({"taskId": "t", "id": id, "url": "https://cb.example.org/h", "events": "status"});
        let mut expected = json!({"taskId": "t", "id": id, "url": "https://cb.example.org/h"});
        for webhook in [&mut webhook, &mut expected] {
            if let Some(token) = &token {
                webhook["token"] = json!(token);
            }
            if let Some(scheme) = &scheme {
                webhook["authentication"] = json!({"scheme": scheme, "credentials": "abc"});
            }
        }
        let config: TaskPushNotificationConfig = decode(webhook).unwrap();
        let outcome = Outcome::PushConfig(Box::new(a2a::model::ShownWebhook { config, has: None }));
        for binding in [Binding::JsonRpc, Binding::Rest] {
            let answer = reply(binding, Habits::default()).outcome(&outcome).unwrap();
            let mut written = result(binding, &answer.body);
            written["taskId"] = json!("t");
            let read = Dialect::V0_3.decode(binding, Operation::CreateTaskPushNotificationConfig, written);
            let meant = Operation::CreateTaskPushNotificationConfig.decode(expected.clone());
            prop_assert_eq!(read.map(|read| read.call), meant);
        }
    }
}

fn reply(binding: Binding, habits: Habits) -> Reply {
    let mut reply = match binding {
        Binding::JsonRpc => Reply::json_rpc(RequestId::NULL),
        Binding::Rest => Reply::rest(MediaType::Json),
    };
    reply.speak(Dialect::V0_3, habits);
    reply
}

/// An event in the form of 0.3.
fn said(binding: Binding, event: &StreamResponse) -> Value {
    let event = serde_json::to_string(event).unwrap();
    let reply = reply(binding, Habits::default());
    let told = reply.stream_text(&event, None, &mut StreamState::default()).expect("an event");
    result(binding, told.text.strip_prefix("data: ").expect("a frame"))
}

fn result(binding: Binding, json: &str) -> Value {
    let mut value: Value = serde_json::from_str(json).unwrap();
    match binding {
        Binding::JsonRpc => value["result"].take(),
        Binding::Rest => value,
    }
}

/// Decodes 0.3 as a client does; messages and parts by the reader of requests.
struct Reader {
    binding: Binding,
}

impl Reader {
    fn event(&self, said: &Value) -> StreamResponse {
        let member = |name: &str, kind: &str| match self.binding {
            Binding::JsonRpc => Some(said).filter(|said| said["kind"] == kind),
            Binding::Rest => said.get(name),
        };
        if let Some(task) = member("task", "task") {
            return StreamResponse::Task(self.task(task));
        }
        if let Some(message) = member("message", "message") {
            return StreamResponse::Message(self.message(message));
        }
        if let Some(update) = member("statusUpdate", "status-update") {
            let status = self.status(&update["status"]);
            let is_final = status.state.is_terminal() || status.state == TaskState::InputRequired;
            assert_eq!(update["final"], is_final);
            return self.patched("statusUpdate", update, "status", &status);
        }
        let update = member("artifactUpdate", "artifact-update").expect("an event");
        self.patched("artifactUpdate", update, "artifact", &self.artifact(&update["artifact"]))
    }

    /// An event whose members have the form of 1.0, except for this one.
    fn patched(
        &self,
        name: &str,
        update: &Value,
        member: &str,
        read: &impl serde::Serialize,
    ) -> StreamResponse {
        let mut update = update.clone();
        update[member] = serde_json::to_value(read).unwrap();
        decode(json!({name: update})).expect("an event")
    }

    fn task(&self, said: &Value) -> Task {
        let list = |name: &str| said[name].as_array().cloned().unwrap_or_default();
        let mut task =
            json!({"id": said["id"], "contextId": said["contextId"], "metadata": said["metadata"]});
        task["status"] = json!({"state": "TASK_STATE_WORKING"});
        Task {
            status: self.status(&said["status"]),
            artifacts: list("artifacts").iter().map(|said| self.artifact(said)).collect(),
            history: list("history").iter().map(|said| self.message(said)).collect(),
            ..decode(task).expect("a task")
        }
    }

    fn status(&self, said: &Value) -> TaskStatus {
        let state = said["state"].as_str().unwrap().to_ascii_uppercase().replace('-', "_");
        let state = state.replace("CANCELLED", "CANCELED");
        let state = format!("TASK_STATE_{}", state.trim_start_matches("TASK_STATE_"));
        let status = json!({"state": state, "timestamp": said["timestamp"]});
        let message = said.get("message").map(|said| self.message(said));
        TaskStatus { message, ..decode(status).expect("a status") }
    }

    fn artifact(&self, said: &Value) -> Artifact {
        let mut artifact = said.clone();
        artifact["parts"] = json!([{"text": ""}]);
        Artifact { parts: self.parts(&said["parts"]), ..decode(artifact).expect("an artifact") }
    }

    fn parts(&self, said: &Value) -> Vec<Part> {
        let message = match self.binding {
            Binding::JsonRpc => json!({"messageId": "m", "role": "user", "parts": said}),
            Binding::Rest => json!({"messageId": "m", "role": "ROLE_USER", "content": said}),
        };
        self.message(&message).parts
    }

    fn message(&self, said: &Value) -> Message {
        let params = json!({"message": said});
        let read = Dialect::V0_3.decode(self.binding, Operation::SendMessage, params);
        read.expect("a message").call.message().unwrap().message.clone()
    }
}

#[test]
fn bytes_written_as_base64_once_are_read_back_unless_they_are_base64_themselves() {
    let habits = Habits { single_base64: true, ..Habits::default() };
    for (raw, expected) in [("AAEC", "AAEC"), ("", ""), ("YUdrPQ==", "aGk=")] {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": raw}]});
        let outcome = Outcome::SentMessage(Box::new(decode(message).unwrap()));
        let answer = reply(Binding::Rest, habits).outcome(&outcome).unwrap();
        let written: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(written["message"]["content"], json!([{"file": {"fileWithBytes": raw}}]));
        let read = Reader { binding: Binding::Rest }.message(&written["message"]);
        let PartContent::Raw(read) = &read.parts[0].content else { panic!("{read:?}") };
        assert_eq!(read.as_str(), expected);
    }
}
