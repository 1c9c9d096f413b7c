//! What leads to the task of the remote agent: a step keeps it for later attempts, later turns, and a cancel.

use std::rc::Rc;

use serde_json::{Value, json};

use super::super::{ExecutorError, Turn};
use a2a::binding::Binding;
use a2a::client::{Client, Connection};
use a2a::dialect::Dialect;
use a2a::model::decode::{Decode, Fields, decode};
use a2a::model::{ContextId, TaskId};

/// The step that keeps the link.
pub(super) const LINKED: &str = "remote task";

/// The task of the remote agent, and how it is reached.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Link {
    pub(in crate::executor) task: TaskId,
    pub(in crate::executor) context: ContextId,
    /// Whether the remote agent sends webhooks.
    pub(in crate::executor) has_webhooks: bool,
    /// The interface that took the message. It is kept, so that a run that wakes for a moment needs no card.
    pub(in crate::executor) connection: Rc<Connection>,
}

impl Link {
    /// The newest link of the task of this run.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn last(turn: &Turn) -> Result<Option<Self>, ExecutorError> {
        Ok(turn.last_step(LINKED)?.and_then(Self::read))
    }

    /// The client that calls the interface of the link.
    pub(in crate::executor) fn reach(&self, client: Client) -> Client {
        client.with_connection(Rc::clone(&self.connection))
    }

    /// As the step keeps it.
    pub(in crate::executor) fn stored(&self) -> Value {
        let Connection { url, binding, dialect, tenant, is_trusted, streams, .. } =
            self.connection.as_ref();
        json!({
            "taskId": self.task.as_str(),
            "contextId": self.context.as_str(),
            "webhooks": self.has_webhooks,
            "url": url,
            "rest": *binding == Binding::Rest,
            "version": dialect.version(),
            "tenant": tenant,
            "trusted": is_trusted,
            "streams": streams,
        })
    }

    /// A link as a step has kept it.
    pub(in crate::executor) fn read(stored: Value) -> Option<Self> {
        decode(stored).ok()
    }
}

impl Decode for Link {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let is = |fields: &mut Fields, name| fields.boolean(name).unwrap_or_default();
        let binding = if is(fields, "rest") { Binding::Rest } else { Binding::JsonRpc };
        let connection = Connection {
            url: fields.required_string("url")?,
            binding,
            dialect: Dialect::read(fields, "version")?,
            tenant: fields.string("tenant"),
            is_trusted: is(fields, "trusted"),
            streams: is(fields, "streams"),
        };
        Some(Self {
            task: TaskId::new(fields.required_string("taskId")?),
            context: ContextId::new(fields.any_string("contextId")?),
            has_webhooks: is(fields, "webhooks"),
            connection: Rc::new(connection),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_it_was_stored() {
        for (binding, dialect, tenant) in [
            (Binding::JsonRpc, Dialect::V1, None),
            (Binding::Rest, Dialect::V0_3, Some("t".to_owned())),
        ] {
            let connection = Rc::new(Connection {
                url: "https://a.example/x".to_owned(),
                binding,
                dialect,
                tenant,
                is_trusted: true,
                streams: true,
            });
            let (task, context) = (TaskId::new("t-1"), ContextId::new("c-1"));
            let link = Link { task, context, has_webhooks: true, connection };
            assert_eq!(Link::read(link.stored()), Some(link));
        }
        assert_eq!(Link::read(json!({"taskId": "t"})), None);
    }
}
