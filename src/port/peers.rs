//! What the platform has for calls to other agents, to MCP servers, and to what is bound to the Worker.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{Http, HttpAnswer, HttpError, HttpRequest};
use crate::auth::Caller;
use crate::mcp::{FoundServer, KnownTools};
use a2a::client::Client;
use a2a::model::UnixMillis;
use mcp::client::McpError;

/// What the platform has for calls to other agents and to MCP servers.
pub trait Peers {
    /// Requests to the agents of this Worker, which never leave it. Each is made by the agent of this slug for this caller, whatever
    /// credentials it shows, and belongs to the request of this id, if one is known. Nobody outside can make such a request.
    fn hosted(&self, agent: &str, caller: &Caller, request: Option<&str>) -> Rc<dyn Http>;

    /// The client of an agent elsewhere, with cards that outlive it, and with what checks their signatures.
    fn equip(&self, client: Client) -> Client {
        client
    }

    /// What an MCP server offers: what was asked of it before, as long as that may be used. With `newer_than` only what was
    /// asked after that instant, since what was known then lacks something; the same if there is nothing newer.
    fn tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>> {
        let _ = newer_than;
        Box::pin(async { Ok(Rc::new(server.ask(None).await?.known)) })
    }

    /// Requests to what is bound to the Worker. None of them ever leads anywhere else, whatever its URL says, and no other request leads
    /// there.
    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(Unbound(target.clone()))
    }
}

/// What is bound to the Worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Another Worker, by the name of its binding (`[[services]]`). A request reaches it as it is; of the URL it sees what is there.
    Service(String),
    /// Workers AI, by the name of its binding (`[ai]`). A request is a POST to `https://workers-ai.internal/<model>` whose body is the
    /// inputs; the answer is what `run` gives: the events of a stream, or JSON. What `run` throws is an answer with a status of failure.
    WorkersAi(String),
}

impl Target {
    /// Why nothing is there, and what to do about it.
    pub fn missing(&self) -> HttpError {
        let reason = match self {
            Self::Service(name) => format!(
                "this Worker has no service binding \"{name}\": add [[services]] with binding = \"{name}\" and service = \"<name of the \
                 other Worker>\" to wrangler.toml"
            ),
            Self::WorkersAi(name) => format!(
                "this Worker has no binding \"{name}\" of Workers AI: add [ai] with binding = \"{name}\" to wrangler.toml"
            ),
        };
        HttpError::Unbound { reason }
    }
}

/// Refuses every request because its target is not bound.
pub(crate) struct Unbound(pub(crate) Target);

impl Http for Unbound {
    fn send(&self, _: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        Box::pin(std::future::ready(Err(self.0.missing())))
    }
}
