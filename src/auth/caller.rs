//! The caller of a request.

use serde::Serialize;

use a2a::model::UnixMillis;
use a2a::model::decode::{Decode, Fields};

/// The caller of a request: the owner of the tasks that it creates, and its permissions.
///
/// Stored with every run; a member that is missing in the stored form has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// Unique among callers. A caller without a group can only read its own tasks.
    pub id: String,
    /// The permissions of the caller, for example `admin`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
    /// The caller's own session, as named in its credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The instant at which the credentials expire; `None` if they do not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMillis>,
    /// The owner of the tasks that the caller shares with the others of its group, for example `@jwt:team-a`. The id of
    /// a caller never begins with `@`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl Caller {
    /// The caller of an agent that requires no credentials.
    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS)
    }

    /// True if the caller has not shown who it is.
    pub fn is_anonymous(&self) -> bool {
        self.id == ANONYMOUS
    }

    /// The owner of the tasks that the caller creates and can read: its group, if it has one, or itself.
    pub fn owner(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.id)
    }

    /// True if the caller has a permission.
    pub fn may(&self, permission: &str) -> bool {
        self.permissions.iter().any(|known| known == permission)
    }

    /// A caller without permissions, whose credentials do not expire.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }
}

impl Decode for Caller {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let permissions = fields.strings("permissions");
        let (session, expires_at) = (fields.string("session"), fields.timestamp("expires_at"));
        let group = fields.string("group");
        Some(Self { id: fields.required_string("id")?, permissions, session, expires_at, group })
    }
}

/// The id of a caller without credentials. All other ids contain a colon.
const ANONYMOUS: &str = "anonymous";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    #[test]
    fn callers_are_stored_with_what_they_have() {
        let known = Caller {
            permissions: vec!["admin".to_owned()],
            session: Some("s".to_owned()),
            expires_at: Some(UnixMillis(7)),
            group: Some("@g".to_owned()),
            ..Caller::new("c")
        };
        for (caller, stored) in [
            (Caller::anonymous(), r#"{"id":"anonymous"}"#),
            (
                known,
                r#"{"id":"c","permissions":["admin"],"session":"s","expires_at":"1970-01-01T00:00:00.007Z","group":"@g"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&caller).unwrap(), stored);
            assert_eq!(read_json::<Caller>(stored).unwrap(), caller);
        }
    }
}
