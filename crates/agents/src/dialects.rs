//! The older versions of the protocol that an agent speaks: the table `[dialects]`.

use serde::{Deserialize, Serialize};

use a2a::dialect::{self, Habits};

/// The versions of the protocol that an agent speaks besides 1.0, which all agents do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialects {
    /// A2A 0.3, of which 0.2 is a part.
    #[serde(skip_serializing_if = "V0_3::is_default")]
    pub v0_3: V0_3,
    /// A2A 0.1: the `tasks/send` family.
    #[serde(skip_serializing_if = "Legacy::is_default")]
    pub legacy: Legacy,
}

/// How an agent speaks A2A 0.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct V0_3 {
    /// Whether it does at all.
    pub enabled: bool,
    /// How bytes of files are written over HTTP+JSON.
    pub file_bytes: FileBytes,
}

/// How `fileWithBytes` is written over HTTP+JSON in A2A 0.3. Both are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileBytes {
    /// Base64 of base64, as the SDKs for Python and Go of that version do.
    #[default]
    Double,
    /// Base64, as the SDK for JavaScript of that version does.
    Single,
}

/// How an agent speaks A2A 0.1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Legacy {
    /// Whether it does at all.
    pub enabled: bool,
    /// What the history of a task is.
    pub history: LegacyHistory,
}

/// What the history of a task is in A2A 0.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LegacyHistory {
    /// Its messages.
    #[default]
    Messages,
    /// Its statuses, with their timestamps.
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

impl From<&Dialects> for dialect::Dialects {
    fn from(Dialects { v0_3, legacy }: &Dialects) -> Self {
        Self {
            v0_3: v0_3.enabled,
            legacy: legacy.enabled,
            habits: Habits {
                single_base64: v0_3.file_bytes == FileBytes::Single,
                status_history: legacy.history == LegacyHistory::Statuses,
            },
        }
    }
}
