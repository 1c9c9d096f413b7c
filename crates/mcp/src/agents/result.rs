//! Translates tasks and messages to results of tools.

use a2a::client::{extract_text, last_agent_message};
use a2a::model::{Artifact, ContextId, Message, Part, PartContent, Task, TaskState};
use serde_json::{Map, Value, json};

use crate::model::{CallResult, Content, ResourceContents};

/// The result for a task of the agent with this name: its artifacts, its question, or the reason of its failure. `address`
/// is the prefix of the URIs for content that has no own URI, for example `a2a://agents.example/demo/tasks/1f`.
pub fn result_of(task: &Task, agent: &str, address: &str) -> CallResult {
    let state = task.status.state;
    let mut structured = Map::new();
    let mut say = |name: &str, value: Value| structured.insert(name.to_owned(), value);
    say("task_id", json!(task.id));
    // Some other servers leave it out.
    say("context_id", json!(task.context_id.as_ref().map_or("", ContextId::as_str)));
    say("state", json!(state_name(state)));
    let mut content = Vec::new();
    for artifact in &task.artifacts {
        pieces(
            &mut content,
            &artifact.parts,
            &format!("{address}/artifacts/{}", artifact.artifact_id),
        );
    }
    if let Some(data) = data_of(&task.artifacts) {
        say("data", data);
    }
    // An earlier question of the agent is not part of the result.
    let said = match state {
        TaskState::Completed if !content.is_empty() => spoken(task.status.message.as_ref()),
        _ => spoken(task.status.message.as_ref().or_else(|| last_agent_message(task))),
    };
    let text = match state {
        TaskState::Completed => {
            if content.is_empty()
                && let Some(message) = &task.status.message
            {
                pieces(&mut content, &message.parts, &format!("{address}/status"));
            }
            let text = extract_text(task).or(said);
            text.unwrap_or_else(|| {
                CallResult { content: content.clone(), ..CallResult::default() }.text()
            })
        }
        TaskState::InputRequired | TaskState::AuthRequired => {
            let question = said.unwrap_or_else(|| UNSAID.to_owned());
            say("question", json!(question));
            content.push(Content::Text(how_to_answer(task, &question)));
            question
        }
        TaskState::Submitted | TaskState::Working => {
            let text = said.unwrap_or_default();
            content.push(Content::Text(how_to_wait(task, agent, &text)));
            text
        }
        TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
            let text = said.unwrap_or_else(|| ended(state).to_owned());
            content.push(Content::Text(text.clone()));
            text
        }
    };
    say("text", json!(text));
    let is_error = matches!(state, TaskState::Failed | TaskState::Rejected | TaskState::Canceled);
    CallResult { content, structured: Some(Value::Object(structured)), is_error }
}

/// The result for a message in place of a task. `address` as for [`result_of`].
pub fn answered(message: &Message, address: &str) -> CallResult {
    let mut content = Vec::new();
    pieces(&mut content, &message.parts, &format!("{address}/message"));
    let mut structured = json!({"state": "completed", "text": message.text()});
    if let Value::Object(members) = &mut structured {
        if let Some(context) = &message.context_id {
            members.insert("context_id".to_owned(), json!(context));
        }
        if let Some(data) = data_in(&message.parts) {
            members.insert("data".to_owned(), data);
        }
    }
    CallResult { content, structured: Some(structured), is_error: false }
}

/// The name of a state in results.
pub fn state_name(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted | TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input_required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth_required",
    }
}

/// A part as content: text, data as JSON, bytes by their media type, a URL as a link. `uri` is the URI for bytes.
pub fn content_of(part: &Part, uri: String) -> Content {
    let mime_type = part.media_type.clone();
    match &part.content {
        PartContent::Text(text) => Content::Text(text.to_string()),
        PartContent::Data(data) => Content::Text(data.as_str().to_owned()),
        PartContent::Url(url) => {
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let last = path.rsplit('/').find(|segment| !segment.is_empty());
            let name = part.filename.as_deref().or(last).unwrap_or("link").to_owned();
            Content::ResourceLink { uri: url.to_string(), name, description: None, mime_type }
        }
        PartContent::Raw(bytes) => {
            let data = bytes.as_str().to_owned();
            match mime_type {
                Some(mime_type) if mime_type.starts_with("image/") => {
                    Content::Image { data, mime_type }
                }
                Some(mime_type) if mime_type.starts_with("audio/") => {
                    Content::Audio { data, mime_type }
                }
                mime_type => {
                    Content::Resource(ResourceContents { uri, mime_type, body: Err(data) })
                }
            }
        }
    }
}

