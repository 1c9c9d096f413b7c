//! The HTTP port of native programs, implemented with reqwest.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response};

use super::reach;
use crate::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};

/// Sends requests by reqwest: TLS by rustls with the certificates that the system trusts, proxies from the usual environment
/// variables, no redirects, no cookies. A guarded request is sent only by https and only to public addresses. Requires a
/// tokio runtime.
#[derive(Clone)]
pub struct NativeHttp {
    plain: Result<Client, String>,
    guarded: Result<Client, String>,
}

impl Default for NativeHttp {
    fn default() -> Self {
        Self::new()
    }
}

impl NativeHttp {
    /// A port with its own connections.
    pub fn new() -> Self {
        // The installation fails if the program already has a provider, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder =
            || Client::builder().redirect(Policy::none()).connect_timeout(CONNECT_TIMEOUT);
        let text = |error: reqwest::Error| error.to_string();
        let guarded = builder().no_proxy().dns_resolver(Arc::new(Public));
        Self { plain: builder().build().map_err(text), guarded: guarded.build().map_err(text) }
    }
}

impl Http for NativeHttp {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let client = if request.is_guarded { self.guarded.clone() } else { self.plain.clone() };
        Box::pin(send(client, request))
    }
}

async fn send(
    client: Result<Client, String>,
    request: HttpRequest,
) -> Result<HttpAnswer, HttpError> {
    let HttpRequest { method, url, headers, body, timeout_ms, max_bytes, is_guarded } = request;
    if is_guarded && let Err(reason) = reach::check(&url) {
        return Err(HttpError::Refused { url, reason });
    }
    let bounds = Bounds { url, timeout_ms, max_bytes };
    let client = client.map_err(|reason| bounds.failed(reason))?;
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| bounds.failed("no method"))?;
    let headers = header_map(headers)
        .map_err(|name| bounds.failed(format!("the header {name} cannot be sent")))?;
    let body = body.bytes().await?;
    let request = client.request(method, &bounds.url).headers(headers).body(body);
    let answer = bounds.in_time(request.send()).await?.map_err(|error| bounds.broken(error))?;
    let headers = answer.headers().iter();
    let headers = headers.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Ok(HttpAnswer {
        status: answer.status().as_u16(),
        headers: headers.collect(),
        url: bounds.url.clone(),
        body: pieces(answer, bounds),
    })
}

/// The headers as a map; of several headers with the same name, the last one is sent. The error is the name of a header
/// that cannot be sent.
fn header_map(headers: Vec<(String, String)>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let pair =
            HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(&value).ok());
        let (key, value) = pair.ok_or(name)?;
        map.insert(key, value);
    }
    Ok(map)
}

/// The limits of an exchange, and its URL for errors.
struct Bounds {
    url: String,
    timeout_ms: u64,
    max_bytes: usize,
}

impl Bounds {
    async fn in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, HttpError> {
        let timeout = Duration::from_millis(self.timeout_ms);
        let silent = |_| HttpError::Silent { url: self.url.clone(), timeout_ms: self.timeout_ms };
        tokio::time::timeout(timeout, future).await.map_err(silent)
    }

    fn failed(&self, reason: impl Into<String>) -> HttpError {
        HttpError::Failed { url: self.url.clone(), reason: reason.into() }
    }

    /// Only the innermost cause is reported, because the outer causes repeat the URL.
    fn broken(&self, error: reqwest::Error) -> HttpError {
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        self.failed(cause.to_string())
    }
}

/// The body of an answer, with its limits. Dropping an unfinished body closes the connection.
fn pieces(answer: Response, bounds: Bounds) -> HttpBody {
    let state = Some((answer, bounds, 0_usize));
    HttpBody::stream(stream::unfold(state, async |state| {
        let (mut answer, bounds, taken) = state?;
        let piece = match bounds.in_time(answer.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => return Some((Err(bounds.broken(error)), None)),
            Err(silent) => return Some((Err(silent), None)),
        };
        let taken = taken.saturating_add(piece.len());
        if taken > bounds.max_bytes {
            let Bounds { url, max_bytes, .. } = bounds;
            return Some((Err(HttpError::TooLarge { url, max_bytes }), None));
        }
        Some((Ok(piece.to_vec()), Some((answer, bounds, taken))))
    }))
}

/// Resolves names to only their public addresses.
struct Public;

impl Resolve for Public {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<_> = found.filter(|address| reach::is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the host has no public address".into());
            }
            let addresses: Addrs = Box::new(public.into_iter());
            Ok(addresses)
        })
    }
}

/// The longest time for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
