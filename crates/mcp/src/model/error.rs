//! JSON-RPC errors in MCP.

use std::fmt;

use serde_json::{Value, json};

use super::{object, text};

/// The codes of errors.
pub mod code {
    /// The body is not JSON.
    pub const PARSE: i64 = -32_700;
    /// The body is not a request.
    pub const INVALID_REQUEST: i64 = -32_600;
    /// The method does not exist, or its capability is not advertised.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The params are invalid, for example with an unknown tool, cursor, task or resource.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// The server has failed.
    pub const INTERNAL: i64 = -32_603;
    /// A header differs from the body, or is absent (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32_020;
    /// The request does not declare a capability that its answer needs (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32_021;
    /// The server does not support the revision (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32_022;
    /// The resource does not exist (legacy).
    pub const RESOURCE_NOT_FOUND: i64 = -32_002;
    /// The user must visit a URL first (2025-11-25).
    pub const URL_REQUIRED: i64 = -32_042;
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// The [code].
    pub code: i64,
    /// The description of the error, for people.
    pub message: String,
    /// Further information.
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Parses the member `error` of an answer; `None` if it is not an object. A missing code is
    /// read as 0.
    pub fn read(json: &Value) -> Option<Self> {
        json.is_object().then(|| Self {
            code: json.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: text(json, "message").unwrap_or_default(),
            data: json.get("data").filter(|data| !data.is_null()).cloned(),
        })
    }

    /// The form of the error in an answer.
    pub fn to_json(&self) -> Value {
        object([
            ("code", Some(json!(self.code))),
            ("message", Some(json!(self.message))),
            ("data", self.data.clone()),
        ])
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}
