//! One HTTP request to a server: credentials, redirects, and answers that report a failure.

use a2a::client::SseReader;
use a2a::http::{HttpAnswer, HttpBody, HttpRequest, retry_after_ms};
use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::error::{excerpt, shown};
use super::incoming::{Incoming, media_type};
use super::message::Message;
use super::{Client, McpError};

/// A request to the server's endpoint.
pub(super) struct Sending {
    method: &'static str,
    headers: Vec<(String, String)>,
    body: Option<String>,
    timeout_ms: u64,
}

impl Sending {
    /// A request without a body.
    pub(super) fn new(method: &'static str, timeout_ms: u64) -> Self {
        Self { method, headers: Vec::new(), body: None, timeout_ms }
    }

    /// A POST request with this message.
    pub(super) fn post(message: &Value, timeout_ms: u64) -> Self {
        let mut sending = Self::new("POST", timeout_ms);
        sending.header("Accept", "application/json, text/event-stream");
        sending.header("Content-Type", "application/json");
        sending.body = Some(message.to_string());
        sending
    }

    /// A request for a stream.
    pub(super) fn get(timeout_ms: u64) -> Self {
        let mut sending = Self::new("GET", timeout_ms);
        sending.header("Accept", "text/event-stream");
        sending
    }

    pub(super) fn header(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }
}

impl Client {
    /// Sends a request, and a second time if the server refuses the credentials (401) and new credentials can be obtained;
    /// returns the answer when its head has arrived. Redirects are followed if they preserve the method and stay within the
    /// origin.
    ///
    /// # Errors
    ///
    /// If there is no answer, or if it refuses the credentials or redirects to another origin. Any other status is not an
    /// error.
    pub(super) fn send<'a>(
        &'a self,
        sending: &'a Sending,
    ) -> LocalBoxFuture<'a, Result<HttpAnswer, McpError>> {
        Box::pin(async move {
            let mut url = self.settings().url.clone();
            let (mut redirects, mut may_ask_again) = (0, true);
            loop {
                let answer = self.send_once(sending, &url).await?;
                let credentials = self.0.credentials.borrow().clone();
                match answer.status {
                    401 if may_ask_again && credentials.is_some_and(|known| known.refused()) => {
                        may_ask_again = false;
                    }
                    401 | 403 => return Err(refusal(answer).await),
                    307 | 308 if redirects < MAX_REDIRECTS => match target(&url, &answer) {
                        Some(target) => {
                            redirects += 1;
                            url = target;
                        }
                        None => return Err(redirected(&answer)),
                    },
                    300..=399 => return Err(redirected(&answer)),
                    _ => return Ok(answer),
                }
            }
        })
    }

    fn send_once<'a>(
        &'a self,
        sending: &'a Sending,
        url: &'a str,
    ) -> LocalBoxFuture<'a, Result<HttpAnswer, McpError>> {
        Box::pin(async move {
            let settings = self.settings();
            let mut request = HttpRequest::new(sending.method, url);
            request.headers.clone_from(&settings.headers);
            request.headers.extend_from_slice(&sending.headers);
            if let Some(body) = &sending.body {
                request.body = HttpBody::Text(body.clone());
            }
            request.timeout_ms = sending.timeout_ms;
            // The size limit depends on the head of the answer: see `Incoming`.
            request.max_bytes = usize::MAX;
            request.is_guarded = settings.is_guarded;
            let credentials = self.0.credentials.borrow().clone();
            if let Some(credentials) = credentials {
                credentials.put(&mut request).await?;
            }
            self.ports().http.send(request).await.map_err(McpError::Unreachable)
        })
    }

    /// The messages of an answer to the request with this id.
    ///
    /// # Errors
    ///
    /// If the status is a failure, or if the answer is not an MCP answer.
    pub(super) fn incoming<'a>(
        &'a self,
        answer: HttpAnswer,
        id: u64,
    ) -> LocalBoxFuture<'a, Result<Incoming, McpError>> {
        Box::pin(async move {
            if answer.is_success() {
                return Incoming::of(answer, self.settings().max_bytes).await;
            }
            let (status, kind) = (answer.status, media_type(&answer));
            let now = self.ports().clock.now();
            let retry_after_ms =
                answer.header("retry-after").and_then(|text| retry_after_ms(text, now));
            let text = read_some(answer.body).await;
            Err(match said(&text, &kind, id) {
                Some(Message::Error(error)) => McpError::Rpc { error, status },
                _ => McpError::Status { status, begins: excerpt(&text), retry_after_ms },
            })
        })
    }
}

