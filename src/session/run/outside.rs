//! The resources of a run outside of its task.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::connections::Connections;
use super::tracing::{Traced, Tracing};
use crate::auth::Caller;
use crate::executor::{RunOutside, RunSpans, TimedWork, Timing};
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Clock, Http, Moment, Peers, Ports, Random, Target};
use crate::trail::{AskedBy, Trail};
use a2a::client::Client;
use a2a::model::{TaskId, UnixMillis};
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
    traced: Rc<Traced>,
    max_depth: u32,
}

impl Outside {
    /// The resources for the runs of this task. A chain of agents that call each other has at most `max_depth` agents.
    pub(in crate::session) fn new(ports: &Ports, task: TaskId, max_depth: u32) -> Self {
        let Ports { clock, random, counters, peers, http, observer, .. } = ports.clone();
        let connections = Rc::new(Connections::new(http));
        let timing = Timing::new(observer, clock.clone(), random.clone());
        let traced = Rc::new(Traced::new(timing, task));
        let tracing = Tracing::new(connections, traced.clone());
        Self { clock, random, counters, peers, tracing, traced, max_depth }
    }

    /// Sets the agent and the trail of the run that begins, and its span: its requests belong to this trace.
    pub(super) fn follow(&self, agent: &str, trail: Trail, run: Option<RunSpans>) {
        self.traced.follow(agent);
        self.traced.timing.follow(trail, run);
    }
}

impl Outside {
    /// The run that begins now, with the span that [`follow`](Self::follow) was given. `None` if durations are not used.
    pub(super) fn begin_run(&self) -> Option<TimedWork> {
        let timing = &self.traced.timing;
        timing.begin(timing.run()).map(TimedWork::in_request)
    }

    /// The moment of a run that ends now.
    pub(super) fn end(&self, begun: TimedWork) -> Moment {
        self.traced.timing.end(begun)
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

    fn hosted(&self, by: AskedBy, caller: &Caller) -> Rc<dyn Http> {
        let request = self.traced.timing.request();
        let http = self.peers.hosted(by, caller, request.as_deref());
        Rc::new(Tracing::new(http, self.traced.clone()))
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(Tracing::new(self.peers.bound(target), self.traced.clone()))
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

    fn timing(&self) -> &Timing {
        &self.traced.timing
    }

    fn max_depth(&self) -> u32 {
        self.max_depth
    }
}
