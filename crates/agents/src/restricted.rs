//! Skills that need permissions.

use serde::Serialize;
use serde_json::Value;

use a2a::model::decode::Decode;

/// A skill that needs permissions. For callers without them the skill does not exist: neither their cards nor the
/// agent's answers contain it.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct RestrictedSkill {
    /// A caller needs all of these permissions; at least one.
    pub permissions: Vec<String>,
    /// The number of skills before this one in a card with all skills.
    pub position: usize,
    /// The skill, as a card shows it.
    pub skill: Value,
}

impl RestrictedSkill {
    /// The id of the skill; for a tool, its name.
    pub fn id(&self) -> &str {
        self.skill.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// True if a caller may use the skill. `may` returns true for each permission of the caller.
    pub fn is_for(&self, may: impl Fn(&str) -> bool) -> bool {
        self.permissions.iter().all(|permission| may(permission))
    }
}
