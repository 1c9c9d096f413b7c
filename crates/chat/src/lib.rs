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
//!
//! # Models, the wire
//!
//! `crates/chat/src/` asks a model once. It repeats nothing, has no clock, and keeps nothing: the executor decides with what a `ChatError` says.
//!
//! - **One answer, however it comes** (`stream.rs`, `fold.rs`). The first byte that is no blank says whether the body is one JSON object or a stream of events; content types are often wrong. Each chunk, and an
//!   answer that is whole, goes through the same `Fold`, so both give the same `ChatAnswer`; `crates/chat/tests/wire/splits.rs` shows it for any answer in any pieces. A stream is whole when the model has said why it
//!   stopped, or with `[DONE]`; any other end is an error that may be repeated.
//! - **A piece of a call belongs to the call with its index**, if that is not over already: servers number, repeat and leave out ids and names in different ways (`Fold::known`, `Partial::is_over`; `quirks.rs` is the table).
//! - **Ids of calls** are those of the provider unless they are missing or in the conversation already. They depend on the conversation alone, so a repeated request gives the same ones.
//! - **Workers AI** is a dialect of the writer. Its answers are read by the same `Fold`, since newer models answer as others do. `edge/service/bound.rs` runs the binding; what that throws becomes an answer with a status, by its number.
//! - **A binding is reached only by its name in the agent's file** (`Peers::bound`, `port::Target`). No URL leads to one, and a guarded request is refused there.
//! - **Secrets of the endpoint** are taken out of all that is quoted of it, before it is cut.

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
