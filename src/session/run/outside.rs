//! The resources of a run outside of its task.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::connections::Connections;
use super::tracing::Tracing;
use crate::auth::Caller;
use crate::executor::RunOutside;
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Clock, Http, Peers, Ports, Random, Target};
use crate::trail::Trail;
use a2a::client::Client;
use a2a::http::trace::TraceContext;
use a2a::model::UnixMillis;
use a2a_agents::tool::Counters;
use mcp::client::McpError;

/// The clock, the random numbers, the counters and the other servers of a task's runs.
pub(in crate::session) struct Outside {
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    counters: Rc<dyn Counters>,
    peers: Rc<dyn Peers>,
    /// Sends the requests of the run to other servers.
    tracing: Tracing,
    max_depth: u32,
}

impl Outside {
    /// The resources for the runs of one task. A chain of agents that call each other has at most `max_depth` agents.
    pub(in crate::session) fn new(ports: &Ports, max_depth: u32) -> Self {
        let Ports { clock, random, counters, peers, http, .. } = ports.clone();
        let connections = Rc::new(Connections::new(http));
        let tracing = Tracing::new(connections, random.clone());
        Self { clock, random, counters, peers, tracing, max_depth }
    }

    /// Sets the trail of the run that begins: its requests belong to this trace.
    pub(super) fn follow(&self, trail: Trail) {
        self.tracing.follow(trail);
    }
}

impl RunOutside for Outside {
    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.clock.sleep(millis)
    }

    fn random(&self) -> &dyn Random {
        self.random.as_ref()
    }

    fn counters(&self) -> &dyn Counters {
        self.counters.as_ref()
    }

    fn http(&self) -> &dyn Http {
        &self.tracing
    }

    fn hosted(&self, agent: &str, caller: &Caller) -> Rc<dyn Http> {
        let request = self.tracing.request();
        let http = self.peers.hosted(agent, caller, request.as_deref());
        Rc::new(self.tracing.over(http))
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(self.tracing.over(self.peers.bound(target)))
    }

    fn equip(&self, client: Client) -> Client {
        self.peers.equip(client)
    }

    fn mcp_tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>> {
        self.peers.tools(server, newer_than)
    }

    fn trace(&self) -> Option<TraceContext> {
        self.tracing.trace()
    }

    fn max_depth(&self) -> u32 {
        self.max_depth
    }
}
