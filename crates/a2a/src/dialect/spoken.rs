//! Finds the operation and the dialect of a method or a path.

use super::mistake::Named;
use super::older;
use super::version::{is_for_1_0, is_for_older};
use super::{Dialect, Dialects, v1};
use crate::error::Error;
use crate::operation::{Operation, Since};

/// The operation of a request, and its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The operation.
    pub operation: Operation,
    dialect: Dialect,
    /// The method, if it belongs to an older version.
    method: &'static str,
    /// Whether 0.3 and the legacy family share the name, and the request names no version.
    is_shared: bool,
}

impl Spoken {
    /// The operation and dialect of a JSON-RPC method, in a request for the version `requested`. If `is_strict`, the methods
    /// of 1.0 require a request for 1.0. `dialects` are those of the agent at the path, for the texts of errors.
    ///
    /// # Errors
    ///
    /// [`Error::VersionNotSupported`], [`Error::OtherVersionsName`] or [`Error::MethodNotFound`].
    pub fn method(
        method: &str,
        requested: Option<&str>,
        is_strict: bool,
        dialects: &Dialects,
    ) -> Result<Self, Error> {
        let mistaken = || Named::method(method).in_another(requested, dialects);
        if let Some(operation) = v1::operation(method) {
            let spoken = Self::path(Dialect::V1, operation);
            return if is_for_1_0(requested, is_strict) { Ok(spoken) } else { Err(mistaken()) };
        }
        let Some((name, operation, since)) = older::method(method) else {
            let is_spoken = is_for_1_0(requested, false)
                || dialects.v0_3 && is_for_older(requested, Dialect::V0_3);
            let unknown = || Error::MethodNotFound(method.chars().take(60).collect());
            return Err(if is_spoken { unknown() } else { mistaken() });
        };
        let (dialect, is_shared) = match since {
            Since::V0_3 => (Dialect::V0_3, false),
            Since::Legacy => (Dialect::Legacy, false),
            Since::Both => (Dialect::V0_3, requested.is_none()),
        };
        if !is_for_older(requested, dialect) {
            return Err(mistaken());
        }
        Ok(Self { operation, dialect, method: name, is_shared })
    }

    /// The dialect of a path below an agent by its form: paths that begin with `v1` belong to A2A 0.3, and paths that begin
    /// with `a2a` belong to 0.1.
    pub fn looks_like(path: &str) -> Dialect {
        older::dialect_of_path(path).unwrap_or_default()
    }

    /// The dialect in which an agent that supports `dialects` answers a request to a path, for the version `requested`. If
    /// `is_strict`, the paths of 1.0 require a request for 1.0.
    ///
    /// # Errors
    ///
    /// [`Error::VersionNotSupported`] or [`Error::OtherVersionsName`].
    pub fn dialect_of_path(
        path: &str,
        requested: Option<&str>,
        is_strict: bool,
        dialects: &Dialects,
    ) -> Result<Dialect, Error> {
        let dialect = Self::looks_like(path);
        let is_asked = match dialect {
            Dialect::V1 => is_for_1_0(requested, is_strict),
            Dialect::V0_3 | Dialect::Legacy => is_for_older(requested, dialect),
        };
        match (is_asked, dialects.has(dialect)) {
            (true, true) => Ok(dialect),
            (true, false) => Err(Named::path(path).unspoken(dialects)),
            (false, _) => Err(Named::path(path).in_another(requested, dialects)),
        }
    }

    /// The operation of a path in this dialect.
    pub fn path(dialect: Dialect, operation: Operation) -> Self {
        Self { operation, dialect, method: "", is_shared: false }
    }

    /// The dialect of the method or path, before the agent is known; used for errors.
    pub fn dialect(self) -> Dialect {
        self.dialect
    }

