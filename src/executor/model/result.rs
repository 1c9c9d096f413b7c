//! Converts the results of tools into text for the model.

use serde_json::json;

use super::callable::{ModelCall, Said};
use super::parts::named;
use crate::executor::ExecutorError;
use a2a::model::{Artifact, Part, PartContent};

/// The text for the model from the parts that a tool returned: texts unchanged, data as JSON. Files, which the model
/// cannot read there, become an artifact of the task, and the text names them.
///
/// # Errors
///
/// If the task has ended, or the files are too large for the task.
pub(super) fn told(
    call: &ModelCall<'_>,
    tool: &str,
    parts: Vec<Part>,
    max_bytes: usize,
) -> Result<Said, ExecutorError> {
    let mut lines = Vec::new();
    let mut files = Vec::new();
    for part in parts {
        match &part.content {
            PartContent::Text(text) => lines.push(text.to_string()),
            PartContent::Data(data) => lines.push(data.as_str().to_owned()),
            PartContent::Url(url) => {
                lines.push(format!("[{} at {}; given to the user]", named(&part), &**url));
                files.push(part);
            }
            PartContent::Raw(_) => {
                lines.push(format!("[{}; given to the user]", named(&part)));
                files.push(part);
            }
        }
    }
    if !files.is_empty() {
        let id = call.artifact_id(tool);
        let artifact = Artifact::new(id, Part::data(json!(null)));
        call.events.artifact(Artifact { parts: files, name: Some(tool.to_owned()), ..artifact })?;
    }
    let text = lines.join("\n");
    let text = call.turn.redaction.text(&text);
    Ok(Said::Result(cut(&text, max_bytes)))
}

/// The first `max_bytes` bytes of a text, with a note if the text was longer.
pub(super) fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max_bytes);
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n[cut: these are the first {end} of {} bytes]", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_letter_with_a_note() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("aébc", 2), "a\n[cut: these are the first 1 of 5 bytes]");
    }
}
