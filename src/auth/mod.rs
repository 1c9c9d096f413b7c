//! Who calls (spec §7). Until access is configured everybody is the same anonymous caller.

use serde::Serialize;

use a2a::error::Error;
use a2a::model::UnixMillis;
use a2a::model::decode::{Decode, Fields};

/// What the headers of a request say about who makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// The request is this caller's.
    Caller(Caller),
    /// Its credentials are refused, for this reason.
    Refused(Error),
    /// Something has to be waited for before it is known.
    Pending(Pending),
}

/// What has to be waited for to know a caller. Nothing has to be as long as there are no credentials that
/// somebody else vouches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {}

/// Says who makes a request. `header` gives the value of a header, several of one name joined by commas. Does
/// not wait: only [`Identity::Pending`] needs more than the headers and the time.
pub fn identify(_header: &dyn Fn(&str) -> Option<String>, _now: UnixMillis) -> Identity {
    Identity::Caller(Caller::anonymous())
}

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
}

impl Caller {
    /// The caller of a server that asks for no credentials.
    pub fn anonymous() -> Self {
        Self::new("anonymous")
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
        Some(Self { id: fields.required_string("id")?, permissions, session, expires_at })
    }
}

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
            ..Caller::new("c")
        };
        for (caller, stored) in [
            // As version 0.1.0 wrote them.
            (Caller::anonymous(), r#"{"id":"anonymous","permissions":[]}"#),
            (
                known,
                r#"{"id":"c","permissions":["admin"],"session":"s","expires_at":"1970-01-01T00:00:00.007Z"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&caller).unwrap(), stored);
            assert_eq!(read_json::<Caller>(stored).unwrap(), caller);
        }
    }

    #[test]
    fn everybody_is_the_anonymous_caller() {
        for value in [None, Some("Bearer x".to_owned())] {
            let identity = identify(&|_| value.clone(), UnixMillis(0));
            assert_eq!(identity, Identity::Caller(Caller::anonymous()));
        }
    }
}
