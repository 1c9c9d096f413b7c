//! What a request comes to before anything is waited for: an answer, or the command that has to be carried out.

use std::cell::Cell;
use std::rc::Rc;

use worker::Env;

use super::admission::unknown_path;
use super::callback::Called;
use super::card;
use super::exchange::Exchange;
use super::head::Head;
use super::identify::Verdicts;
use super::inside::Inside;
use super::overview::OverviewAsked;
use super::route::{Route, route};
use super::seen::Seen;
use super::signatures::UnsignedCard;
use crate::auth::UncheckedToken;
use crate::config::Settings;
use crate::edge::bindings;
use crate::edge::command::Command;
use crate::edge::development::{received, statements};
use crate::edge::service::keys::signing_keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::executor::{Agents, HostedAgent};
use crate::port::{Observation, Observer};
use a2a::Call;
use a2a::binding::ServiceParameters;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;

/// What a request comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    /// This answer.
    Answer(HttpResponse),
    /// What its body says, of at most this many bytes; it has to be received first.
    Receive(usize),
    /// What it is when the signatures of these tokens are checked.
    Check(Vec<UncheckedToken>),
    /// What it is when the skills were looked at that the agent of this slug learns.
    Learn(String),
    /// What it is when this card is signed.
    Sign(Box<UnsignedCard>),
    /// What the object of a callback makes of it.
    CallBack(Box<Called>),
    /// What D1 gives for this overview.
    Overview(Box<OverviewAsked>),
    /// What MCP makes of it, which has to be waited for.
    Mcp,
    /// What the console asks for, which has to be waited for.
    Console,
    /// What the command comes to, which is admitted, with what the request says besides.
    Perform(Box<Command<Call>>, ServiceParameters),
}

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

/// What requests are decided by.
pub(super) struct Front {
    pub(super) env: Env,
    pub(super) settings: Rc<Settings>,
    pub(super) agents: Rc<Agents>,
    pub(super) observer: ConsoleObserver,
    /// What the checks of signatures in this request have found.
    pub(super) verdicts: Verdicts,
    /// Whether this request has found that cards cannot be signed.
    pub(super) cannot_sign: Cell<bool>,
    /// Whether this request has looked at the skills that its agent learns.
    pub(super) has_learned: Cell<bool>,
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
        let agents = bindings::agents(&env, &settings);
        let agents = agents.map_err(|error| misconfigured(error.to_string(), &Error::NoAgents))?;
        let (cannot_sign, has_learned) = (Cell::default(), Cell::default());
        let (verdicts, seen, inside) = (Verdicts::default(), Seen::default(), None);
        Ok(Self {
            env,
            settings,
            agents,
            observer,
            verdicts,
            cannot_sign,
            has_learned,
            seen,
            inside,
        })
    }

    /// All agents of this Worker.
    pub(super) fn hosted(&self) -> impl Iterator<Item = &HostedAgent> {
        self.agents.slugs().filter_map(|slug| self.agents.find(Some(slug)))
    }

    /// Decides about a request.
    pub(super) fn decide(&self, head: &Head<'_>, body: &Received<'_>) -> Decision {
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
            Route::Mcp(slug) => match self.has_mcp(slug) {
                true => return Decision::Mcp,
                false => Err(unknown_path(path, &self.agents)),
            },
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
            Route::Received if self.settings.development => development(head),
            Route::Statements if self.settings.development => {
                Ok(HttpResponse::json(200, statements::all().to_string()))
            }
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
            Route::Received | Route::Statements | Route::Script(_) => {
                Err(unknown_path(path, &self.agents))
            }
        };
        let mut answer = answer.unwrap_or_else(|error| HttpResponse::error(&error));
        if head.method() == "HEAD" {
            answer.body.clear();
        }
        Decision::Answer(answer)
    }
}

fn development(head: &Head<'_>) -> Result<HttpResponse, Error> {
    match head.method() {
        "GET" | "HEAD" => Ok(HttpResponse::json(200, received::all().to_string())),
        "DELETE" => {
            received::clear();
            Ok(HttpResponse::json(200, "{}".to_owned()))
        }
        "OPTIONS" => Ok(preflight(head, "GET, HEAD, DELETE, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, DELETE, OPTIONS")),
    }
}

/// The answer to an OPTIONS request where these methods are taken.
pub(super) fn preflight(head: &Head<'_>, allowed: &'static str) -> HttpResponse {
    HttpResponse::options(allowed, head.header("access-control-request-headers"))
}
