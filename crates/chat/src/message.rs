//! The messages of a conversation with a model.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use a2a::model::decode::{Decode, Fields};

/// A message of a conversation, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatMessage {
    /// The instructions for the model.
    System(String),
    /// A message of the user.
    User(Vec<Content>),
    /// An answer of the model, made by [`ChatAnswer::to_message`](crate::ChatAnswer::to_message).
    Assistant {
        /// The text; may be empty if the model calls tools.
        text: String,
        /// The tools that the model calls. For each call, the next messages must be [`Tool`](Self::Tool) messages with the
        /// results.
        calls: Vec<ToolCall>,
        /// The model's reasoning before its calls of tools. Some providers require it in the next request
        /// (`reasoning_content`).
        reasoning: Option<String>,
    },
    /// The result of a tool that the model has called.
    Tool {
        /// The id of the call.
        call_id: String,
        /// The result.
        text: String,
    },
}

/// A piece of a user's message.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The URL of the image: an https URL that the provider can read, or a `data:` URL with its bytes.
        url: String,
    },
    /// A file. Not all models accept files, and most of those accept only PDF.
    File {
        /// The name of the file.
        name: Option<String>,
        /// The media type of the file.
        media_type: String,
        /// The bytes of the file, in base64.
        base64: String,
    },
}

/// A model's call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id of the call: never empty, and unique within the conversation.
    pub id: String,
    /// The name of the tool, as the model has written it.
    pub name: String,
    /// The arguments, as the model has written them: JSON, unless the model makes a mistake. Empty if the model writes none.
    pub arguments: String,
    /// Additional data of the provider that the next request must contain (`extra_content`; Gemini's signatures of its
    /// thoughts).
    pub extra: Option<Value>,
}

impl ChatMessage {
    /// A message of a user with one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Content::Text(text.into())])
    }

    /// The message in its stored form: an object with `role`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::System(text) => json!({"role": "system", "text": text}),
            Self::User(contents) => {
                let contents: Vec<Value> = contents.iter().map(Content::to_json).collect();
                json!({"role": "user", "content": contents})
            }
            Self::Assistant { text, calls, reasoning } => {
                let calls: Vec<Value> = calls.iter().map(ToolCall::to_json).collect();
                json!({"role": "assistant", "text": text, "calls": calls, "reasoning": reasoning})
            }
            Self::Tool { call_id, text } => {
                json!({"role": "tool", "callId": call_id, "text": text})
            }
        }
    }

    /// Reads a message from its stored form; `None` if `json` is not a message.
    pub fn from_json(json: &Value) -> Option<Self> {
        let text = || string(json, "text");
        Some(match json.get("role")?.as_str()? {
            "system" => Self::System(text()?),
            "user" => {
                let contents = json.get("content")?.as_array()?;
                Self::User(contents.iter().map(Content::from_json).collect::<Option<_>>()?)
            }
            "assistant" => Self::Assistant {
                text: text()?,
                calls: calls(json)?,
                reasoning: string(json, "reasoning"),
            },
            "tool" => Self::Tool { call_id: string(json, "callId")?, text: text()? },
            _ => return None,
        })
    }
}

impl Content {
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"text": text}),
            Self::Image { url } => json!({"image": url}),
            Self::File { name, media_type, base64 } => {
                json!({"file": base64, "mediaType": media_type, "name": name})
            }
        }
    }

    fn from_json(json: &Value) -> Option<Self> {
        if let Some(text) = string(json, "text") {
            return Some(Self::Text(text));
        }
        if let Some(url) = string(json, "image") {
            return Some(Self::Image { url });
        }
        let (name, media_type) = (string(json, "name"), string(json, "mediaType")?);
        Some(Self::File { name, media_type, base64: string(json, "file")? })
    }
}

impl ToolCall {
    pub(crate) fn to_json(&self) -> Value {
        let Self { id, name, arguments, extra } = self;
        json!({"id": id, "name": name, "arguments": arguments, "extra": extra})
    }

    fn from_json(json: &Value) -> Option<Self> {
        Some(Self {
            id: string(json, "id")?,
            name: string(json, "name")?,
            arguments: string(json, "arguments")?,
            extra: json.get("extra").filter(|extra| !extra.is_null()).cloned(),
        })
    }
}

/// The member of this name, if its value is a text.
pub(crate) fn string(json: &Value, name: &str) -> Option<String> {
    json.get(name)?.as_str().map(str::to_owned)
}

/// The calls in their stored form.
pub(crate) fn calls(json: &Value) -> Option<Vec<ToolCall>> {
    json.get("calls")?.as_array()?.iter().map(ToolCall::from_json).collect()
}

// Encoded through `Value`: derived code would be several times as large in WebAssembly.
impl Serialize for ChatMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl Decode for ChatMessage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("a message of a conversation", Self::from_json)
    }
}
