//! The paths of A2A 1.0 over HTTP+JSON, below the URL of an agent (spec §11.3).

use super::ask::query;
use crate::model::TaskId;
use crate::wire::percent;
use crate::{Call, FollowCall, Operation, TaskCall, WebhookCall};

/// The resource of a path, without the tenant, with the ids decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Send,
    Stream,
    Tasks,
    Task(String),
    /// The same in versions before 1.0, where a task cannot be deleted.
    OlderTask(String),
    Cancel(String),
    Subscribe(String),
    PushConfigs(String),
    /// The id of the task, and the id of the webhook.
    PushConfig(String, String),
    Deliveries(String, String),
    Redeliver(String, String),
    Test(String, String),
    Verify(String, String),
    Timeline(String),
    Webhooks,
    Context(String),
    ExtendedCard,
}

/// The verbs of a resource, and the operation of each verb (spec §5.3).
pub(crate) struct Methods {
    /// The value of the header `Allow`.
    pub(crate) allowed: &'static str,
    /// The operations by verb.
    pub(crate) operations: &'static [(&'static str, Operation)],
}

impl Resource {
    /// The resource at a path, given by the path's segments; `None` if the path does not exist.
    pub(crate) fn parse(segments: &[&str]) -> Option<Self> {
        match segments {
            ["message:send"] => Some(Self::Send),
            ["message:stream"] => Some(Self::Stream),
            ["extendedAgentCard"] => Some(Self::ExtendedCard),
            ["webhooks"] => Some(Self::Webhooks),
            ["tasks"] => Some(Self::Tasks),
            ["contexts", id] => Some(Self::Context(percent::decode(id))),
            // Clients must escape a colon in an id if it could be misread as the colon of a verb.
            ["tasks", task] => Some(if let Some(id) = task.strip_suffix(":cancel") {
                Self::Cancel(percent::decode(id))
            } else if let Some(id) = task.strip_suffix(":subscribe") {
                Self::Subscribe(percent::decode(id))
            } else {
                Self::Task(percent::decode(task))
            }),
            ["tasks", task, "timeline"] => Some(Self::Timeline(percent::decode(task))),
            ["tasks", task, "pushNotificationConfigs"] => {
                Some(Self::PushConfigs(percent::decode(task)))
            }
            ["tasks", task, "pushNotificationConfigs", id] => {
                let task = percent::decode(task);
                Some(if let Some(id) = id.strip_suffix(":redeliver") {
                    Self::Redeliver(task, percent::decode(id))
                } else if let Some(id) = id.strip_suffix(":test") {
                    Self::Test(task, percent::decode(id))
                } else if let Some(id) = id.strip_suffix(":verify") {
                    Self::Verify(task, percent::decode(id))
                } else {
                    Self::PushConfig(task, percent::decode(id))
                })
            }
            ["tasks", task, "pushNotificationConfigs", id, "deliveries"] => {
                Some(Self::Deliveries(percent::decode(task), percent::decode(id)))
            }
            _ => None,
        }
    }

    /// The resource of a call.
    pub(crate) fn of(call: &Call) -> Self {
        let text = |id: &TaskId| id.as_str().to_owned();
        match call {
            Call::List(_) => Self::Tasks,
            Call::Webhooks(_) => Self::Webhooks,
            Call::Context(request) => Self::Context(request.context_id.as_str().to_owned()),
            Call::Card => Self::ExtendedCard,
            Call::Task(TaskCall::SendMessage(_)) => Self::Send,
            Call::Task(TaskCall::GetTask(request)) => Self::Task(text(&request.id)),
            Call::Task(TaskCall::DeleteTask(request)) => Self::Task(text(&request.id)),
            Call::Task(TaskCall::CancelTask(request)) => Self::Cancel(text(&request.id)),
            Call::Task(TaskCall::GetTaskTimeline(request)) => Self::Timeline(text(&request.id)),
            Call::Follow(FollowCall::SendStreamingMessage(_)) => Self::Stream,
            Call::Follow(FollowCall::SubscribeToTask(request)) => {
                Self::Subscribe(text(&request.id))
            }
            Call::Task(TaskCall::Webhook(call)) => {
                let task = text(call.task_id());
                match call {
                    WebhookCall::CreateTaskPushNotificationConfig(_)
                    | WebhookCall::ListTaskPushNotificationConfigs(_) => Self::PushConfigs(task),
                    WebhookCall::GetTaskPushNotificationConfig(request)
                    | WebhookCall::DeleteTaskPushNotificationConfig(request) => {
                        Self::PushConfig(task, request.id.clone())
                    }
                    WebhookCall::ListTaskPushNotificationDeliveries(request) => {
                        Self::Deliveries(task, request.id.clone())
                    }
                    WebhookCall::RedeliverTaskPushNotifications(request) => {
                        Self::Redeliver(task, request.id.clone())
                    }
                    WebhookCall::TestTaskPushNotificationConfig(request) => {
                        Self::Test(task, request.id.clone())
                    }
                    WebhookCall::VerifyTaskPushNotificationSignature(request) => {
                        Self::Verify(task, request.id.clone())
                    }
                }
            }
        }
    }

