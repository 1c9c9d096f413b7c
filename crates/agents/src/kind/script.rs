//! The kind `script`: an agent whose answers follow fixed rules.

#[cfg(any(test, feature = "checker"))]
use super::{Kind, KindContext};
use super::{KindTable, read_table};
use crate::Problem;
#[cfg(any(test, feature = "checker"))]
use crate::script::needs_permissions;
use crate::script::{Fault, Rule, is_for_development, parks, problems_of};
use crate::table::{Keys, Reader, Table, Texts, keys};

/// `[executor.script]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptTable {
    /// The rules, at least one.
    pub rules: Vec<Rule>,
    /// Simulated faults between the agent and its clients, in `development` agents only. A request gets the first matching
    /// fault whose `times` are not used up.
    pub faults: Vec<Fault>,
}

impl KindTable for ScriptTable {
    const KEYS: &'static Keys = &keys! {
        /// The rules, at least one: the messages that they match, and the steps that answer them.
        "rules",
        /// Simulated faults between the agent and its clients, in agents with `development = true` only.
        "faults",
    };

    fn read(keys: &mut Reader<'_>) -> Self {
        keys.need("rules", ": what the agent does, at least one rule");
        let rules = keys.tables("rules", Rule::EXAMPLE, Rule::read);
        let faults = keys.tables("faults", Fault::EXAMPLE, Fault::read);
        Self { rules, faults }
    }
}

#[cfg(any(test, feature = "checker"))]
impl Kind for ScriptTable {
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.own_problems(agent.is_development);
        if agent.is_anonymous && self.rules.iter().any(needs_permissions) {
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
    /// Reads a table that is not part of an agent file.
    ///
    /// # Errors
    ///
    /// All problems of the reader, each with its key relative to the table.
    pub fn parse(table: &Table) -> Result<Self, Vec<Problem>> {
        let Some(members) = table.members() else {
            return Err(vec![Problem::at("", "must be a table")]);
        };
        let (script, problems) = Reader::read(members, Texts::Literal, read_table);
        if problems.is_empty() { Ok(script) } else { Err(problems) }
    }

    /// The problems of the table itself, each with its key relative to the table. `is_development` is true for an agent that is
    /// served in development only.
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

    /// True if a step parks the run.
    pub fn parks(&self) -> bool {
        self.rules.iter().any(parks)
    }
}
