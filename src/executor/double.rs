//! Scripted agents as test doubles: scripts that are set while the Worker runs, and which of their faults are due. In
//! development only, in the memory of the instance: a restart goes back to the agent files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use a2a_agents::script::Fault;
use a2a_agents::{EmbeddedAgent, ScriptTable};

/// A scripted agent whose script can be set.
pub struct Double {
    slug: String,
    file: Rc<ScriptTable>,
    is_for_development: bool,
}

impl Double {
    /// Of an agent, if it is a scripted one.
    pub(super) fn of(agent: &EmbeddedAgent) -> Option<Self> {
        if agent.executor.kind != "script" {
            return None;
        }
        let file = Rc::new(agent.executor.table.read().ok()?);
        let is_for_development = agent.development;
        Some(Self { slug: agent.slug.clone(), file, is_for_development })
    }

    /// The script that it plays.
    pub fn script(&self) -> Rc<ScriptTable> {
        script_of(&self.slug).unwrap_or_else(|| self.file.clone())
    }

    /// Sets another script. What counts its faults begins anew.
    ///
    /// # Errors
    ///
    /// What is wrong with it, each with its key.
    pub fn set(&self, script: ScriptTable) -> Result<(), Vec<(String, String)>> {
        let problems = script.problems_at("", self.is_for_development);
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

    fn put(&self, script: Option<Rc<ScriptTable>>) {
        let set = Set { script, happened: Vec::new() };
        SET.with_borrow_mut(|all| all.insert(self.slug.clone(), set));
    }

    /// The fault that happens to a request for an operation, or for the card; it counts as one that has happened.
    pub fn take_fault(&self, operation: Option<&str>, body: &str) -> Option<Fault> {
        if !self.is_for_development {
            return None;
        }
        let script = self.script();
        SET.with_borrow_mut(|all| {
            let Set { happened, .. } = all.entry(self.slug.clone()).or_default();
            happened.resize(script.faults.len(), 0);
            let mut each = script.faults.iter().zip(happened);
            let (fault, happened) = each.find(|(fault, happened)| {
                fault.times.is_none_or(|times| **happened < times) && fault.is_for(operation, body)
            })?;
            *happened += 1;
            Some(fault.clone())
        })
    }
}

/// The script that was set for an agent.
pub(super) fn script_of(slug: &str) -> Option<Rc<ScriptTable>> {
    SET.with_borrow(|all| all.get(slug).and_then(|set| set.script.clone()))
}

/// What was set for an agent.
#[derive(Default)]
struct Set {
    script: Option<Rc<ScriptTable>>,
    /// How often each fault has happened.
    happened: Vec<u32>,
}

thread_local! {
    static SET: RefCell<BTreeMap<String, Set>> = const { RefCell::new(BTreeMap::new()) };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(faults: serde_json::Value) -> ScriptTable {
        let rules = json!([{"then": [{"do": "complete"}]}]);
        serde_json::from_value(json!({"rules": rules, "faults": faults})).unwrap()
    }

    fn double(slug: &str, is_for_development: bool, file: ScriptTable) -> Double {
        Double { slug: slug.to_owned(), file: Rc::new(file), is_for_development }
    }

    #[test]
    fn a_script_stays_until_that_of_the_file_is_restored() {
        let double = double("stays", true, script(json!([])));
        let other = script(json!([{"status": 500}]));
        double.set(other.clone()).unwrap();
        assert_eq!((double.script().as_ref(), script_of("stays").is_some()), (&other, true));
        double.restore();
        assert_eq!((double.script().faults.len(), script_of("stays").is_some()), (0, false));
    }

    #[test]
    fn the_first_fault_that_is_not_used_up_happens() {
        let faults = json!([
            {"status": 500, "times": 2, "on": ["SendMessage"]},
            {"status": 501, "times": 1},
            {"status": 502, "on": ["GetTask"]},
        ]);
        let double = double("faults", true, script(faults));
        let statuses = |asked: &[&str]| -> Vec<Option<u16>> {
            let take = |name: &&str| double.take_fault(Some(name), "").and_then(|it| it.status);
            asked.iter().map(take).collect()
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
        assert_eq!(problems[0].0, "faults");
        let problems = double.set(serde_json::from_value(json!({"rules": []})).unwrap());
        assert_eq!(problems.unwrap_err()[0].0, "rules");
        assert!(double.take_fault(Some("SendMessage"), "").is_none());
    }
}
