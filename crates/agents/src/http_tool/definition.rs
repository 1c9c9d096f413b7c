//! The format of an HTTP tool in a file.

use serde::Serialize;
use serde_json::{Map, Value};

use a2a::model::decode::Decode;
use a2a::sorted::SortedMap;

/// A tool that sends a request to another server: `[[tools]]` in an agent file, or a file `tools/<name>.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(any(test, feature = "checker"), schemars(extend("oneOf" = [{"required": ["url"]}, {"required": ["service"]}])))]
#[serde(deny_unknown_fields)]
pub struct HttpToolDefinition {
    /// The path of the file in `tools/`; empty for a tool in an agent file. Not part of the file.
    #[serde(skip)]
    pub file: String,
    /// The name, as `current_weather`. For a file in `tools/` it is the name of the file, and may be omitted in the
    /// file.
    #[serde(default)]
    pub name: String,
    /// The description in one or two sentences, for models and people. It is copied to the card.
    pub description: String,
    /// The arguments in the short form: each a description, or a table of JSON schema with `optional`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(any(test, feature = "checker"), schemars(extend("additionalProperties" = {"type": ["string", "object"]})))]
    pub arguments: Map<String, Value>,
    /// The arguments as a JSON schema, in place of `arguments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(any(test, feature = "checker"), schemars(extend("type" = "object")))]
    pub schema: Option<Value>,
    /// The method of the request.
    #[serde(default)]
    pub method: Method,
    /// The template of the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The service binding of another Worker that receives the request, in place of `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The template of the path at the other Worker, with the query; `/` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The headers, each with a template as its value.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub headers: SortedMap<String, String>,
    /// The body: a string is a template of text; a table or an array is JSON with templates in its strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The fields of a form, in place of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Map<String, Value>>,
    /// The part of a JSON response that becomes the result, as a JSON pointer (RFC 6901). Default: the whole response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The maximum duration of an attempt with its whole response, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_TIMEOUT_MS)))]
    pub timeout_ms: u64,
    /// The maximum size of a response, in bytes.
    #[serde(default = "default_max_bytes")]
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_BYTES)))]
    pub max_bytes: usize,
    /// The maximum number of attempts. An attempt is repeated if it has no response, or a response with status 408, 429
    /// or 5xx.
    #[serde(default = "default_retry")]
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_ATTEMPTS)))]
    pub retry: u32,
    /// The header for a key that is the same in all attempts of one call, as `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<String>,
    /// True if a POST or a PATCH without such a key may be sent twice.
    #[serde(default)]
    pub repeatable: bool,
}

/// The method of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads a resource.
    #[default]
    Get,
    /// Performs an action.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes a part of a resource.
    Patch,
    /// Deletes a resource.
    Delete,
}

impl Method {
    /// The name in the request.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// True if sending the request twice has the same effect as sending it once (RFC 9110, section 9.2.2).
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

/// The maximum duration of an attempt, in milliseconds: ten of the fifteen minutes of a run.
#[cfg(any(test, feature = "checker"))]
pub(super) const MAX_TIMEOUT_MS: u64 = 600_000;

/// The maximum size of a response, in bytes.
#[cfg(any(test, feature = "checker"))]
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of attempts.
#[cfg(any(test, feature = "checker"))]
pub(super) const MAX_ATTEMPTS: u64 = 10;
