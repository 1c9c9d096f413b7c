//! The secrets and variables that a deployment has to set for an agent.

use serde::Serialize;

use a2a::model::decode::Decode;

/// A secret or a variable that an agent needs.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct Need {
    /// The name of the secret or variable.
    pub name: String,
    /// The parts of the agent that need it, as `tool weather`, `executor seats` or `scheme key`.
    pub by: Vec<String>,
    /// The names of alternative secrets. One of them, or `name`, must be set: during a rotation, the old or the new secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
}

impl Need {
    /// Collects needs from pairs of a part of the agent and the names of secrets, one of which must be set. Needs with
    /// the same names become one need.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn collect(needs: Vec<(String, Vec<String>)>) -> Vec<Self> {
        let mut collected: Vec<Self> = Vec::new();
        for (by, names) in needs {
            let Some((name, or)) = names.split_first() else { continue };
            match collected.iter_mut().find(|need| need.name == *name && need.or == or) {
                Some(need) if need.by.contains(&by) => {}
                Some(need) => need.by.push(by),
                None => collected.push(Self { name: name.clone(), by: vec![by], or: or.to_vec() }),
            }
        }
        collected
    }
}
