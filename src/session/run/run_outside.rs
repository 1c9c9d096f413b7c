//! What a run reaches outside of its task, as the session of that task has it.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::auth::Caller;
use crate::executor::RunOutside;
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Http, Random, Target};
use crate::session::TaskSession;
use a2a::client::Client;
use a2a::http::trace::TraceContext;
use a2a::model::UnixMillis;
use a2a_agents::tool::Counters;
use mcp::client::McpError;

impl RunOutside for TaskSession {
    fn now(&self) -> UnixMillis {
        self.ports.clock.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.ports.clock.sleep(millis)
    }

    fn random(&self) -> &dyn Random {
        self.ports.random.as_ref()
    }

    fn counters(&self) -> &dyn Counters {
        self.ports.counters.as_ref()
    }

    fn http(&self) -> &dyn Http {
        &self.tracing
    }

    fn hosted(&self, agent: &str, caller: &Caller) -> Rc<dyn Http> {
        let request = self.tracing.request();
        let http = self.ports.peers.hosted(agent, caller, request.as_deref());
        Rc::new(self.tracing.over(http))
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(self.tracing.over(self.ports.peers.bound(target)))
    }

    fn equip(&self, client: Client) -> Client {
        self.ports.peers.equip(client)
    }

    fn mcp_tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>> {
        self.ports.peers.tools(server, newer_than)
    }

    fn trace(&self) -> Option<TraceContext> {
        self.tracing.trace()
    }

    fn max_depth(&self) -> u32 {
        self.limits.max_depth
    }
}
