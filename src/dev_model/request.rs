//! A request for a chat completion, as far as the scripted model looks at it.

use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
use serde_json::Value;

/// A request.
pub(super) struct Request {
    /// The name of the model, given back as it is.
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Tool>,
    /// The JSON schema that the answer has to fit.
    pub(super) schema: Option<Value>,
    /// Whether the answer is streamed.
    pub(super) streams: bool,
    /// Whether a stream ends with the usage.
    pub(super) tells_usage: bool,
    /// How many tokens the answer may have.
    pub(super) max_tokens: Option<u64>,
    /// How many tokens the request has.
    pub(super) tokens: u64,
}

/// A tool that may be called.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    /// The JSON schema of its arguments.
    pub(super) parameters: Value,
}

/// A message of the conversation.
pub(super) enum Message {
    System,
    User {
        text: String,
        /// How many images and files it holds.
        files: usize,
    },
    Assistant {
        text: String,
        calls: Vec<Call>,
    },
    /// The result of a call.
    Tool {
        call: String,
        text: String,
    },
}

/// A call that the model has made.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let json =
            read_foreign(body, MAX_FOREIGN_VALUES).map_err(|unfit| format!("the body {unfit}"))?;
        let messages = at(&json, "/messages").as_array().filter(|messages| !messages.is_empty());
        let messages = messages.ok_or("`messages` must be an array of at least one message")?;
        let messages = messages.iter().map(read_message).collect::<Result<_, _>>()?;
        let tools = at(&json, "/tools").as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = tools.iter().map(read_tool).collect::<Result<_, _>>()?;
        let format = at(&json, "/response_format");
        let schema = match at(format, "/type").as_str() {
            Some("json_schema") => Some(at(format, "/json_schema/schema").clone()),
            Some("json_object") => Some(serde_json::json!({"type": "object"})),
            _ => None,
        };
        let limits = ["/max_completion_tokens", "/max_tokens"];
        Ok(Self {
            model: at(&json, "/model").as_str().unwrap_or("scripted").to_owned(),
            messages,
            tools,
            schema,
            streams: *at(&json, "/stream") == true,
            tells_usage: *at(&json, "/stream_options/include_usage") == true,
            max_tokens: limits.iter().find_map(|name| at(&json, name).as_u64()),
            tokens: tokens(body.len()),
        })
    }
}

fn read_message(message: &Value) -> Result<Message, String> {
    let (text, files) = read_content(at(message, "/content"));
    Ok(match at(message, "/role").as_str() {
        Some("system" | "developer") => Message::System,
        Some("user") => Message::User { text, files },
        Some("assistant") => {
            let calls =
                at(message, "/tool_calls").as_array().map(Vec::as_slice).unwrap_or_default();
            Message::Assistant { text, calls: calls.iter().map(read_call).collect() }
        }
        Some("tool") => {
            let call = at(message, "/tool_call_id").as_str();
            let call = call.ok_or("a message of role `tool` has no `tool_call_id`")?;
            Message::Tool { call: call.to_owned(), text }
        }
        _ => return Err(format!("there is no role {} of a message", at(message, "/role"))),
    })
}

/// The text of a content, and how many other parts it has.
fn read_content(content: &Value) -> (String, usize) {
    match content {
        Value::String(text) => (text.clone(), 0),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| at(part, "/text").as_str()).collect();
            (texts.join("\n"), parts.len() - texts.len())
        }
        _ => (String::new(), 0),
    }
}

fn read_call(call: &Value) -> Call {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = at(call, "/function/arguments").as_str().unwrap_or_default();
    Call {
        id: text(at(call, "/id")),
        name: text(at(call, "/function/name")),
        arguments: read_foreign(arguments.as_bytes(), MAX_FOREIGN_VALUES).unwrap_or_default(),
    }
}

fn read_tool(tool: &Value) -> Result<Tool, String> {
    let name = at(tool, "/function/name").as_str().ok_or("a tool has no `function.name`")?;
    Ok(Tool {
        name: name.to_owned(),
        description: at(tool, "/function/description").as_str().unwrap_or_default().to_owned(),
        parameters: at(tool, "/function/parameters").clone(),
    })
}

/// What is there in a value, by its pointer; null if there is nothing.
pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// The number of tokens that a text of this size is taken for.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
