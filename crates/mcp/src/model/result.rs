//! What a call of a tool gives.

use serde_json::{Value, json};

use super::{Content, object};

/// The result of a tool that has run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallResult {
    /// What it gives, in pieces.
    pub content: Vec<Content>,
    /// What it gives as JSON; of any kind in 2026-07-28, an object before.
    pub structured: Option<Value>,
    /// Whether it has failed, or found its arguments wrong. `content` then says why.
    pub is_error: bool,
}

impl CallResult {
    /// A result as it came, in any revision. Pieces of kinds that are not known here are left out; `None` if it is no object, or
    /// has neither pieces nor structure.
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

    /// As it stands in an answer, without what the era adds (`resultType`).
    pub fn to_json(&self) -> Value {
        let content: Vec<Value> = self.content.iter().map(Content::to_json).collect();
        object([
            ("content", Some(json!(content))),
            ("structuredContent", self.structured.clone()),
            ("isError", self.is_error.then_some(json!(true))),
        ])
    }

    /// Its texts, a line each.
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
