//! Translates events of tasks to progress.

use a2a::model::StreamResponse;

/// The progress text for an event; `None` if the event reports no progress. At most 1,000
/// characters.
pub fn progress_text(event: &StreamResponse) -> Option<String> {
    let text = match event {
        StreamResponse::Task(task) => format!("task {}", task.id),
        StreamResponse::StatusUpdate(update) if update.status.state.is_terminal() => return None,
        StreamResponse::StatusUpdate(update) => {
            let said = update.status.message.as_ref().map(|message| message.text());
            let said = said.filter(|text| !text.trim().is_empty());
            said.unwrap_or_else(|| super::state_name(update.status.state).to_owned())
        }
        StreamResponse::ArtifactUpdate(update) => {
            let artifact = &update.artifact;
            format!("artifact {}", artifact.name.as_ref().unwrap_or(&artifact.artifact_id))
        }
        StreamResponse::Message(_) => return None,
    };
    Some(text.chars().take(MAX_CHARS).collect())
}

const MAX_CHARS: usize = 1_000;

#[cfg(test)]
mod tests {
    use a2a::model::decode::read_json;

    use super::*;

    #[test]
    fn progress_is_what_the_agent_says_or_where_the_task_stands() {
        let status = |state: &str, message: &str| {
            format!(
                r#"{{"statusUpdate": {{"taskId": "t", "contextId": "c", "status": {{"state": "TASK_STATE_{state}"{message}}}}}}}"#
            )
        };
        let said =
            r#", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "half"}]}"#;
        for (event, text) in [
            (
                r#"{"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}"#
                    .to_owned(),
                Some("task t"),
            ),
            (status("WORKING", said), Some("half")),
            (status("WORKING", ""), Some("working")),
            (status("COMPLETED", said), None),
            (
                r#"{"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "name": "Report",
                    "parts": [{"text": "1"}]}}}"#
                    .to_owned(),
                Some("artifact Report"),
            ),
            (
                r#"{"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}"#
                    .to_owned(),
                None,
            ),
        ] {
            let event: StreamResponse = read_json(&event).unwrap();
            assert_eq!(progress_text(&event).as_deref(), text);
        }
    }
}