    /// The dialect in which an agent that supports `dialects` answers. A name that 0.3 and the legacy family share belongs
    /// to the family if the request names a task by an id that the server does not generate, because such a task was begun
    /// by `tasks/send`.
    ///
    /// # Errors
    ///
    /// [`Error::VersionNotSupported`] if the agent does not support the dialect.
    pub fn dialect_for(self, dialects: &Dialects, is_chosen_id: bool) -> Result<Dialect, Error> {
        let is_legacy = self.is_shared && dialects.legacy && (is_chosen_id || !dialects.v0_3);
        let dialect = if is_legacy { Dialect::Legacy } else { self.dialect };
        if dialects.has(dialect) {
            Ok(dialect)
        } else {
            Err(Named::method(self.method).unspoken(dialects))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_versions_are_told_apart() {
        use Dialect::{Legacy, V0_3, V1};
        for (name, version, expected) in [
            ("SendMessage", Some("1.0"), Ok(V1)),
            ("SendMessage", None, Ok(V1)),
            ("SendMessage", Some("0.3"), Err(-32009)),
            ("SendMessage", Some("99.0"), Err(-32009)),
            ("message/send", None, Ok(V0_3)),
            ("message/send", Some("0.3"), Ok(V0_3)),
            ("message/send", Some("0.3.0"), Ok(V0_3)),
            ("message/send", Some("1.0"), Err(-32601)),
            ("message/send", Some("0.2"), Err(-32009)),
            ("tasks/send", None, Ok(Legacy)),
            ("tasks/send", Some("0.3"), Err(-32009)),
            ("tasks/send", Some("1.0"), Err(-32601)),
            ("tasks/get", None, Ok(V0_3)),
            ("tasks/get", Some("0.3"), Ok(V0_3)),
            ("tasks/list", None, Err(-32601)),
            ("Nonsense", None, Err(-32601)),
            ("Nonsense", Some("1.0"), Err(-32601)),
            ("Nonsense", Some("99.0"), Err(-32009)),
            ("sendmessage", Some("1.0"), Err(-32601)),
        ] {
            let spoken = Spoken::method(name, version, false, &Dialects::ALL);
            let found = spoken.and_then(|spoken| spoken.dialect_for(&Dialects::ALL, false));
            assert_eq!(found.map_err(|error| error.wire().code), expected, "{name} {version:?}");
        }
    }

    #[test]
    fn a_name_of_two_dialects_is_told_apart_by_the_id_of_the_task() {
        use Dialect::{Legacy, V0_3};
        let only = |v0_3, legacy| Dialects { v0_3, legacy, ..Dialects::NONE };
        for (version, is_chosen, dialects, expected) in [
            (None, false, Dialects::ALL, Some(V0_3)),
            (None, true, Dialects::ALL, Some(Legacy)),
            (Some("0.3"), true, Dialects::ALL, Some(V0_3)),
            (None, true, only(true, false), Some(V0_3)),
            (None, false, only(false, true), Some(Legacy)),
            (Some("0.3"), true, only(false, true), None),
            (None, true, Dialects::NONE, None),
        ] {
            let spoken =
                Spoken::method("tasks/get", version, false, &dialects).expect("a known method");
            let found = spoken.dialect_for(&dialects, is_chosen);
            assert_eq!(found.ok(), expected, "{version:?} {is_chosen} {dialects:?}");
        }
    }

    #[test]
    fn paths_of_older_versions_are_told_by_their_first_segment() {
        use Dialect::{Legacy, V0_3, V1};
        for (path, version, is_strict, expected) in [
            ("tasks", None, false, Some(V1)),
            ("tasks", Some("0.3"), false, None),
            ("tasks", None, true, None),
            ("tasks", Some("1.0"), true, Some(V1)),
            ("tasks", Some("2.0"), false, None),
            ("v1/tasks", None, false, Some(V0_3)),
            ("v1/tasks", None, true, Some(V0_3)),
            ("v1/card", Some("0.3"), false, Some(V0_3)),
            ("v1/tasks", Some("1.0"), false, None),
            ("v1", Some("9.0"), false, None),
            ("a2a/tasks/send", None, true, Some(Legacy)),
            ("a2a/tasks/t", Some("1.0"), false, None),
            ("a2a/tasks/t", Some("0.3"), false, None),
            ("agent/authenticatedExtendedCard", None, true, Some(V0_3)),
            ("agent/tasks", None, false, Some(V1)),
        ] {
            let found = Spoken::dialect_of_path(path, version, is_strict, &Dialects::ALL);
            assert_eq!(found.ok(), expected, "{path} {version:?}");
        }
    }
}
