//! The older versions of the protocol that an agent supports: the table `[dialects]`.

use serde::Serialize;

#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::access::Access;
use a2a::dialect::{self, Habits};
use a2a::model::decode::Decode;

/// The versions of the protocol that an agent supports in addition to 1.0, which all agents support.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Dialects {
    /// A2A 0.3, which includes 0.2.
    #[serde(skip_serializing_if = "V0_3::is_default")]
    pub v0_3: V0_3,
    /// A2A 0.1: the methods `tasks/send` and similar.
    #[serde(skip_serializing_if = "Legacy::is_default")]
    pub legacy: Legacy,
}

/// The settings of an agent for A2A 0.3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct V0_3 {
    /// True if the agent supports A2A 0.3; true unless given.
    pub enabled: bool,
    /// The encoding of the bytes of files over HTTP+JSON.
    pub file_bytes: FileBytes,
}

/// The encoding of `fileWithBytes` in responses over HTTP+JSON in A2A 0.3. Requests may have either encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileBytes {
    /// Base64 of base64, like the SDKs for Python and Go of that version.
    #[default]
    Double,
    /// Base64, like the SDK for JavaScript of that version.
    Single,
}

/// The settings of an agent for A2A 0.1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Legacy {
    /// True if the agent supports A2A 0.1; true unless given in agents with access schemes, otherwise false. In A2A 0.1,
    /// clients choose the ids of their tasks. All anonymous callers are one owner, so two of them that choose the same id
    /// would share a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The contents of a task's history.
    pub history: LegacyHistory,
}

/// The contents of a task's history in A2A 0.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LegacyHistory {
    /// The messages.
    #[default]
    Messages,
    /// The statuses, with their timestamps.
    Statuses,
}

impl Dialects {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl V0_3 {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Legacy {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for V0_3 {
    fn default() -> Self {
        Self { enabled: true, file_bytes: FileBytes::default() }
    }
}

impl Dialects {
    /// The versions that an agent with this access supports.
    pub fn spoken(&self, access: &Access) -> dialect::Dialects {
        let Self { v0_3, legacy } = self;
        dialect::Dialects {
            v0_3: v0_3.enabled,
            legacy: legacy.enabled.unwrap_or(!access.is_anonymous()),
            habits: Habits {
                single_base64: v0_3.file_bytes == FileBytes::Single,
                status_history: legacy.history == LegacyHistory::Statuses,
            },
        }
    }

    /// The problems of settings for a version that the agent does not support, each with its key.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn problems(&self, access: &Access) -> Vec<Problem> {
        let spoken = self.spoken(access);
        let mut problems = Vec::new();
        if !spoken.v0_3 && self.v0_3.file_bytes != FileBytes::default() {
            let fix = "needs `enabled = true` beside it: the agent does not support A2A 0.3";
            problems.push(Problem::at("dialects.v0_3.file_bytes", fix));
        }
        if !spoken.legacy && self.legacy.history != LegacyHistory::default() {
            let fix = "needs `enabled = true` beside it: the agent does not support A2A 0.1";
            problems.push(Problem::at("dialects.legacy.history", fix));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(text: &str) -> Access {
        toml::from_str(text).expect("a table of access")
    }

    #[test]
    fn agents_speak_0_3_and_those_that_know_their_callers_0_1() {
        let known = "schemes = { key = { kind = 'api_key', name = 'x-key', callers = [] } }";
        for (text, of_access, v0_3, legacy) in [
            ("", "", true, false),
            ("", "open = true", true, false),
            ("", known, true, true),
            ("v0_3 = { enabled = false }", known, false, true),
            ("v0_3 = { file_bytes = 'single' }", "", true, false),
            ("legacy = { enabled = true }", "open = true", true, true),
            ("legacy = { enabled = false }", known, true, false),
            ("legacy = { history = 'statuses' }", known, true, true),
        ] {
            let dialects: Dialects = toml::from_str(text).expect(text);
            let spoken = dialects.spoken(&access(of_access));
            assert_eq!((spoken.v0_3, spoken.legacy), (v0_3, legacy), "{text} {of_access}");
            let stored = serde_json::to_string(&dialects).expect("plain data");
            assert_eq!(serde_json::from_str::<Dialects>(&stored).expect("plain data"), dialects);
            assert_eq!(dialects.is_default(), text.is_empty());
        }
    }

    #[test]
    fn what_is_said_of_a_dialect_that_is_not_spoken_is_a_problem() {
        for (text, key) in [
            ("v0_3 = { enabled = false, file_bytes = 'single' }", Some("dialects.v0_3.file_bytes")),
            ("legacy = { history = 'statuses' }", Some("dialects.legacy.history")),
            ("v0_3 = { file_bytes = 'single' }", None),
            ("legacy = { enabled = true, history = 'statuses' }", None),
            ("v0_3 = { enabled = false }", None),
        ] {
            let dialects: Dialects = toml::from_str(text).expect(text);
            let problems = dialects.problems(&Access::default());
            assert_eq!(problems.first().map(|problem| problem.key.as_str()), key, "{text}");
        }
    }
}
