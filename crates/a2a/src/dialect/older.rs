//! The common parts of A2A 0.3 and before: the names of methods, paths and roles, and the authentication of webhooks.

use serde::Serialize;

use super::Dialect;
use crate::model::{AuthenticationInfo, Role, Secret, TaskState};
use crate::operation::{Operation, Since};

/// The method's name, its operation, and the versions that have it; `None` if no older version has this method.
pub(super) fn method(name: &str) -> Option<(&'static str, Operation, Since)> {
    let mut methods = Operation::ALL.iter().flat_map(|operation| {
        operation.row().older.iter().map(|(method, since)| (*method, *operation, *since))
    });
    methods.find(|(method, ..)| *method == name)
}

/// Whether a JSON-RPC method is a streaming method of an older version.
pub(crate) fn is_stream(name: &str) -> bool {
    let operation = method(name).map(|(_, operation, _)| operation);
    matches!(operation, Some(Operation::SendStreamingMessage | Operation::SubscribeToTask))
}

/// The method of an operation in an older dialect.
pub(super) fn method_of(dialect: Dialect, operation: Operation) -> Option<&'static str> {
    let has_it = |since: Since| match since {
        Since::V0_3 => dialect == Dialect::V0_3,
        Since::Legacy => dialect == Dialect::Legacy,
        Since::Both => true,
    };
    let mut methods = operation.row().older.iter();
    methods.find(|(_, since)| has_it(*since)).map(|(method, _)| *method)
}

/// The older version to which a path below an agent belongs, by its first segment.
pub(super) fn dialect_of_path(path: &str) -> Option<Dialect> {
    match path.split('/').next()? {
        V0_3_PREFIX => Some(Dialect::V0_3),
        LEGACY_PREFIX => Some(Dialect::Legacy),
        _ => (path == EXTENDED_CARD).then_some(Dialect::V0_3),
    }
}

/// The first segment of the paths of A2A 0.3.
pub(super) const V0_3_PREFIX: &str = "v1";

/// The first segment of the paths of A2A 0.1.
pub(super) const LEGACY_PREFIX: &str = "a2a";

/// The first segments of the paths of older versions.
pub(super) const PREFIXES: [&str; 3] = [V0_3_PREFIX, LEGACY_PREFIX, "agent"];

/// The path of the extended card for clients of A2A 0.2.
const EXTENDED_CARD: &str = "agent/authenticatedExtendedCard";

/// The names of roles, with their numbers in the proto.
pub(super) const ROLES: [(&str, i64, Option<Role>); 2] =
    [("user", 1, Some(Role::User)), ("agent", 2, Some(Role::Agent))];

/// The states with their numbers in the proto. The names over HTTP+JSON are first.
pub(super) const STATES: [(&str, i64, Option<TaskState>); 19] = [
    ("TASK_STATE_UNSPECIFIED", 0, None),
    ("TASK_STATE_SUBMITTED", 1, Some(TaskState::Submitted)),
    ("TASK_STATE_WORKING", 2, Some(TaskState::Working)),
    ("TASK_STATE_COMPLETED", 3, Some(TaskState::Completed)),
    ("TASK_STATE_FAILED", 4, Some(TaskState::Failed)),
    ("TASK_STATE_CANCELLED", 5, Some(TaskState::Canceled)),
    ("TASK_STATE_CANCELED", 5, Some(TaskState::Canceled)),
    ("TASK_STATE_INPUT_REQUIRED", 6, Some(TaskState::InputRequired)),
    ("TASK_STATE_REJECTED", 7, Some(TaskState::Rejected)),
    ("TASK_STATE_AUTH_REQUIRED", 8, Some(TaskState::AuthRequired)),
    ("unknown", 0, None),
    ("submitted", 1, Some(TaskState::Submitted)),
    ("working", 2, Some(TaskState::Working)),
    ("completed", 3, Some(TaskState::Completed)),
    ("failed", 4, Some(TaskState::Failed)),
    ("canceled", 5, Some(TaskState::Canceled)),
    ("input-required", 6, Some(TaskState::InputRequired)),
    ("rejected", 7, Some(TaskState::Rejected)),
    ("auth-required", 8, Some(TaskState::AuthRequired)),
];

/// The encoded authentication for the receiver of a webhook: 1.0 has one scheme, older versions have a list.
#[derive(Serialize)]
pub(super) struct SchemesView<'a> {
    schemes: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a Secret>,
}

impl<'a> SchemesView<'a> {
    pub(super) fn of(info: &'a AuthenticationInfo) -> Self {
        Self { schemes: [&info.scheme], credentials: info.credentials.as_ref() }
    }
}
