//! Answering calls: requests of both eras at one URL are read, checked and answered. What the tools do is left to the caller of
//! this module, which gets a [`Request`] and gives the answer by its [`Reply`].
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
//! | module | what it is |
//! |---|---|
//! | [`Incoming`], [`read`] | a request, and what it comes to |
//! | [`Asked`] | what is asked for |
//! | [`Reply`] | how it is answered |

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
