//! Detects the era of a server, by trying the newer era first.

use std::rc::Rc;

use a2a::http::HttpError;
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::handshake::SPOKEN;
use super::verdict::Verdict;
use super::{Client, McpError};
use crate::model::{LATEST, Revision, code};

/// The verdict about the server, as the client stores it.
#[derive(Clone)]
pub(super) struct Known {
    verdict: Rc<Verdict>,
    /// True if the verdict was passed to the client, so that the server may have changed since then.
    is_remembered: bool,
}

impl Known {
    pub(super) fn remembered(verdict: Verdict) -> Self {
        Self { verdict: Rc::new(verdict), is_remembered: true }
    }
}

/// The result of `server/discover`.
#[derive(Debug, PartialEq)]
enum Probe {
    /// The server supports 2026-07-28, and has sent this description of itself.
    Modern(Value),
    /// The server does not support 2026-07-28; it may support `initialize`.
    Legacy,
    /// The server refuses 2026-07-28 but lists it as supported, so another attempt may succeed.
    Again,
    /// The server does not answer.
    Silent,
}

impl Client {
    /// Requests the era and the description of the server; the client then uses this era. For a legacy server, this begins
    /// a session. The older era is tried after 10 s at the latest.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, refuses the credentials, or supports no revision of this client.
    pub fn discover<'a>(&'a self) -> LocalBoxFuture<'a, Result<Verdict, McpError>> {
        Box::pin(async move {
            self.settings().check()?;
            let negotiating = Box::pin(self.negotiate());
            let verdict = Rc::new(self.within(self.settings().call_timeout_ms, negotiating).await?);
            let known = Known { verdict: Rc::clone(&verdict), is_remembered: false };
            self.0.known.replace(Some(known));
            Ok((*verdict).clone())
        })
    }

    /// The facts about the server that are known from [`discover`](Self::discover) or from any other request.
    pub fn verdict(&self) -> Option<Verdict> {
        self.0.known.borrow().as_ref().map(|known| (*known.verdict).clone())
    }

    /// True if the server is modern; sends `server/discover` if the era is unknown.
    pub(super) fn is_modern<'a>(&'a self) -> LocalBoxFuture<'a, Result<bool, McpError>> {
        Box::pin(async move {
            let known = self.0.known.borrow().as_ref().map(|known| known.verdict.is_modern());
            match known {
                Some(is_modern) => Ok(is_modern),
                None => Ok(Box::pin(self.discover()).await?.is_modern()),
            }
        })
    }

    /// Requests the era of the server again, if the verdict was passed to the client. Returns true if the era has
    /// changed.
    pub(super) fn has_changed<'a>(&'a self) -> LocalBoxFuture<'a, bool> {
        Box::pin(async move {
            let before = self.0.known.borrow().clone().filter(|known| known.is_remembered);
            let Some(before) = before else { return false };
            self.0.session.take();
            let now = self.discover().await;
            now.is_ok_and(|now| now.is_modern() != before.verdict.is_modern())
        })
    }

    /// True if an error suggests that the server no longer has the known era.
    pub(super) fn looks_changed(&self, error: &McpError) -> bool {
        let known = self.0.known.borrow();
        let is_modern = known.as_ref().is_some_and(|known| known.verdict.is_modern());
        match error {
            McpError::Unsupported(_) => true,
            McpError::Status { status, .. } => is_modern && matches!(status, 400 | 404 | 405),
            McpError::Rpc { error, status } => {
                let is_old = matches!(error.code, code::INVALID_REQUEST | OLD_REFUSAL);
                error.code == code::UNSUPPORTED_VERSION || (is_modern && *status == 400 && is_old)
            }
            _ => false,
        }
    }

    fn negotiate<'a>(&'a self) -> LocalBoxFuture<'a, Result<Verdict, McpError>> {
        Box::pin(async move {
            let timeout_ms = self.settings().timeout_ms.min(PROBE_MS);
            let probe = || Box::pin(self.probe(timeout_ms));
            let mut told = judge(self.within(timeout_ms, probe()).await)?;
            if told == Probe::Again {
                told = judge(self.within(timeout_ms, probe()).await)?;
            }
            let is_settled = match told {
                Probe::Modern(result) => {
                    return Ok(Verdict::of(LATEST, &result, self.ports().clock.now()));
                }
                Probe::Legacy => true,
                Probe::Silent => false,
                Probe::Again => {
                    let reason = "the server refuses the revision 2026-07-28 of MCP, and says that it supports it";
                    return Err(McpError::Unsupported(reason.to_owned()));
                }
            };
            let (verdict, _) = self.initialize().await?;
            Ok(Verdict { is_settled, ..verdict })
        })
    }

    fn probe<'a>(&'a self, timeout_ms: u64) -> LocalBoxFuture<'a, Result<Value, McpError>> {
        Box::pin(async move {
            let mut ask = self.plain("server/discover", Map::new());
            ask.timeout_ms = timeout_ms;
            self.open_modern(&ask, self.next_id()).await?.result().await
        })
    }
}

