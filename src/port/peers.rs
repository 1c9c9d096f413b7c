//! The port for calls to other agents, to MCP servers, and to the bindings of the Worker.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{Http, HttpAnswer, HttpError, HttpRequest};
use crate::auth::Caller;
use crate::mcp::{FoundServer, KnownTools};
use crate::trail::AskedBy;
use a2a::client::Client;
use a2a::model::UnixMillis;
use a2a_agents::unbound_service;
use mcp::client::McpError;

/// Calls to other agents, to MCP servers, and to the bindings of the Worker.
pub trait Peers {
    /// A client for requests to the agents of this Worker, which never leave the Worker. Each request is made by the task
    /// `by` for `caller`; credentials in the request are ignored. `request` is the id of the incoming request to
    /// which the requests belong, if one is known. No client outside of the Worker can make such a request.
    fn hosted(&self, by: AskedBy, caller: &Caller, request: Option<&str>) -> Rc<dyn Http>;

    /// Adds to the client of a remote agent a cache of cards that outlives the client, and the verification of the cards'
    /// signatures.
    fn equip(&self, client: Client) -> Client {
        client
    }

    /// The tools of an MCP server, from the cache if the cached list is still usable. With `newer_than`, a list that was
    /// requested after that instant, because the earlier list lacks a tool; if there is no newer list, the earlier list again.
    fn tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>> {
        let _ = newer_than;
        Box::pin(async { Ok(Rc::new(server.ask(None).await?.known)) })
    }

    /// A client for requests to a binding of the Worker. All requests of this client are sent to the binding, independent of
    /// their URLs, and no other request reaches the binding.
    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(Unbound(target.clone()))
    }
}

/// A binding of the Worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Another Worker, by the name of its binding (`[[services]]`). A request reaches that Worker unchanged, including its URL.
    Service(String),
    /// Workers AI, by the name of its binding (`[ai]`). A request is a POST to `https://workers-ai.internal/<model>` with the
    /// inputs as its body. The answer contains the result of `run`: the events of a stream, or JSON. An exception of `run`
    /// becomes an answer with an error status.
    WorkersAi(String),
}

impl Target {
    /// The error for a missing binding, with the necessary change to wrangler.toml.
    pub fn missing(&self) -> HttpError {
        let reason = match self {
            Self::Service(name) => return unbound_service(name),
            Self::WorkersAi(name) => format!(
                "this Worker has no binding \"{name}\" of Workers AI: add [ai] with binding = \"{name}\" to wrangler.toml"
            ),
        };
        HttpError::Unbound { reason }
    }
}

/// Refuses every request, because the target is not bound.
pub(crate) struct Unbound(pub(crate) Target);

impl Http for Unbound {
    fn send(&self, _: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        Box::pin(std::future::ready(Err(self.0.missing())))
    }
}
