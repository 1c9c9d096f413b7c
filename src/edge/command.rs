//! What the front Worker asks a task object, and the form in which it travels.
//!
//! Both sides may be of different versions for a moment during a deploy: fields are only ever added,
//! and unknown ones are ignored.

use serde::{Deserialize, Serialize};

use crate::auth::Caller;
use crate::binding::Reply;
use crate::operation::{Call, Terms};

/// One call for a task object. It answers with the finished HTTP response for the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Command {
    /// The agent that is asked.
    pub(super) agent: String,
    /// Who asks.
    pub(super) caller: Caller,
    /// In which form to answer.
    pub(super) reply: Reply,
    /// What tells the message of an idempotent send from others.
    #[serde(default)]
    pub(super) fingerprint: Option<String>,
    /// On what terms.
    #[serde(default)]
    pub(super) terms: Terms,
    /// What is asked.
    pub(super) call: Call,
}

/// A call that is answered by a stream: the first message over the socket to the object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamCommand {
    /// The call.
    pub(super) command: Command,
    /// The generation of the newest event that the client has, if it comes back for more.
    pub(super) after: Option<u64>,
}
