//! The answers of a model.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use a2a::model::decode::{Decode, Fields};

use crate::message::{calls, string};
use crate::{ChatMessage, ToolCall, Usage};

/// The whole answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The text of the answer; may be empty.
    pub text: String,
    /// The model's refusal of the request, if the provider separates refusals from text.
    pub refusal: Option<String>,
    /// The tools that the model calls, in the model's order. If the answer was cut or filtered, as [`end`](Self::end)
    /// reports, the calls may be incomplete.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub end: End,
    /// The tokens of the answer, if the provider reports them.
    pub usage: Option<Usage>,
    /// The model that answered, by the provider's name for it.
    pub model: Option<String>,
    /// The model's reasoning before its calls of tools, if the provider requires that the next request contains it.
    pub reasoning: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The answer is complete.
    Stop,
    /// The model calls tools.
    ToolCalls,
    /// The answer was cut at the limit of its tokens.
    Length,
    /// A filter of the provider removed a part of the answer, or all of it.
    ContentFilter,
    /// Another reason, in the provider's words.
    Other(String),
    /// The provider reports no reason.
    Unsaid,
}

/// A piece of an answer in progress, for a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More text. Never empty.
    Text(String),
    /// More of a refusal. Never empty.
    Refusal(String),
}

impl End {
    /// The end for a provider's `finish_reason`.
    pub(crate) fn read(reason: &str) -> Self {
        match reason {
            "stop" | "end_turn" | "eos" | "stop_sequence" => Self::Stop,
            "tool_calls" | "tool_use" => Self::ToolCalls,
            "length" | "max_tokens" | "model_length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.chars().take(MAX_REASON_CHARS).collect()),
        }
    }

    /// The name of the end: the name on the wire, or the provider's reason; empty for [`Unsaid`](Self::Unsaid).
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Other(reason) => reason,
            Self::Unsaid => "",
        }
    }
}

/// The longest stored reason of a provider, in characters.
const MAX_REASON_CHARS: usize = 100;

impl ChatAnswer {
    /// The answer as a message of the conversation, for the next request.
    pub fn to_message(&self) -> ChatMessage {
        let text = match (&self.refusal, self.text.is_empty()) {
            (Some(refusal), true) => refusal.clone(),
            _ => self.text.clone(),
        };
        ChatMessage::Assistant {
            text,
            calls: self.calls.clone(),
            reasoning: self.reasoning.clone(),
        }
    }

    /// The answer in its stored form.
    pub fn to_json(&self) -> Value {
        let calls: Vec<Value> = self.calls.iter().map(ToolCall::to_json).collect();
        json!({
            "text": self.text,
            "refusal": self.refusal,
            "calls": calls,
            "end": self.end.as_str(),
            "usage": self.usage.map(|usage| usage.to_json()),
            "model": self.model,
            "reasoning": self.reasoning,
        })
    }

    /// Reads an answer from its stored form; `None` if `json` is not an answer.
    pub fn from_json(json: &Value) -> Option<Self> {
        Some(Self {
            text: string(json, "text")?,
            refusal: string(json, "refusal"),
            calls: calls(json)?,
            end: match json.get("end")?.as_str()? {
                "" => End::Unsaid,
                reason => End::read(reason),
            },
            usage: json.get("usage").and_then(Usage::from_json),
            model: string(json, "model"),
            reasoning: string(json, "reasoning"),
        })
    }
}

// Encoded through `Value`: derived code would be several times as large in WebAssembly.
impl Serialize for ChatAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl Decode for ChatAnswer {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("an answer of a model", Self::from_json)
    }
}
