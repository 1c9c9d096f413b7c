//! Servers in memory: the requests that they receive, and answers that arrive late, in pieces, or not at all.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::{Value, json};

use super::Simulation;
use crate::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use crate::model::read_own;
use crate::port::Clock;

/// The function of a server that answers a request.
pub(super) type Server = dyn Fn(&SimulatedRequest) -> SimulatedAnswer;

/// A request that a server in memory has received.
#[derive(Clone, PartialEq, Eq)]
pub struct SimulatedRequest {
    /// The instant at which the request arrived, in milliseconds since the simulation began.
    pub at_ms: u64,
    /// The method of the request.
    pub method: &'static str,
    /// The URL of the request.
    pub url: String,
    /// The headers of the request, in order.
    pub headers: Vec<(String, String)>,
    /// The body of the request, as text.
    pub body: String,
    /// The number of this request, from 1, among the requests with a body to this host; for a request without a body, among
    /// those without a body.
    pub call_number: usize,
}

impl SimulatedRequest {
    /// The host, with the port if the URL has one.
    pub fn host(&self) -> &str {
        host(&self.url)
    }

    /// The path and the query.
    pub fn path(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        rest.find('/').and_then(|begin| rest.get(begin..)).unwrap_or("/")
    }

    /// The value of a header; the case of its name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().rfind(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if the body is not JSON.
    pub fn json(&self) -> Value {
        read_own(&self.body).unwrap_or_default()
    }

    /// The JSON-RPC method; empty if the body has no method.
    pub fn rpc_method(&self) -> String {
        self.json().get("method").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

impl std::fmt::Debug for SimulatedRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at_ms, method, url, headers, body, .. } = self;
        write!(out, "{at_ms} ms: {method} {url} {headers:?} {body}")
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// A piece of the body of an answer, or an event in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These bytes arrive.
    Bytes(Vec<u8>),
    /// Nothing arrives for this number of milliseconds.
    Wait(u64),
    /// The connection breaks, for this reason.
    Cut(String),
    /// Nothing more arrives, and the connection stays open.
    Hang,
}

/// The answer of a server in memory. [`json`](Self::json), [`status`](Self::status), [`events`](Self::events) and
/// [`refused`](Self::refused) make an answer; the other methods change it.
pub struct SimulatedAnswer {
    status: u16,
    headers: Vec<(String, String)>,
    delay_ms: u64,
    refusal: Option<String>,
    pieces: Box<dyn Iterator<Item = Piece>>,
}

impl SimulatedAnswer {
    /// An answer with this status and no body.
    pub fn status(status: u16) -> Self {
        let (headers, pieces) = (Vec::new(), Box::new(std::iter::empty()));
        Self { status, headers, delay_ms: 0, refusal: None, pieces }
    }

    /// An answer with status 200 and this JSON.
    pub fn json(json: &Value) -> Self {
        Self::status(200).header("content-type", "application/json").text(json.to_string())
    }

    /// The card of an agent with this URL that supports JSON-RPC, version 1.0 and streaming.
    pub fn card(url: &str) -> Self {
        let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        Self::json(&json!({
            "name": "Simulated agent", "description": "Answers in memory.", "version": "1",
            "supportedInterfaces": [interface], "capabilities": {"streaming": true},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
        }))
    }

    /// A stream of server-sent events with these data, which ends after the last one.
    pub fn events(data: impl IntoIterator<Item = Value>) -> Self {
        let events = data.into_iter().map(|data| format!("data: {data}\n\n"));
        let answer = Self::status(200).header("content-type", "text/event-stream");
        events.fold(answer, Self::text)
    }

