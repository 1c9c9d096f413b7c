//! Errors for a client that requests another version than that of its method or path, or a version that the agent does not
//! support. The text contains the version of the method or path, the requested version, and what to send instead.

use super::older;
use super::version::{is_0_3, is_1_0, shown};
use super::{Dialect, Dialects, Resource, v1};
use crate::error::Error;
use crate::operation::Since;

/// The version information in a method or path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// A sentence, for example `message/send is a method of A2A 0.3`; `None` if no version has the method or path.
    what: Option<String>,
    dialect: Dialect,
    in_1_0: Option<String>,
    in_0_3: Option<String>,
}

impl Named {
    /// The version information in a JSON-RPC method.
    pub(super) fn method(name: &str) -> Self {
        let older = older::method(name);
        let operation = v1::operation(name).or_else(|| older.map(|(_, operation, _)| operation));
        let (dialect, version) = match older.map(|(.., since)| since) {
            None => (Dialect::V1, "1.0"),
            Some(Since::V0_3) => (Dialect::V0_3, Dialect::V0_3.version()),
            Some(Since::Legacy) => (Dialect::Legacy, Dialect::Legacy.version()),
            Some(Since::Both) => (Dialect::V0_3, "0.3 and 0.1"),
        };
        let in_0_3 = operation.and_then(|operation| older::method_of(Dialect::V0_3, operation));
        Self {
            what: operation.map(|_| format!("{name} is a method of A2A {version}")),
            dialect,
            in_1_0: operation.map(|operation| operation.name().to_owned()),
            in_0_3: in_0_3.map(str::to_owned),
        }
    }

    /// The version information in a path below an agent.
    pub(super) fn path(path: &str) -> Self {
        let dialect = older::dialect_of_path(path).unwrap_or_default();
        let resource = |dialect: Dialect, path: &str| {
            let segments: Vec<&str> = path.split('/').collect();
            dialect.resource(&segments).map(|(_, resource)| resource)
        };
        let (in_1_0, in_0_3) = match (dialect, resource(dialect, path)) {
            (Dialect::V1, found) => {
                let path = found.map(|found| match found {
                    Resource::ExtendedCard => "v1/card".to_owned(),
                    _ => format!("v1/{path}"),
                });
                (None, path.filter(|path| resource(Dialect::V0_3, path).is_some()))
            }
            (_, Some(Resource::ExtendedCard)) => (Some("extendedAgentCard".to_owned()), None),
            (Dialect::V0_3, Some(_)) => (path.strip_prefix("v1/").map(str::to_owned), None),
            (Dialect::Legacy, Some(Resource::Send)) => (Some("message:send".to_owned()), None),
            (Dialect::Legacy, Some(_)) => (path.strip_prefix("a2a/").map(str::to_owned), None),
            (Dialect::V0_3 | Dialect::Legacy, None) => (None, None),
        };
        let is_known = dialect != Dialect::V1 || resource(dialect, path).is_some();
        let what = format!("{} is a path of A2A {}", short(path), dialect.version());
        let short = |path: Option<String>| path.map(|path| short(&path));
        Self {
            what: is_known.then_some(what),
            dialect,
            in_1_0: short(in_1_0),
            in_0_3: short(in_0_3),
        }
    }

    /// The refusal of a request for the version `asked`, which is not the version of its method or path, by an agent that
    /// supports `dialects`.
    pub(super) fn in_another(&self, asked: Option<&str>, dialects: &Dialects) -> Error {
        let asked_for = match asked {
            Some(version) => format!("A2A {}", shown(version)),
            None => "no version".to_owned(),
        };
        let Some(what) = &self.what else {
            let spoken = versions(dialects);
            return Error::VersionNotSupported(format!(
                "the request asks for {asked_for}, which this agent does not support; it supports {spoken}: send A2A-Version: 1.0"
            ));
        };
        let instead = self.instead(asked, dialects);
        let sentence = format!("{what} but the request asks for {asked_for}; send {instead}");
        if asked.is_some_and(is_1_0) {
            // The agent supports version 1.0, but this version does not have the name.
            Error::OtherVersionsName(sentence)
        } else {
            Error::VersionNotSupported(sentence)
        }
    }

    /// The refusal of a request in a version that the agent does not support.
    pub(super) fn unspoken(&self, dialects: &Dialects) -> Error {
        let what = self.what.as_deref().unwrap_or("the request is one of an older version of A2A");
        let instead = self.instead(None, dialects);
        Error::VersionNotSupported(format!(
            "{what}, which this agent does not support; send {instead}"
        ))
    }

