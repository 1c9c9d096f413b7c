//! Answers a call with a stream of server-sent events: progress, comments during silence, and the answer. A modern client cancels
//! the task by closing the stream.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Delay, Headers, Request, Response, ResponseBuilder, Result};

use super::running::{Running, Said};
use crate::edge::service::background::go_on;
use a2a::binding::http::COMMON;

/// The response with the stream of a call. With `can_leave`, a disconnect of the client cancels the task.
///
/// # Errors
///
/// If the platform cannot build the response.
pub(super) fn respond(running: Running, request: &Request, can_leave: bool) -> Result<Response> {
    let headers = Headers::new();
    let own = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    for (name, value) in COMMON.into_iter().chain(own) {
        headers.set(name, value)?;
    }
    let left = can_leave.then(|| JsFuture::from(left(request.inner())));
    let call = Call { running: Some(running), left };
    let pieces = stream::unfold(call, async |mut call| {
        let piece = call.next().await?;
        Some((Ok::<_, worker::Error>(piece.into_bytes()), call))
    });
    ResponseBuilder::new().with_headers(headers).from_stream(Box::pin(pieces))
}

/// A call with an open stream. If this value is dropped before the answer was sent, the client has disconnected.
struct Call {
    running: Option<Running>,
    /// Fulfilled when the client disconnects; `None` if a disconnect does not matter. Some disconnects are only noticed
    /// at the next write.
    left: Option<JsFuture>,
}

impl Call {
    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        let Self { running, left } = self;
        let next = Box::pin(running.as_mut()?.next());
        let silence = if left.is_some() { SHORT_SILENCE } else { SILENCE };
        let (said, has_left) = match (select(next, Delay::from(silence)), left) {
            (next, Some(left)) => match select(next, left).await {
                Either::Left((said, _)) => (said_of(said), false),
                Either::Right(_) => (None, true),
            },
            (next, None) => (said_of(next.await), false),
        };
        match said {
            Some(Said::Progress(message)) => Some(event(&message)),
            Some(Said::Answer(message)) => {
                self.running = None;
                Some(event(&message))
            }
            None if has_left => {
                self.leave();
                None
            }
            None => Some(COMMENT.to_owned()),
        }
    }

    /// Cancels the task of an unanswered call, if a disconnect matters.
    fn leave(&mut self) {
        let running = self.running.take().filter(|running| !running.is_over());
        if let (Some(running), Some(_)) = (running, &self.left) {
            let _ = go_on(running.cancel());
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The next output of a call; `None` if the silence was too long.
fn said_of<Next, Late>(waited: Either<(Said, Late), ((), Next)>) -> Option<Said> {
    match waited {
        Either::Left((said, _)) => Some(said),
        Either::Right(_) => None,
    }
}

#[wasm_bindgen(module = "/js/leaving.js")]
extern "C" {
    /// A promise that is fulfilled when the client of a request disconnects.
    fn left(request: &web_sys::Request) -> js_sys::Promise;
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// The longest silence of a stream.
const SILENCE: Duration = Duration::from_secs(15);

/// The longest silence if a disconnect matters: only a write reveals some disconnects.
const SHORT_SILENCE: Duration = Duration::from_secs(5);

/// The comment that ends a silence.
const COMMENT: &str = ": waiting\n\n";
