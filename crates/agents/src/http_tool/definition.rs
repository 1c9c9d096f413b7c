//! The shape of an HTTP tool in a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool that is a request to another server: `[[tools]]` in an agent file, or a file `tools/<name>.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpToolDefinition {
    /// Its file in `tools/`; empty for a tool of an agent's own. Not part of the file.
    #[serde(skip)]
    pub file: String,
    /// Its name, as `current_weather`. A file in `tools/` is named after its tool and may leave it out.
    #[serde(default)]
    pub name: String,
    /// What it does, in one or two sentences for models and people. Goes to the card.
    pub description: String,
    /// Its arguments in short: a description, or a table of JSON schema with `optional`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// Its arguments as a JSON schema, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The method of the request.
    #[serde(default)]
    pub method: Method,
    /// A template of the URL.
    pub url: String,
    /// Headers, with templates as values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body: a string is a template of text, a table or an array is JSON with templates in its strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The fields of a form, instead of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Map<String, Value>>,
    /// Which part of a JSON answer is the result, as a JSON pointer (RFC 6901). Unless given: all of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How long one attempt may take with its whole answer, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// The largest answer that is taken, in bytes.
    #[serde(default = "default_max_bytes")]
    pub max_bytes: usize,
    /// How many attempts are made at most while there is no answer, or one of status 408, 429 or 5xx.
    #[serde(default = "default_retry")]
    pub retry: u32,
    /// The header that gets a key which is the same for every attempt at one call, as `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<String>,
    /// Whether a POST or a PATCH without such a key may be sent twice.
    #[serde(default)]
    pub repeatable: bool,
}

/// A method that a tool may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    #[default]
    Get,
    /// Does something.
    Post,
    /// Writes something whole.
    Put,
    /// Writes something in part.
    Patch,
    /// Removes something.
    Delete,
}

impl Method {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether doing it twice is doing it once (RFC 9110, section 9.2.2).
    pub fn is_idempotent(self) -> bool {
        match self {
            Self::Get | Self::Put | Self::Delete => true,
            Self::Post | Self::Patch => false,
        }
    }
}

fn default_timeout_ms() -> u64 {
    30_000
}

fn default_max_bytes() -> usize {
    1024 * 1024
}

fn default_retry() -> u32 {
    1
}
