//! What a model answers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::message::{calls, string};
use crate::{ChatMessage, ToolCall, Usage};

/// The whole answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// Its text. May be empty.
    pub text: String,
    /// Why it does not do what it was asked, in its words, if the provider tells refusals from text.
    pub refusal: Option<String>,
    /// The tools that it calls, in its order. Those of an answer that was cut or filtered, as [`end`](Self::end) says, may lack something.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub end: End,
    /// What it took, if the provider says.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// What it thought before it called tools, where the provider wants that back.
    pub reasoning: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It has said everything.
    Stop,
    /// It calls tools.
    ToolCalls,
    /// The answer was cut at the largest number of tokens that it may have.
    Length,
    /// A filter of the provider took something away, or everything.
    ContentFilter,
    /// Another reason, in the provider's words.
    Other(String),
    /// The provider does not say.
    Unsaid,
}

/// What a listener sees of an answer that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More text. Never empty.
    Text(String),
    /// More of a refusal. Never empty.
    Refusal(String),
}

impl End {
    /// The end that a provider names.
    pub(crate) fn read(reason: &str) -> Self {
        match reason {
            "stop" | "end_turn" | "eos" | "stop_sequence" => Self::Stop,
            "tool_calls" | "tool_use" => Self::ToolCalls,
            "length" | "max_tokens" | "model_length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.chars().take(MAX_REASON_CHARS).collect()),
        }
    }

    /// Its name: that of the wire, or what the provider says; empty for [`Unsaid`](Self::Unsaid).
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

/// How much of a provider's own reason is kept, in characters.
const MAX_REASON_CHARS: usize = 100;

impl ChatAnswer {
    /// The answer as a message of the conversation that goes on.
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

    /// The answer as it is kept.
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

    /// The answer that was kept; `None` if it is none.
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

// By way of `Value`: derived code would be several times as large in WebAssembly.
impl Serialize for ChatAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ChatAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        Self::from_json(&json).ok_or_else(|| serde::de::Error::custom("it is no answer of a model"))
    }
}
