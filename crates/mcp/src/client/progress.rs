//! The progress of calls, as reported by servers.

use serde_json::Value;

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The amount of completed work, which rises with each report.
    pub progress: f64,
    /// The total amount of work, if the server knows it.
    pub total: Option<f64>,
    /// A description of the present work for people; at most 2,000 characters.
    pub message: Option<String>,
}

impl Progress {
    /// Parses the params of `notifications/progress`; `None` if they contain no progress.
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
