//! The beginning and the end of sessions with servers of revisions before 2026-07-28: `initialize`, notifications and
//! `DELETE`.

use std::cell::Cell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::live::Live;
use super::open::put;
use super::session::Session;
use super::verdict::Verdict;
use super::wire::Sending;
use super::{Client, McpError};
use crate::model::{Revision, code};

impl Client {
    /// The session with a legacy server, which is begun if there is none.
    pub(super) fn session<'a>(&'a self) -> LocalBoxFuture<'a, Result<Rc<Session>, McpError>> {
        Box::pin(async move {
            let known = self.0.session.borrow().clone();
            match known {
                Some(session) => Ok(session),
                None => {
                    let (_, session) = Box::pin(self.initialize()).await?;
                    Ok(session)
                }
            }
        })
    }

    /// Begins a session, and returns the server's description of itself.
    pub(super) fn initialize<'a>(
        &'a self,
    ) -> LocalBoxFuture<'a, Result<(Verdict, Rc<Session>), McpError>> {
        Box::pin(async move {
            let settings = self.settings();
            let mut params = Map::new();
            put(&mut params, "protocolVersion", NEWEST_LEGACY.as_str().into());
            put(&mut params, "capabilities", settings.capabilities(false));
            put(&mut params, "clientInfo", settings.client_info());
            let ask = self.plain("initialize", params);
            let open = self.open_legacy(&ask, self.next_id(), None).await.map_err(foreign)?;
            let id = open.session_id().filter(|id| is_id(id)).map(str::to_owned);
            let result = open.result().await.map_err(foreign)?;
            let given = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
            let revision = Revision::parse(given).filter(|revision| !revision.is_modern());
            let Some(revision) = revision else {
                let given = super::error::excerpt(given);
                return Err(McpError::Unsupported(format!(
                    "the server wants to speak the revision \"{given}\" of MCP; this client speaks {SPOKEN}"
                )));
            };
            let session = Rc::new(Session { revision, id, is_mute: Cell::new(false) });
            let message = notification("notifications/initialized", None);
            self.tell(&session, &message).await?;
            self.0.session.replace(Some(Rc::clone(&session)));
            Ok((Verdict::of(revision, &result, self.ports().clock.now()), session))
        })
    }

    /// Sends a message that has no answer.
    pub(super) fn tell<'a>(
        &'a self,
        session: &'a Session,
        message: &'a Value,
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let sending = session.within(Sending::post(message, self.settings().timeout_ms));
            self.send(&sending).await.map(|_| ())
        })
    }

    /// Drops a session that the server has lost, unless another session has begun.
    pub(super) fn forget_session(&self, lost: &Rc<Session>) {
        let mut session = self.0.session.borrow_mut();
        if session.as_ref().is_some_and(|known| Rc::ptr_eq(known, lost)) {
            session.take();
        }
    }

    /// Notifies a legacy server that the call is canceled.
    pub(super) fn tell_cancel<'a>(
        &'a self,
        live: &'a Live,
        reason: &'a str,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            let Some((id, session)) = live.unanswered() else { return };
            live.ends();
            let mut params = Map::new();
            put(&mut params, "requestId", id.into());
            put(&mut params, "reason", reason.into());
            let message = notification("notifications/cancelled", Some(params));
            // A failure of this send is ignored. Without the notification, the server completes the call, whose result
            // is discarded.
            let telling = self.tell(&session, &message);
            let _ = self.within(self.settings().timeout_ms.min(CANCEL_MS), telling).await;
        })
    }

    /// Ends the session with a legacy server, if the session has an id. Nothing is sent to servers without sessions or to
    /// servers of 2026-07-28.
    pub fn close<'a>(&'a self) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            let session = self.0.session.take();
            let Some(session) = session.filter(|session| session.id.is_some()) else { return };
            let sending = session.within(Sending::new("DELETE", self.settings().timeout_ms));
            // A server may refuse this request; it then ends the session later by itself.
            let _ = self.send(&sending).await;
        })
    }
}

/// A message that has no answer.
fn notification(method: &str, params: Option<Map<String, Value>>) -> Value {
    let mut message = Map::new();
    put(&mut message, "jsonrpc", "2.0".into());
    put(&mut message, "method", method.into());
    if let Some(params) = params {
        put(&mut message, "params", Value::Object(params));
    }
    Value::Object(message)
}

/// True if a text is usable as a session id in a header.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The error for a refused `initialize`.
fn foreign(error: McpError) -> McpError {
    match &error {
        McpError::Status { status: 400 | 404 | 405, .. } => McpError::Unsupported(format!(
            "there is no MCP server at this URL, or one of 2024-11-05 (HTTP with SSE), which is not spoken here: {error}"
        )),
        McpError::Rpc { error: refused, .. }
            if matches!(refused.code, code::METHOD_NOT_FOUND | code::UNSUPPORTED_VERSION) =>
        {
            McpError::Unsupported(format!(
                "the server speaks none of the revisions of MCP that are spoken here ({SPOKEN}): {error}"
            ))
        }
        _ => error,
    }
}

const NEWEST_LEGACY: Revision = Revision::V2025_11_25;

/// The revisions that this client supports.
pub(super) const SPOKEN: &str = "2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26";

/// The longest time for sending the notification of a cancellation, in milliseconds.
const CANCEL_MS: u64 = 5_000;

const MAX_ID_BYTES: usize = 1_024;
