//! The tool `ask_user`, with which a model asks the user a question.

use serde_json::{Map, Value, json};

use super::callable::{Callable, ModelCall, Question, Said, Saying};
use a2a::model::{Part, TaskState};
use chat::ToolSpec;

/// The tool with which a model asks the user a question. The task waits for the answer, which is the result of the
/// call.
pub(super) struct AskUser;

impl Callable for AskUser {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_user".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"question": {"type": "string", "description": "The question, as the user reads it."}},
                "required": ["question"],
                "additionalProperties": false,
            }),
        }
    }

    fn asks(&self, arguments: &Map<String, Value>) -> bool {
        question(arguments).is_some()
    }

    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a> {
        let said = match question(&call.arguments) {
            Some(question) => Said::Asks(Box::new(Question {
                state: TaskState::InputRequired,
                parts: vec![Part::text(question)],
                kept: Value::Null,
            })),
            None => Said::error("`question` must be a text that is not empty"),
        };
        Box::pin(std::future::ready(Ok(said)))
    }
}

fn question(arguments: &Map<String, Value>) -> Option<&str> {
    let question = arguments.get("question").and_then(Value::as_str);
    question.map(str::trim).filter(|question| !question.is_empty())
}

const DESCRIPTION: &str = "Asks the user a question and waits for the answer. Use it only when you cannot go on without something that \
                           only the user knows; ask for everything that you need at once.";
