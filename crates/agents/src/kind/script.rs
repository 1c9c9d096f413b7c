//! The kind `script`: an agent that answers by fixed rules.

use serde::{Deserialize, Serialize};

use super::{ExecutorKind, Kind};
use crate::script::{Fault, Rule, is_for_development, needs_permissions, parks, problems_of};
use crate::tool::Tool;
use crate::{AgentDefinition, Misfit, Problem, Table};

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

impl Kind for ScriptTable {
    fn name(&self) -> &str {
        ExecutorKind::Script.name()
    }

    fn table(&self) -> Result<Table, Misfit> {
        Table::of(self)
    }

    fn problems(&self, agent: &AgentDefinition, _: &[&dyn Tool]) -> Vec<Problem> {
        let mut problems = self.own_problems(agent.development);
        if agent.access.is_anonymous() && self.rules.iter().any(needs_permissions) {
            let fix = "has a rule with `permissions`, which nobody can have: callers get them by the schemes in \
                       [access.schemes]; add one";
            problems.push(Problem::at("rules", fix));
        }
        problems
    }

    fn resumes_because(&self) -> Option<&'static str> {
        self.parks().then_some(
            "a step of this script is `park` or `callback`, and a run that was parked is resumed",
        )
    }
}

impl ScriptTable {
    /// What is wrong with the table itself, each with its key below it. `is_development` is true for an agent that is served in
    /// development only.
    pub fn own_problems(&self, is_development: bool) -> Vec<Problem> {
        let Self { rules, faults } = self;
        let mut problems = Vec::new();
        let mut report = |key: &str, fix: &str| problems.push(Problem::at(key, fix));
        if rules.is_empty() {
            report("rules", "needs at least one rule");
        }
        if !is_development && rules.iter().any(is_for_development) {
            let fix = "a step is `panic` or `steps`, which only an agent with `development = true` \
                       may have";
            report("rules", fix);
        }
        if !is_development && !faults.is_empty() {
            report("faults", "only an agent with `development = true` may have faults");
        }
        problems.extend(problems_of(rules, "rules"));
        let each = faults.iter().enumerate();
        problems.extend(each.flat_map(|(at, fault)| fault.problems(&format!("faults[{at}]"))));
        problems
    }

    /// Whether a step parks the run of its agent.
    pub fn parks(&self) -> bool {
        self.rules.iter().any(parks)
    }
}
