//! The imports for the file of a tool: `use a2a_edge::tool::prelude::*`. The path is the same in a Worker and, with
//! `extern crate a2a_agents as a2a_edge;`, in its build script.

pub use super::{Retry, Tool, ToolCall, ToolError, ToolOutput, arguments, tool};
pub use a2a::http::{HttpAnswer, HttpBody, HttpError, HttpRequest};
pub use a2a::model::{Message, Part, Secret};
pub use async_trait::async_trait;
pub use serde_json::{Value, json};
