//! The media types that an agent accepts in messages: the key `accepts` of its file.

use serde::Serialize;

use a2a::model::decode::Decode;

/// The media types that the parts of a message may have (spec §3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
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