    /// The list of things to send instead.
    fn instead(&self, asked: Option<&str>, dialects: &Dialects) -> String {
        let mut ways: Vec<String> = Vec::new();
        match self.dialect {
            Dialect::V1 => ways.push("A2A-Version: 1.0".to_owned()),
            Dialect::V0_3 if dialects.v0_3 => ways.push("A2A-Version: 0.3 or none".to_owned()),
            Dialect::Legacy if dialects.legacy => ways.push("no A2A-Version".to_owned()),
            Dialect::V0_3 | Dialect::Legacy => {}
        }
        if let (true, Some(name)) = (dialects.v0_3 && asked.is_some_and(is_0_3), &self.in_0_3) {
            ways.push(format!("{name} for A2A 0.3"));
        }
        if let Some(name) = &self.in_1_0
            && self.dialect != Dialect::V1
        {
            ways.push(format!("{name} with A2A-Version: 1.0"));
        }
        if ways.is_empty() {
            ways.push("what A2A 1.0 has for it, with A2A-Version: 1.0".to_owned());
        }
        ways.join(", or ")
    }
}

/// The refusal of a request for a card in a version for which the agent has no card.
pub(super) fn no_card(version: &str, dialects: &Dialects) -> Error {
    let (cards, send) = if dialects.v0_3 { ("1.0 and 0.3", "1.0 or 0.3") } else { ("1.0", "1.0") };
    Error::VersionNotSupported(format!(
        "this agent has no card of A2A {}; it has cards of {cards}: send A2A-Version: {send}, or no version",
        shown(version)
    ))
}

/// The versions that an agent supports.
fn versions(dialects: &Dialects) -> &'static str {
    match (dialects.v0_3, dialects.legacy) {
        (false, false) => "1.0",
        (true, false) => "1.0 and 0.3",
        (false, true) => "1.0 and 0.1",
        (true, true) => "1.0, 0.3 and 0.1",
    }
}