    /// The path, with the ids encoded.
    pub(crate) fn path(&self) -> String {
        let encode = percent::encode;
        let configs = |task: &str| format!("tasks/{}/pushNotificationConfigs", encode(task));
        match self {
            Self::Send => "message:send".to_owned(),
            Self::Stream => "message:stream".to_owned(),
            Self::Tasks => "tasks".to_owned(),
            Self::Webhooks => "webhooks".to_owned(),
            Self::Context(id) => format!("contexts/{}", encode(id)),
            Self::ExtendedCard => "extendedAgentCard".to_owned(),
            Self::Task(id) | Self::OlderTask(id) => format!("tasks/{}", encode(id)),
            Self::Cancel(id) => format!("tasks/{}:cancel", encode(id)),
            Self::Subscribe(id) => format!("tasks/{}:subscribe", encode(id)),
            Self::Timeline(id) => format!("tasks/{}/timeline", encode(id)),
            Self::PushConfigs(task) => configs(task),
            Self::PushConfig(task, id) => format!("{}/{}", configs(task), encode(id)),
            Self::Deliveries(task, id) => format!("{}/{}/deliveries", configs(task), encode(id)),
            Self::Redeliver(task, id) => format!("{}/{}:redeliver", configs(task), encode(id)),
            Self::Test(task, id) => format!("{}/{}:test", configs(task), encode(id)),
            Self::Verify(task, id) => format!("{}/{}:verify", configs(task), encode(id)),
        }
    }

    /// The verb of an operation on this resource.
    pub(crate) fn verb(&self, operation: Operation) -> Option<&'static str> {
        let mut known = self.methods().operations.iter();
        known.find(|(_, known)| *known == operation).map(|(verb, _)| *verb)
    }

    /// The verbs that this resource accepts.
    pub(crate) fn methods(&self) -> Methods {
        let (allowed, operations): (_, &[_]) = match self {
            Self::Send => ("POST, OPTIONS", &[("POST", Operation::SendMessage)]),
            Self::Stream => ("POST, OPTIONS", &[("POST", Operation::SendStreamingMessage)]),
            Self::Tasks => ("GET, OPTIONS", &[("GET", Operation::ListTasks)]),
            Self::OlderTask(_) => ("GET, OPTIONS", &[("GET", Operation::GetTask)]),
            Self::Task(_) => (
                "GET, DELETE, OPTIONS",
                &[("GET", Operation::GetTask), ("DELETE", Operation::DeleteTask)],
            ),
            Self::Cancel(_) => ("POST, OPTIONS", &[("POST", Operation::CancelTask)]),
            // The specification has GET in its proto and POST in its text.
            Self::Subscribe(_) => (
                "GET, POST, OPTIONS",
                &[("GET", Operation::SubscribeToTask), ("POST", Operation::SubscribeToTask)],
            ),
            Self::PushConfigs(_) => (
                "GET, POST, OPTIONS",
                &[
                    ("GET", Operation::ListTaskPushNotificationConfigs),
                    ("POST", Operation::CreateTaskPushNotificationConfig),
                ],
            ),
            Self::PushConfig(..) => (
                "GET, DELETE, OPTIONS",
                &[
                    ("GET", Operation::GetTaskPushNotificationConfig),
                    ("DELETE", Operation::DeleteTaskPushNotificationConfig),
                ],
            ),
            Self::Deliveries(..) => {
                ("GET, OPTIONS", &[("GET", Operation::ListTaskPushNotificationDeliveries)])
            }
            Self::Redeliver(..) => {
                ("POST, OPTIONS", &[("POST", Operation::RedeliverTaskPushNotifications)])
            }
            Self::Test(..) => {
                ("POST, OPTIONS", &[("POST", Operation::TestTaskPushNotificationConfig)])
            }
            Self::Verify(..) => {
                ("POST, OPTIONS", &[("POST", Operation::VerifyTaskPushNotificationSignature)])
            }
            Self::Timeline(_) => ("GET, OPTIONS", &[("GET", Operation::GetTaskTimeline)]),
            Self::Webhooks => ("GET, OPTIONS", &[("GET", Operation::ListWebhooks)]),
            Self::Context(_) => ("DELETE, OPTIONS", &[("DELETE", Operation::DeleteContext)]),
            Self::ExtendedCard => ("GET, OPTIONS", &[("GET", Operation::GetExtendedAgentCard)]),
        };
        Methods { allowed, operations }
    }

    /// The parameters in the path, by name.
    pub(crate) fn into_ids(self) -> impl Iterator<Item = (&'static str, String)> {
        let ids = match self {
            Self::Send | Self::Stream | Self::Tasks | Self::Webhooks | Self::ExtendedCard => {
                [None, None]
            }
            Self::Task(id)
            | Self::OlderTask(id)
            | Self::Cancel(id)
            | Self::Subscribe(id)
            | Self::Timeline(id) => [Some(("id", id)), None],
            Self::Context(id) => [Some(("contextId", id)), None],
            Self::PushConfigs(task) => [Some(("taskId", task)), None],
            Self::PushConfig(task, id)
            | Self::Deliveries(task, id)
            | Self::Redeliver(task, id)
            | Self::Test(task, id)
            | Self::Verify(task, id) => [Some(("taskId", task)), Some(("id", id))],
        };
        ids.into_iter().flatten()
    }

    /// Whether the path contains all parameters of a POST.
    pub(crate) fn takes_no_body(&self) -> bool {
        match self {
            Self::Cancel(_) | Self::Subscribe(_) | Self::Test(..) => true,
            Self::Send
            | Self::Stream
            | Self::Tasks
            | Self::Task(_)
            | Self::OlderTask(_)
            | Self::PushConfigs(_)
            | Self::PushConfig(..)
            | Self::Deliveries(..)
            | Self::Redeliver(..)
            | Self::Verify(..)
            | Self::Timeline(_)
            | Self::Webhooks
            | Self::Context(_)
            | Self::ExtendedCard => false,
        }
    }
}

