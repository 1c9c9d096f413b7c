//! The delegations of a task, read from its steps. A pure computation.
//!
//! | step | content |
//! |---|---|
//! | `agents` | the tool of each agent, from the first attempt at a turn |
//! | `model` | an answer of the model, with its calls; its number is the round |
//! | `agent <call> <agent>` | the link to the task of a call |
//! | `<call>` | the outcome of a call, `<round>.<position>` |

use super::super::super::remote::link::Link;
use super::{TEAM, ToolNames};
use crate::task::StepRecord;
use a2a::model::TaskId;
use a2a::model::decode::Decode;

/// The tasks of other agents, and the calls that may have begun a task that is not known.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) tasks: Vec<Entry>,
    /// The calls of the newest turn that have no linked task, and either no outcome or a timeout as outcome.
    pub(super) unsure: Vec<Unsure>,
    /// The number of tasks that the newest turn has begun.
    pub(super) begun: u64,
}

/// A task of another agent.
pub(super) struct Entry {
    pub(super) agent: String,
    pub(super) link: Link,
    /// True if the task may still be running or waiting for input, as far as the steps show.
    pub(super) is_open: bool,
}

/// A call that may have begun a task.
#[derive(Debug, PartialEq)]
pub(super) struct Unsure {
    pub(super) key: String,
    pub(super) agent: String,
}

impl Ledger {
    /// Reads the steps of each turn, oldest first.
    pub(super) fn of(turns: &[Vec<StepRecord>]) -> Self {
        let mut ledger = Self::default();
        for steps in turns {
            ledger.begun = 0;
            ledger.unsure.clear();
            let mut reading = Reading::default();
            for step in steps {
                ledger.follow(step, &mut reading);
            }
        }
        ledger
    }

    fn follow<'s>(&mut self, step: &'s StepRecord, reading: &mut Reading<'s>) {
        if step.name == TEAM {
            reading.tools = step.result().unwrap_or_default();
        } else if step.name == MODEL {
            let calls = step.result().map(|answer| reading.calls(&answer, step.nth));
            self.unsure.extend(calls.unwrap_or_default());
        } else if let Some((key, agent)) = read_step_name(&step.name) {
            self.unsure.retain(|call| call.key != key);
            if let Some(link) = step.result::<Link>() {
                reading.linked.push((key, agent, link.task.clone()));
                self.begun += u64::from(self.add(agent, link));
            }
        } else if let Some(Outcome { result: line }) = step.result() {
            // A call that timed out may have begun a task.
            let is_late = line.starts_with(TIMED_OUT);
            self.unsure.retain(|call| call.key != step.name || is_late);
            let linked = reading.linked.iter().rev().find(|(key, ..)| *key == step.name);
            if let Some((_, agent, task)) = linked.filter(|_| has_ended(&line)) {
                self.close(agent, task);
            }
        }
    }

    /// Notes that a task was begun or continued. Returns true if the task is new.
    pub(super) fn add(&mut self, agent: &str, link: Link) -> bool {
        match self
            .tasks
            .iter_mut()
            .find(|known| known.link.task == link.task && known.agent == agent)
        {
            Some(known) => {
                known.is_open = true;
                false
            }
            None => {
                self.tasks.push(Entry { agent: agent.to_owned(), link, is_open: true });
                true
            }
        }
    }

    /// Notes that a task of an agent has ended. Tasks of different agents may have the same id.
    pub(super) fn close(&mut self, agent: &str, task: &TaskId) {
        let is_it = |known: &&mut Entry| known.link.task == *task && known.agent == agent;
        for known in self.tasks.iter_mut().filter(is_it) {
            known.is_open = false;
        }
    }

    /// The task with this id: preferably a task of this agent, else a task of another agent.
    pub(super) fn find(&self, agent: &str, task: &TaskId) -> Option<&Entry> {
        let mut known = self.tasks.iter().filter(|known| known.link.task == *task);
        let first = known.clone().next();
        known.find(|known| known.agent == agent).or(first)
    }
}

/// The values collected while the steps of a turn are read.
#[derive(Default)]
struct Reading<'s> {
    tools: ToolNames,
    /// The calls that have a task, each with its agent and the task's id.
    linked: Vec<(&'s str, &'s str, TaskId)>,
}

/// The calls in a stored answer of the model.
#[derive(Decode)]
struct Answer {
    calls: Vec<Call>,
}

#[derive(Decode)]
struct Call {
    name: String,
}

/// The text that a stored call has as its outcome.
#[derive(Decode)]
struct Outcome {
    result: String,
}

impl Reading<'_> {
    /// The delegations in an answer of the model.
    fn calls(&self, answer: &Answer, round: u32) -> Vec<Unsure> {
        let calls = answer.calls.iter().enumerate();
        let delegations = calls.filter_map(|(index, call)| {
            let agent = self.tools.agent_of(&call.name)?.to_owned();
            Some(Unsure { key: format!("{round}.{}", index + 1), agent })
        });
        delegations.collect()
    }
}

/// The name of the step that stores the link to the task of a call.
pub(super) fn step_name(key: &str, agent: &str) -> String {
    format!("{AGENT}{key} {agent}")
}

fn read_step_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(AGENT)?.split_once(' ')
}

/// True if an outcome proves that the task has ended. A task that was not followed to its end may still be running, and so may a task
/// whose call timed out, since the cancel may have been lost.
fn has_ended(line: &str) -> bool {
    let may_go_on =
        ["[INPUT_REQUIRED", "[AUTH_REQUIRED", TIMED_OUT, "[FAILED] following the task failed: "];
    !may_go_on.iter().any(|head| line.starts_with(head))
}

