//! The imports for the file of a tool: `use a2a_edge::tool::prelude::*`.

pub use super::{Retry, Tool, ToolCall, ToolError, ToolOutput, arguments, tool};
pub use a2a::http::{HttpAnswer, HttpBody, HttpError, HttpRequest};
pub use a2a::model::{Message, Part, Secret};
pub use async_trait::async_trait;
pub use serde_json::{Value, json};
