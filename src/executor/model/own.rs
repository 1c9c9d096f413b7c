//! Tools of this Worker as callables of a model.

use std::rc::Rc;

use super::callable::{Callable, ModelCall, Said, Saying};
use super::result;
use crate::executor::call::CallInTurn;
use a2a_agents::tool::{Fault, Tool};
use chat::ToolSpec;

/// A tool of this Worker.
pub(super) struct OwnTool {
    pub(super) tool: Rc<dyn Tool>,
    /// The largest size of a result for the model, in bytes.
    pub(super) max_bytes: usize,
}

impl Callable for OwnTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.tool.name().to_owned(),
            description: self.tool.description().to_owned(),
            parameters: self.tool.input_schema().clone(),
        }
    }

    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a> {
        Box::pin(async {
            let ModelCall { turn, events, key, arguments, desk, .. } = call;
            let in_turn = CallInTurn::new(turn, events, key).beside(desk);
            match in_turn.of(self.tool.as_ref(), arguments.clone()).await {
                Ok(output) => {
                    result::told(call, self.tool.name(), output.into_parts(), self.max_bytes)
                }
                Err(error) => {
                    let text = turn.redaction.text(error.text());
                    let text = result::cut(&text, self.max_bytes);
                    Ok(Said::error(match error.fault() {
                        Fault::Arguments => format!("wrong arguments: {text}"),
                        Fault::Tool | Fault::Upstream => text,
                    }))
                }
            }
        })
    }
}
