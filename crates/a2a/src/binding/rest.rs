//! The HTTP+JSON binding (spec §11): translates paths, queries and bodies to the parameters that the JSON-RPC binding has
//! under the same names. The dialect defines the paths.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::Operation;
use crate::dialect::{Dialect, Methods, Resource};
use crate::error::Error;
use crate::wire::http::HttpResponse;
use crate::wire::media_type::MediaType;
use crate::wire::{json, percent};

/// The resource at a path below the URL of an agent (spec §11.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    tenant: Option<String>,
    resource: Resource,
}

impl Endpoint {
    /// Finds the resource at `path`, which has no leading slash and is percent-encoded, in a dialect. The tenant is the one
    /// in the path, otherwise `agent`, the agent at the beginning of the URL. `None` if the dialect does not have this path.
    pub fn find(dialect: Dialect, agent: Option<&str>, path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').collect();
        let (tenant, resource) = dialect.resource(&segments)?;
        let tenant = tenant.map(percent::decode).filter(|tenant| !tenant.is_empty());
        Some(Self { tenant: tenant.or_else(|| agent.map(str::to_owned)), resource })
    }

    /// The verbs that this endpoint accepts, in the form of the header `Allow`.
    pub fn allowed(&self) -> &'static str {
        self.resource.methods().allowed
    }

    /// The operation of a verb.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    pub fn operation(&self, verb: &str) -> Result<Operation, Error> {
        let Methods { operations, allowed } = self.resource.methods();
        let found = operations.iter().find(|(known, _)| *known == verb);
        found.map(|(_, operation)| *operation).ok_or(Error::MethodNotAllowed(allowed))
    }

    /// The parameters of a request with a body of at most `max_values` values: the members of the body and the ids in the
    /// path.
    ///
    /// # Errors
    ///
    /// As [`json::parse`], and [`Error::InvalidRequest`] if the body is not an object. If the operation needs no body, the
    /// body may be empty or `null`.
    pub fn params_of_body(self, body: &[u8], max_values: usize) -> Result<Value, Error> {
        let is_optional = self.resource.takes_no_body();
        if is_optional && body.trim_ascii().is_empty() {
            return Ok(self.with_path(Map::new()));
        }
        match json::parse(body, max_values)? {
            Value::Object(members) => Ok(self.with_path(members)),
            Value::Null if is_optional => Ok(self.with_path(Map::new())),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                Err(Error::InvalidRequest("the body must be a JSON object".to_owned()))
            }
        }
    }

    /// The parameters of a request without a body: those of the query, and the ids in the path. Of several parameters of the
    /// same name, the first counts.
    pub fn params_of_query(self, query: &str) -> Value {
        let mut members = Map::new();
        for (name, value) in percent::pairs(query).filter(|(name, _)| !name.is_empty()) {
            let value = match value.as_str() {
                "true" if BOOLEANS.contains(&name.as_str()) => Value::Bool(true),
                "false" if BOOLEANS.contains(&name.as_str()) => Value::Bool(false),
                // The decoder reads numbers, enums and instants from text.
                _ => Value::String(value),
            };
            members.entry(name).or_insert(value);
        }
        self.with_path(members)
    }

    /// Adds the ids of the path, which override those of the query or body. The decoder searches for a camelCase name first,
    /// so copies in snake_case need not be removed.
    fn with_path(self, mut members: Map<String, Value>) -> Value {
        let tenant = self.tenant.map(|tenant| ("tenant", tenant));
        for (name, value) in self.resource.into_ids().chain(tenant) {
            members.insert(name.to_owned(), Value::String(value));
        }
        Value::Object(members)
    }
}

