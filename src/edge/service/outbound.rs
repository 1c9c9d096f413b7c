//! Requests of agents to other servers.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use worker::{AbortController, Delay, Error, Fetch, Request, Response, Result};

use crate::edge::request::new_request;
use crate::port::{HttpAnswer, HttpRequest};

/// Sends a request and reads the whole answer. Dropping this ends the exchange.
///
/// # Errors
///
/// Why there is no answer; the text names the URL and may be shown.
pub(in crate::edge) async fn send(request: HttpRequest) -> std::result::Result<HttpAnswer, String> {
    let HttpRequest { ref url, timeout_ms, .. } = request;
    let failed = |reason: String| format!("{url} did not answer: {reason}");
    let answer = Box::pin(exchange(&request));
    let limit = Delay::from(Duration::from_millis(timeout_ms));
    match select(answer, limit).await {
        Either::Left((answer, _)) => answer.map_err(|error| failed(error.to_string())),
        Either::Right(_) => Err(failed(format!("not within {timeout_ms} ms"))),
    }
}

async fn exchange(request: &HttpRequest) -> Result<HttpAnswer> {
    let HttpRequest { method, url, headers, body, .. } = request;
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let headers: Vec<(&str, &str)> = headers.collect();
    let (mut answer, _exchange) =
        fetch(new_request(method, url, &headers, body.as_deref())?).await?;
    let mut body = Vec::new();
    // An answer without a body has no stream.
    let mut chunks = stream::iter(answer.stream()).flatten();
    while let Some(chunk) = chunks.next().await {
        body.extend(chunk?);
        if body.len() > request.max_bytes {
            let reason = format!("its answer has more than {} bytes", request.max_bytes);
            return Err(Error::RustError(reason));
        }
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(HttpAnswer { status: answer.status_code(), body })
}

/// Sends a request; what comes behind the head of the answer comes only as long as the exchange is kept.
///
/// # Errors
///
/// When there is no answer.
pub(in crate::edge) async fn fetch(request: Request) -> Result<(Response, Exchange)> {
    let controller = AbortController::default();
    let signal = controller.signal();
    let exchange = Exchange(Some(controller));
    let answer = Fetch::Request(request).send_with_signal(&signal).await?;
    Ok((answer, exchange))
}

/// An exchange that is under way; it ends when this is dropped. The platform goes on with what nobody
/// waits for.
pub(in crate::edge) struct Exchange(Option<AbortController>);

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}
