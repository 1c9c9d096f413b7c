//! Chat completions without a platform: requests to a model, answers as they arrive, and errors. HTTP requests are sent
//! through the port of [`a2a`], so any program can use this crate.
//!
//! [`open`] sends a [`ChatRequest`] to an [`Endpoint`] and returns an [`AnswerStream`], whose deltas are the text as the
//! model writes it. After the last delta, the stream becomes a [`ChatAnswer`]. This crate does not retry: a [`ChatError`]
//! reports whether a retry may help.
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
//! | module | content |
//! |---|---|
//! | `request`, `message` | the request to a model |
//! | `answer`, `usage` | the answer, and the number of its tokens |
//! | `endpoint` | the URL and the [`Dialect`] of a model |
//! | `write` | encodes a request as its body |
//! | `open`, `stream` | receives an answer, whole or in chunks |
//! | `fold` | builds an answer from its chunks |
//! | `failure`, `error` | answers that report a failure |
//! | `workers_ai` | exceptions of the Workers AI binding |
//!
//! # Models, the wire
//!
//! `crates/chat/src/` sends a request to a model once. It does not retry, and has no clock and no state: the executor
//! decides by the `ChatError`.
//!
//! - **One form for every answer** (`stream.rs`, `fold.rs`). The first byte that is not blank shows whether the body is one
//!   JSON object or a stream of events, because content types are often wrong. Each chunk, and each whole answer, is added
//!   to the same `Fold`, so both result in the same `ChatAnswer`; `crates/chat/tests/wire/splits.rs` tests this for any
//!   answer in any pieces. A stream is complete after the model's reason for its end, or after `[DONE]`; any other end is an
//!   error that may be retried.
//! - **A piece of a call belongs to the call with the same index**, unless that call is complete: servers number, repeat and
//!   omit ids and names in different ways (`Fold::known`, `Partial::is_over`; `quirks.rs` is the table).
//! - **Ids of calls** are those of the provider, unless they are missing or already in the conversation. They depend only on
//!   the conversation, so a repeated request results in the same ids.
//! - **Workers AI** is a dialect of the writer. Its answers are read by the same `Fold`, since newer models answer in the
//!   common form. `edge/service/bound.rs` calls the binding; an exception of the binding becomes an answer whose status
//!   depends on the number in the exception.
//! - **A binding can only be addressed by its name in the agent's file** (`Peers::bound`, `port::Target`). No URL addresses
//!   a binding, and a guarded request to a binding is refused.
//! - **Secrets of the endpoint** are replaced in every quoted text of the provider, before the text is shortened.

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
