//! Answers a call as a stream of server-sent events: its progress, a comment now and then, the answer. A modern client that closes
//! the stream cancels the task.

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

/// A response to a request that streams what a call brings. If its client `can_leave`, leaving cancels the task.
///
/// # Errors
///
/// When the platform fails to build it.
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

/// A call whose client listens. Dropped before its answer, the client has left.
struct Call {
    running: Option<Running>,
    /// Done when the client leaves, if that matters. Some leave without this being told, and are noticed when they are told something.
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

    /// Cancels the task of a call that is not answered, if its client has left and that matters.
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

/// What a call brings, if it does before the silence is too long.
fn said_of<Next, Late>(waited: Either<(Said, Late), ((), Next)>) -> Option<Said> {
    match waited {
        Either::Left((said, _)) => Some(said),
        Either::Right(_) => None,
    }
}

#[wasm_bindgen(module = "/js/leaving.js")]
extern "C" {
    /// A promise that is fulfilled when the client of a request leaves.
    fn left(request: &web_sys::Request) -> js_sys::Promise;
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// How long a stream is silent at most.
const SILENCE: Duration = Duration::from_secs(15);

/// The same where it matters that the client leaves: who is told nothing may have left long ago.
const SHORT_SILENCE: Duration = Duration::from_secs(5);

/// What a silent stream says.
const COMMENT: &str = ": waiting\n\n";