/// The answer with a result that is already JSON text, in pieces.
pub(super) fn result(media_type: MediaType, result: &[Cow<'_, str>]) -> HttpResponse {
    HttpResponse::of_type(200, media_type, result.concat())
}

/// The query parameters whose value is `true` or `false`.
const BOOLEANS: [&str; 6] = [
    "includeArtifacts",
    "include_artifacts",
    "force",
    "waiting",
    "includeSummary",
    "include_summary",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(path: &str) -> Endpoint {
        Endpoint::find(Dialect::V1, None, path).unwrap_or_else(|| panic!("nothing at {path}"))
    }

    #[test]
    fn every_operation_has_its_path_and_verb() {
        for (verb, path, operation, params) in [
            ("POST", "message:send", Operation::SendMessage, json!({})),
            ("POST", "message:stream", Operation::SendStreamingMessage, json!({})),
            ("GET", "tasks", Operation::ListTasks, json!({})),
            ("GET", "tasks/t", Operation::GetTask, json!({"id": "t"})),
            ("DELETE", "tasks/t", Operation::DeleteTask, json!({"id": "t"})),
            ("POST", "tasks/t:cancel", Operation::CancelTask, json!({"id": "t"})),
            ("GET", "tasks/t:subscribe", Operation::SubscribeToTask, json!({"id": "t"})),
            ("POST", "tasks/t:subscribe", Operation::SubscribeToTask, json!({"id": "t"})),
            (
                "POST",
                "tasks/t/pushNotificationConfigs",
                Operation::CreateTaskPushNotificationConfig,
                json!({"taskId": "t"}),
            ),
            (
                "GET",
                "tasks/t/pushNotificationConfigs",
                Operation::ListTaskPushNotificationConfigs,
                json!({"taskId": "t"}),
            ),
            (
                "GET",
                "tasks/t/pushNotificationConfigs/c",
                Operation::GetTaskPushNotificationConfig,
                json!({"taskId": "t", "id": "c"}),
            ),
            (
                "DELETE",
                "tasks/t/pushNotificationConfigs/c",
                Operation::DeleteTaskPushNotificationConfig,
                json!({"taskId": "t", "id": "c"}),
            ),
            (
                "GET",
                "tasks/t/pushNotificationConfigs/c/deliveries",
                Operation::ListTaskPushNotificationDeliveries,
                json!({"taskId": "t", "id": "c"}),
            ),
            (
                "POST",
                "tasks/t/pushNotificationConfigs/c:redeliver",
                Operation::RedeliverTaskPushNotifications,
                json!({"taskId": "t", "id": "c"}),
            ),
            (
                "POST",
                "tasks/t/pushNotificationConfigs/c:test",
                Operation::TestTaskPushNotificationConfig,
                json!({"taskId": "t", "id": "c"}),
            ),
            (
                "POST",
                "tasks/t/pushNotificationConfigs/c:verify",
                Operation::VerifyTaskPushNotificationSignature,
                json!({"taskId": "t", "id": "c"}),
            ),
            ("GET", "tasks/t/timeline", Operation::GetTaskTimeline, json!({"id": "t"})),
            ("GET", "webhooks", Operation::ListWebhooks, json!({})),
            ("GET", "extendedAgentCard", Operation::GetExtendedAgentCard, json!({})),
        ] {
            let endpoint = find(path);
            assert_eq!(endpoint.operation(verb), Ok(operation), "{verb} {path}");
            assert!(endpoint.allowed().contains(verb), "{verb} {path}");
            assert_eq!(endpoint.clone().params_of_query(""), params, "{path}");
            assert_eq!(endpoint.params_of_body(b"{}", 100), Ok(params), "{path}");
        }
    }

    #[test]
    fn other_verbs_are_told_which_are_right() {
        for (verb, path, allowed) in [
            ("GET", "message:send", "POST, OPTIONS"),
            ("POST", "tasks", "GET, OPTIONS"),
            ("POST", "tasks/t", "GET, DELETE, OPTIONS"),
            ("GET", "tasks/t:cancel", "POST, OPTIONS"),
            ("PUT", "tasks/t/pushNotificationConfigs/c", "GET, DELETE, OPTIONS"),
            ("DELETE", "tasks/t/pushNotificationConfigs", "GET, POST, OPTIONS"),
            ("POST", "tasks/t/pushNotificationConfigs/c/deliveries", "GET, OPTIONS"),
            ("GET", "tasks/t/pushNotificationConfigs/c:redeliver", "POST, OPTIONS"),
            ("POST", "tasks/t/timeline", "GET, OPTIONS"),
            ("get", "tasks", "GET, OPTIONS"),
        ] {
            let refused = find(path).operation(verb);
            assert_eq!(refused, Err(Error::MethodNotAllowed(allowed)), "{verb} {path}");
        }
    }

    #[test]
    fn other_paths_lead_nowhere() {
        for path in [
            "",
            "message",
            "message:poke",
            "message:send/",
            "tasks/a/b",
            "tasks/a/timeline/b",
            "tasks/a/pushNotificationConfigs/b/c",
            "tasks/a/pushNotificationConfigs/b/deliveries/c",
            "demo/x/tasks",
            "Tasks",
        ] {
            assert_eq!(Endpoint::find(Dialect::V1, None, path), None, "{path}");
        }
    }

    #[test]
    fn a_tenant_may_come_before_the_resource() {
        for (agent, path, tenant) in [
            (None, "tasks/t", None),
            (None, "acme/tasks/t", Some("acme")),
            (None, "a%2Fb/message:send", Some("a/b")),
            (None, "/tasks/t", None),
            (Some("demo"), "tasks/t", Some("demo")),
            (Some("demo"), "demo/tasks/t", Some("demo")),
            (Some("demo"), "other/tasks/t", Some("other")),
            (Some("demo"), "/tasks/t", Some("demo")),
        ] {
            let found =
                Endpoint::find(Dialect::V1, agent, path).and_then(|endpoint| endpoint.tenant);
            assert_eq!(found.as_deref(), tenant, "{agent:?} {path}");
        }
    }

    #[test]
    fn the_path_goes_before_body_and_query() {
        let endpoint = Endpoint::find(Dialect::V1, Some("demo"), "tasks/t:cancel").expect("a path");
        let body = br#"{"id": "x", "tenant": "x", "metadata": {"k": 1}}"#;
        let expected = json!({"id": "t", "tenant": "demo", "metadata": {"k": 1}});
        assert_eq!(endpoint.clone().params_of_body(body, 100), Ok(expected));
        let params = endpoint.params_of_query("id=x&tenant=x");
        assert_eq!(params, json!({"id": "t", "tenant": "demo"}));
    }

    #[test]
    fn queries_become_parameters() {
        let query = "pageSize=10&page_token=a%3D%3D&includeArtifacts=true&status=\
                     TASK_STATE_WORKING&contextId=true&pageSize=20&=x";
        assert_eq!(
            find("tasks").params_of_query(query),
            json!({"pageSize": "10", "page_token": "a==", "includeArtifacts": true,
                "status": "TASK_STATE_WORKING", "contextId": "true"})
        );
        let params = find("tasks").params_of_query("include_artifacts=false&includeArtifacts=yes");
        assert_eq!(params, json!({"include_artifacts": false, "includeArtifacts": "yes"}));
    }

    #[test]
    fn bad_values_name_their_parameter() {
        for (query, field) in [
            ("historyLength=x", "historyLength"),
            ("historyLength=-1", "historyLength"),
            ("history_length=1.5", "historyLength"),
            ("historyLength=", "historyLength"),
        ] {
            let params = find("tasks/t").params_of_query(query);
            let refused = Operation::GetTask.decode(params).expect_err(query);
            assert!(matches!(&refused, Error::InvalidParams(found) if found[0].field == field));
        }
    }

    #[test]
    fn bodies_are_objects_and_may_be_missing_where_the_path_says_all() {
        for body in ["", " \n", "{}", "null"] {
            for path in ["tasks/t:cancel", "tasks/t:subscribe"] {
                let params = find(path).params_of_body(body.as_bytes(), 100);
                assert_eq!(params, Ok(json!({"id": "t"})), "{path} {body}");
            }
            let test = find("tasks/t/pushNotificationConfigs/c:test");
            let params = test.params_of_body(body.as_bytes(), 100);
            assert_eq!(params, Ok(json!({"taskId": "t", "id": "c"})), "{body}");
        }
        for (path, body, code) in [
            ("message:send", "", -32700),
            ("message:send", "null", -32600),
            ("tasks/t/pushNotificationConfigs", "", -32700),
            ("tasks/t/pushNotificationConfigs/c:redeliver", "", -32700),
            ("tasks/t/pushNotificationConfigs/c:verify", "", -32700),
            ("message:send", "[]", -32600),
            ("tasks/t:cancel", "1", -32600),
            ("tasks/t:cancel", "{", -32700),
        ] {
            let refused = find(path).params_of_body(body.as_bytes(), 100).expect_err(body);
            assert_eq!(refused.wire().code, code, "{path} {body}");
        }
    }
}
