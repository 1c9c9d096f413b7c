//! Skills that not every caller may use.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A skill that a caller needs permissions for. For others it does not exist: neither their cards nor the answers of
/// the agent name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestrictedSkill {
    /// The permissions that a caller needs, all of them; at least one.
    pub permissions: Vec<String>,
    /// How many skills stand before it in a card that shows all.
    pub position: usize,
    /// The skill, as a card shows it.
    pub skill: Value,
}

impl RestrictedSkill {
    /// The id of the skill; for a tool, its name.
    pub fn id(&self) -> &str {
        self.skill.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether a caller of whom `may` says what it may do can use it.
    pub fn is_for(&self, may: impl Fn(&str) -> bool) -> bool {
        self.permissions.iter().all(|permission| may(permission))
    }
}
