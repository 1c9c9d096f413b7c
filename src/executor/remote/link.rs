//! The link to the task of the remote agent. A step stores it for later attempts, for later turns, and for a cancel.

use std::rc::Rc;

use serde_json::{Value, json};

use super::super::{ExecutorError, Turn};
use a2a::binding::Binding;
use a2a::client::{Client, Connection};
use a2a::dialect::Dialect;
use a2a::model::decode::{Decode, Fields, decode};
use a2a::model::{ContextId, TaskId};

/// The name of the step that stores the link.
pub(super) const LINKED: &str = "remote task";

/// The task of the remote agent, and the interface at which it is reached.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Link {
    pub(in crate::executor) task: TaskId,
    pub(in crate::executor) context: ContextId,
    /// True if the remote agent sends webhooks.
    pub(in crate::executor) has_webhooks: bool,
    /// The interface that accepted the message. It is stored, so that a run that wakes only to poll does not have to
    /// fetch the card.
    pub(in crate::executor) connection: Rc<Connection>,
}

impl Link {
    /// The newest stored link of this run's task.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn last(turn: &Turn) -> Result<Option<Self>, ExecutorError> {
        Ok(turn.last_step(LINKED)?.and_then(Self::read))
    }

    /// A client for the interface that the link names.
    pub(in crate::executor) fn reach(&self, client: Client) -> Client {
        client.with_connection(Rc::clone(&self.connection))
    }

    /// The JSON that the step stores.
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

    /// Reads a link from the JSON that a step has stored.
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
