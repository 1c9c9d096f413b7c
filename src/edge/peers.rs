//! The port [`Peers`] on Cloudflare. Requests of a run to the agents of this Worker are decided by the code of the front Worker,
//! in the isolate of the run, which also calls the objects of their tasks. The cards of other agents, and the tools of MCP
//! servers, are remembered in D1.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use worker::Env;

use super::front::answer_inside;
use super::service::bound::BoundHttp;
use super::service::cards::equip;
use super::service::mcp_tools::RememberedTools;
use super::service::outbound::Bounds;
use crate::auth::Caller;
use crate::front::facts::Inside;
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Http, HttpAnswer, HttpError, HttpRequest, Peers, Target};
use crate::trail::AskedBy;
use a2a::client::Client;
use a2a::model::UnixMillis;
use mcp::client::McpError;

/// The calls of a run to other agents.
pub(super) struct WorkerPeers {
    pub(super) env: Env,
}

impl Peers for WorkerPeers {
    fn hosted(&self, by: AskedBy, caller: &Caller, request: Option<&str>) -> Rc<dyn Http> {
        let request = request.map(str::to_owned);
        let inside = Inside { by, caller: caller.clone(), request };
        Rc::new(HostedHttp { env: self.env.clone(), inside })
    }

    fn equip(&self, client: Client) -> Client {
        equip(&self.env, client)
    }

    fn tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>> {
        let tools = RememberedTools { env: &self.env, server };
        Box::pin(async move { Ok(tools.recall(newer_than).await?.known) })
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        Rc::new(BoundHttp { env: self.env.clone(), target: target.clone() })
    }
}

/// The agents of this Worker, for one caller.
struct HostedHttp {
    env: Env,
    inside: Inside,
}

impl Http for HostedHttp {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let (env, inside) = (self.env.clone(), self.inside.clone());
        Box::pin(async move {
            let bounds = Bounds::of(&request);
            let HttpRequest { method, url, headers, body, .. } = request;
            let body = body.bytes().await?;
            let answered = Box::pin(answer_inside(env, inside, method, url, headers, body));
            match bounds.in_time(answered).await? {
                Ok(response) => Ok(bounds.answer(response)),
                Err(error) => Err(bounds.failed(&error)),
            }
        })
    }
}
