//! Answers of other servers, read. One reader takes the words of all versions, since servers mix them up; the version that was
//! asked decides only where one text has two meanings. What an answer can do without may be missing, and gets a value here.
//!
//! | module | what is read |
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

/// Reads what servers answer to calls of this dialect over this binding.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    dialect: Dialect,
    binding: Binding,
}

impl Reader {
    pub(crate) fn new(dialect: Dialect, binding: Binding) -> Self {
        Self { dialect, binding }
    }

    /// Whether values stand in the ProtoJSON of 0.3 where they do not say it.
    fn is_proto_0_3(self) -> bool {
        self.dialect == Dialect::V0_3 && self.binding == Binding::Rest
    }
}

/// The conversation, under the name of any version; empty if it is not said.
fn context_id(fields: &mut Fields) -> ContextId {
    let id = fields.string("contextId").or_else(|| fields.string("sessionId"));
    ContextId::new(id.unwrap_or_default())
}

/// Free-form data; what is no object is left out.
fn metadata(fields: &mut Fields) -> Option<Metadata> {
    let is_object = fields.member("metadata")?;
    match is_object {
        serde_json::Value::Object(members) => Some(members.into()),
        _ => None,
    }
}

/// An instant; one that cannot be read is left out.
fn timestamp(fields: &mut Fields, name: &str) -> Option<UnixMillis> {
    UnixMillis::parse(fields.member(name)?.as_str()?)
}
