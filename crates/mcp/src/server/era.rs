//! Whether a request belongs to MCP of 2026-07-28 or to an earlier revision.

use serde_json::Value;

use crate::model::TASKS_EXTENSION;

/// The era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28: the request says what its client can do.
    Modern(Capabilities),
    /// A revision before that.
    Legacy,
}

/// What the client of a request can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It shows forms to its user.
    pub forms: bool,
    /// It shows URLs to its user.
    pub urls: bool,
    /// It knows the tasks extension.
    pub tasks: bool,
}

impl Capabilities {
    /// Those that a request declares.
    pub fn read(json: &Value) -> Self {
        let elicitation = json.get("elicitation").and_then(Value::as_object);
        let has = |name: &str| elicitation.is_some_and(|modes| modes.contains_key(name));
        let extensions = json.get("extensions").and_then(Value::as_object);
        Self {
            // Without any mode it is forms that are meant.
            forms: elicitation.is_some() && (has("form") || !has("url")),
            urls: has("url"),
            tasks: extensions.is_some_and(|extensions| extensions.contains_key(TASKS_EXTENSION)),
        }
    }
}
