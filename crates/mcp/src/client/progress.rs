//! How far calls are, as servers tell it.

use serde_json::Value;

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done: a number that rises from one to the next.
    pub progress: f64,
    /// How much there is to do, if the server knows.
    pub total: Option<f64>,
    /// What the server does, for people; at most 2,000 characters.
    pub message: Option<String>,
}

impl Progress {
    /// What the params of `notifications/progress` say; `None` if that is nothing.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let message = params.get("message").and_then(Value::as_str);
        let message = message.map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect::<String>());
        Some(Self {
            progress: number("progress")?,
            total: number("total"),
            message: message.filter(|text| !text.trim().is_empty()),
        })
    }
}

const MAX_MESSAGE_CHARS: usize = 2_000;