/// The meaning of the answer to `server/discover`. Legacy servers refuse this method in many ways.
fn judge(answer: Result<Value, McpError>) -> Result<Probe, McpError> {
    let error = match answer {
        Ok(result) => {
            let versions = result.get("supportedVersions").and_then(Value::as_array);
            let is_modern =
                versions.is_some_and(|all| all.iter().any(|one| one == LATEST.as_str()));
            return Ok(if is_modern { Probe::Modern(result) } else { Probe::Legacy });
        }
        Err(error) => error,
    };
    match &error {
        McpError::Rpc { status: 429 | 500..=599, .. }
        | McpError::Status { status: 429 | 500..=599, .. } => Err(error),
        McpError::Rpc { error: refused, .. } => match refused.code {
            code::UNSUPPORTED_VERSION => of_supported(refused.data.as_ref()),
            code::HEADER_MISMATCH | code::MISSING_CAPABILITY => Ok(Probe::Modern(Value::Null)),
            _ => Ok(Probe::Legacy),
        },
        McpError::Status { .. } | McpError::NotMcp(_) => Ok(Probe::Legacy),
        McpError::Unreachable(HttpError::Silent { .. })
        | McpError::Timeout { .. }
        | McpError::Lost(_) => Ok(Probe::Silent),
        McpError::Unreachable(_)
        | McpError::Redirected { .. }
        | McpError::Unsupported(_)
        | McpError::TooLarge { .. }
        | McpError::TooMuchJson(_)
        | McpError::SessionLost
        | McpError::Refused { .. }
        | McpError::Credentials(_)
        | McpError::Settings(_)
        | McpError::TooDeep { .. }
        | McpError::Unexpected(_) => Err(error),
    }
}

/// The meaning of a refusal of 2026-07-28 that lists the supported revisions.
fn of_supported(data: Option<&Value>) -> Result<Probe, McpError> {
    let supported = data.and_then(|data| data.get("supported")).and_then(Value::as_array);
    let Some(supported) = supported else { return Ok(Probe::Legacy) };
    let versions: Vec<&str> = supported.iter().filter_map(Value::as_str).collect();
    if versions.contains(&LATEST.as_str()) {
        return Ok(Probe::Again);
    }
    let is_legacy = |version: &&str| Revision::parse(version).is_some_and(|one| !one.is_modern());
    if versions.iter().any(is_legacy) {
        return Ok(Probe::Legacy);
    }
    let versions = super::error::excerpt(&versions.join(", "));
    Err(McpError::Unsupported(format!(
        "the server speaks the revisions \"{versions}\" of MCP; this client speaks {SPOKEN}"
    )))
}

/// The longest time for the answer to `server/discover`, in milliseconds.
const PROBE_MS: u64 = 10_000;

/// The code of legacy servers for requests that they cannot process.
const OLD_REFUSAL: i64 = -32_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::RpcError;

    fn rpc(status: u16, code: i64, data: Value) -> Result<Value, McpError> {
        let error = RpcError { data: Some(data), ..RpcError::new(code, "no") };
        Err(McpError::Rpc { error, status })
    }

    fn status(status: u16) -> Result<Value, McpError> {
        Err(McpError::Status { status, begins: String::new(), retry_after_ms: None })
    }

    #[test]
    fn what_servers_answer_tells_their_era() {
        let modern = json!({"supportedVersions": ["2026-07-28"]});
        let silent = HttpError::Silent { url: "https://a.example".to_owned(), timeout_ms: 1 };
        for (answer, expected) in [
            (Ok(modern.clone()), Probe::Modern(modern)),
            (Ok(json!({"supportedVersions": ["2025-11-25"]})), Probe::Legacy),
            (Ok(json!({})), Probe::Legacy),
            (rpc(400, -32_022, json!({"supported": ["2025-11-25", "2025-06-18"]})), Probe::Legacy),
            (rpc(400, -32_022, json!({"supported": ["2025-11-25", "2026-07-28"]})), Probe::Again),
            (rpc(400, -32_022, json!(null)), Probe::Legacy),
            (rpc(400, -32_020, json!(null)), Probe::Modern(json!(null))),
            (rpc(400, -32_021, json!(null)), Probe::Modern(json!(null))),
            (rpc(400, -32_000, json!(null)), Probe::Legacy),
            (rpc(400, -32_600, json!(null)), Probe::Legacy),
            (rpc(200, -32_601, json!(null)), Probe::Legacy),
            (rpc(200, -32_602, json!(null)), Probe::Legacy),
            (rpc(404, -32_601, json!(null)), Probe::Legacy),
            (status(400), Probe::Legacy),
            (status(404), Probe::Legacy),
            (status(405), Probe::Legacy),
            (status(406), Probe::Legacy),
            (Err(McpError::NotMcp("it is HTML".to_owned())), Probe::Legacy),
            (Err(McpError::Unreachable(silent)), Probe::Silent),
            (Err(McpError::Timeout { timeout_ms: 10_000 }), Probe::Silent),
            (Err(McpError::Lost("it broke".to_owned())), Probe::Silent),
        ] {
            assert_eq!(judge(answer.clone()), Ok(expected), "{answer:?}");
        }
    }

    #[test]
    fn an_outage_tells_nothing() {
        let failed =
            HttpError::Failed { url: "https://a.example".to_owned(), reason: "no".to_owned() };
        for answer in [
            status(429),
            status(500),
            status(503),
            rpc(503, -32_603, json!(null)),
            rpc(500, -32_022, json!(null)),
            Err(McpError::Unreachable(failed)),
            Err(McpError::Refused { status: 401, reason: String::new() }),
            Err(McpError::Redirected { status: 302, to: "https://b.example".to_owned() }),
            Err(McpError::TooLarge { max_bytes: 1 }),
        ] {
            assert_eq!(judge(answer.clone()), Err(answer.unwrap_err()));
        }
        let foreign = judge(rpc(400, -32_022, json!({"supported": ["2027-01-01"]})));
        assert!(matches!(foreign, Err(McpError::Unsupported(text)) if text.contains("2027-01-01")));
    }
}
