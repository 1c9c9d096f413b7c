//! The secrets and variables that a deployment has to set for an agent.

use serde::{Deserialize, Serialize};

/// A secret or a variable that an agent needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// Who needs it, as `tool weather`, `executor seats` or `scheme key`.
    pub by: Vec<String>,
    /// The names of secrets any of which does instead, while one replaces the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
}

impl Need {
    /// Those of a list in which each has who needs it and its names, one of which has to be set; all that do the same
    /// once.
    #[cfg(any(test, feature = "build"))]
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
