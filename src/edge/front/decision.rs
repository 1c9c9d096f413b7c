//! Decides a request by what is known of it: the deployment, its head, its body, and the facts that were found while it
//! waited. Nothing is waited for here.

use std::rc::Rc;

use worker::Env;

use super::card;
use super::exchange::Exchange;
use super::facts::Facts;
use super::inside::Inside;
use super::plan::Plan;
use super::seen::Seen;
use crate::config::Settings;
use crate::edge::agents;
use crate::edge::bindings;
use crate::edge::service::keys::signing_keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::executor::{Agents, HostedAgent};
use crate::front::admission::unknown_path;
use crate::front::head::Head;
use crate::front::route::{Route, route};
use crate::port::{Observation, Observer};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;

/// The body of a request, as far as it is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Received<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// Nothing yet: it is large, or does not tell its length.
    Nothing,
    /// It cannot be had, for this reason.
    Refused(Error),
}

/// The method that is taken where streams of A2A 0.1 are.
const SUBSCRIBE_METHOD: &str = "tasks/sendSubscribe";

/// What a request is decided by. It is made for one request.
pub(super) struct Front {
    pub(super) env: Env,
    pub(super) settings: Rc<Settings>,
    pub(super) agents: Rc<Agents>,
    pub(super) observer: ConsoleObserver,
    /// What was found about this request.
    pub(super) facts: Facts,
    /// What the decision about it has seen.
    pub(super) seen: Seen,
    /// For whom the request is made, if it comes from an agent of this Worker.
    pub(super) inside: Option<Inside>,
}

impl Front {
    /// The front of this Worker.
    ///
    /// # Errors
    ///
    /// The answer to any request, if its settings or its agents cannot be read.
    pub(super) fn of(env: Env) -> Result<Self, HttpResponse> {
        let observer = ConsoleObserver::of(&env);
        let misconfigured = |reason: String, error: &Error| {
            observer.observe(&Observation::Misconfigured { reason: &reason });
            HttpResponse::error(error)
        };
        let settings = bindings::settings(&env);
        let settings = settings
            .map_err(|error| misconfigured(error.to_string(), &Error::Internal { task: None }))?;
        let agents = agents::agents(&env, &settings);
        let agents = agents.map_err(|error| misconfigured(error.to_string(), &Error::NoAgents))?;
        let (facts, seen, inside) = (Facts::default(), Seen::default(), None);
        Ok(Self { env, settings, agents, observer, facts, seen, inside })
    }

    /// All agents of this Worker.
    pub(super) fn hosted(&self) -> impl Iterator<Item = &HostedAgent> {
        self.agents.slugs().filter_map(|slug| self.agents.find(Some(slug)))
    }

    /// Decides about a request.
    pub(super) fn decide(&self, head: &Head<'_>, body: &Received<'_>) -> Plan {
        self.seen.begin();
        let (_, path, _) = split_url(head.url());
        let answer = match route(path) {
            Route::JsonRpc(slug) => match Exchange::new(self, slug, head) {
                Ok(exchange) => return exchange.jsonrpc(body, None),
                Err(error) => Err(error),
            },
            Route::Subscribe(slug) => match Exchange::new(self, slug, head) {
                Ok(exchange) => return exchange.jsonrpc(body, Some(SUBSCRIBE_METHOD)),
                Err(error) => Err(error),
            },
            Route::Rest(slug, below) => match Exchange::new(self, slug, head) {
                Ok(exchange) => return exchange.rest(below, body),
                Err(error) => Err(error),
            },
            Route::Callback(slug, below) => return self.callback(slug, below, head, body),
            Route::Overview(slug) => return self.overview(slug, head),
            Route::Mcp(slug) if self.has_mcp(slug) => return Plan::Visit,
            Route::Mcp(_) => Err(unknown_path(path, &self.agents)),
            Route::ProtectedResource(slug) => self.protected_resource(slug, path, head),
            Route::Card(slug, name) => match self.agents.find(slug) {
                Some(agent) => match self.card(head, agent, name) {
                    Ok(decision) => return decision,
                    Err(error) => Err(error),
                },
                None => Err(unknown_path(path, &self.agents)),
            },
            Route::KeySet => match signing_keys(&self.env) {
                Some(keys) => card::key_set(head, keys.public_set()),
                None => Err(unknown_path(path, &self.agents)),
            },
            Route::Scripts if self.settings.development => self.scripts(head),
            Route::Script(slug) if self.settings.development => {
                match self.script(head, slug, path, body) {
                    Ok(decision) => return decision,
                    Err(error) => Err(error),
                }
            }
            Route::Console(below) => match self.console_now(below, head) {
                Ok(decision) => return decision,
                Err(error) => Err(error),
            },
            Route::Scripts | Route::Script(_) => Err(unknown_path(path, &self.agents)),
        };
        let mut answer = answer.unwrap_or_else(|error| HttpResponse::error(&error));
        if head.method() == "HEAD" {
            answer.body.clear();
        }
        Plan::Answer(answer)
    }
}

/// The answer to an OPTIONS request where these methods are taken.
pub(super) fn preflight(head: &Head<'_>, allowed: &'static str) -> HttpResponse {
    HttpResponse::options(allowed, head.header("access-control-request-headers"))
}
