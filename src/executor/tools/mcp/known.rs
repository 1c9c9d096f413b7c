//! Loads the tools of several MCP servers at once.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::select;

use super::super::Offer;
use super::{McpOffer, tool_of};
use crate::executor::Turn;
use crate::executor::call::mcp::{McpTool, failure};
use crate::mcp::{FoundServer, KnownTools, Listed, offered, servers_of};
use crate::port::join_all;

/// The current tools of several servers.
#[derive(Default)]
pub(in crate::executor) struct Known {
    /// The tools that the caller may use.
    pub(in crate::executor) tools: Vec<McpTool>,
    /// For each of the other servers, the reason why its tools could not be loaded.
    pub(in crate::executor) down: Vec<String>,
}

/// A server and its tools, or the reason why they could not be loaded.
type Looked = Result<(FoundServer, Rc<KnownTools>), String>;

impl McpOffer {
    /// The tools of the servers that the caller of a turn may use. `offer` has the tools of this Worker and the permissions. A
    /// server that does not answer within `patience_ms` counts as down.
    pub(in crate::executor) async fn known(
        &self,
        offer: &Offer,
        turn: &Turn,
        patience_ms: u64,
    ) -> Known {
        let servers = servers_of(&self.choices);
        let looked: RefCell<Vec<(&str, Looked)>> = RefCell::default();
        let looks = servers.iter().map(|name| async {
            let found = look(turn, name).await;
            looked.borrow_mut().push((*name, found));
        });
        select(join_all(looks), turn.run_outside.sleep(patience_ms)).await;
        let looked = looked.take();
        let of = |name: &str| looked.iter().find(|(known, _)| *known == name).map(|(_, look)| look);
        let lists = servers.iter().filter_map(|name| {
            let (_, known) = of(name)?.as_ref().ok()?;
            Some(Listed { server: name, tools: &known.tools })
        });
        let lists: Vec<Listed<'_>> = lists.collect();
        let made = offered(&self.choices, &lists, &offer.names()).into_iter().map(|one| {
            let server = of(one.server).and_then(|look| look.as_ref().ok());
            tool_of(&one, server.is_some_and(|(server, _)| server.trusts_hints))
        });
        let tools = offer.usable(&turn.caller, made.collect());
        let down = servers.iter().filter_map(|name| match of(name) {
            Some(Ok(_)) => None,
            Some(Err(reason)) => Some(reason.clone()),
            None => Some(format!("the MCP server {name} does not answer")),
        });
        Known { tools, down: down.collect() }
    }
}

async fn look(turn: &Turn, name: &str) -> Looked {
    let server = turn.mcp_server(name).map_err(|error| error.0)?;
    let known = turn.run_outside.mcp_tools(&server, None).await;
    let known = known.map_err(|error| failure(name, &error))?;
    Ok((server, known))
}
