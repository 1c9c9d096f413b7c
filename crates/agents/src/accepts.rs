//! The media types that an agent accepts in messages: the key `accepts` of its file.

use serde::{Deserialize, Serialize};

/// The media types that the parts of a message may have (spec §3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "checker"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Accepts {
    /// Any media type.
    #[default]
    Any,
    /// The input media types that the card lists.
    Declared,
}

impl Accepts {
    /// True if the agent file does not set `accepts`.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