/// Adds parts to the content. Consecutive texts are chunks of one text.
fn pieces(content: &mut Vec<Content>, parts: &[Part], address: &str) {
    let mut is_after_text = false;
    for (place, part) in parts.iter().enumerate() {
        let name = part.filename.clone().unwrap_or_else(|| place.to_string());
        let is_text = part.as_text().is_some();
        match (content_of(part, format!("{address}/{name}")), content.last_mut()) {
            (Content::Text(more), Some(Content::Text(text))) if is_text && is_after_text => {
                text.push_str(&more);
            }
            (piece, _) => content.push(piece),
        }
        is_after_text = is_text;
    }
}

/// The data of all artifacts: a single value, or a list of several values.
fn data_of(artifacts: &[Artifact]) -> Option<Value> {
    one_or_all(artifacts.iter().flat_map(|artifact| &artifact.parts))
}

fn data_in(parts: &[Part]) -> Option<Value> {
    one_or_all(parts.iter())
}

fn one_or_all<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<Value> {
    let mut all: Vec<Value> = parts.filter_map(Part::as_data).collect();
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Value::Array(all)),
    }
}

/// The text of a message, unless it is blank.
fn spoken(message: Option<&Message>) -> Option<String> {
    message.map(Message::text).filter(|text| !text.trim().is_empty())
}

fn how_to_answer(task: &Task, question: &str) -> String {
    let id = &task.id;
    let how = match task.status.state {
        TaskState::AuthRequired => {
            "The task waits for an authorization. When that is done, call this tool again with task_id"
        }
        _ => {
            "The agent waits for the answer. Call this tool again with the answer as message and with task_id"
        }
    };
    format!("{question}\n\n({how} {id}.)")
}

fn how_to_wait(task: &Task, agent: &str, text: &str) -> String {
    let id = &task.id;
    let text = if text.is_empty() { String::new() } else { format!("{text}\n\n") };
    format!(
        "{text}(The agent is still working on it. Call get_task with task_id {id} and agent {agent} to see how it gets on.)"
    )
}

fn ended(state: TaskState) -> &'static str {
    match state {
        TaskState::Canceled => "the task was canceled",
        TaskState::Rejected => "the agent rejected the task",
        _ => "the task failed",
    }
}

const UNSAID: &str = "The agent needs more to go on.";

#[cfg(test)]
mod tests {
    use a2a::model::decode::read_json;

    use super::*;

    const ADDRESS: &str = "a2a://a.example/demo/tasks/t";

