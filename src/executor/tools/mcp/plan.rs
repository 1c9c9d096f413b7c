//! The MCP calls that a turn is about to make, in the form that steps store.
//!
//! The lists of tools may change during a task, so the calls of a message are determined only once. The plan is stored before
//! any request is sent. A run that resumes follows the stored plan, and so does the turn that answers a question.

use std::rc::Rc;

use serde_json::{Value, json};

use super::super::offer::Callable;
use crate::executor::call::mcp::asked::{Asked, number, text};
use crate::executor::call::mcp::{McpTool, bare};

/// The calls of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Planned {
    /// Calls a tool of this Worker.
    Own(String),
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
}

impl Plan {
    /// The JSON that a step stores.
    pub(super) fn to_json(&self) -> Value {
        let calls = self.calls.iter().map(|call| match call {
            Planned::Own(name) => json!({"tool": name}),
            Planned::Mcp { id, server, tool, repeats } => {
                json!({"id": id, "server": server, "tool": tool, "repeats": repeats})
            }
        });
        json!({
            "messages": self.messages,
            "calls": calls.collect::<Vec<_>>(),
            "text": self.text,
            "answers": self.answers.as_ref().map(|asked| asked.to_json()),
        })
    }

    /// Reads a plan from the JSON that a step has stored.
    pub(super) fn read(json: &Value) -> Option<Self> {
        let call = |json: &Value| {
            let tool = text(json, "tool")?;
            let Some(server) = text(json, "server") else { return Some(Planned::Own(tool)) };
            let repeats = json.get("repeats").and_then(Value::as_bool).unwrap_or_default();
            Some(Planned::Mcp { id: text(json, "id")?, server, tool, repeats })
        };
        let calls = json.get("calls")?.as_array()?.iter().map(call);
        let answers = json.get("answers").filter(|asked| !asked.is_null());
        Some(Self {
            messages: number(json, "messages")?,
            calls: calls.collect::<Option<_>>()?,
            text: text(json, "text"),
            answers: match answers {
                Some(asked) => Some(Box::new(Asked::read(asked)?)),
                None => None,
            },
        })
    }

    /// The MCP tools that the calls name, with only the data that the plan contains.
    pub(super) fn tools(&self) -> Vec<McpTool> {
        let tool = |call: &Planned| match call {
            Planned::Own(_) => None,
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
    pub(super) fn server(&self, position: usize) -> &str {
        match position.checked_sub(1).and_then(|index| self.calls.get(index)) {
            Some(Planned::Mcp { server, .. }) => server,
            Some(Planned::Own(_)) | None => "",
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
            Callable::Own(tool) => Self::Own(tool.name().to_owned()),
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
                calls: vec![Planned::Own("echo".to_owned()), call.clone()],
                text: None,
                answers: Some(Box::new(asked)),
            };
            assert_eq!(Plan::read(&plan.to_json()), Some(plan.clone()));
            assert_eq!((plan.begins(), plan.tools().len()), (2, 1));
        }
        let text =
            Plan { messages: 3, calls: vec![call], text: Some("a".to_owned()), answers: None };
        assert_eq!(Plan::read(&text.to_json()), Some(text));
        for other in [json!(null), json!({}), json!({"messages": 1, "calls": [{}]})] {
            assert_eq!(Plan::read(&other), None, "{other}");
        }
    }
}
