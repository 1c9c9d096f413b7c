//! Errors of JSON-RPC, as MCP uses them.

use std::fmt;

use serde_json::{Value, json};

use super::{object, text};

/// Codes of errors.
pub mod code {
    /// What came is no JSON.
    pub const PARSE: i64 = -32_700;
    /// What came is no request.
    pub const INVALID_REQUEST: i64 = -32_600;
    /// There is no such method, or its capability is not advertised.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The params are wrong: also an unknown tool, cursor, task or resource.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// The server has failed.
    pub const INTERNAL: i64 = -32_603;
    /// A header differs from what the body says, or is absent (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32_020;
    /// The request declares no capability without which it cannot be answered (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32_021;
    /// The revision is not spoken here (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32_022;
    /// There is no such resource (legacy).
    pub const RESOURCE_NOT_FOUND: i64 = -32_002;
    /// The user has to visit a URL first (2025-11-25).
    pub const URL_REQUIRED: i64 = -32_042;
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// Its [code].
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// More about it.
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The member `error` of an answer; `None` for what is none. One without a code has 0.
    pub fn read(json: &Value) -> Option<Self> {
        json.is_object().then(|| Self {
            code: json.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: text(json, "message").unwrap_or_default(),
            data: json.get("data").filter(|data| !data.is_null()).cloned(),
        })
    }

    /// As it stands in an answer.
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
