//! Decodes answers of other servers. One reader accepts the names of all versions, since servers mix them up; the version of
//! the request decides only if a text has two meanings. Dispensable members may be missing, and get a value here.
//!
//! | module | content |
//! |---|---|
//! | `task` | tasks, statuses and artifacts, and pages of tasks |
//! | `message` | messages and their parts |
//! | `event` | events of streams, and answers to messages |
//! | `webhook` | webhooks |

mod event;
mod message;
mod task;
mod webhook;

use super::Dialect;
use crate::model::UnixMillis;
use crate::model::decode::Fields;
use crate::model::{ContextId, Metadata};
use crate::wire::Binding;
pub(crate) use task::Page;

/// Decodes the answers of servers to calls in this dialect over this binding.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    dialect: Dialect,
    binding: Binding,
}

impl Reader {
    pub(crate) fn new(dialect: Dialect, binding: Binding) -> Self {
        Self { dialect, binding }
    }

    /// Whether the values of an answer are in the ProtoJSON of 0.3, unless a member `kind` shows the other form.
    fn is_proto_0_3(self) -> bool {
        self.dialect == Dialect::V0_3 && self.binding == Binding::Rest
    }
}

/// The `contextId`, under the name of any version.
fn context_id(fields: &mut Fields) -> Option<ContextId> {
    fields.id("contextId").or_else(|| fields.id("sessionId"))
}

/// The metadata; a value that is not an object is left out.
fn metadata(fields: &mut Fields) -> Option<Metadata> {
    let is_object = fields.member("metadata")?;
    match is_object {
        serde_json::Value::Object(members) => Some(members.into()),
        _ => None,
    }
}

/// An instant; a value that cannot be parsed is left out.
fn timestamp(fields: &mut Fields, name: &str) -> Option<UnixMillis> {
    UnixMillis::parse(fields.member(name)?.as_str()?)
}