/// The message of an answer with a failure status. The id of the message is ignored, because servers write arbitrary
/// ids.
fn said(text: &str, kind: &str, id: u64) -> Option<Message> {
    let read = |text: &str| {
        let mut json = read_foreign(text.as_bytes(), MAX_FOREIGN_VALUES).ok()?;
        json.as_object_mut()?.remove("id");
        Some(Message::read(json, id, true))
    };
    if kind != "text/event-stream" {
        return read(text);
    }
    let mut reader = SseReader::new(MAX_FAILURE_BYTES);
    reader.push(text.as_bytes()).ok()?;
    let mut events = std::iter::from_fn(|| reader.pop());
    events.find_map(|event| read(&event.data))
}

/// The error for an answer that refuses the credentials.
fn refusal(answer: HttpAnswer) -> LocalBoxFuture<'static, McpError> {
    Box::pin(async move {
        let (status, kind) = (answer.status, media_type(&answer));
        let wanted = answer.header("www-authenticate").map(excerpt).filter(|text| !text.is_empty());
        let text = read_some(answer.body).await;
        let words = match said(&text, &kind, 0) {
            Some(Message::Error(error)) => excerpt(&error.message),
            _ => excerpt(&text),
        };
        let wants = wanted.map(|wanted| format!("it wants {wanted}"));
        let says =
            Some(words).filter(|words| !words.is_empty()).map(|words| format!("it says: {words}"));
        let reason: Vec<String> = wants.into_iter().chain(says).collect();
        McpError::Refused { status, reason: reason.join("; ") }
    })
}

fn redirected(answer: &HttpAnswer) -> McpError {
    let to = answer.header("location").map_or_else(|| "no URL".to_owned(), shown);
    McpError::Redirected { status: answer.status, to }
}

/// The target of a redirect, if it is within the origin of the requested URL.
fn target(url: &str, answer: &HttpAnswer) -> Option<String> {
    let location = answer.header("location")?.trim();
    if location.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b'\\') {
        return None;
    }
    let origin = origin(url)?;
    if location.starts_with('/') && !location.starts_with("//") {
        return Some(format!("{origin}{location}"));
    }
    let is_same = self::origin(location)?.eq_ignore_ascii_case(origin);
    is_same.then(|| location.to_owned())
}

/// The origin of an absolute URL.
fn origin(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    url.get(..scheme.len() + 3 + end)
}

/// The beginning of a body as text, to read an error from it.
fn read_some(mut body: HttpBody) -> LocalBoxFuture<'static, String> {
    Box::pin(async move {
        let mut whole = Vec::new();
        while let Some(Ok(piece)) = body.next().await {
            whole.extend_from_slice(&piece);
            if whole.len() > MAX_FAILURE_BYTES {
                break;
            }
        }
        String::from_utf8_lossy(&whole).into_owned()
    })
}

const MAX_REDIRECTS: usize = 3;

/// The largest part of a failed answer that is read, in bytes.
const MAX_FAILURE_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_followed_within_the_origin_alone() {
        let lead = |location: &str| {
            let headers = vec![("location".to_owned(), location.to_owned())];
            let answer =
                HttpAnswer { status: 307, headers, body: HttpBody::Empty, url: String::new() };
            target("https://a.example/mcp?x=1", &answer)
        };
        for (location, expected) in [
            ("/mcp/", Some("https://a.example/mcp/")),
            ("https://A.example/y", Some("https://A.example/y")),
            ("//b.example/", None),
            ("https://b.example/", None),
            ("http://a.example/", None),
            ("https://a.example:8443/", None),
            ("https://a.example@b.example/", None),
            ("https://a.example.b.example/", None),
            ("/\\b.example", None),
            ("y", None),
            ("", None),
        ] {
            assert_eq!(lead(location).as_deref(), expected, "{location}");
        }
    }
}
