//! Requests to other servers: the trait [`Http`], through which agents, tools and webhooks send all their requests, and its
//! types. The platform implements the trait; [`memory`] implements it for tests.

pub mod memory;
pub mod trace;

use std::fmt;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{LocalBoxStream, Stream, StreamExt};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{MAX_FOREIGN_VALUES, UnfitJson, UnixMillis, read_foreign_as};
use crate::wire::http::OWS;
use crate::wire::percent;

/// Sends requests to other servers. Redirects are not followed, but returned as answers.
pub trait Http {
    /// Sends a request, and returns the answer as soon as its status and headers have arrived. Dropping the future, or the
    /// body of the answer, ends the exchange.
    ///
    /// # Errors
    ///
    /// [`HttpError::Failed`] if there is no answer, [`HttpError::Silent`] if its head does not arrive within `timeout_ms`,
    /// [`HttpError::Refused`] for a guarded request to a forbidden URL. An answer is not an error, independent of its
    /// status.
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>>;
}

/// A request to another server.
pub struct HttpRequest {
    /// The method, for example `POST`.
    pub method: &'static str,
    /// The absolute URL, http or https.
    pub url: String,
    /// The headers, in order. Of several with the same name, the last one counts.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: HttpBody,
    /// How long to wait for the head of the answer, and then for each piece of its body, in milliseconds.
    pub timeout_ms: u64,
    /// The largest body of an answer, in bytes; the piece that exceeds it is replaced by an error.
    pub max_bytes: usize,
    /// Whether the URL must be checked before the request is sent; see [`guarded`](Self::guarded).
    pub is_guarded: bool,
}

impl HttpRequest {
    /// A request without a body, with limits that fit most uses: 30 s and 1 MiB.
    pub fn new(method: &'static str, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: HttpBody::Empty,
            timeout_ms: 30_000,
            max_bytes: 1024 * 1024,
            is_guarded: false,
        }
    }

    /// As [`new`](Self::new), with GET.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// As [`new`](Self::new), with POST.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// Adds a pair to the query of the URL, encoded, so that a foreign value cannot change other parts of the URL.
    ///
    /// ```
    /// use a2a::http::HttpRequest;
    ///
    /// let request = HttpRequest::get("https://a.example/search?lang=en").with_query("q", "a&b=c d");
    /// assert_eq!(request.url, "https://a.example/search?lang=en&q=a%26b%3Dc%20d");
    /// ```
    #[must_use]
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        let (url, fragment) = match self.url.split_once('#') {
            Some((url, fragment)) => (url, format!("#{fragment}")),
            None => (self.url.as_str(), String::new()),
        };
        let separator = if url.contains('?') { '&' } else { '?' };
        let (name, value) = (percent::encode(name), percent::encode(value));
        self.url = format!("{url}{separator}{name}={value}{fragment}");
        self
    }

    /// Sets this JSON as the body, with its content type.
    #[must_use]
    pub fn with_json(self, json: &Value) -> Self {
        self.with_header("content-type", "application/json").with_body(json.to_string())
    }

    /// Marks the URL as chosen by somebody else, for example a caller. The request is only sent to targets that are allowed
    /// for webhooks: by https, not to a private address, and to the hosts that the operator allows. For any other target the
    /// result is [`HttpError::Refused`].
    #[must_use]
    pub fn guarded(self) -> Self {
        Self { is_guarded: true, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Replaces the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<HttpBody>) -> Self {
        self.body = body.into();
        self
    }
}

/// The answer of the other server. The body is a stream of pieces until it is read: [`text`](Self::text) returns an
/// `HttpAnswer<String>`.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpAnswer<Body = HttpBody> {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// The requested URL.
    pub url: String,
}

impl<Body> HttpAnswer<Body> {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl HttpAnswer {
    /// The answer with its whole body as bytes.
    ///
    /// # Errors
    ///
    /// As [`HttpBody::next`].
    pub async fn bytes(self) -> Result<HttpAnswer<Vec<u8>>, HttpError> {
        let Self { status, headers, body, url } = self;
        Ok(HttpAnswer { status, headers, body: body.bytes().await?, url })
    }