/// The beginning of a path, for errors.
fn short(path: &str) -> String {
    path.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::dialect::Spoken;

    const ALL: Dialects = Dialects::ALL;
    const NONE: Dialects = Dialects::NONE;
    const V0_3: Dialects = Dialects { v0_3: true, ..NONE };
    const LEGACY: Dialects = Dialects { legacy: true, ..NONE };

    #[test]
    fn each_mistake_about_a_method_has_its_sentence() {
        for (method, asked, dialects, sentence) in [
            (
                "SendMessage",
                Some("0.3"),
                ALL,
                "SendMessage is a method of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0, or message/send for A2A 0.3",
            ),
            (
                "SendMessage",
                Some("0.3.0"),
                NONE,
                "SendMessage is a method of A2A 1.0 but the request asks for A2A 0.3.0; send A2A-Version: 1.0",
            ),
            (
                "ListTasks",
                Some("0.3"),
                ALL,
                "ListTasks is a method of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0",
            ),
            (
                "GetTask",
                None,
                ALL,
                "GetTask is a method of A2A 1.0 but the request asks for no version; send A2A-Version: 1.0",
            ),
            (
                "GetTask",
                Some("99.0"),
                ALL,
                "GetTask is a method of A2A 1.0 but the request asks for A2A 99.0; send A2A-Version: 1.0",
            ),
            (
                "GetTask",
                Some("abc"),
                NONE,
                "GetTask is a method of A2A 1.0 but the request asks for A2A abc; send A2A-Version: 1.0",
            ),
            (
                "message/send",
                Some("1.0"),
                V0_3,
                "message/send is a method of A2A 0.3 but the request asks for A2A 1.0; send A2A-Version: 0.3 or none, or SendMessage with A2A-Version: 1.0",
            ),
            (
                "message/send",
                Some("1.0"),
                NONE,
                "message/send is a method of A2A 0.3 but the request asks for A2A 1.0; send SendMessage with A2A-Version: 1.0",
            ),
            (
                "message/send",
                Some("0.2"),
                ALL,
                "message/send is a method of A2A 0.3 but the request asks for A2A 0.2; send A2A-Version: 0.3 or none, or SendMessage with A2A-Version: 1.0",
            ),
            (
                "message/send",
                Some("0.3"),
                LEGACY,
                "message/send is a method of A2A 0.3, which this agent does not support; send SendMessage with A2A-Version: 1.0",
            ),
            (
                "message/stream",
                None,
                NONE,
                "message/stream is a method of A2A 0.3, which this agent does not support; send SendStreamingMessage with A2A-Version: 1.0",
            ),
            (
                "agent/getAuthenticatedExtendedCard",
                None,
                NONE,
                "agent/getAuthenticatedExtendedCard is a method of A2A 0.3, which this agent does not support; send GetExtendedAgentCard with A2A-Version: 1.0",
            ),
            (
                "tasks/get",
                None,
                NONE,
                "tasks/get is a method of A2A 0.3 and 0.1, which this agent does not support; send GetTask with A2A-Version: 1.0",
            ),
            (
                "tasks/resubscribe",
                Some("2.0"),
                V0_3,
                "tasks/resubscribe is a method of A2A 0.3 and 0.1 but the request asks for A2A 2.0; send A2A-Version: 0.3 or none, or SubscribeToTask with A2A-Version: 1.0",
            ),
            (
                "tasks/send",
                Some("0.3"),
                ALL,
                "tasks/send is a method of A2A 0.1 but the request asks for A2A 0.3; send no A2A-Version, or message/send for A2A 0.3, or SendMessage with A2A-Version: 1.0",
            ),
            (
                "tasks/send",
                Some("0.1"),
                LEGACY,
                "tasks/send is a method of A2A 0.1 but the request asks for A2A 0.1; send no A2A-Version, or SendMessage with A2A-Version: 1.0",
            ),
            (
                "tasks/sendSubscribe",
                None,
                V0_3,
                "tasks/sendSubscribe is a method of A2A 0.1, which this agent does not support; send SendStreamingMessage with A2A-Version: 1.0",
            ),
            (
                "Nonsense",
                Some("99.0"),
                ALL,
                "the request asks for A2A 99.0, which this agent does not support; it supports 1.0, 0.3 and 0.1: send A2A-Version: 1.0",
            ),
            (
                "Nonsense",
                Some("0.3"),
                NONE,
                "the request asks for A2A 0.3, which this agent does not support; it supports 1.0: send A2A-Version: 1.0",
            ),
            ("Nonsense", Some("0.3"), V0_3, "there is no method \"Nonsense\""),
            ("Nonsense", None, NONE, "there is no method \"Nonsense\""),
        ] {
            let spoken = Spoken::method(method, asked, true, &dialects);
            let found = spoken.and_then(|spoken| spoken.dialect_for(&dialects, false));
            assert_eq!(found.expect_err(method).to_string(), sentence, "{method} {asked:?}");
        }
    }

    #[test]
    fn each_mistake_about_a_path_has_its_sentence() {
        for (path, asked, dialects, sentence) in [
            (
                "message:send",
                Some("0.3"),
                ALL,
                "message:send is a path of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0, or v1/message:send for A2A 0.3",
            ),
            (
                "extendedAgentCard",
                Some("0.3"),
                ALL,
                "extendedAgentCard is a path of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0, or v1/card for A2A 0.3",
            ),
            (
                "tasks/t",
                Some("99.0"),
                NONE,
                "tasks/t is a path of A2A 1.0 but the request asks for A2A 99.0; send A2A-Version: 1.0",
            ),
            (
                "tasks",
                None,
                NONE,
                "tasks is a path of A2A 1.0 but the request asks for no version; send A2A-Version: 1.0",
            ),
            (
                "v1/tasks/t:cancel",
                Some("1.0"),
                V0_3,
                "v1/tasks/t:cancel is a path of A2A 0.3 but the request asks for A2A 1.0; send A2A-Version: 0.3 or none, or tasks/t:cancel with A2A-Version: 1.0",
            ),
            (
                "v1/message:stream",
                None,
                NONE,
                "v1/message:stream is a path of A2A 0.3, which this agent does not support; send message:stream with A2A-Version: 1.0",
            ),
            (
                "v1/card",
                Some("0.3"),
                NONE,
                "v1/card is a path of A2A 0.3, which this agent does not support; send extendedAgentCard with A2A-Version: 1.0",
            ),
            (
                "agent/authenticatedExtendedCard",
                None,
                NONE,
                "agent/authenticatedExtendedCard is a path of A2A 0.3, which this agent does not support; send extendedAgentCard with A2A-Version: 1.0",
            ),
            (
                "v1/nonsense",
                None,
                NONE,
                "v1/nonsense is a path of A2A 0.3, which this agent does not support; send what A2A 1.0 has for it, with A2A-Version: 1.0",
            ),
            (
                "x/y/z",
                Some("99.0"),
                V0_3,
                "the request asks for A2A 99.0, which this agent does not support; it supports 1.0 and 0.3: send A2A-Version: 1.0",
            ),
        ] {
            let found = Spoken::dialect_of_path(path, asked, true, &dialects);
            assert_eq!(found.expect_err(path).to_string(), sentence, "{path} {asked:?}");
        }
    }

    #[test]
    fn what_the_client_has_sent_is_shown_in_part() {
        let long = "9".repeat(500);
        let error =
            Spoken::method("GetTask", Some(&long), false, &ALL).expect_err("a long version");
        assert!(error.to_string().len() < 150, "{error}");
        let path = format!("v1/{long}");
        let error = Spoken::dialect_of_path(&path, Some("1.0"), false, &ALL);
        assert!(error.expect_err("a long path").to_string().len() < 300);
    }
}
