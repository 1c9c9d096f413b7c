//! The server side: parses, checks and answers requests of both eras at one URL. The caller of this module runs the tools:
//! it receives a [`Request`] and makes the answer by the request's [`Reply`].
//!
//! ```
//! use mcp::server::{Asked, Incoming, Received, ServerInfo, read};
//! use serde_json::json;
//!
//! let server = ServerInfo::new("echo", "1.0.0");
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}"#;
//! let incoming = Incoming { method: "POST", header: &|_| None, body, max_values: 1_000 };
//! let Received::Request(request) = read(&incoming, &server) else { panic!("a request") };
//! let Asked::CallTool(call) = &request.asked else { panic!("a call") };
//! assert_eq!((call.name.as_str(), &call.arguments["text"]), ("echo", &json!("hi")));
//! let answer = request.reply.result(json!({"content": [{"type": "text", "text": "hi"}]}));
//! assert_eq!(answer.status, 200);
//! ```
//!
//! | item | content |
//! |---|---|
//! | [`Incoming`], [`read`] | an HTTP request, and its decision: a request or an answer |
//! | [`Asked`] | the parsed method and params |
//! | [`Reply`] | makes the answer |

mod asked;
mod era;
mod read;
mod reply;
#[cfg(test)]
mod tests;

pub use asked::{Asked, ToolCall};
pub use era::{Capabilities, Era};
pub use read::{Incoming, Meta, Received, Request, read};
pub use reply::{Reply, ServerInfo, input_requests};
