//! One MCP request and the messages of the server during it, in either era.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{self, LocalBoxStream, StreamExt};
use serde_json::{Map, Value};

use super::live::Live;
use super::message::Message;
use super::open::{Ask, Open, ended, reply};
use super::progress::Progress;
use super::wire::Sending;
use super::{Client, McpError};
use crate::model::{Question, RpcError, code, meta};

/// A message of the server during a request.
pub(super) enum Heard {
    Progress(Progress),
    /// A question of a legacy server, which waits for the answer.
    Asked(Question),
    /// The result, which is the last message.
    Result(Value),
}

/// A request in progress.
pub(super) struct Exchange {
    client: Client,
    ask: Ask,
    open: Option<Open>,
    live: Rc<Live>,
    has_new_session: bool,
    /// The number of requests that the server has sent (legacy).
    requests: u32,
    /// The number of times that the stream was resumed.
    resumes: u32,
}

impl Client {
    /// The result of a request that needs no progress or questions.
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
}

impl Exchange {
    pub(super) fn new(client: Client, ask: Ask, live: Rc<Live>) -> Self {
        let (open, has_new_session, requests, resumes) = (None, false, 0, 0);
        Self { client, ask, open, live, has_new_session, requests, resumes }
    }

    /// The messages as a stream. If a wait for the next item is dropped, the next wait continues it.
    pub(super) fn into_stream(self) -> LocalBoxStream<'static, Result<Heard, McpError>> {
        stream::unfold(Some(Box::new(self)), |exchange| async {
            let mut exchange = exchange?;
            let heard = exchange.next().await;
            let is_last = matches!(heard, Ok(Heard::Result(_)) | Err(_));
            Some((heard, Some(exchange).filter(|_| !is_last)))
        })
        .boxed_local()
    }

    /// The next message.
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

    /// Returns without an error if the request may be sent again, because the server has not processed it.
    fn goes_on_after<'a>(
        &'a mut self,
        error: McpError,
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            if let Some(session) = self.live.session().filter(|session| session.is_lost(&error)) {
                self.client.forget_session(&session);
                return if std::mem::replace(&mut self.has_new_session, true) {
                    Err(McpError::SessionLost)
                } else {
                    Ok(())
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
                        let is_own = params.get(meta::PROGRESS_TOKEN) == Some(&open.id.into());
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

    /// Answers a request of a legacy server; returns the question if the request is a question for the caller. Modern
    /// servers send no requests.
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
                "ping" => Ok(Value::Object(Map::new())),
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
            let (name, answer) = match answer {
                Ok(result) => ("result", result),
                Err(error) => ("error", error.to_json()),
            };
            let message = reply(id, name, answer);
            // A failure of this send is not reported here: it shows in the stream of the call.
            let _ = self.client.tell(&session, &message).await;
            Ok(None)
        })
    }

    /// Resumes a stream that has ended without the result, if a legacy server numbers its events; otherwise fails with this
    /// error.
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
                let mut sending = session.within(Sending::get(self.ask.timeout_ms));
                sending.header("Last-Event-ID", &after);
                match self.client.send(&sending).await {
                    Ok(answer) if answer.is_success() => {
                        let mut incoming = self.client.incoming(answer, open.id).await?;
                        incoming.goes_on_from(&open.incoming);
                        open.incoming = incoming;
                        return Ok(());
                    }
                    // The server does not resume streams, or does not know this stream any more.
                    Ok(answer) if matches!(answer.status, 400..=428) => return Err(error),
                    Ok(_) | Err(McpError::Unreachable(_)) => failures += 1,
                    Err(other) => return Err(other),
                }
            }
        })
    }
}

/// The largest number of requests that a legacy server may send during one call.
const MAX_REQUESTS: u32 = 100;

/// The largest number of times that a stream is resumed, and the largest number of failures in a row.
const MAX_RESUMES: u32 = 100;
const MAX_FAILURES: u32 = 5;

/// The delay before a stream is resumed, if the server sends none, and the limits for the server's delay, in milliseconds.
const RETRY_MS: u64 = 1_000;
const MIN_RETRY_MS: u64 = 200;
const MAX_RETRY_MS: u64 = 60_000;
