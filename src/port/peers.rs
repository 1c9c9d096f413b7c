//! What the platform has for calls to other agents and to MCP servers.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::Http;
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
}
