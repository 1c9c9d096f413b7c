//! Dialects: the versions of the protocol as they differ on the wire. Which one a request speaks is decided here
//! and nowhere else (spec §3.6).
//!
//! Everything inside works with calls and outcomes in the words of 1.0. A dialect has the names of its methods
//! and paths, and the form of its results and events; 1.0 gives the texts that it gets as they are.

pub(crate) mod older;
mod v1;
mod version;

use std::borrow::Cow;

use serde::Serialize;

use crate::error::Error;
use crate::model::decode::Fields;
use crate::{Operation, Outcome};
pub(crate) use v1::paths::{Methods, Resource};
pub(crate) use version::requested_version;

/// A version of the protocol as it is spoken on the wire. Stored and sent by [`version`](Self::version); where
/// nothing is stored it is 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// A2A 1.0.
    #[default]
    V1,
}

impl Dialect {
    /// The version of the protocol, as cards name it.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
        }
    }

    /// Reads a dialect as it was stored under this name, 1.0 if none was. `None` for one that this version
    /// of the program does not know.
    pub fn read(fields: &mut Fields, name: &str) -> Option<Self> {
        let Some(stored) = fields.string(name) else { return Some(Self::V1) };
        let known = [Self::V1].into_iter().find(|known| known.version() == stored);
        if known.is_none() {
            fields.refuse(name, format!("must be a known version of A2A, got {stored:?}"));
        }
        known
    }

    /// Whether it is 1.0, which needs not be stored.
    pub fn is_v1(&self) -> bool {
        *self == Self::V1
    }

    /// The dialect and the operation of a JSON-RPC request that asks for the version `requested`. If
    /// `is_strict` it must ask for one.
    ///
    /// # Errors
    ///
    /// [`Error::VersionNotSupported`] or [`Error::MethodNotFound`].
    pub fn of_method(
        method: &str,
        requested: Option<&str>,
        is_strict: bool,
    ) -> Result<(Self, Operation), Error> {
        let operation = v1::operation(method);
        // A method of an older version, in a request that does not say 1.x: that version is meant.
        let is_older = older::is_method(method);
        if operation.is_none() && is_older && version::check_version(requested, true).is_err() {
            return Err(version::not_served(requested.unwrap_or("0.3")));
        }
        version::check_version(requested, is_strict && operation.is_some())?;
        let shown: String = method.chars().take(60).collect();
        let operation = operation.ok_or(Error::MethodNotFound(shown))?;
        Ok((Self::V1, operation))
    }

    /// The dialect of an HTTP+JSON request to this path below an agent, which asks for the version `requested`.
    /// Paths that begin with `v1` are those of A2A 0.3, unless the request says 1.x.
    ///
    /// # Errors
    ///
    /// [`Error::VersionNotSupported`].
    pub fn of_path(path: &str, requested: Option<&str>, is_strict: bool) -> Result<Self, Error> {
        if older::is_path(path) {
            let checked = version::check_version(requested, true);
            checked.map_err(|_| version::not_served(requested.unwrap_or("0.3")))?;
        } else {
            version::check_version(requested, is_strict)?;
        }
        Ok(Self::V1)
    }

    /// What an operation gave, as JSON text in pieces; `None` if it gives nothing. `extensions` are the URIs of
    /// those in use.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it cannot be encoded.
    pub fn result<'a>(
        self,
        outcome: &'a Outcome,
        extensions: &[String],
    ) -> Result<Option<Vec<Cow<'a, str>>>, Error> {
        match self {
            Self::V1 => v1::result(outcome, extensions),
        }
    }

    /// An event of a stream or a notification (a StreamResponse), which is given as JSON of 1.0.
    pub fn event(self, json: &str) -> Cow<'_, str> {
        match self {
            Self::V1 => Cow::Borrowed(json),
        }
    }
}

impl Serialize for Dialect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.version())
    }
}

/// Whether a path of the whole server that begins with this segment belongs to its default agent, in any
/// dialect. No agent can have such a name.
pub fn begins_path(segment: &str) -> bool {
    v1::paths::begins(segment) || segment == older::PREFIX
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::decode::decode_with;

    #[test]
    fn methods_and_versions_are_told_apart() {
        for (name, version, code) in [
            ("SendMessage", Some("1.0"), 0),
            ("SendMessage", None, 0),
            ("SendMessage", Some("99.0"), -32009),
            ("message/send", None, -32009),
            ("message/send", Some("0.3"), -32009),
            ("message/send", Some("1.0"), -32601),
            ("tasks/send", None, -32009),
            ("Nonsense", None, -32601),
            ("Nonsense", Some("1.0"), -32601),
            ("Nonsense", Some("99.0"), -32009),
            ("sendmessage", Some("1.0"), -32601),
        ] {
            let outcome = Dialect::of_method(name, version, false);
            assert_eq!(
                outcome.err().map_or(0, |error| error.wire().code),
                code,
                "{name} {version:?}"
            );
        }
    }

    #[test]
    fn paths_of_version_0_3_are_not_served_yet() {
        for (path, version, is_strict, is_served) in [
            ("tasks", None, false, true),
            ("tasks", Some("0.3"), false, false),
            ("tasks", None, true, false),
            ("tasks", Some("1.0"), true, true),
            ("tasks", Some("2.0"), false, false),
            ("v1/tasks", None, false, false),
            ("v1/card", Some("0.3"), false, false),
            ("v1/tasks", Some("1.0"), false, true),
            ("v1", Some("9.0"), false, false),
        ] {
            let checked = Dialect::of_path(path, version, is_strict);
            assert_eq!(checked.is_ok(), is_served, "{path} {version:?}");
        }
        let refused = Dialect::of_path("v1/tasks", None, false).expect_err("0.3");
        assert!(refused.to_string().starts_with("A2A 0.3 is not spoken"), "{refused}");
    }

    #[test]
    fn what_was_stored_without_a_dialect_is_1_0() {
        for (stored, read) in [
            (json!({}), Ok(Dialect::V1)),
            (json!({"dialect": "1.0"}), Ok(Dialect::V1)),
            (json!({"dialect": "0.3"}), Err("must be a known version of A2A, got \"0.3\"")),
        ] {
            let found = decode_with(stored, |fields| Dialect::read(fields, "dialect"));
            assert_eq!(
                found.map_err(|found| found[0].description.clone()),
                read.map_err(str::to_owned)
            );
        }
    }
}
