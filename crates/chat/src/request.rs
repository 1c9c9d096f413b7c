//! A request to a model.

use serde_json::{Map, Value};

use crate::ChatMessage;

/// A request to a model. [`new`](Self::new) makes a request with the usual settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The model, by the provider's name for it.
    pub model: String,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The JSON schema for the text of the answer.
    pub output_schema: Option<Value>,
    /// Parameters that are sent unchanged, for example `temperature`. `model`, `messages`, `tools` and `stream` are ignored
    /// here. `stream_options` and `response_format` replace the usual values, and the value `false` removes them.
    pub parameters: Map<String, Value>,
    /// Whether to request the answer in chunks.
    pub streams: bool,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name of the tool: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// The description of the tool.
    pub description: String,
    /// The JSON schema of the tool's arguments: an object.
    pub parameters: Value,
}

impl ChatRequest {
    /// A request with these messages, without tools, for an answer in chunks.
    pub fn new(model: impl Into<String>, messages: Vec<ChatMessage>) -> Self {
        let (tools, output_schema, parameters) = (Vec::new(), None, Map::new());
        Self { model: model.into(), messages, tools, output_schema, parameters, streams: true }
    }
}
