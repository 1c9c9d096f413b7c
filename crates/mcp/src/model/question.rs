//! The questions of servers to clients during a call (`elicitation/create`), and the answers.

use serde_json::{Value, json};

use super::{object, text};

/// A question of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The key, unique among the questions of a round.
    pub key: String,
    /// The text for people.
    pub message: String,
    /// The kind of the answer.
    pub kind: QuestionKind,
}

/// The kind of a question's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionKind {
    /// An object that matches this schema: flat, of strings, numbers, booleans and choices.
    Form(Value),
    /// A visit of this URL. The client shows the URL to its user and never opens it by itself.
    Url(String),
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The user consents; for a form, with its content.
    Accept(Option<Value>),
    /// The user refuses.
    Decline,
    /// The user has closed the question without a decision.
    Cancel,
}

impl Question {
    /// Parses the params of `elicitation/create` as the question with this key; `None` for an unknown
    /// mode or without a URL.
    pub fn read(key: &str, params: &Value) -> Option<Self> {
        let kind = match params.get("mode").and_then(Value::as_str).unwrap_or("form") {
            "form" => {
                let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
                QuestionKind::Form(schema.cloned().unwrap_or_else(|| json!({"type": "object"})))
            }
            "url" => QuestionKind::Url(text(params, "url")?),
            _ => return None,
        };
        let message = text(params, "message").unwrap_or_default();
        Some(Self { key: key.to_owned(), message, kind })
    }

    /// The params of `elicitation/create`.
    pub fn to_json(&self) -> Value {
        let (mode, schema, url) = match &self.kind {
            QuestionKind::Form(schema) => ("form", Some(schema.clone()), None),
            QuestionKind::Url(url) => ("url", None, Some(json!(url))),
        };
        object([
            ("mode", Some(json!(mode))),
            ("message", Some(json!(self.message))),
            ("requestedSchema", schema),
            ("url", url),
        ])
    }
}

impl Answer {
    /// Parses an answer; `None` for an unknown action.
    pub fn read(json: &Value) -> Option<Self> {
        match json.get("action").and_then(Value::as_str)? {
            "accept" => Some(Self::Accept(json.get("content").cloned())),
            "decline" => Some(Self::Decline),
            "cancel" => Some(Self::Cancel),
            _ => None,
        }
    }

    /// The form of the answer in a request.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Accept(content) => {
                object([("action", Some(json!("accept"))), ("content", content.clone())])
            }
            Self::Decline => json!({"action": "decline"}),
            Self::Cancel => json!({"action": "cancel"}),
        }
    }
}