    /// A connection that fails for this reason, without an answer.
    pub fn refused(reason: &str) -> Self {
        Self { refusal: Some(reason.to_owned()), ..Self::status(0) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// Sets the status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Delays the head of the answer by this number of milliseconds.
    #[must_use]
    pub fn after(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Adds this text as the next piece of the body.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.piece(Piece::Bytes(text.into().into_bytes()))
    }

    /// Adds a pause at this point of the body, in milliseconds.
    #[must_use]
    pub fn wait(self, millis: u64) -> Self {
        self.piece(Piece::Wait(millis))
    }

    /// Breaks the connection at this point of the body.
    #[must_use]
    pub fn cut(self, reason: &str) -> Self {
        self.piece(Piece::Cut(reason.to_owned()))
    }

    /// Keeps the connection open without further bytes from this point on.
    #[must_use]
    pub fn hang(self) -> Self {
        self.piece(Piece::Hang)
    }

    /// Adds a piece to the body.
    #[must_use]
    pub fn piece(self, piece: Piece) -> Self {
        self.pieces([piece])
    }

    /// Adds these pieces to the body. A piece is made only when it is sent, so the number of pieces may be unlimited.
    #[must_use]
    pub fn pieces(mut self, more: impl IntoIterator<Item = Piece, IntoIter: 'static>) -> Self {
        self.pieces = Box::new(self.pieces.chain(more));
        self
    }
}

impl Http for Simulation {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let server = self.0.servers.borrow().get(host(&request.url)).cloned();
        let Some(server) = server else { return self.0.http.send(request) };
        let simulation = self.clone();
        Box::pin(async move {
            let body = std::mem::take(&mut request.body).bytes().await?;
            let (at_ms, url) = (simulation.now_ms(), request.url.clone());
            let asked = SimulatedRequest {
                at_ms,
                method: request.method,
                url: url.clone(),
                headers: request.headers,
                body: String::from_utf8_lossy(&body).into_owned(),
                call_number: 0,
            };
            let asked = simulation.log(asked);
            let answer = server(&asked);
            let silent = HttpError::Silent { url: url.clone(), timeout_ms: request.timeout_ms };
            if answer.delay_ms >= request.timeout_ms {
                simulation.sleep(request.timeout_ms).await;
                return Err(silent);
            }
            if answer.delay_ms > 0 {
                simulation.sleep(answer.delay_ms).await;
            }
            if let Some(reason) = answer.refusal {
                return Err(HttpError::Failed { url, reason });
            }
            let (status, headers) = (answer.status, answer.headers);
            let pieces = Pieces {
                simulation,
                left: answer.pieces,
                left_bytes: request.max_bytes,
                too_large: HttpError::TooLarge { url: url.clone(), max_bytes: request.max_bytes },
                silent,
            };
            let body = HttpBody::stream(stream::unfold(Some(pieces), Pieces::next));
            Ok(HttpAnswer { status, headers, body, url })
        })
    }
}

impl Simulation {
    /// Adds a request to the log, and numbers it.
    fn log(&self, mut request: SimulatedRequest) -> SimulatedRequest {
        let mut requests = self.0.requests.borrow_mut();
        let is_alike = |known: &&SimulatedRequest| {
            known.host() == request.host() && known.body.is_empty() == request.body.is_empty()
        };
        request.call_number = 1 + requests.iter().filter(is_alike).count();
        requests.push(request.clone());
        request
    }
}

/// The state of a body that is being sent.
struct Pieces {
    simulation: Simulation,
    left: Box<dyn Iterator<Item = Piece>>,
    left_bytes: usize,
    too_large: HttpError,
    silent: HttpError,
}

type Next = Option<(Result<Vec<u8>, HttpError>, Option<Pieces>)>;

impl Pieces {
    async fn next(pieces: Option<Self>) -> Next {
        let mut pieces = pieces?;
        let HttpError::Silent { ref url, timeout_ms } = pieces.silent else { return None };
        let mut waited = 0;
        loop {
            let wait = match pieces.left.next()? {
                Piece::Bytes(bytes) => {
                    let Some(left) = pieces.left_bytes.checked_sub(bytes.len()) else {
                        return Some((Err(pieces.too_large), None));
                    };
                    pieces.left_bytes = left;
                    return Some((Ok(bytes), Some(pieces)));
                }
                Piece::Cut(reason) => {
                    return Some((Err(HttpError::Failed { url: url.clone(), reason }), None));
                }
                Piece::Wait(millis) => millis,
                Piece::Hang => u64::MAX,
            };
            let left = timeout_ms.saturating_sub(waited);
            waited = waited.saturating_add(wait);
            pieces.simulation.sleep(wait.min(left)).await;
            if wait >= left {
                return Some((Err(pieces.silent), None));
            }
        }
    }
}

/// Sharing one server among several hosts.
impl Simulation {
    /// Adds one server for several hosts.
    pub fn serve_all(
        &self,
        hosts: &[&str],
        server: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
    ) {
        let server: Rc<Server> = Rc::new(server);
        let mut servers = self.0.servers.borrow_mut();
        servers.extend(hosts.iter().map(|host| ((*host).to_owned(), Rc::clone(&server))));
    }
}
