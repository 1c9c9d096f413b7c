//! The paths of A2A 0.3 over HTTP+JSON.

use crate::dialect::v1::ask::query;
use crate::dialect::{Resource, older};
use crate::{Call, TaskCall};

/// The resource at a path below an agent, given by the path's segments; `None` if the path does not exist.
pub(in crate::dialect) fn find(segments: &[&str]) -> Option<Resource> {
    let (first, segments) = segments.split_first()?;
    if let ("agent", ["authenticatedExtendedCard"]) = (*first, segments) {
        return Some(Resource::ExtendedCard);
    }
    match (*first == older::V0_3_PREFIX, segments) {
        (false, _) => None,
        (true, ["card"]) => Some(Resource::ExtendedCard),
        (true, segments) => match Resource::parse(segments)? {
            // These resources exist only since 1.0.
            Resource::ExtendedCard
            | Resource::Deliveries(..)
            | Resource::Redeliver(..)
            | Resource::Test(..)
            | Resource::Verify(..)
            | Resource::Timeline(_)
            | Resource::Context(_)
            | Resource::Webhooks => None,
            Resource::Task(id) => Some(Resource::OlderTask(id)),
            resource @ (Resource::Send
            | Resource::Stream
            | Resource::Tasks
            | Resource::OlderTask(_)
            | Resource::Cancel(_)
            | Resource::Subscribe(_)
            | Resource::PushConfigs(_)
            | Resource::PushConfig(..)) => Some(resource),
        },
    }
}

/// See [`Dialect::target`](crate::dialect::Dialect::target). A list of tasks has no target: servers of later
/// versions that also support 0.3 read its path as the path of a tenant, and answer with an empty list.
pub(in crate::dialect) fn target(call: &Call) -> Option<(&'static str, String)> {
    if let Call::Task(TaskCall::DeleteTask(_)) = call {
        return None;
    }
    let resource = Resource::of(call);
    let verb = resource.verb(call.operation())?;
    let path = match &resource {
        Resource::ExtendedCard => "card".to_owned(),
        Resource::Tasks
        | Resource::Deliveries(..)
        | Resource::Redeliver(..)
        | Resource::Test(..)
        | Resource::Verify(..)
        | Resource::Timeline(_)
        | Resource::Context(_)
        | Resource::Webhooks => return None,
        _ => resource.path() + &query(call),
    };
    Some((verb, format!("{}/{path}", older::V0_3_PREFIX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_1_0_behind_v1() {
        let id = |text: &str| text.to_owned();
        for (path, resource) in [
            ("v1/message:send", Some(Resource::Send)),
            ("v1/message:stream", Some(Resource::Stream)),
            ("v1/card", Some(Resource::ExtendedCard)),
            ("v1/tasks", Some(Resource::Tasks)),
            ("v1/tasks/a%2Fb", Some(Resource::OlderTask(id("a/b")))),
            ("v1/tasks/t:cancel", Some(Resource::Cancel(id("t")))),
            ("v1/tasks/t:subscribe", Some(Resource::Subscribe(id("t")))),
            ("v1/tasks/t/pushNotificationConfigs", Some(Resource::PushConfigs(id("t")))),
            ("v1/tasks/t/pushNotificationConfigs/c", Some(Resource::PushConfig(id("t"), id("c")))),
            ("agent/authenticatedExtendedCard", Some(Resource::ExtendedCard)),
            ("agent/other", None),
            ("agent", None),
            ("v1", None),
            ("v1/", None),
            ("v1/extendedAgentCard", None),
            ("v1/tasks/t/pushNotificationConfigs/c/deliveries", None),
            ("v1/tasks/t/timeline", None),
            ("v1/contexts/c", None),
            ("v1/demo/tasks/t", None),
            ("tasks/t", None),
            ("v2/tasks/t", None),
        ] {
            let segments: Vec<&str> = path.split('/').collect();
            assert_eq!(find(&segments), resource, "{path}");
        }
    }
}
