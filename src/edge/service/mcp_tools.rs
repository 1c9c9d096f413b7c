//! The tools of MCP servers and the protocol that each server speaks, remembered in the table `remembered` of D1.
//!
//! A list is used while it is fresh and, if its server is down, for up to a week after the request. If the list is stale,
//! one request of one instance requests it again in the background.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use worker::Env;

use super::clock::now;
use super::observer::ConsoleObserver;
use super::remembered::{Fetched, FetchedValue, Recalled, Source};
use crate::mcp::{FoundServer, KnownTools, ListedTools};
use crate::port::{HttpError, Observation, Observer};
use crate::remembered::{Age, MAX_VALUE_BYTES, Need, Remembered};
use a2a::model::UnixMillis;
use mcp::client::McpError;

/// The tools of a server, remembered.
pub(in crate::edge) struct RememberedTools<'a> {
    pub(in crate::edge) env: &'a Env,
    pub(in crate::edge) server: &'a FoundServer,
}

/// The tools from the table `remembered`, or from the server.
pub(in crate::edge) struct RecalledTools {
    pub(in crate::edge) known: Rc<KnownTools>,
    /// False if the tools should be requested again.
    pub(in crate::edge) is_fresh: bool,
}

/// The result of fetching the tools, if the present request has fetched them itself.
type Own = Rc<RefCell<Option<Result<KnownTools, McpError>>>>;

impl RememberedTools<'_> {
    /// The tools of the server. With `newer_than`, a list that was requested after that instant, if there is such a list;
    /// otherwise the known list.
    ///
    /// # Errors
    ///
    /// If no tools are known and the server does not list them.
    pub(in crate::edge) fn recall(
        &self,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'_, Result<RecalledTools, McpError>> {
        Box::pin(self.recall_now(newer_than))
    }

    async fn recall_now(&self, newer_than: Option<UnixMillis>) -> Result<RecalledTools, McpError> {
        let own = Own::default();
        let source = self.source(own.clone());
        let mut need = newer_than.map_or(Need::Usable, Need::NewerThan);
        // If there is no newer list, the known list is used. A list that this version cannot read was stored by another
        // version; it is requested again.
        for _ in 0..3 {
            let remembered = match source.recall(self.env, need).await {
                Recalled::Value(remembered) => remembered,
                _ if need != Need::Usable && newer_than.is_some() => {
                    need = Need::Usable;
                    continue;
                }
                Recalled::NothingNewer | Recalled::Unavailable => break,
            };
            match read(&remembered) {
                Some(known) => {
                    let is_fresh = remembered.age(USABLE_MS, now()) == Age::Fresh;
                    return Ok(RecalledTools { known: Rc::new(known), is_fresh });
                }
                None => need = Need::NewerThan(remembered.fetched),
            }
        }
        match own.take() {
            Some(told) => told.map(|known| RecalledTools { known: Rc::new(known), is_fresh: true }),
            None => {
                let url = self.server.client.settings().url.clone();
                let reason = "its tools could not be fetched a moment ago".to_owned();
                Err(McpError::Unreachable(HttpError::Failed { url, reason }))
            }
        }
    }

    /// The source of the server's remembered tools.
    fn source(&self, own: Own) -> Source {
        let (env, server) = (self.env.clone(), self.server.clone());
        let fetch = move |known: Option<Remembered>| -> LocalBoxFuture<'static, Fetched> {
            let (env, server, own) = (env.clone(), server.clone(), own.clone());
            Box::pin(async move {
                let known = known.and_then(|known| read(&known));
                let asked = Box::pin(server.ask(known.as_ref())).await;
                let reason = match &asked {
                    Ok(listed) => listed.left_out.clone(),
                    Err(error) => Some(reason_of(error)),
                };
                if let Some(reason) = reason {
                    let told =
                        Observation::ToolsUnavailable { server: &server.name, reason: &reason };
                    ConsoleObserver::of(&env).observe(&told);
                }
                match asked {
                    Ok(ListedTools { known, fresh_ms, .. }) => {
                        let value = known.to_text(MAX_VALUE_BYTES);
                        own.replace(Some(Ok(known)));
                        Some(FetchedValue { value, fresh_ms })
                    }
                    Err(error) => {
                        own.replace(Some(Err(error)));
                        None
                    }
                }
            })
        };
        let key = self.server.key.clone();
        Source { key, usable_ms: USABLE_MS, fetch: Rc::new(fetch) }
    }
}

/// Reads the stored form of the tools; `None` if this version cannot read it.
fn read(remembered: &Remembered) -> Option<KnownTools> {
    KnownTools::read(&remembered.value, remembered.fetched)
}

/// The reason why there is no list, for the operator. URLs may contain secrets, and an answer of the server may repeat the
/// secrets. The run that needs the list reports more, with the secrets removed.
fn reason_of(error: &McpError) -> String {
    match error {
        McpError::Unreachable(_) => "it cannot be reached".to_owned(),
        McpError::Status { status, .. } => format!("it answered {status}"),
        McpError::Refused { status, .. } => format!("it refused the credentials ({status})"),
        McpError::Rpc { error, .. } => format!("it answered the error {}", error.code),
        McpError::Timeout { timeout_ms } => {
            format!("it has not given them within {timeout_ms} ms")
        }
        _ => "what it answers cannot be used".to_owned(),
    }
}

/// The longest time after the request for which a list is used if its server is down: a week, in milliseconds.
const USABLE_MS: u64 = 7 * 24 * 60 * 60_000;
