//! The kind `script`: an agent that answers by fixed rules.

use serde::{Deserialize, Serialize};

use crate::script::{Rule, is_for_development, needs_permissions, parks, problems_of};
use crate::skills::has_skills;
use crate::{AgentDefinition, Recovery};

/// `[executor.script]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptTable {
    /// The rules, at least one.
    pub rules: Vec<Rule>,
}

impl ScriptTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<(String, String)> {
        let Self { rules } = self;
        let mut problems = Vec::new();
        if !has_skills(agent) {
            let fix = "a scripted agent needs at least one `[[skills]]`";
            problems.push(("skills".to_owned(), fix.to_owned()));
        }
        if rules.is_empty() {
            problems.push((RULES.to_owned(), "needs at least one rule".to_owned()));
        }
        if !agent.development && rules.iter().any(is_for_development) {
            let fix = "a step is `panic` or `steps`, which only an agent with `development = true` \
                       may have";
            problems.push((RULES.to_owned(), fix.to_owned()));
        }
        if agent.access.is_anonymous() && rules.iter().any(needs_permissions) {
            let fix = "has a rule with `permissions`, which nobody can have: callers get them by the schemes in \
                       [access.schemes]; add one";
            problems.push((RULES.to_owned(), fix.to_owned()));
        }
        let recovery = agent.executor.run.recovery;
        if self.parks() && !matches!(recovery, None | Some(Recovery::Resume)) {
            let fix = "must be \"resume\", or be left out: a step of this script is `park` or `callback`, and a \
                       run that was parked is resumed";
            problems.push(("executor.run.recovery".to_owned(), fix.to_owned()));
        }
        problems.extend(problems_of(rules, RULES));
        problems
    }

    /// Whether a step parks the run of its agent.
    pub fn parks(&self) -> bool {
        self.rules.iter().any(parks)
    }
}

const RULES: &str = "executor.script.rules";
