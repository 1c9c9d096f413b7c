//! What servers ask clients for in the middle of a call (`elicitation/create`), and what they answer.

use serde_json::{Value, json};

use super::{object, text};

/// A question of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What tells it from others of the same round.
    pub key: String,
    /// What it says to people.
    pub message: String,
    /// How it is answered.
    pub kind: QuestionKind,
}

/// How a question is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionKind {
    /// By an object that fits this schema: flat, of strings, numbers, booleans and choices.
    Form(Value),
    /// At this URL, which the client shows to its user and never opens by itself.
    Url(String),
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The user consents; to a form with its content.
    Accept(Option<Value>),
    /// The user refuses.
    Decline,
    /// The user has left without a decision.
    Cancel,
}

impl Question {
    /// The question of this key with these params of `elicitation/create`; `None` for what is none.
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
    /// An answer as it came; `None` for what is none.
    pub fn read(json: &Value) -> Option<Self> {
        match json.get("action").and_then(Value::as_str)? {
            "accept" => Some(Self::Accept(json.get("content").cloned())),
            "decline" => Some(Self::Decline),
            "cancel" => Some(Self::Cancel),
            _ => None,
        }
    }

    /// As it is sent.
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
