//! One request of MCP and what the server says to it, in either era.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::future::{Either, select};
use futures_util::stream::{self, LocalBoxStream, StreamExt};
use serde_json::{Map, Value, json};

use super::incoming::Incoming;
use super::live::Live;
use super::message::Message;
use super::progress::Progress;
use super::session::Session;
use super::standing::Standing;
use super::wire::Sending;
use super::{Client, McpError};
use crate::header;
use crate::model::{LATEST, Question, RpcError, code, meta};

/// A request, without what the era adds.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    /// What its header `Mcp-Name` says.
    pub(super) name: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) has_progress: bool,
    /// Whether the caller answers questions (legacy).
    pub(super) takes_questions: bool,
    pub(super) timeout_ms: u64,
}

/// What is heard during a request.
pub(super) enum Heard {
    Progress(Progress),
    /// A question of a legacy server, which waits for the answer.
    Asked(Question),
    /// The result, which is the last thing.
    Result(Value),
}

/// A request that is under way.
pub(super) struct Exchange {
    client: Client,
    ask: Ask,
    open: Option<Open>,
    live: Rc<Live>,
    has_new_session: bool,
    /// How many requests the server has made (legacy).
    requests: u32,
    /// How often the stream was resumed.
    resumes: u32,
}

/// A request that was sent.
pub(super) struct Open {
    id: u64,
    incoming: Incoming,
    status: u16,
    /// That of a legacy server.
    session: Option<Rc<Session>>,
    /// The id of the session that the answer names.
    session_id: Option<String>,
    /// What a legacy server says besides the answer.
    standing: Option<Standing>,
}

impl Client {
    /// The result of a request that is answered at once.
    pub(super) fn ask<'a>(&'a self, ask: Ask) -> LocalBoxFuture<'a, Result<Value, McpError>> {
        Box::pin(async move {
            let mut exchange = Exchange::new(self.clone(), ask, Rc::default());
            loop {
                if let Heard::Result(result) = exchange.next().await? {
                    return Ok(result);
                }
            }
        })
    }

    /// A request with what the client has to say in it.
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

    /// Sends a request in the way of the server's era.
    fn open<'a>(
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
            let standing = match is_asked {
                true => Box::pin(self.standing(&session)).await,
                false => None,
            };
            let id = self.next_id();
            live.begins(id, Some(Rc::clone(&session)));
            let open = self.open_legacy(ask, id, Some(session)).await?;
            Ok(Open { standing, ..open })
        })
    }

    /// Sends a request in the way of 2026-07-28.
    pub(super) fn open_modern<'a>(
        &'a self,
        ask: &'a Ask,
        id: u64,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        Box::pin(async move {
            let settings = self.settings();
            let mut members = self.said_in_meta(ask, id);
            members.insert(meta::PROTOCOL_VERSION.to_owned(), json!(LATEST.as_str()));
            members.insert(meta::CLIENT_INFO.to_owned(), settings.client_info());
            members.insert(meta::CLIENT_CAPABILITIES.to_owned(), settings.capabilities(true));
            let mut headers = vec![
                ("Accept", BOTH.to_owned()),
                ("Content-Type", "application/json".to_owned()),
                ("MCP-Protocol-Version", LATEST.as_str().to_owned()),
                ("Mcp-Method", ask.method.to_owned()),
            ];
            headers.extend(ask.name.as_ref().map(|name| ("Mcp-Name", header::encode(name))));
            self.open_as(ask, id, members, headers, None).await
        })
    }

    /// Sends a request in the way of older revisions, within a session.
    pub(super) fn open_legacy<'a>(
        &'a self,
        ask: &'a Ask,
        id: u64,
        session: Option<Rc<Session>>,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        Box::pin(async move {
            let members = self.said_in_meta(ask, id);
            let mut headers =
                vec![("Accept", BOTH.to_owned()), ("Content-Type", "application/json".to_owned())];
            headers.extend(session.iter().flat_map(|session| session.headers()));
            self.open_as(ask, id, members, headers, session).await
        })
    }

    fn open_as<'a>(
        &'a self,
        ask: &'a Ask,
        id: u64,
        members: Map<String, Value>,
        headers: Vec<(&'static str, String)>,
        session: Option<Rc<Session>>,
    ) -> LocalBoxFuture<'a, Result<Open, McpError>> {
        Box::pin(async move {
            let mut params = ask.params.clone();
            if !members.is_empty() {
                params.insert("_meta".to_owned(), Value::Object(members));
            }
            let message =
                json!({"jsonrpc": "2.0", "id": id, "method": ask.method, "params": params});
            let answer = self
                .send(&Sending {
                    method: "POST",
                    headers,
                    more_headers: ask.headers.clone(),
                    body: Some(message.to_string()),
                    timeout_ms: ask.timeout_ms,
                })
                .await?;
            let status = answer.status;
            let session_id = answer.header("mcp-session-id").map(str::to_owned);
            let incoming = self.incoming(answer, id).await?;
            Ok(Open { id, incoming, status, session, session_id, standing: None })
        })
    }

    /// What the `_meta` of a request says in all revisions.
    fn said_in_meta(&self, ask: &Ask, id: u64) -> Map<String, Value> {
        let settings = self.settings();
        let mut members = Map::new();
        if ask.has_progress {
            members.insert(meta::PROGRESS_TOKEN.to_owned(), json!(id));
        }
        if ask.method == "tools/call" {
            if settings.depth > 0 {
                members.insert(a2a::client::DEPTH_KEY.to_owned(), json!(settings.depth));
            }
            let trace = settings.trace.iter().flat_map(|trace| trace.headers());
            members.extend(trace.map(|(name, value)| (name.to_owned(), json!(value))));
        }
        members
    }
}

