//! What is asked of a model.

use serde_json::{Map, Value};

use crate::ChatMessage;

/// What is asked of a model. [`new`](Self::new) makes a request of the usual kind.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The model, as the provider names it.
    pub model: String,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// The JSON schema that the text of the answer is to have.
    pub output_schema: Option<Value>,
    /// Parameters that are passed on as they are, such as `temperature`. `model`, `messages`, `tools` and `stream` among them are
    /// left out. `stream_options` and `response_format` replace what is sent otherwise, and `false` for one of these leaves it out.
    pub parameters: Map<String, Value>,
    /// Whether the answer is to come in chunks.
    pub streams: bool,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments: an object.
    pub parameters: Value,
}

impl ChatRequest {
    /// A request with these messages, without tools, whose answer comes in chunks.
    pub fn new(model: impl Into<String>, messages: Vec<ChatMessage>) -> Self {
        let (tools, output_schema, parameters) = (Vec::new(), None, Map::new());
        Self { model: model.into(), messages, tools, output_schema, parameters, streams: true }
    }
}
