//! The results of calls of tools.

use serde_json::{Value, json};

use super::{Content, object};

/// The result of a tool that has run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallResult {
    /// The content, in pieces.
    pub content: Vec<Content>,
    /// The structured content; of any type in 2026-07-28, an object before.
    pub structured: Option<Value>,
    /// True if the tool has failed, or has refused its arguments. `content` then contains the reason.
    pub is_error: bool,
}

impl CallResult {
    /// Parses a result of any revision. Pieces of unknown types are left out; `None` if the result has neither `content` nor
    /// `structuredContent`.
    pub fn read(json: &Value) -> Option<Self> {
        let structured = json.get("structuredContent").cloned();
        let content = json.get("content").and_then(Value::as_array);
        if content.is_none() && structured.is_none() {
            return None;
        }
        let content = content.into_iter().flatten().filter_map(Content::read).collect();
        let is_error = json.get("isError").and_then(Value::as_bool).unwrap_or(false);
        Some(Self { content, structured, is_error })
    }

    /// The form of the result in an answer, without the additions of the era (`resultType`).
    pub fn to_json(&self) -> Value {
        let content: Vec<Value> = self.content.iter().map(Content::to_json).collect();
        object([
            ("content", Some(json!(content))),
            ("structuredContent", self.structured.clone()),
            ("isError", self.is_error.then_some(json!(true))),
        ])
    }

    /// The texts of the content, one per line.
    pub fn text(&self) -> String {
        let text = |piece: &Content| match piece {
            Content::Text(text) => Some(text.clone()),
            Content::Image { .. }
            | Content::Audio { .. }
            | Content::ResourceLink { .. }
            | Content::Resource(_) => None,
        };
        self.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }
}
