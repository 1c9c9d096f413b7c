//! Chat completions without a platform: what is asked of a model, the answer as it arrives, and why there is none. HTTP comes
//! through the port of [`a2a`], so any program can use it.
//!
//! [`open`] sends a [`ChatRequest`] to an [`Endpoint`] and gives an [`AnswerStream`], whose deltas are the text as the model writes it.
//! When they are over, the stream becomes a [`ChatAnswer`]. Nothing is tried again here: a [`ChatError`] says whether it may help.
//!
//! ```
//! use a2a::http::memory::{MemoryHttp, ok};
//! use chat::{ChatMessage, ChatRequest, Delta, End, Endpoint, open};
//!
//! let http = MemoryHttp::default();
//! http.answer_with(|_, _| Ok(ok(r#"{"choices": [{"message": {"content": "Hello!"}, "finish_reason": "stop"}]}"#)));
//! let endpoint = Endpoint::new("https://models.example/v1");
//! let request = ChatRequest::new("small", vec![ChatMessage::user("Hi")]);
//! let answer = futures_executor::block_on(async {
//!     let mut stream = open(&http, &endpoint, &request).await?;
//!     while let Some(delta) = stream.next().await? {
//!         assert_eq!(delta, Delta::Text("Hello!".to_owned()));
//!     }
//!     stream.into_answer()
//! })?;
//! assert_eq!((answer.text.as_str(), answer.end), ("Hello!", End::Stop));
//! # Ok::<(), chat::ChatError>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | `request`, `message` | what a model is asked |
//! | `answer`, `usage` | what it says, and what that took |
//! | `endpoint` | where it is, and the [`Dialect`] that is spoken there |
//! | `write` | a request as its body |
//! | `open`, `stream` | an answer as it arrives, whole or in chunks |
//! | `fold` | an answer from its chunks |
//! | `failure`, `error` | answers that say that the request failed |
//! | `workers_ai` | what the binding of Workers AI throws |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

mod answer;
mod endpoint;
mod error;
mod failure;
mod fold;
mod message;
mod open;
mod request;
mod stream;
mod usage;
mod workers_ai;
mod write;

pub use answer::{ChatAnswer, Delta, End};
pub use endpoint::{Dialect, Endpoint};
pub use error::{ChatError, ChatErrorKind};
pub use message::{ChatMessage, Content, ToolCall};
pub use open::open;
pub use request::{ChatRequest, ToolSpec};
pub use stream::AnswerStream;
pub use usage::Usage;
pub use workers_ai::workers_ai_failure;