    /// The answer with its whole body as text; invalid UTF-8 is replaced.
    ///
    /// # Errors
    ///
    /// As [`HttpBody::next`].
    pub async fn text(self) -> Result<HttpAnswer<String>, HttpError> {
        let HttpAnswer { status, headers, body, url } = self.bytes().await?;
        let body = String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(HttpAnswer { status, headers, body, url })
    }
}

impl HttpAnswer<String> {
    /// The answer, if its status is a success.
    ///
    /// # Errors
    ///
    /// [`HttpError::Status`] for any status other than 2xx, including redirects.
    pub fn success(self) -> Result<Self, HttpError> {
        if self.is_success() {
            return Ok(self);
        }
        let Self { status, body, url, .. } = self;
        Err(HttpError::Status {
            url,
            status,
            begins: one_line(&body).chars().take(EXCERPT_CHARS).collect(),
        })
    }

    /// Parses the body as JSON of at most [`MAX_FOREIGN_VALUES`] values.
    ///
    /// ```
    /// use a2a::http::memory::ok;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Weather {
    ///     celsius: f64,
    /// }
    ///
    /// let weather: Weather = ok(r#"{"celsius": 21.5, "wind": 3}"#).success()?.json()?;
    /// assert_eq!(weather.celsius, 21.5);
    /// # Ok::<(), a2a::http::HttpError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`HttpError::Misfit`] if the body is not JSON within the limits of [`read_foreign`](crate::model::read_foreign), or
    /// does not match the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        self.json_within(MAX_FOREIGN_VALUES)
    }

    /// As [`json`](Self::json), for at most `max_values` values.
    ///
    /// # Errors
    ///
    /// As [`json`](Self::json).
    pub fn json_within<T: DeserializeOwned>(&self, max_values: usize) -> Result<T, HttpError> {
        read_foreign_as(self.body.as_bytes(), max_values).map_err(|unfit| HttpError::Misfit {
            url: self.url.clone(),
            reason: match unfit {
                UnfitJson::NotJson { reason, .. } => reason,
                beyond => format!("it {beyond}"),
            },
        })
    }
}

/// The delay that a server requires in its header `Retry-After`, as seconds or as a date (RFC 9110 §10.2.3); in milliseconds
/// from now, 0 for a date in the past. `None` for any other text. The result has no upper limit.
pub fn retry_after_ms(text: &str, now: UnixMillis) -> Option<u64> {
    let text = text.trim_matches(OWS);
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number too large for `u64` means the longest delay.
        return Some(text.parse().unwrap_or(u64::MAX).saturating_mul(1_000));
    }
    let left = UnixMillis::parse_http_date(text)?.0.saturating_sub(now.0);
    Some(u64::try_from(left).unwrap_or(0))
}

/// A text of another server on one line: its words separated by single spaces, without control characters.
pub fn one_line(text: &str) -> String {
    let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The length of the excerpt from an answer in an error, in characters.
const EXCERPT_CHARS: usize = 200;

/// The body of a request or of an answer.
#[derive(Default)]
pub enum HttpBody {
    /// No body.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes that arrive in pieces. A failed piece is the last one.
    Stream(LocalBoxStream<'static, Result<Vec<u8>, HttpError>>),
}

impl HttpBody {
    /// A body that arrives in pieces.
    pub fn stream(pieces: impl Stream<Item = Result<Vec<u8>, HttpError>> + 'static) -> Self {
        Self::Stream(Box::pin(pieces))
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    ///
    /// For a body from another server: [`HttpError::Failed`] if the body breaks off, [`HttpError::Silent`] if the piece does
    /// not arrive in time, [`HttpError::TooLarge`] if the body is larger than the request allows.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, HttpError>> {
        match self {
            Self::Stream(pieces) => pieces.next().await,
            whole => match std::mem::take(whole) {
                Self::Text(text) => Some(Ok(text.into_bytes())),
                Self::Bytes(bytes) => Some(Ok(bytes)),
                Self::Empty | Self::Stream(_) => None,
            },
        }
    }

    /// The whole body.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn bytes(mut self) -> Result<Vec<u8>, HttpError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await {
            if whole.is_empty() { whole = piece? } else { whole.extend(piece?) }
        }
        Ok(whole)
    }
}

impl fmt::Debug for HttpBody {
    /// The size of the body, without its content.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("Empty"),
            Self::Text(text) => write!(out, "Text({} bytes)", text.len()),
            Self::Bytes(bytes) => write!(out, "Bytes({} bytes)", bytes.len()),
            Self::Stream(_) => out.write_str("Stream"),
        }
    }
}

