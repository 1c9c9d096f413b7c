//! What the console asks of the Worker. Its pages are static files, which the platform serves at `/console/`; what is asked for here is
//! at `/console/api/`. All else that the console shows it asks of the agents, by the operations that every client has.
//!
//! | file | what it answers |
//! |---|---|
//! | `catalogue` | `GET /console/api/agents`: which agents there are |
//! | `health` | `GET /console/api/agents/<slug>/health`: whether what one needs outside of this Worker is there |
//! | `schemas` | `GET /console/api/agents/<slug>/schemas`: how the skills of one are called |
//!
//! # The console
//!
//! The pages are static files (`console/`, Preact, built by Vite into `build-console/assets`), which the platform serves without the Worker: they are the same for everybody and hold no data. `run_worker_first` in wrangler.toml looks up only the paths
//! of the page among the assets, so a call of an agent does not pay for them. What a page shows it asks of the agents by the operations that every client has, with the credentials that the person has signed in with; the
//! console has no rule of access of its own. Six routes serve it, each documented and tested without it:
//!
//! | route | who answers | code |
//! |---|---|---|
//! | `GET /<agent>/tasks/{id}/timeline` | the object of the task, from its log | `operation/get_task_timeline/` |
//! | `GET /<agent>/webhooks` | D1, table `webhooks` | `operation/list_webhooks.rs` |
//! | `GET /<agent>/overview` | D1, table `task_hours` | `edge/front/overview.rs` |
//! | `GET /console/api/agents` | the front Worker | `edge/front/console/catalogue.rs` |
//! | `GET /console/api/agents/<agent>/health` | the front Worker, which asks the agent's program | `edge/front/console/health.rs` |
//! | `GET /console/api/agents/<agent>/schemas` | the front Worker | `edge/front/console/schemas.rs` |
//!
//! Agents elsewhere are called by the browser (`console/src/api/elsewhere/`), under `npm start` by the forwarder of `dev/`: a deployment sends no
//! request to a URL that a visitor names.
//!
//! In `console/src/`: `api/` has requests, streams and the fold of events, `session/` what the person has signed in with, `parts/` what several pages show, `pages/` a folder for each page, `lint/` the advice on cards. An `Endpoint`
//! (`api/endpoint.ts`) is an agent of this Worker or elsewhere; chat and card know nothing else. Words of agents become text nodes: there is no way from a string to markup in the code, and the content security policy (`console/_headers`)
//! would refuse one.

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
    /// Decides about a request to a path `below` the console, as far as nothing has to be waited for.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`], or [`Error::NotFound`] where nothing is.
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

    /// Answers a request to a path below the console that has to wait for something.
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

    /// Whether an agent can work, for a caller that it lets in.
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

    /// The schemas of an agent's skills, for a caller that the agent lets in.
    async fn schemas(&self, head: &Head<'_>, agent: &HostedAgent) -> HttpResponse {
        match self.admitted_to(head, agent).await {
            Ok(caller) => {
                self.learn_if_due(agent).await;
                schemas::answer(agent, &caller)
            }
            Err(refusal) => refusal,
        }
    }

    /// The list of agents, for a request of this head.
    fn catalogue(&self, head: &Head<'_>) -> HttpResponse {
        let (origin, _, _) = split_url(head.url());
        let mut answer = catalogue::answer(&self.settings, &self.agents, origin);
        if head.method() == "HEAD" {
            answer.body.clear();
        }
        answer
    }

    /// Whether the skills of all agents are known, as far as they are for now.
    fn all_learned(&self) -> bool {
        self.hosted().all(|agent| self.unlearned(agent).is_none())
    }
}

/// What is asked of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Schemas,
    Health,
}

/// The slug in a path below the console that asks about one agent, and what it asks.
fn of_agent(below: &str) -> Option<(&str, About)> {
    let (slug, about) = below.strip_prefix("api/agents/")?.split_once('/')?;
    let about = match about {
        "schemas" => About::Schemas,
        "health" => About::Health,
        _ => return None,
    };
    (!slug.is_empty()).then_some((slug, about))
}

/// The error for a path below the console where nothing is.
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

/// Where the list of agents is.
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
