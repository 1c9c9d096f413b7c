//! The MCP calls that a turn is about to make, in the form that steps store.
//!
//! The lists of tools may change during a task, so the calls of a message are determined only once. The plan is stored before
//! any request is sent. A run that resumes follows the stored plan, and so does the turn that answers a question.

use std::rc::Rc;

use serde::Serialize;

use super::super::offer::{Callable, Named};
use crate::executor::ExecutorError;
use crate::executor::call::mcp::asked::Asked;
use crate::executor::call::mcp::{McpTool, bare};
use a2a::model::decode::{Decode, Fields};

/// The calls of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Decode)]
pub(super) struct Plan {
    /// The number of the client's messages that name the calls and their arguments.
    pub(super) messages: usize,
    /// The calls in order.
    pub(super) calls: Vec<Planned>,
    /// The argument that holds the text of the message, if the message names no tool.
    pub(super) text: Option<String>,
    /// The questions that the message of the turn answers, if any. The calls before the asking call are done.
    pub(super) answers: Option<Box<Asked>>,
}

/// A planned call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Planned {
    /// Calls a tool of an MCP server.
    Mcp {
        /// The name of the tool in this agent.
        id: String,
        /// The name of the server.
        server: String,
        /// The name of the tool at the server.
        tool: String,
        /// True if the call may be repeated although it may have been carried out.
        repeats: bool,
    },
    /// Calls a tool of this Worker.
    Own {
        /// The name of the tool.
        tool: String,
    },
}

impl Decode for Planned {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tool = fields.required("tool")?;
        if !fields.has("id") {
            return Some(Self::Own { tool });
        }
        let (id, server) = (fields.required("id")?, fields.required("server")?);
        Some(Self::Mcp { id, server, tool, repeats: fields.or("repeats", bool::default)? })
    }
}

impl Plan {
    /// The MCP tools that the calls name, with only the data that the plan contains.
    pub(super) fn tools(&self) -> Vec<McpTool> {
        let tool = |call: &Planned| match call {
            Planned::Own { .. } => None,
            Planned::Mcp { id, server, tool, repeats } => Some(McpTool {
                id: id.clone(),
                server: server.clone(),
                tool: bare(tool),
                description: String::new(),
                repeats: *repeats,
            }),
        };
        self.calls.iter().filter_map(tool).collect()
    }

    /// The name of the server of a call.
    ///
    /// # Errors
    ///
    /// If the plan has no call of an MCP tool at this position.
    pub(super) fn server(&self, position: usize) -> Result<&str, ExecutorError> {
        match position.checked_sub(1).and_then(|index| self.calls.get(index)) {
            Some(Planned::Mcp { server, .. }) => Ok(server),
            Some(Planned::Own { .. }) | None => {
                Err(ExecutorError(format!("the stored plan has no MCP call {position}")))
            }
        }
    }

    /// The position of the first call that is not done, from 1.
    pub(super) fn begins(&self) -> usize {
        self.answers.as_ref().map_or(1, |asked| asked.position)
    }
}

impl Planned {
    /// The planned call of a tool.
    pub(super) fn of(tool: &Callable) -> Self {
        match tool {
            Callable::Own(tool) => Self::Own { tool: tool.name().to_owned() },
            Callable::Mcp(tool) => {
                let McpTool { id, server, tool, repeats, .. } = Rc::unwrap_or_clone(tool.clone());
                Self::Mcp { id, server, tool: tool.name, repeats }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::call::mcp::asked::Way;
    use ::mcp::client::TaskHandle;
    use ::mcp::model::{Question, QuestionKind};
    use a2a::model::decode::{decode, read_json};
    use serde_json::json;

    #[test]
    fn a_plan_is_read_as_it_was_kept() {
        let call = Planned::Mcp {
            id: "files.read".to_owned(),
            server: "files".to_owned(),
            tool: "read".to_owned(),
            repeats: true,
        };
        let question = |kind| Question { key: "q".to_owned(), message: "Which?".to_owned(), kind };
        let questions = vec![
            question(QuestionKind::Form(json!({"type": "object", "properties": {}}))),
            question(QuestionKind::Url("https://a.example/x".to_owned())),
        ];
        let task = TaskHandle { id: "t".to_owned(), poll_interval_ms: 2_000, ttl_ms: None };
        for way in [
            Way::Round { state: Some("sealed".to_owned()), round: 2 },
            Way::Round { state: None, round: 1 },
            Way::Task(task),
            Way::Held,
        ] {
            let asked = Asked { position: 2, questions: questions.clone(), way };
            let plan = Plan {
                messages: 1,
                calls: vec![Planned::Own { tool: "echo".to_owned() }, call.clone()],
                text: None,
                answers: Some(Box::new(asked)),
            };
            assert_eq!(again(&plan), plan);
            assert_eq!((plan.begins(), plan.tools().len()), (2, 1));
        }
        let text =
            Plan { messages: 3, calls: vec![call], text: Some("a".to_owned()), answers: None };
        assert_eq!(again(&text), text);
        for other in [json!(null), json!({}), json!({"messages": 1, "calls": [{}]})] {
            assert!(decode::<Plan>(other.clone()).is_err(), "{other}");
        }
    }

    fn again(plan: &Plan) -> Plan {
        decode(serde_json::to_value(plan).unwrap()).unwrap()
    }

    #[test]
    fn plans_have_the_form_that_0_3_0_has_stored() {
        let question = r#"{"mode":"url","message":"Which?","url":"https://a.example/x","key":"q"}"#;
        let form = r#"{"mode":"form","message":"","requestedSchema":{"type":"object"},"key":"f"}"#;
        for way in [
            r#""held""#,
            r#"{"task":{"id":"t","pollIntervalMs":2000,"ttlMs":null}}"#,
            r#"{"state":null,"round":1}"#,
            r#"{"state":"sealed","round":2}"#,
        ] {
            let stored = format!(
                r#"{{"messages":1,"calls":[{{"tool":"echo"}},{{"id":"files.read","server":"files","tool":"read","repeats":true}}],"text":null,"answers":{{"position":2,"questions":[{question},{form}],"way":{way}}}}}"#
            );
            let plan: Plan = read_json(&stored).unwrap();
            assert_eq!(plan.server(2).ok(), Some("files"));
            assert!([0, 1, 3].into_iter().all(|other| plan.server(other).is_err()));
            assert_eq!(serde_json::to_value(&plan).unwrap().to_string(), stored);
        }
        let stored = r#"{"messages":3,"calls":[{"tool":"echo"}],"text":"a","answers":null}"#;
        let plan: Plan = read_json(stored).unwrap();
        assert_eq!(serde_json::to_value(&plan).unwrap().to_string(), stored);
    }
}