impl From<String> for HttpBody {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for HttpBody {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<u8>> for HttpBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// The reason why an answer is missing or incomplete. The text contains the URL without its query, which often contains
/// keys.
#[derive(Clone, PartialEq, Eq)]
pub enum HttpError {
    /// The request could not be sent, or the connection broke.
    Failed {
        /// The requested URL.
        url: String,
        /// The reason that the platform reports.
        reason: String,
    },
    /// Nothing arrived in time.
    Silent {
        /// The requested URL.
        url: String,
        /// The timeout, in milliseconds.
        timeout_ms: u64,
    },
    /// The answer is too large.
    TooLarge {
        /// The requested URL.
        url: String,
        /// The limit, in bytes.
        max_bytes: usize,
    },
    /// The answer has a failure status: [`HttpAnswer::success`].
    Status {
        /// The requested URL.
        url: String,
        /// The status.
        status: u16,
        /// The first 200 characters of the body, on one line.
        begins: String,
    },
    /// The answer does not have the expected form: [`HttpAnswer::json`].
    Misfit {
        /// The requested URL.
        url: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The request is [guarded](HttpRequest::guarded), and its URL is forbidden. Nothing was sent.
    Refused {
        /// The requested URL.
        url: String,
        /// The requirement that the URL violates, as a text that continues a sentence about the URL.
        reason: String,
    },
    /// A requirement for the request is missing: a binding, or a setting of development. Nothing was sent.
    Unbound {
        /// What is missing, and how to correct that.
        reason: String,
    },
}

impl fmt::Display for HttpError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { url, reason } => {
                let (shown, reason) = (shown_url(url), reason.replace(url, &shown_url(url)));
                write!(out, "{shown} did not answer: {reason}")
            }
            Self::Silent { url, timeout_ms } => {
                write!(out, "{} did not answer: not within {timeout_ms} ms", shown_url(url))
            }
            Self::TooLarge { url, max_bytes } => {
                let url = shown_url(url);
                write!(out, "{url} did not answer: its answer has more than {max_bytes} bytes")
            }
            Self::Status { url, status, begins } if begins.is_empty() => {
                write!(out, "{} answered {status}", shown_url(url))
            }
            Self::Status { url, status, begins } => {
                write!(out, "{} answered {status}: {begins}", shown_url(url))
            }
            Self::Misfit { url, reason } => {
                write!(out, "the answer of {} cannot be used: {reason}", shown_url(url))
            }
            Self::Refused { url, reason } => {
                write!(out, "{} was not called: a URL {reason}", shown_url(url))
            }
            Self::Unbound { reason } => out.write_str(reason),
        }
    }
}

impl fmt::Debug for HttpRequest {
    /// The method, the URL and the names of the headers: their values may be secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let url = shown_url(&self.url);
        write!(out, "HttpRequest({} {url} {names:?} {:?})", self.method, self.body)
    }
}

impl<Body: fmt::Debug> fmt::Debug for HttpAnswer<Body> {
    /// The same information as for a request, with the body.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let url = shown_url(&self.url);
        write!(out, "HttpAnswer({} {url} {names:?} {:?})", self.status, self.body)
    }
}

impl fmt::Debug for HttpError {
    /// The text of the error, which contains no credentials.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HttpError({self})")
    }
}

/// A URL or a reference, for errors and logs: without the parts that may contain credentials, which are user, query and
/// fragment.
pub fn shown_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (plain, _) = url.split_at(end);
    let is_scheme = |before: &str| before.is_empty() || before.ends_with(':');
    let whole = plain.split_once("//").filter(|(before, _)| is_scheme(before));
    let Some((scheme, rest)) = whole else { return plain.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}//{host}{path}")
}

