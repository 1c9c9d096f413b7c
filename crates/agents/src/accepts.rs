//! Which messages an agent takes: the key `accepts` of its file.

use serde::{Deserialize, Serialize};

/// Which media types the parts of messages may have (spec §3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accepts {
    /// Any.
    #[default]
    Any,
    /// Those that the card lists.
    Declared,
}

impl Accepts {
    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
