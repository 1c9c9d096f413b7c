//! Scripted agents as test doubles: scripts that are set while the Worker runs, and which of their faults are due. In
//! development only, in the memory of the instance: a restart goes back to the agent files.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;

use a2a_agents::script::Rule;
use a2a_agents::{EmbeddedAgent, ExecutorKind, Misfit, Problem, ScriptTable, Table};

/// A scripted agent whose script can be set.
pub struct Double {
    slug: String,
    file: Rc<Script>,
    is_for_development: bool,
}

/// A script, and the table that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// As it was written.
    pub table: Table,
    read: ScriptTable,
}

impl Script {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// The first thing in it that is no script.
    pub fn read(table: Table) -> Result<Self, Misfit> {
        Ok(Self { read: table.read()?, table })
    }

    /// Its rules.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.read.rules
    }
}

impl Double {
    /// Of an agent, if it is a scripted one.
    pub(super) fn of(agent: &EmbeddedAgent) -> Option<Self> {
        if agent.executor.kind != ExecutorKind::Script.name() {
            return None;
        }
        let file = Rc::new(Script::read(agent.executor.table.clone()).ok()?);
        let is_for_development = agent.development;
        Some(Self { slug: agent.slug.clone(), file, is_for_development })
    }

    /// The script that it plays.
    pub fn playing(&self) -> Rc<Script> {
        script_of(&self.slug).unwrap_or_else(|| self.file.clone())
    }

    /// Sets another script. What counts its faults begins anew.
    ///
    /// # Errors
    ///
    /// What is wrong with it, each with its key.
    pub fn set(&self, script: Script) -> Result<(), Vec<Problem>> {
        let problems = script.read.own_problems(self.is_for_development);
        if !problems.is_empty() {
            return Err(problems);
        }
        self.put(Some(Rc::new(script)));
        Ok(())
    }

    /// Goes back to the script of its file. What counts its faults begins anew.
    pub fn restore(&self) {
        self.put(None);
    }

    fn put(&self, script: Option<Rc<Script>>) {
        change(&self.slug, |set| (set.script, set.happened) = (script, Vec::new()));
    }

    /// The fault that happens to a request for an operation, or for the card, as it was written; it counts as one that has
    /// happened.
    pub fn take_fault(&self, operation: Option<&str>, body: &str) -> Option<Value> {
        if !self.is_for_development {
            return None;
        }
        let script = self.playing();
        let faults = &script.read.faults;
        let taken = change(&self.slug, |Set { happened, .. }| {
            happened.resize(faults.len(), 0);
            let mut each = faults.iter().zip(happened).enumerate();
            let (at, (_, happened)) = each.find(|(_, (fault, happened))| {
                fault.times.is_none_or(|times| **happened < times) && fault.is_for(operation, body)
            })?;
            *happened += 1;
            Some(at)
        });
        script.table.json().get("faults")?.get(taken?).cloned()
    }
}

/// The script that was set for an agent.
pub(super) fn script_of(slug: &str) -> Option<Rc<Script>> {
    SET.with_borrow(|all| {
        all.iter().find(|set| set.slug == slug).and_then(|set| set.script.clone())
    })
}

fn change<T>(slug: &str, change: impl FnOnce(&mut Set) -> T) -> T {
    SET.with_borrow_mut(|all| {
        if let Some(set) = all.iter_mut().find(|set| set.slug == slug) {
            return change(set);
        }
        let mut set = Set { slug: slug.to_owned(), script: None, happened: Vec::new() };
        let changed = change(&mut set);
        all.push(set);
        changed
    })
}

/// What was set for an agent.
struct Set {
    slug: String,
    script: Option<Rc<Script>>,
    /// How often each fault has happened.
    happened: Vec<u32>,
}

thread_local! {
    static SET: RefCell<Vec<Set>> = const { RefCell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(faults: Value) -> Script {
        let rules = json!([{"then": [{"do": "complete"}]}]);
        Script::read(json!({"rules": rules, "faults": faults}).into()).unwrap()
    }

    fn double(slug: &str, is_for_development: bool, file: Script) -> Double {
        Double { slug: slug.to_owned(), file: Rc::new(file), is_for_development }
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
    fn the_first_fault_that_is_not_used_up_happens() {
        let faults = json!([
            {"status": 500, "times": 2, "on": ["SendMessage"]},
            {"status": 501, "times": 1},
            {"status": 502, "on": ["GetTask"]},
        ]);
        let double = double("faults", true, script(faults));
        let statuses = |asked: &[&str]| -> Vec<Option<u64>> {
            let taken = |name: &&str| double.take_fault(Some(name), "");
            asked
                .iter()
                .map(|name| taken(name).and_then(|fault| fault["status"].as_u64()))
                .collect()
        };
        let asked = ["SendMessage", "GetTask", "SendMessage", "SendMessage", "GetTask", "card"];
        let expected = [Some(500), Some(501), Some(500), None, Some(502), None];
        assert_eq!(statuses(&asked), expected);
        double.restore();
        assert_eq!(statuses(&asked), expected, "counted anew");
    }

    #[test]
    fn an_agent_that_may_be_deployed_has_no_faults() {
        let double = double("deployed", false, script(json!([])));
        let problems = double.set(script(json!([{"status": 500}]))).unwrap_err();
        assert_eq!(problems[0].key, "faults");
        let problems = double.set(Script::read(json!({"rules": []}).into()).unwrap());
        assert_eq!(problems.unwrap_err()[0].key, "rules");
        assert!(double.take_fault(Some("SendMessage"), "").is_none());
    }
}