impl std::error::Error for HttpError {}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;
    use futures_util::stream;

    use super::*;

    fn answer(body: HttpBody) -> HttpAnswer {
        let headers = vec![("etag".to_owned(), "1".to_owned())];
        HttpAnswer { status: 200, headers, body, url: "http://a".to_owned() }
    }

    fn pieces(pieces: &[&str]) -> HttpBody {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok(piece.as_bytes().to_vec())).collect();
        HttpBody::stream(stream::iter(pieces))
    }

    #[test]
    fn a_body_of_any_kind_is_read_whole_or_piece_by_piece() {
        for (body, count, whole) in [
            (HttpBody::Empty, 0, ""),
            (HttpBody::from("text"), 1, "text"),
            (HttpBody::from(b"bytes".to_vec()), 1, "bytes"),
            (pieces(&["o", "", "ne"]), 3, "one"),
        ] {
            let (mut body, mut seen, mut read) = (body, 0, Vec::new());
            while let Some(piece) = block_on(body.next()) {
                seen += 1;
                read.extend(piece.unwrap());
            }
            assert_eq!((seen, read.as_slice()), (count, whole.as_bytes()));
        }
        let read = block_on(answer(pieces(&["a", "b"])).text()).unwrap();
        assert_eq!((read.body.as_str(), read.header("etag")), ("ab", Some("1")));
        let odd = block_on(answer(HttpBody::from(vec![b'a', 0xff])).text()).unwrap();
        assert_eq!(odd.body, "a\u{fffd}");
    }

    #[test]
    fn what_is_no_success_is_an_error_with_the_beginning_of_its_body() {
        let text = |status, body: &str| {
            let url = "https://a.example/b?key=secret".to_owned();
            let answer = HttpAnswer { status, headers: Vec::new(), body: body.to_owned(), url };
            answer.success().map(|answer| answer.body).map_err(|error| error.to_string())
        };
        assert_eq!(text(204, ""), Ok(String::new()));
        let failed = |rest: &str| Err(format!("https://a.example/b answered {rest}"));
        assert_eq!(text(301, ""), failed("301"));
        assert_eq!(text(500, "it\r\n\u{7}  broke"), failed("500: it broke"));
        assert_eq!(text(404, &"x".repeat(1_000)), failed(&format!("404: {}", "x".repeat(200))));
    }

    #[test]
    fn an_answer_that_is_not_the_json_that_was_wanted_is_an_error() {
        let read = |body: &str| memory::ok(body).json::<u8>().map_err(|error| error.to_string());
        assert_eq!(read("7"), Ok(7));
        for body in ["", "<html>", "700"] {
            assert!(read(body).unwrap_err().contains("cannot be used: "), "{body}");
        }
        let read = |body: &str| {
            let read = memory::ok(body).json::<serde::de::IgnoredAny>();
            read.map(|_| ()).map_err(|error| error.to_string())
        };
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert_eq!(read(&list(99_999)), Ok(()));
        for (body, told) in [
            (list(100_000), "cannot be used: it holds more than 100000 JSON values"),
            ("[".repeat(101), "cannot be used: it is nested more than 100 levels deep"),
        ] {
            assert!(read(&body).unwrap_err().ends_with(told), "{told}");
        }
    }

    #[test]
    fn the_text_of_an_error_holds_no_credentials() {
        let url = "https://user:pa@ss@a.example/b?key=secret#c".to_owned();
        let reason = format!("cannot load {url}");
        let shown = "https://a.example/b";
        for (error, text) in [
            (
                HttpError::Failed { url: url.clone(), reason },
                format!("{shown} did not answer: cannot load {shown}"),
            ),
            (
                HttpError::Silent { url: url.clone(), timeout_ms: 5 },
                format!("{shown} did not answer: not within 5 ms"),
            ),
            (
                HttpError::TooLarge { url: url.clone(), max_bytes: 7 },
                format!("{shown} did not answer: its answer has more than 7 bytes"),
            ),
            (
                HttpError::Refused { url, reason: "must be https".to_owned() },
                format!("{shown} was not called: a URL must be https"),
            ),
            (HttpError::Unbound { reason: "no AI".to_owned() }, "no AI".to_owned()),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(format!("{error:?}"), format!("HttpError({text})"));
        }
        let request =
            HttpRequest::get("https://a.example/b?key=secret").with_header("X-Key", "secret");
        assert_eq!(
            format!("{request:?}"),
            r#"HttpRequest(GET https://a.example/b ["X-Key"] Empty)"#
        );
        let answer = answer(HttpBody::Empty);
        assert_eq!(format!("{answer:?}"), r#"HttpAnswer(200 http://a ["etag"] Empty)"#);
        for (url, text) in [("a?b", "a"), ("http://a", "http://a"), ("http://a@b", "http://b")] {
            assert_eq!(super::shown_url(url), text);
        }
    }

    #[test]
    fn a_body_that_breaks_off_is_an_error_and_not_a_shorter_body() {
        let broken = HttpError::Failed { url: "http://a".to_owned(), reason: "it left".to_owned() };
        let body = HttpBody::stream(stream::iter([Ok(b"half".to_vec()), Err(broken.clone())]));
        assert_eq!(block_on(answer(body).text()), Err(broken));
    }
}