impl Open {
    /// The next message, from the answer or besides it.
    fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Option<Result<Value, McpError>>> {
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

    /// The id of the session that the server has begun by its answer.
    pub(super) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The result, where nothing else is expected before it.
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

impl Exchange {
    pub(super) fn new(client: Client, ask: Ask, live: Rc<Live>) -> Self {
        let (open, has_new_session, requests, resumes) = (None, false, 0, 0);
        Self { client, ask, open, live, has_new_session, requests, resumes }
    }

    /// What is heard, as a stream: waiting for its next item may be given up and begun again.
    pub(super) fn into_stream(self) -> LocalBoxStream<'static, Result<Heard, McpError>> {
        stream::unfold(Some(Box::new(self)), |exchange| async {
            let mut exchange = exchange?;
            let heard = exchange.next().await;
            let is_last = matches!(heard, Ok(Heard::Result(_)) | Err(_));
            Some((heard, Some(exchange).filter(|_| !is_last)))
        })
        .boxed_local()
    }

    /// What is heard next.
    pub(super) fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Result<Heard, McpError>> {
        Box::pin(async move {
            loop {
                let heard = self.hear().await;
                if matches!(heard, Ok(Heard::Result(_)) | Err(_)) {
                    self.live.ends();
                }
                match heard {
                    Err(error) => {
                        self.goes_on_after(error).await?;
                        self.open = None;
                    }
                    heard => return heard,
                }
            }
        })
    }

    /// Whether the request is made again after this error, because the server has not looked at it.
    fn goes_on_after<'a>(
        &'a mut self,
        error: McpError,
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            if let Some(session) = self.live.session().filter(|session| session.is_lost(&error)) {
                self.client.forget_session(&session);
                return match std::mem::replace(&mut self.has_new_session, true) {
                    true => Err(McpError::SessionLost),
                    false => Ok(()),
                };
            }
            let has_changed =
                self.client.looks_changed(&error) && Box::pin(self.client.has_changed()).await;
            if has_changed { Ok(()) } else { Err(error) }
        })
    }

    fn hear<'a>(&'a mut self) -> LocalBoxFuture<'a, Result<Heard, McpError>> {
        Box::pin(async move {
            loop {
                let Some(open) = &mut self.open else {
                    let client = self.client.clone();
                    self.open = Some(Box::pin(client.open(&self.ask, &self.live)).await?);
                    continue;
                };
                let is_sole = !open.incoming.is_stream();
                let message = match open.next().await {
                    Some(Ok(message)) => Message::read(message, open.id, is_sole),
                    Some(Err(error @ McpError::Lost(_))) => {
                        self.resume(error).await?;
                        continue;
                    }
                    Some(Err(error)) => return Err(error),
                    None => {
                        let error = ended(open.id);
                        self.resume(error).await?;
                        continue;
                    }
                };
                match message {
                    Message::Result(result) => return Ok(Heard::Result(result)),
                    Message::Error(error) => {
                        return Err(McpError::Rpc { error, status: open.status });
                    }
                    Message::Notification { method, params } => {
                        let is_own = params.get(meta::PROGRESS_TOKEN) == Some(&json!(open.id));
                        let is_progress = method == "notifications/progress" && is_own;
                        let progress = Progress::read(&params).filter(|_| is_progress);
                        if let Some(progress) = progress.filter(|_| self.ask.has_progress) {
                            return Ok(Heard::Progress(progress));
                        }
                    }
                    Message::Request { id, method, params } => {
                        if let Some(question) = self.asked(id, &method, &params).await? {
                            return Ok(Heard::Asked(question));
                        }
                    }
                    Message::Other => {}
                }
            }
        })
    }

    /// Answers a request of a legacy server, unless it is a question for the caller. Newer servers make none.
    fn asked<'a>(
        &'a mut self,
        id: Value,
        method: &'a str,
        params: &'a Value,
    ) -> LocalBoxFuture<'a, Result<Option<Question>, McpError>> {
        Box::pin(async move {
            let session = self.open.as_ref().and_then(|open| open.session.clone());
            let Some(session) = session else { return Ok(None) };
            self.requests += 1;
            if self.requests > MAX_REQUESTS {
                let reason =
                    format!("the server made more than {MAX_REQUESTS} requests during one call");
                return Err(McpError::Unexpected(reason));
            }
            let takes = self.ask.takes_questions && self.client.settings().takes_questions();
            let answer = match method {
                "ping" => Ok(json!({})),
                "elicitation/create" if takes => {
                    let key = id.to_string();
                    match Question::read(&key, params) {
                        Some(question) => {
                            self.live.asks(key, id);
                            return Ok(Some(question));
                        }
                        None => {
                            Err(RpcError::new(code::INVALID_PARAMS, "this is no form and no URL"))
                        }
                    }
                }
                _ => {
                    let reason =
                        format!("{} is not offered by this client", super::error::excerpt(method));
                    Err(RpcError::new(code::METHOD_NOT_FOUND, reason))
                }
            };
            let message = match answer {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error.to_json()}),
            };
            // Where this fails, the stream of the call tells how it goes on.
            let _ = self.client.tell(&session, &message).await;
            Ok(None)
        })
    }

    /// Goes on with a stream that has ended without the result, where a legacy server numbers its events; else fails with this error.
    fn resume<'a>(&'a mut self, error: McpError) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let Some(open) = &mut self.open else { return Err(error) };
            let (Some(session), Some(after)) = (&open.session, open.incoming.last_event_id.clone())
            else {
                return Err(error);
            };
            let mut failures = 0;
            loop {
                self.resumes += 1;
                if self.resumes > MAX_RESUMES || failures >= MAX_FAILURES {
                    return Err(error);
                }
                let wait_ms = open.incoming.retry_ms().unwrap_or(RETRY_MS);
                self.client.ports().clock.sleep(wait_ms.clamp(MIN_RETRY_MS, MAX_RETRY_MS)).await;
                let mut headers = vec![("Accept", "text/event-stream".to_owned())];
                headers.extend(session.headers());
                headers.push(("Last-Event-ID", after.clone()));
                let sending = Sending {
                    method: "GET",
                    headers,
                    more_headers: Vec::new(),
                    body: None,
                    timeout_ms: self.ask.timeout_ms,
                };
                match self.client.send(&sending).await {
                    Ok(answer) if answer.is_success() => {
                        let mut incoming = self.client.incoming(answer, open.id).await?;
                        incoming.goes_on_from(&open.incoming);
                        open.incoming = incoming;
                        return Ok(());
                    }
                    // The server does not resume streams, or has forgotten this one.
                    Ok(answer) if matches!(answer.status, 400..=428) => return Err(error),
                    Ok(_) | Err(McpError::Unreachable(_)) => failures += 1,
                    Err(other) => return Err(other),
                }
            }
        })
    }
}

fn ended(id: u64) -> McpError {
    McpError::Lost(format!("it ended without an answer to the request {id}"))
}

/// Both forms of an answer, between which servers choose.
pub(super) const BOTH: &str = "application/json, text/event-stream";

/// How many requests a legacy server may make during one call.
const MAX_REQUESTS: u32 = 100;

/// How often a stream is resumed, and how often in a row without success.
const MAX_RESUMES: u32 = 100;
const MAX_FAILURES: u32 = 5;

/// How long to wait before a stream is resumed, unless the server says it, and within which bounds it may.
const RETRY_MS: u64 = 1_000;
const MIN_RETRY_MS: u64 = 200;
const MAX_RETRY_MS: u64 = 60_000;
