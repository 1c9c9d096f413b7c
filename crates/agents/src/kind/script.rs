//! The kind `script`: an agent that answers by fixed rules.

use serde::{Deserialize, Serialize};

use crate::script::{Fault, Rule, is_for_development, needs_permissions, parks, problems_of};
use crate::skills::has_skills;
use crate::{AgentDefinition, Problem, Recovery};

/// `[executor.script]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptTable {
    /// The rules, at least one.
    pub rules: Vec<Rule>,
    /// What goes wrong on purpose between the agent and its clients, in `development` agents only. Of those that are for a
    /// request the first happens whose `times` are not used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

impl ScriptTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !has_skills(agent) {
            let fix = "a scripted agent needs at least one `[[skills]]`";
            problems.push(Problem::at("skills", fix));
        }
        if agent.access.is_anonymous() && self.rules.iter().any(needs_permissions) {
            let fix = "has a rule with `permissions`, which nobody can have: callers get them by the schemes in \
                       [access.schemes]; add one";
            problems.push(Problem::at(format!("{TABLE}rules"), fix));
        }
        let recovery = agent.executor.run.recovery;
        if self.parks() && !matches!(recovery, None | Some(Recovery::Resume)) {
            let fix = "must be \"resume\", or be left out: a step of this script is `park` or `callback`, and a \
                       run that was parked is resumed";
            problems.push(Problem::at("executor.run.recovery", fix));
        }
        problems.extend(self.problems_at(TABLE, agent.development));
        problems
    }

    /// What is wrong with the table itself, each with its key behind `path`. `is_development` says whether its agent is for
    /// development only.
    pub fn problems_at(&self, path: &str, is_development: bool) -> Vec<Problem> {
        let Self { rules, faults } = self;
        let (rules_at, faults_at) = (format!("{path}rules"), format!("{path}faults"));
        let mut problems = Vec::new();
        if rules.is_empty() {
            problems.push(Problem::at(rules_at.clone(), "needs at least one rule"));
        }
        if !is_development && rules.iter().any(is_for_development) {
            let fix = "a step is `panic` or `steps`, which only an agent with `development = true` \
                       may have";
            problems.push(Problem::at(rules_at.clone(), fix));
        }
        if !is_development && !faults.is_empty() {
            let fix = "only an agent with `development = true` may have faults";
            problems.push(Problem::at(faults_at.clone(), fix));
        }
        problems.extend(problems_of(rules, &rules_at));
        let each = faults.iter().enumerate();
        problems.extend(each.flat_map(|(at, fault)| fault.problems(&format!("{faults_at}[{at}]"))));
        problems
    }

    /// Whether a step parks the run of its agent.
    pub fn parks(&self) -> bool {
        self.rules.iter().any(parks)
    }
}

/// What stands before the keys of the table in an agent file.
const TABLE: &str = "executor.script.";