/// The beginning of the outcome of a call that timed out.
const TIMED_OUT: &str = "[TIMEOUT]";

const AGENT: &str = "agent ";

/// The name of the step that stores an answer of the model.
const MODEL: &str = "model";

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use a2a::binding::Binding;
    use a2a::client::Connection;
    use a2a::dialect::Dialect;
    use a2a::model::{ContextId, Json};
    use serde_json::{Value, json};

    use super::*;

    fn step(name: &str, nth: u32, outcome: Result<Value, &str>) -> StepRecord {
        let outcome = outcome.as_ref().map(Json::from).map_err(|reason| (*reason).to_owned());
        StepRecord {
            name: name.to_owned(),
            nth,
            outcome,
            failed: false,
            usage: None,
            duration_ms: None,
            input: None,
        }
    }

    fn link(task: &str) -> Value {
        let connection = Connection {
            url: "https://a.example".to_owned(),
            binding: Binding::JsonRpc,
            dialect: Dialect::V1,
            tenant: None,
            is_trusted: true,
            streams: true,
        };
        let (task, context) = (TaskId::new(task).unwrap(), ContextId::new("c"));
        let link = Link {
            task,
            context,
            has_webhooks: false,
            connection: Rc::new(connection),
            agent: None,
        };
        serde_json::to_value(link).unwrap()
    }

    fn told(line: &str) -> Value {
        json!({"result": line})
    }

    #[test]
    fn the_steps_tell_what_is_open_and_what_may_have_begun() {
        let call = |name: &str| json!({"id": "x", "name": name, "arguments": "{}"});
        let first = vec![
            step("agents", 1, Ok(json!({"weather": "weather_agent", "travel": "travel"}))),
            step(
                "model",
                1,
                Ok(
                    json!({"text": "", "calls": [call("weather_agent"), call("clock"), call("travel")]}),
                ),
            ),
            step("1.2", 1, Ok(told("noon"))),
            step("agent 1.3 travel", 1, Ok(link("t-3"))),
            step("agent 1.1 weather", 1, Ok(link("t-1"))),
            step("1.1", 1, Ok(told("[COMPLETED] rain"))),
            step("1.3", 1, Ok(told("[INPUT_REQUIRED:task_id=t-3] Which day?"))),
        ];
        let ledger = Ledger::of(std::slice::from_ref(&first));
        let open = |ledger: &Ledger| {
            let open = ledger.tasks.iter().filter(|task| task.is_open);
            open.map(|task| format!("{} {}", task.agent, task.link.task)).collect::<Vec<_>>()
        };
        assert_eq!((open(&ledger), ledger.begun), (vec!["travel t-3".to_owned()], 2));
        assert_eq!(ledger.unsure, []);
        let mut other = Ledger::of(&[first[..6].to_vec()]);
        other.close("travel", &TaskId::new("t-1").unwrap());
        other.close("weather", &TaskId::new("t-3").unwrap());
        assert_eq!(open(&other), ["travel t-3"]);
        assert_eq!(ledger.find("travel", &TaskId::new("t-1").unwrap()).unwrap().agent, "weather");
        assert!(ledger.find("travel", &TaskId::new("t-2").unwrap()).is_none());
        // A crash in the middle of the first round.
        let ledger = Ledger::of(&[first[..4].to_vec()]);
        let unsure = Unsure { key: "1.1".to_owned(), agent: "weather".to_owned() };
        assert_eq!((open(&ledger), &ledger.unsure), (vec!["travel t-3".to_owned()], &vec![unsure]));
        // The next turn answers the question.
        let mut second = vec![
            step("agents", 1, Ok(json!({"travel": "travel"}))),
            step("model", 1, Ok(json!({"calls": [call("travel"), call("weather_agent")]}))),
            step("agent 1.1 travel", 1, Ok(link("t-3"))),
        ];
        let ledger = Ledger::of(&[first.clone(), second.clone()]);
        assert_eq!((open(&ledger), ledger.begun), (vec!["travel t-3".to_owned()], 0));
        for (line, left) in [
            ("[FAILED] no trains", Vec::new()),
            ("[CANCELED]", Vec::new()),
            ("[TIMEOUT]", vec!["travel t-3"]),
            ("[FAILED] following the task failed: HTTP 503", vec!["travel t-3"]),
        ] {
            second.truncate(3);
            second.push(step("1.1", 1, Ok(told(line))));
            assert_eq!(open(&Ledger::of(&[first.clone(), second.clone()])), left, "{line}");
        }
    }

    #[test]
    fn a_call_that_was_not_answered_in_time_may_have_begun_a_task() {
        let steps = vec![
            step("agents", 1, Ok(json!({"a": "a"}))),
            step("model", 1, Ok(json!({"calls": [{"name": "a"}]}))),
            step("1.1", 1, Ok(told("[TIMEOUT]"))),
        ];
        let unsure = Unsure { key: "1.1".to_owned(), agent: "a".to_owned() };
        assert_eq!(Ledger::of(&[steps]).unsure, [unsure]);
    }

    #[test]
    fn a_call_that_was_not_sent_leaves_nothing() {
        let steps = vec![
            step("agents", 1, Ok(json!({"a": "a"}))),
            step("model", 1, Ok(json!({"calls": [{"name": "a"}]}))),
            step("agent 1.1 a", 1, Err("it is down")),
        ];
        let ledger = Ledger::of(&[steps]);
        assert!(ledger.tasks.is_empty() && ledger.unsure.is_empty());
    }
}