    fn task(state: &str, members: &str) -> Task {
        let status = format!(r#"{{"state": "TASK_STATE_{state}"{members}"#);
        let text = format!(r#"{{"id": "t", "contextId": "c", "status": {status}}}"#);
        read_json(&text).expect(&text)
    }

    const SAID: &str =
        r#", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "so"}]}}"#;

    #[test]
    fn every_state_says_what_came_of_it() {
        let working = "(The agent is still working on it. Call get_task with task_id t and agent demo to see how it gets on.)";
        let answer = "(The agent waits for the answer. Call this tool again with the answer as message and with task_id t.)";
        for (state, name, text, content, is_error) in [
            ("SUBMITTED", "working", "so", format!("so\n\n{working}"), false),
            ("WORKING", "working", "so", format!("so\n\n{working}"), false),
            ("COMPLETED", "completed", "so", "so".to_owned(), false),
            ("INPUT_REQUIRED", "input_required", "so", format!("so\n\n{answer}"), false),
            ("FAILED", "failed", "so", "so".to_owned(), true),
            ("REJECTED", "rejected", "so", "so".to_owned(), true),
            ("CANCELED", "canceled", "so", "so".to_owned(), true),
        ] {
            let result = result_of(&task(state, SAID), "demo", ADDRESS);
            let structured = result.structured.clone().unwrap();
            assert_eq!((&structured["state"], &structured["text"]), (&json!(name), &json!(text)));
            assert_eq!((result.text(), result.is_error), (content, is_error), "{state}");
            assert_eq!(structured.get("question").is_some(), state == "INPUT_REQUIRED");
        }
        for (state, text) in [
            ("WORKING", working),
            ("COMPLETED", ""),
            ("FAILED", "the task failed"),
            ("REJECTED", "the agent rejected the task"),
            ("CANCELED", "the task was canceled"),
        ] {
            assert_eq!(result_of(&task(state, "}"), "demo", ADDRESS).text(), text);
        }
        let asks = result_of(&task("AUTH_REQUIRED", "}"), "demo", ADDRESS);
        assert!(asks.text().contains("When that is done, call this tool again with task_id t"));
        assert_eq!(asks.structured.unwrap()["question"], UNSAID);
    }

    #[test]
    fn parts_become_content_of_their_kind() {
        let members = r#"}, "artifacts": [
            {"artifactId": "a", "parts": [{"text": "o"}, {"text": "ne"}, {"data": {"n": 1}}, {"text": "two"}]},
            {"artifactId": "b", "parts": [{"text": "three"}, {"raw": "AQ==", "mediaType": "image/png"},
                {"raw": "Ag==", "mediaType": "audio/wav"}, {"raw": "Aw==", "mediaType": "application/pdf", "filename": "x.pdf"},
                {"raw": "BA=="}, {"url": "https://f.example/a/b.txt?c=d", "mediaType": "text/plain"},
                {"url": "https://f.example", "filename": "page"}, {"data": [2]}]}]"#;
        let result = result_of(&task("COMPLETED", members), "demo", ADDRESS);
        let json = result.to_json();
        assert_eq!(
            json["content"],
            json!([
                {"type": "text", "text": "one"},
                {"type": "text", "text": "{\"n\":1}"},
                {"type": "text", "text": "two"},
                {"type": "text", "text": "three"},
                {"type": "image", "data": "AQ==", "mimeType": "image/png"},
                {"type": "audio", "data": "Ag==", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": format!("{ADDRESS}/artifacts/b/x.pdf"),
                    "mimeType": "application/pdf", "blob": "Aw=="}},
                {"type": "resource", "resource": {"uri": format!("{ADDRESS}/artifacts/b/4"), "blob": "BA=="}},
                {"type": "resource_link", "uri": "https://f.example/a/b.txt?c=d", "name": "b.txt", "mimeType": "text/plain"},
                {"type": "resource_link", "uri": "https://f.example", "name": "page"},
                {"type": "text", "text": "[2]"},
            ])
        );
        assert_eq!(
            json["structuredContent"],
            json!({"task_id": "t", "context_id": "c", "state": "completed", "text": "onetwo\nthree",
                "data": [{"n": 1}, [2]]})
        );
    }

    #[test]
    fn what_has_no_text_is_told_as_what_it_is() {
        let asked = r#"}, "history": [{"messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "How much?"}]}]"#;
        let data = r#", "artifacts": [{"artifactId": "a", "parts": [{"data": {"sum": 5}}]}]"#;
        for (members, text) in
            [(asked.to_owned(), "How much?"), (format!("{asked}{data}"), "{\"sum\":5}")]
        {
            let result = result_of(&task("COMPLETED", &members), "demo", ADDRESS);
            assert_eq!(result.structured.unwrap()["text"], text);
        }
    }

    #[test]
    fn a_message_instead_of_a_task_is_a_result() {
        let message: Message = read_json(
            r#"{"messageId": "m", "contextId": "c", "role": "ROLE_AGENT", "parts": [{"text": "hi"}, {"data": 5}]}"#,
        )
        .unwrap();
        let result = answered(&message, ADDRESS);
        let structured = json!({"state": "completed", "text": "hi", "context_id": "c", "data": 5});
        assert_eq!(result.structured, Some(structured));
        assert_eq!(result.text(), "hi\n5");
    }
}
