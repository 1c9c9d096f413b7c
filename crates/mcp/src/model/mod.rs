//! The messages of clients and servers, with the names of 2026-07-28. Other revisions lack some of them.

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

/// The names of members of `_meta`.
pub mod meta {
    /// The revision of a request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The capabilities of a request's client.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and the version of the client.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The name and the version of the server.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The `listen` request to which a notification belongs.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The client's token for the progress of its request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// The extension for calls that take a long time.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The text member of an object.
fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// An object with these members; a member without a value is left out.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    object_of(&mut members.into_iter())
}

/// As `object`, compiled only once for all numbers of members.
fn object_of(members: &mut dyn Iterator<Item = (&str, Option<Value>)>) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    }
    Value::Object(object)
}
