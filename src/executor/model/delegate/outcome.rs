//! Converts the outcome of a delegation into text for the model.

use super::super::callable::Said;
use a2a::client::{Delegated, Observed, Outcome};
use a2a::model::{Artifact, Message, Part, PartContent};

/// The result for the model if a delegation cannot be made, with the reason.
pub(super) fn refused(reason: impl Into<String>) -> Said {
    Said::Failed(Delegated::Refused(reason.into()).to_string())
}

/// The outcome of a delegation.
pub(super) struct Told {
    /// The line for the model.
    pub(super) line: String,
    /// True if the outcome is neither an answer nor a question.
    pub(super) has_failed: bool,
    /// The files in the artifacts of the task, which the model cannot read.
    pub(super) results: Vec<Part>,
    /// The files in the question, in the status message or in the answer message. The model cannot read files.
    pub(super) said: Vec<Part>,
}

/// Converts what was observed of a delegation into its outcome.
pub(super) fn told(observed: Observed) -> Told {
    let Observed { task, message, .. } = &observed;
    let artifacts = task.iter().flat_map(|task| &task.artifacts);
    let results = files(artifacts.flat_map(|artifact: &Artifact| &artifact.parts));
    let said = message.iter().chain(task.iter().flat_map(|task| &task.status.message));
    let said = files(said.flat_map(|message: &Message| &message.parts));
    let has_failed = match observed.outcome {
        Outcome::Completed | Outcome::InputRequired | Outcome::AuthRequired => false,
        Outcome::Failed | Outcome::Canceled | Outcome::Timeout => true,
    };
    let line = Delegated::Observed(Box::new(observed)).to_string();
    Told { line, has_failed, results, said }
}

fn files<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<Part> {
    let is_file = |part: &&Part| matches!(part.content, PartContent::Raw(_) | PartContent::Url(_));
    parts.filter(is_file).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_of_results_and_those_of_what_was_said_are_given_apart() {
        let file =
            |name: &str| json!({"url": format!("https://a.example/{name}"), "filename": name});
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "This?"}, file("draft")]});
        let task = json!({
            "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message},
            "artifacts": [{"artifactId": "1", "parts": [{"text": "x"}, file("a")]}, {"artifactId": "2", "parts": [file("b")]}],
        });
        let names = |parts: &[Part]| {
            parts.iter().flat_map(|part| part.filename.clone()).collect::<Vec<_>>()
        };
        let task = a2a::model::decode::read_json(&task.to_string()).unwrap();
        let Told { line, has_failed, results, said } = told(Observed::of(task).unwrap());
        assert!(!has_failed);
        assert_eq!(line, "[INPUT_REQUIRED:task_id=t] This?\ndraft: https://a.example/draft");
        assert_eq!(
            (names(&results), names(&said)),
            (vec!["a".into(), "b".into()], vec!["draft".into()])
        );
        let message = a2a::model::decode::read_json(&message.to_string()).unwrap();
        let Told { results, said, .. } = told(Observed::answered(&message));
        assert_eq!((names(&results).len(), names(&said)), (0, vec!["draft".to_owned()]));
    }
}
