//! The Worker's part of the console. The pages are static files, which the platform serves at `/console/`; their requests to the
//! Worker are at `/console/api/`. All other data comes from the agents, by the operations that every client has.
//!
//! | file | answers |
//! |---|---|
//! | `catalogue` | `GET /console/api/agents`: the list of agents |
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
//! | `GET /<agent>/overview` | D1, table `task_hours` | `edge/front/overview.rs` |
//! | `GET /console/api/agents` | the front Worker | `edge/front/console/catalogue.rs` |
//! | `GET /console/api/agents/<agent>/health` | the front Worker, which calls the agent's program |
//! `edge/front/console/health.rs` |
//! | `GET /console/api/agents/<agent>/schemas` | the front Worker | `edge/front/console/schemas.rs` |
//!
//! Agents elsewhere are called by the browser (`console/src/api/elsewhere/`), under `npm start` by the forwarder of `dev/`: a deployment sends no
//! request to a URL that a visitor names.
//!
//! In `console/src/`: `api/` has requests, streams and the fold of events, `session/` the credentials of the sign-in, `parts/`
//! components of several pages, `pages/` a folder for each page, `lint/` the advice on cards. An `Endpoint` (`api/endpoint.ts`)
//! is an agent of this Worker or elsewhere; chat and card use only endpoints. Texts of agents become text nodes: the code never
//! converts a string to markup, and the content security policy (`console/_headers`) would refuse it.

mod catalogue;
mod health;
mod schemas;

use futures_util::future::join_all;
use worker::{Response, Result};

use super::decision::{Front, preflight};
use super::plan::Plan;
use crate::edge::response::to_response;
use crate::edge::service::bound::is_bound;
use crate::edge::service::clock::WorkerClock;
use crate::executor::HostedAgent;
use crate::front::head::Head;
use crate::port::{Clock, Target};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;

impl Front {
    /// Decides a request to a path `below` the console, unless it has to wait.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`], or [`Error::NotFound`] for an unknown path.
    pub(super) fn console_now(
        &self,
        below: &str,
        head: &Head<'_>,
    ) -> std::result::Result<Plan, Error> {
        match (below, head.method()) {
            (AGENTS, "GET" | "HEAD") if self.all_learned() => {
                Ok(Plan::Answer(self.catalogue(head)))
            }
            (AGENTS, "GET" | "HEAD") => Ok(Plan::Visit),
            (AGENTS, "OPTIONS") => Ok(Plan::Answer(preflight(head, "GET, HEAD, OPTIONS"))),
            (AGENTS, _) => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
            (below, "GET") if of_agent(below).is_some() => Ok(Plan::Visit),
            (below, _) if of_agent(below).is_some() => Err(Error::MethodNotAllowed("GET")),
            _ => Err(absent(below)),
        }
    }

    /// Answers a request to a path below the console that has to wait.
    pub(super) async fn console(&self, head: &Head<'_>, below: &str) -> Result<Response> {
        if let (AGENTS, "GET" | "HEAD") = (below, head.method()) {
            join_all(self.hosted().map(|agent| self.learn_if_due(agent))).await;
            return to_response(self.catalogue(head));
        }
        let found = of_agent(below).and_then(|(slug, about)| {
            let agent = self.hosted().find(|agent| agent.slug == slug)?;
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
        let (now, is_development) = (WorkerClock.now(), self.settings.development);
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

    /// The list of agents, for a request with this head.
    fn catalogue(&self, head: &Head<'_>) -> HttpResponse {
        let (origin, _, _) = split_url(head.url());
        let mut answer = catalogue::answer(&self.settings, &self.agents, origin);
        if head.method() == "HEAD" {
            answer.body.clear();
        }
        answer
    }

    /// True if no agent has skills that could be learned now.
    fn all_learned(&self) -> bool {
        self.hosted().all(|agent| self.unlearned(agent).is_none())
    }
}

/// The kinds of requests about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Schemas,
    Health,
}

/// The slug and the kind of a request about one agent, from its path below the console.
fn of_agent(below: &str) -> Option<(&str, About)> {
    let (slug, about) = below.strip_prefix("api/agents/")?.split_once('/')?;
    let about = match about {
        "schemas" => About::Schemas,
        "health" => About::Health,
        _ => return None,
    };
    (!slug.is_empty()).then_some((slug, about))
}

/// The error for an unknown path below the console.
fn absent(below: &str) -> Error {
    let shown: String = below.chars().take(60).collect();
    Error::NotFound(match shown.as_str() {
        "" | "index.html" => "this Worker was deployed without the console; add [assets] to wrangler.toml as docs/console.md says, and deploy \
                              it again"
            .to_owned(),
        shown => format!(
            "there is nothing at /console/{shown}; the console is at /console/, if wrangler.toml has [assets] (docs/console.md)"
        ),
    })
}

/// The path of the list of agents.
const AGENTS: &str = "api/agents";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_an_agent() {
        for (below, expected) in [
            ("api/agents/demo/schemas", Some(("demo", About::Schemas))),
            ("api/agents/demo/health", Some(("demo", About::Health))),
            ("api/agents//schemas", None),
            ("api/agents/a/b/schemas", None),
            ("api/agents/schemas", None),
            ("api/agents/demo", None),
        ] {
            assert_eq!(of_agent(below), expected, "{below}");
        }
    }

    #[test]
    fn a_path_without_anything_says_what_is_missing() {
        for (below, part) in [
            ("", "without the console; add [assets]"),
            ("index.html", "without the console; add [assets]"),
            ("app.js", "nothing at /console/app.js"),
            ("api/other", "nothing at /console/api/other"),
        ] {
            let error = absent(below).to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(absent(&"x".repeat(1000)).to_string().len() < 250);
    }
}
