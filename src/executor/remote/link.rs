//! The link to the task of the remote agent. A step stores it for later attempts, for later turns, and for a cancel.

use std::rc::Rc;

use serde::{Serialize, Serializer};

use super::super::{ExecutorError, Turn};
use a2a::binding::Binding;
use a2a::client::{Client, Connection};
use a2a::dialect::Dialect;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{ContextId, TaskId};

/// The name of the step that stores the link.
pub(super) const LINKED: &str = "remote task";

/// The task of the remote agent, and the interface at which it is reached.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Link {
    pub(in crate::executor) task: TaskId,
    /// The conversation at the remote agent; `None` if a stored link does not name it.
    pub(in crate::executor) context: Option<ContextId>,
    /// True if the remote agent sends webhooks.
    pub(in crate::executor) has_webhooks: bool,
    /// The interface that accepted the message. The step stores the interface, so that a run that wakes only to poll
    /// does not have to fetch the card.
    pub(in crate::executor) connection: Rc<Connection>,
    /// The slug of the agent, if it is one of this Worker: timelines lead to its task. Stored links of earlier versions have none.
    pub(in crate::executor) agent: Option<String>,
}

impl Link {
    /// The newest stored link of this run's task.
    ///
    /// # Errors
    ///
    /// If storage fails, or the link cannot be read.
    pub(super) fn last(turn: &Turn) -> Result<Option<Self>, ExecutorError> {
        turn.last_kept(LINKED)
    }

    /// A client for the interface that the link names.
    pub(in crate::executor) fn reach(&self, client: Client) -> Client {
        client.with_connection(Rc::clone(&self.connection))
    }
}

/// The form in which a step stores a link.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredLink<'a> {
    task_id: &'a TaskId,
    context_id: &'a str,
    webhooks: bool,
    url: &'a str,
    rest: bool,
    version: &'static str,
    tenant: Option<&'a str>,
    trusted: bool,
    streams: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Connection { url, binding, dialect, tenant, is_trusted, streams, .. } =
            self.connection.as_ref();
        let stored = StoredLink {
            task_id: &self.task,
            context_id: self.context.as_ref().map_or("", ContextId::as_str),
            webhooks: self.has_webhooks,
            url,
            rest: *binding == Binding::Rest,
            version: dialect.version(),
            tenant: tenant.as_deref(),
            trusted: *is_trusted,
            streams: *streams,
            agent: self.agent.as_deref(),
        };
        stored.serialize(serializer)
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
            task: fields.required_id("taskId")?,
            context: fields.id("contextId"),
            has_webhooks: is(fields, "webhooks"),
            connection: Rc::new(connection),
            agent: fields.string("agent"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use a2a::model::decode::{decode, read_json};

    #[test]
    fn a_link_is_read_as_it_was_stored() {
        for (binding, dialect, tenant, agent) in [
            (Binding::JsonRpc, Dialect::V1, None, Some("here".to_owned())),
            (Binding::Rest, Dialect::V0_3, Some("t".to_owned()), None),
        ] {
            let connection = Rc::new(Connection {
                url: "https://a.example/x".to_owned(),
                binding,
                dialect,
                tenant,
                is_trusted: true,
                streams: true,
            });
            let (task, context) = (TaskId::new("t-1").unwrap(), ContextId::new("c-1"));
            let link = Link { task, context, has_webhooks: true, connection, agent };
            let stored = serde_json::to_value(&link).unwrap();
            assert_eq!(decode::<Link>(stored).ok(), Some(link));
        }
        assert!(decode::<Link>(json!({"taskId": "t"})).is_err());
    }

    #[test]
    fn a_link_has_the_form_that_0_3_0_has_stored() {
        let stored = concat!(
            r#"{"taskId":"t-1","contextId":"","webhooks":true,"url":"https://a.example/x","rest":true,"#,
            r#""version":"0.3","tenant":null,"trusted":true,"streams":false}"#
        );
        let link: Link = read_json(stored).unwrap();
        assert_eq!(link.context, None);
        assert!(link.has_webhooks && link.connection.is_trusted && !link.connection.streams);
        assert_eq!(link.connection.binding, Binding::Rest);
        assert_eq!(serde_json::to_value(&link).unwrap().to_string(), stored);
    }
}
