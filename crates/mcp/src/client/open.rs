//! Sends a request, in either era, and receives its answer.

use std::rc::Rc;

use a2a::client::DEPTH_KEY;
use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::stream::StreamExt;
use serde_json::{Map, Value};

use super::incoming::Incoming;
use super::live::Live;
use super::message::Message;
use super::session::Session;
use super::standing::Standing;
use super::wire::Sending;
use super::{Client, McpError};
use crate::header;
use crate::model::{LATEST, meta};

/// A request, without the additions of the era.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    /// The value of the header `Mcp-Name`.
    pub(super) name: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) has_progress: bool,
    /// True if the caller answers questions during the request (legacy).
    pub(super) takes_questions: bool,
    pub(super) timeout_ms: u64,
}

/// A request that was sent.
pub(super) struct Open {
    pub(super) id: u64,
    pub(super) incoming: Incoming,
    pub(super) status: u16,
    /// The session with a legacy server.
    pub(super) session: Option<Rc<Session>>,
    /// The id of the session in the answer.
    session_id: Option<String>,
    /// The separate stream of a legacy server.
    standing: Option<Standing>,
}

impl Client {
    /// A request with the usual settings.
    pub(super) fn plain(&self, method: &'static str, params: Map<String, Value>) -> Ask {
        Ask {
            method,
            params,
            name: None,
            headers: Vec::new(),
            has_progress: false,
            takes_questions: false,
            timeout_ms: self.settings().timeout_ms,
        }
    }

    /// Sends a request in the form of the server's era.
    pub(super) fn open<'a>(
        &'a self,
        ask: &'a Ask,
        live: &'a Live,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        Box::pin(async move {
            self.settings().check()?;
            if self.is_modern().await? {
                let id = self.next_id();
                live.begins(id, None);
                return self.open_modern(ask, id).await;
            }
            let session = self.session().await?;
            let is_asked = ask.takes_questions && self.settings().takes_questions();
            let standing = if is_asked { Box::pin(self.standing(&session)).await } else { None };
            let id = self.next_id();
            live.begins(id, Some(Rc::clone(&session)));
            let open = self.open_legacy(ask, id, Some(session)).await?;
            Ok(Open { standing, ..open })
        })
    }

    /// Sends a request in the form of 2026-07-28.
    pub(super) fn open_modern<'a>(
        &'a self,
        ask: &'a Ask,
        id: u64,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        let settings = self.settings();
        let mut members = self.said_in_meta(ask, id);
        put(&mut members, meta::PROTOCOL_VERSION, LATEST.as_str().into());
        put(&mut members, meta::CLIENT_INFO, settings.client_info());
        put(&mut members, meta::CLIENT_CAPABILITIES, settings.capabilities(true));
        let mut sending = sending(ask, id, members);
        sending.header("MCP-Protocol-Version", LATEST.as_str());
        sending.header("Mcp-Method", ask.method);
        if let Some(name) = &ask.name {
            sending.header("Mcp-Name", &header::encode(name));
        }
        self.open_as(sending, id, None)
    }

    /// Sends a request in the form of older revisions, within a session.
    pub(super) fn open_legacy<'a>(
        &'a self,
        ask: &'a Ask,
        id: u64,
        session: Option<Rc<Session>>,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        let mut sending = sending(ask, id, self.said_in_meta(ask, id));
        if let Some(session) = &session {
            session.put_headers(&mut sending);
        }
        self.open_as(sending, id, session)
    }

    fn open_as(
        &self,
        sending: Sending,
        id: u64,
        session: Option<Rc<Session>>,
    ) -> LocalBoxFuture<'_, Result<Open, McpError>> {
        Box::pin(async move {
            let answer = self.send(&sending).await?;
            let status = answer.status;
            let session_id = answer.header("mcp-session-id").map(str::to_owned);
            let incoming = self.incoming(answer, id).await?;
            Ok(Open { id, incoming, status, session, session_id, standing: None })
        })
    }

    /// The members of `_meta` in a request of any revision.
    fn said_in_meta(&self, ask: &Ask, id: u64) -> Map<String, Value> {
        let settings = self.settings();
        let mut members = Map::new();
        if ask.has_progress {
            put(&mut members, meta::PROGRESS_TOKEN, id.into());
        }
        if ask.method == "tools/call" {
            if settings.depth > 0 {
                put(&mut members, DEPTH_KEY, settings.depth.into());
            }
            for (name, value) in settings.trace.iter().flat_map(|trace| trace.headers()) {
                put(&mut members, name, value.into());
            }
        }
        members
    }
}

impl Open {
    /// The next message, from the answer or from the separate stream.
    pub(super) fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Option<Result<Value, McpError>>> {
        Box::pin(async move {
            if let Some(standing) = &mut self.standing {
                match select(Box::pin(self.incoming.next()), standing.next()).await {
                    Either::Left((message, _)) => return message,
                    Either::Right((Some(message), _)) => return Some(Ok(message)),
                    Either::Right((None, _)) => self.standing = None,
                }
            }
            self.incoming.next().await
        })
    }

    /// The id of the session that this answer has begun.
    pub(super) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The result, for a request without expected messages before it.
    pub(super) fn result(mut self) -> LocalBoxFuture<'static, Result<Value, McpError>> {
        Box::pin(async move {
            let is_sole = !self.incoming.is_stream();
            while let Some(message) = self.incoming.next().await {
                match Message::read(message?, self.id, is_sole) {
                    Message::Result(result) => return Ok(result),
                    Message::Error(error) => {
                        return Err(McpError::Rpc { error, status: self.status });
                    }
                    Message::Notification { .. } | Message::Request { .. } | Message::Other => {}
                }
            }
            Err(ended(self.id))
        })
    }
}

/// The HTTP request, without the headers of the era.
fn sending(ask: &Ask, id: u64, members: Map<String, Value>) -> Sending {
    let mut params = ask.params.clone();
    if !members.is_empty() {
        put(&mut params, "_meta", Value::Object(members));
    }
    let mut message = Map::new();
    put(&mut message, "jsonrpc", "2.0".into());
    put(&mut message, "id", id.into());
    put(&mut message, "method", ask.method.into());
    put(&mut message, "params", Value::Object(params));
    let mut sending = Sending::post(&Value::Object(message), ask.timeout_ms);
    for (name, value) in &ask.headers {
        sending.header(name, value);
    }
    sending
}

/// The answer to a request of a legacy server.
pub(super) fn reply(id: Value, name: &str, answer: Value) -> Value {
    let mut message = Map::new();
    put(&mut message, "jsonrpc", "2.0".into());
    put(&mut message, "id", id);
    put(&mut message, name, answer);
    Value::Object(message)
}

/// Adds a member. As a function of its own, because each inlined use of the map's method would be
/// compiled again.
#[inline(never)]
pub(super) fn put(members: &mut Map<String, Value>, name: &str, value: Value) {
    members.insert(name.to_owned(), value);
}

pub(super) fn ended(id: u64) -> McpError {
    McpError::Lost(format!("it ended without an answer to the request {id}"))
}
