//! The Worker's part of the console. The pages are static files, which the platform serves at `/console/`; their requests to the
//! Worker are at `/console/api/`, whose paths `front/console.rs` reads. All other data comes from the agents, by the operations that every client has.
//!
//! | file | answers |
//! |---|---|
//! | `health` | `GET /console/api/agents/<slug>/health`: the availability of everything an agent needs outside of this Worker |
//! | `schemas` | `GET /console/api/agents/<slug>/schemas`: the schemas of an agent's skills |
//!
//! # The console
//!
//! The pages are static files (`console/`, Preact, built by Vite into `build-console/assets`), which the platform serves without
//! the Worker: they are the same for everybody and contain no data. `run_worker_first` in wrangler.toml makes the platform look
//! up only the paths of the pages among the assets, so a call of an agent does not pay for this. A page gets its data from the
//! agents by the operations that every client has, with the credentials of the person's sign-in; the console has no access rules
//! of its own. Six routes serve it, each documented and tested without the console:
//!
//! | route | answered by | code |
//! |---|---|---|
//! | `GET /<agent>/tasks/{id}/timeline` | the object of the task, from its log | `operation/get_task_timeline/` |
//! | `GET /<agent>/webhooks` | D1, table `webhooks` | `operation/list_webhooks.rs` |
//! | `GET /<agent>/overview` | D1, table `task_hours` | `front/operator.rs` |
//! | `GET /console/api/agents` | the front Worker | `front/document/catalogue.rs` |
//! | `GET /console/api/agents/<agent>/health` | the front Worker, which calls the agent's program | `edge/front/console/health.rs` |
//! | `GET /console/api/agents/<agent>/schemas` | the front Worker | `edge/front/console/schemas.rs` |
//!
//! Agents elsewhere are called by the browser (`console/src/api/elsewhere/`), under `npm start` by the forwarder of `dev/`: a deployment sends no
//! request to a URL that a visitor names.
//!
//! In `console/src/`: `api/` has requests, streams and the fold of events, `session/` the credentials of the sign-in, `parts/`
//! components of several pages, `pages/` a folder for each page, `lint/` the advice on cards. An `Endpoint` (`api/endpoint.ts`)
//! is an agent of this Worker or elsewhere; chat and card use only endpoints. Texts of agents become text nodes: the code never
//! converts a string to markup, and the content security policy (`console/_headers`) would refuse it.

mod health;
mod schemas;

use worker::{Response, Result};

use super::deployment::Front;
use crate::edge::response::to_response;
use crate::edge::service::bound::is_bound;
use crate::edge::service::clock::WorkerClock;
use crate::executor::HostedAgent;
use crate::front::console::{About, absent, of_agent};
use crate::front::document::catalogue;
use crate::front::head::Head;
use crate::port::{Clock, Target};
use a2a::binding::http::HttpResponse;

impl Front {
    /// Answers a request about one agent, at a path below the URL of the console.
    pub(super) async fn console(&self, head: &Head<'_>, below: &str) -> Result<Response> {
        let found = of_agent(below).and_then(|(slug, about)| {
            let agent = self.deployment.hosted().find(|agent| agent.slug == slug)?;
            Some((agent, about))
        });
        to_response(match found {
            Some((agent, About::Schemas)) => self.schemas(head, agent).await,
            Some((agent, About::Health)) => self.health(head, agent).await,
            None => HttpResponse::error(&absent(below)),
        })
    }

    /// The health of an agent, for a caller that the agent admits.
    async fn health(&self, head: &Head<'_>, agent: &HostedAgent) -> HttpResponse {
        if let Err(refusal) = self.admitted_to(head, agent).await {
            return refusal;
        }
        let (now, is_development) = (WorkerClock.now(), self.deployment.settings.development);
        if let Some(known) = health::known(&agent.slug, now) {
            return health::answer(&known);
        }
        let is_bound = |target: &Target| is_bound(&self.env, target);
        let asked = health::ask(agent, now, is_development, is_bound).await;
        let as_listed = || catalogue::health(agent, is_development);
        health::answer(&asked.unwrap_or_else(as_listed))
    }

    /// The schemas of an agent's skills, for a caller that the agent admits.
    async fn schemas(&self, head: &Head<'_>, agent: &HostedAgent) -> HttpResponse {
        match self.admitted_to(head, agent).await {
            Ok(caller) => {
                self.learn_if_due(agent).await;
                schemas::answer(agent, &caller)
            }
            Err(refusal) => refusal,
        }
    }
}
