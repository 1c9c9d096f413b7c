//! Requests to other servers: the port [`Http`] on Cloudflare.

use std::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::{Stream, StreamExt, stream};
use js_sys::Uint8Array;
use worker::wasm_bindgen::JsValue;
use worker::{
    AbortController, ByteStream, Delay, Error, Fetch, Headers, Request, Response, Result,
};

use crate::edge::bindings;
use crate::edge::target::check_webhook_url;
use crate::port::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};

/// Other servers, by the platform's `fetch`.
#[derive(Clone, Copy)]
pub(in crate::edge) struct Outbound;

impl Http for Outbound {
    fn send(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'static, std::result::Result<HttpAnswer, HttpError>> {
        Box::pin(send(request))
    }
}

async fn send(request: HttpRequest) -> std::result::Result<HttpAnswer, HttpError> {
    if request.is_guarded
        && let Err(reason) = judge(&request.url)
    {
        return Err(HttpError::Refused { url: request.url, reason });
    }
    let bounds = Bounds::of(&request);
    let opened = Box::pin(async { open(to_request(request)?).await });
    match bounds.in_time(opened).await? {
        Ok((answer, exchange)) => Ok(bounds.answer_of(answer, exchange)),
        Err(error) => Err(bounds.failed(&error)),
    }
}

/// Checks that a guarded request may be sent to this URL, by the rules for webhooks. Redirects are not followed, so
/// there is no other URL to check.
fn judge(url: &str) -> std::result::Result<(), String> {
    match bindings::known_settings() {
        Some(settings) => check_webhook_url(url, &settings),
        None => Err("must wait until the settings are known".to_owned()),
    }
}

/// The limits of an exchange.
pub(in crate::edge) struct Bounds {
    url: String,
    timeout_ms: u64,
    max_bytes: usize,
}

impl Bounds {
    /// The limits of a request.
    pub(in crate::edge) fn of(request: &HttpRequest) -> Self {
        let HttpRequest { url, timeout_ms, max_bytes, .. } = request;
        Self { url: url.clone(), timeout_ms: *timeout_ms, max_bytes: *max_bytes }
    }

    /// Converts a response of this Worker into an answer for its run. The body is read within these limits.
    pub(in crate::edge) fn answer(self, response: Response) -> HttpAnswer {
        // `worker` returns no stream for a response that was made in Rust.
        let response = Response::from(web_sys::Response::from(response));
        self.answer_of(response, Exchange(None))
    }

    /// Converts an answer of another server. Its body arrives as long as the exchange is kept.
    pub(super) fn answer_of(self, mut answer: Response, exchange: Exchange) -> HttpAnswer {
        let (url, status) = (self.url.clone(), answer.status_code());
        let headers = answer.headers().entries().collect();
        let body = match answer.stream() {
            Ok(pieces) => HttpBody::Stream(Box::pin(bounded(pieces, self, exchange))),
            // An answer without a body has no stream.
            Err(_) => HttpBody::Empty,
        };
        HttpAnswer { status, headers, body, url }
    }

    /// The output of a future within the timeout.
    ///
    /// # Errors
    ///
    /// [`HttpError::Silent`].
    pub(in crate::edge) async fn in_time<T>(
        &self,
        future: impl Future<Output = T> + Unpin,
    ) -> std::result::Result<T, HttpError> {
        match select(future, Delay::from(Duration::from_millis(self.timeout_ms))).await {
            Either::Left((value, _)) => Ok(value),
            Either::Right(_) => {
                Err(HttpError::Silent { url: self.url.clone(), timeout_ms: self.timeout_ms })
            }
        }
    }

    /// The error for an exchange that failed in the platform.
    pub(in crate::edge) fn failed(&self, error: &Error) -> HttpError {
        HttpError::Failed { url: self.url.clone(), reason: error.to_string() }
    }
}

/// The pieces of a body within its limits. The exchange ends with the stream, or with the first failure.
fn bounded(
    pieces: ByteStream,
    bounds: Bounds,
    exchange: Exchange,
) -> impl Stream<Item = std::result::Result<Vec<u8>, HttpError>> {
    let state = Some((pieces, bounds, exchange, 0_usize));
    stream::unfold(state, async |state| {
        let (mut pieces, bounds, exchange, taken) = state?;
        let piece = match bounds.in_time(pieces.next()).await {
            Ok(None) => return None,
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return Some((Err(bounds.failed(&error)), None)),
            Err(silent) => return Some((Err(silent), None)),
        };
        let taken = taken.saturating_add(piece.len());
        if taken > bounds.max_bytes {
            let Bounds { url, max_bytes, .. } = bounds;
            return Some((Err(HttpError::TooLarge { url, max_bytes }), None));
        }
        Some((Ok(piece), Some((pieces, bounds, exchange, taken))))
    })
}

pub(super) fn to_request(request: HttpRequest) -> Result<Request> {
    let HttpRequest { method, url, headers, body, .. } = request;
    let all = Headers::new();
    for (name, value) in &headers {
        all.set(name, value)?;
    }
    // `worker::RequestInit` would do the same, but adds all of Cloudflare's image options, 15 KB of code.
    let init = web_sys::RequestInit::new();
    init.set_method(method);
    init.set_headers(&all.0);
    init.set_redirect(web_sys::RequestRedirect::Manual);
    match body {
        HttpBody::Empty => {}
        HttpBody::Text(text) => init.set_body(&JsValue::from_str(&text)),
        HttpBody::Bytes(bytes) => init.set_body(&Uint8Array::from(bytes.as_slice())),
        HttpBody::Stream(pieces) => {
            let pieces = pieces.map(|piece| piece.map_err(|error| error.to_string()));
            // `worker` converts a stream of Rust into a stream of the platform only as the body of a response.
            let carrier: web_sys::Response = Response::from_stream(pieces)?.into();
            init.set_body(&carrier.body().into());
        }
    }
    let request = web_sys::Request::new_with_str_and_init(&url, &init).map_err(Error::from)?;
    Ok(Request::from(request))
}

/// Sends a request. The body of the answer arrives as long as the exchange is kept.
async fn open(request: Request) -> Result<(Response, Exchange)> {
    let controller = AbortController::default();
    let signal = controller.signal();
    let exchange = Exchange(Some(controller));
    let answer = Fetch::Request(request).send_with_signal(&signal).await?;
    Ok((answer, exchange))
}

/// An open exchange. Dropping it aborts the exchange; otherwise the platform would continue with it.
pub(super) struct Exchange(pub(super) Option<AbortController>);

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}
