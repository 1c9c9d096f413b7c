//! The era of a request: MCP of 2026-07-28, or an earlier revision.

use serde_json::Value;

use crate::model::TASKS_EXTENSION;

/// The era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28: the request contains the capabilities of its client.
    Modern(Capabilities),
    /// An earlier revision.
    Legacy,
}

/// The capabilities of a request's client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The client shows forms to its user.
    pub forms: bool,
    /// The client shows URLs to its user.
    pub urls: bool,
    /// The client supports the tasks extension.
    pub tasks: bool,
}

impl Capabilities {
    /// Parses the capabilities that a request declares.
    pub fn read(json: &Value) -> Self {
        let elicitation = json.get("elicitation").and_then(Value::as_object);
        let has = |name: &str| elicitation.is_some_and(|modes| modes.contains_key(name));
        let extensions = json.get("extensions").and_then(Value::as_object);
        Self {
            // Without a declared mode, the client supports forms.
            forms: elicitation.is_some() && (has("form") || !has("url")),
            urls: has("url"),
            tasks: extensions.is_some_and(|extensions| extensions.contains_key(TASKS_EXTENSION)),
        }
    }
}
