//! What clients and servers say to each other, in the words of 2026-07-28. Other revisions differ in what they lack.

mod content;
mod error;
mod question;
mod result;
mod revision;
mod tool;

pub use content::{Content, ResourceContents};
pub use error::{RpcError, code};
pub use question::{Answer, Question, QuestionKind};
pub use result::CallResult;
pub use revision::{LATEST, Revision};
pub use tool::{Annotations, Tool};

use serde_json::{Map, Value};

/// Names of members of `_meta`.
pub mod meta {
    /// The revision that a request is written in.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client of a request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and the version of the client.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The name and the version of the server.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request to which a notification belongs.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// What a client wants to have with the progress of its request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// The extension for calls that take long.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A text of an object.
fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// An object of these members; those without a value are left out.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    object_of(&mut members.into_iter())
}

/// The same, in one copy for all numbers of members.
fn object_of(members: &mut dyn Iterator<Item = (&str, Option<Value>)>) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    }
    Value::Object(object)
}