/// The resource at a path, given by the path's segments, and the tenant, which is one segment before the
/// resource.
pub(crate) fn find<'a>(segments: &[&'a str]) -> Option<(Option<&'a str>, Resource)> {
    if let Some(resource) = Resource::parse(segments) {
        return Some((None, resource));
    }
    let (tenant, segments) = segments.split_first()?;
    Some((Some(tenant), Resource::parse(segments)?))
}

/// See [`Dialect::target`](crate::dialect::Dialect::target).
pub(in crate::dialect) fn target(call: &Call) -> Option<(&'static str, String)> {
    let resource = Resource::of(call);
    let verb = resource.verb(call.operation())?;
    Some((verb, format!("{}{}", resource.path(), query(call))))
}

/// Whether a path of the server that begins with this segment belongs to the default agent. Such a segment
/// cannot be the name of an agent.
pub(crate) fn begins(segment: &str) -> bool {
    matches!(segment, "tasks" | "extendedAgentCard") || segment.starts_with("message:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_decoded_after_the_path_was_cut() {
        for (path, resource) in [
            ("tasks/a%2Fb", Resource::Task("a/b".to_owned())),
            ("tasks/a%20b%3Acancel", Resource::Task("a b:cancel".to_owned())),
            ("tasks/a:b", Resource::Task("a:b".to_owned())),
            ("tasks/a:b:cancel", Resource::Cancel("a:b".to_owned())),
            ("tasks/%E2%9C%93:subscribe", Resource::Subscribe("✓".to_owned())),
            ("tasks/a%2Fb/timeline", Resource::Timeline("a/b".to_owned())),
            ("tasks/timeline", Resource::Task("timeline".to_owned())),
            ("tasks/", Resource::Task(String::new())),
            ("tasks/tasks", Resource::Task("tasks".to_owned())),
            ("contexts/a%2Fb", Resource::Context("a/b".to_owned())),
            (
                "tasks/a%2Fb/pushNotificationConfigs/c%3Fd",
                Resource::PushConfig("a/b".to_owned(), "c?d".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b:c:test",
                Resource::Test("a".to_owned(), "b:c".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b:verify",
                Resource::Verify("a".to_owned(), "b".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b:c",
                Resource::PushConfig("a".to_owned(), "b:c".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b:redeliver:redeliver",
                Resource::Redeliver("a".to_owned(), "b:redeliver".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b%3Aredeliver",
                Resource::PushConfig("a".to_owned(), "b:redeliver".to_owned()),
            ),
            (
                "tasks/a/pushNotificationConfigs/b%3Ac/deliveries",
                Resource::Deliveries("a".to_owned(), "b:c".to_owned()),
            ),
        ] {
            let segments: Vec<&str> = path.split('/').collect();
            assert_eq!(Resource::parse(&segments), Some(resource), "{path}");
        }
    }
}
