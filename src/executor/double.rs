//! Scripted agents as test doubles: their scripts can be replaced while the Worker runs, only in development and only in
//! the memory of the instance: after a restart, the scripts of the agent files are used again.

use crate::panic::Shared;
use std::cell::RefCell;
use std::rc::Rc;

use a2a::sorted::SortedMap;
use a2a_agents::script::Rule;
use a2a_agents::{CheckedAgent, ExecutorKind, Problem, ScriptTable, Slug, Table};

/// A scripted agent whose script can be replaced.
pub struct Double {
    slug: Slug,
    file: Rc<Script>,
    is_for_development: bool,
}

/// A script, and the table that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The table as it was written.
    pub table: Table,
    read: ScriptTable,
}

impl Script {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// The mistakes in the table, each with its key.
    pub fn read(table: Table) -> Result<Self, Vec<Problem>> {
        Ok(Self { read: ScriptTable::parse(&table)?, table })
    }

    /// The rules of the script.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.read.rules
    }
}

impl Double {
    /// The test double of an agent, if the agent is scripted.
    pub(super) fn of(agent: &CheckedAgent) -> Option<Self> {
        if agent.executor.kind != ExecutorKind::Script.name() {
            return None;
        }
        let file = Rc::new(Script::read(agent.executor.table.clone()).ok()?);
        let is_for_development = agent.development;
        Some(Self { slug: agent.slug.clone(), file, is_for_development })
    }

    /// The script that the agent uses now.
    pub fn playing(&self) -> Rc<Script> {
        script_of(&self.slug).unwrap_or_else(|| self.file.clone())
    }

    /// Replaces the script.
    ///
    /// # Errors
    ///
    /// The mistakes in the script, each with its key.
    pub fn set(&self, script: Script) -> Result<(), Vec<Problem>> {
        let problems = script.read.own_problems(self.is_for_development);
        if !problems.is_empty() {
            return Err(problems);
        }
        SET.change(|set| set.insert(self.slug.clone(), Rc::new(script)));
        Ok(())
    }

    /// Restores the script of the agent file.
    pub fn restore(&self) {
        SET.change(|set| set.remove(&self.slug));
    }
}

/// The script that was set for this agent; `None` if the agent uses the script of its file.
pub(super) fn script_of(slug: &str) -> Option<Rc<Script>> {
    SET.with_borrow(|set| set.get(slug).cloned())
}

thread_local! {
    /// The scripts that were set, by the slugs of their agents.
    static SET: RefCell<SortedMap<Slug, Rc<Script>>> = const { RefCell::new(SortedMap::new()) };
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn script(faults: Value) -> Script {
        let rules = json!([{"then": [{"do": "complete"}]}]);
        Script::read(json!({"rules": rules, "faults": faults}).into()).unwrap()
    }

    fn double(slug: &str, is_for_development: bool, file: Script) -> Double {
        Double { slug: Slug::parse(slug).unwrap(), file: Rc::new(file), is_for_development }
    }

    #[test]
    fn a_script_stays_until_that_of_the_file_is_restored() {
        let double = double("stays", true, script(json!([])));
        let other = script(json!([{"status": 500}]));
        double.set(other.clone()).unwrap();
        assert_eq!((double.playing().as_ref(), script_of("stays").is_some()), (&other, true));
        double.restore();
        assert_eq!((double.playing().read.faults.len(), script_of("stays").is_some()), (0, false));
    }

    #[test]
    fn an_agent_that_may_be_deployed_has_no_faults() {
        let double = double("deployed", false, script(json!([])));
        let problems = double.set(script(json!([{"status": 500}]))).unwrap_err();
        assert_eq!(problems[0].key, "faults");
        let problems = double.set(Script::read(json!({"rules": []}).into()).unwrap());
        assert_eq!(problems.unwrap_err()[0].key, "rules");
    }
}
