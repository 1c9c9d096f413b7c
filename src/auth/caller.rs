//! The caller of a request.

use serde::Serialize;

use a2a::model::UnixMillis;
use a2a::model::decode::{Decode, Fields};

/// Who makes a request: the owner of the tasks it creates, and what it may do.
///
/// Stored with every run; a member that is absent there has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// Unique among callers; tasks are visible to the caller of the same id alone.
    pub id: String,
    /// What the caller may do, as `admin`.
    pub permissions: Vec<String>,
    /// The session of the caller's own, as its credentials name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When the credentials expire; none that never do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMillis>,
    /// The owner of the tasks that the caller shares with the others of its group, as `@jwt:team-a`. No id of a caller
    /// begins with `@`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl Caller {
    /// The caller of a server that asks for no credentials.
    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS)
    }

    /// Whether nothing is known of the caller.
    pub fn is_anonymous(&self) -> bool {
        self.id == ANONYMOUS
    }

    /// To whom the tasks belong that the caller creates and sees: its group, if it has one, or itself.
    pub fn owner(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.id)
    }

    /// Whether the caller has a permission.
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

/// The id of the caller of whom nothing is known. Other ids have a colon.
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
            (Caller::anonymous(), r#"{"id":"anonymous","permissions":[]}"#),
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
