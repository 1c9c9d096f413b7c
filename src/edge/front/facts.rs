//! What has to be waited for before a request can be decided, and what was found. A decision that lacks a fact names it
//! ([`Need`]); [`Front::find`] finds that one, and the request is decided again. Nothing here decides or answers.

use std::cell::{Cell, OnceCell, RefCell};

use futures_util::future::join3;
use worker::Request;

use super::body::Body;
use super::callback::{self, Called};
use super::check::check;
use super::credentials::seal;
use super::decision::Front;
use super::identify::Verdicts;
use super::listing::{list_tasks, list_webhooks};
use super::overview::{OverviewAsked, find_overview};
use super::quota;
use super::signatures::UnsignedCard;
use super::usage::used;
use crate::auth::UncheckedToken;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::clock::now;
use crate::forms::address::TaskAddress;
use crate::forms::command::Command;
use crate::port::{Observation, Observer};
use crate::session::SentCredentials;
use crate::usage::Usage;
use a2a::Call;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::UnixMillis;

/// A fact that a decision lacks.
pub(super) enum Need {
    /// The body, of at most this many bytes.
    Body(usize),
    /// The body of a post to a callback, unless its object says that the callback takes none.
    CallbackBody(Box<Called>),
    /// Whether the signatures of these tokens are genuine.
    Verdicts(Vec<UncheckedToken>),
    /// The skills that the agent of this slug learns.
    Skills(String),
    /// The signature of a card.
    Signature(Box<UnsignedCard>),
    /// What bounds a message: the quota, the usage of its caller, its sealed credentials.
    Terms(Box<TermsNeed>),
    /// The page of a list that takes more than one statement.
    Page(Box<Command<Call>>),
    /// The overview of an agent.
    Overview(Box<OverviewAsked>),
}

/// Which bounds of a message have to be found.
pub(super) struct TermsNeed {
    pub(super) command: Command<Call>,
    pub(super) key: Option<String>,
    /// Whether the number of unfinished tasks of its caller is limited.
    pub(super) has_quota: bool,
    /// Whether its agent limits what a caller uses in a day.
    pub(super) has_allowance: bool,
    /// Whether it brings credentials that a task may wait for.
    pub(super) has_credentials: bool,
}

/// What was found about one request.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) verdicts: Verdicts,
    /// Whether cards cannot be signed.
    pub(super) cannot_sign: Cell<bool>,
    /// Whether the skills that the agent learns were looked at.
    pub(super) has_learned: Cell<bool>,
    pub(super) terms: OnceCell<FoundTerms>,
    pub(super) page: RefCell<Option<FoundPage>>,
    pub(super) overview: RefCell<Option<HttpResponse>>,
    /// Why the object of the request gave no answer for the client.
    pub(super) failure: OnceCell<AskError>,
}

/// What bounds a message.
pub(super) struct FoundTerms {
    /// The quota, if the caller has reached it.
    pub(super) quota: Option<u64>,
    /// What the caller has used in the day of this instant, where that is known.
    pub(super) used: Option<(Usage, UnixMillis)>,
    /// The credentials that came with it.
    pub(super) sealed: Option<Result<SentCredentials, Error>>,
}

/// What was found of a list.
pub(super) enum FoundPage {
    /// What the statement of a plan has found: its lines, which the control character RS separates, the total of the first
    /// one, and the number of rows that were read.
    Lines { lines: String, total: Option<u64> },
    /// That statement failed.
    NoLines,
    /// The result as JSON, or why there is none.
    Whole(Result<String, Error>),
}

/// The body of a request.
#[derive(Default)]
pub(super) enum FoundBody {
    #[default]
    Nothing,
    Whole(Body),
    Refused(Error),
}

impl FoundPage {
    /// What JavaScript says of the rows that the statement has found.
    pub(super) fn lines(lines: String, total: Option<f64>) -> Self {
        let total = total.map(|total| total as u64);
        Self::Lines { lines, total }
    }
}

/// Receives a body, see [`Body::receive_if`].
async fn receive(
    request: Option<&Request>,
    agent: &str,
    limit: usize,
    ask: impl AsyncFnOnce() -> Result<(), Error>,
) -> FoundBody {
    let Some(request) = request else { return FoundBody::Refused(Error::BodyIncomplete) };
    let received = Body::receive_if(request, agent, limit, ask).await;
    received.map_or_else(FoundBody::Refused, FoundBody::Whole)
}

impl Front {
    /// Finds a fact about a request. Gives its body if it was that.
    pub(super) async fn find(&self, need: Need, request: Option<&Request>) -> Option<FoundBody> {
        let facts = &self.facts;
        match need {
            Need::Body(limit) => {
                let agent = request.map(|request| self.sender_of(request)).unwrap_or_default();
                return Some(receive(request, &agent, limit, async || Ok(())).await);
            }
            Need::CallbackBody(called) => {
                let agent = called.post.agent.clone();
                let ask = async || self.takes_callback(*called).await;
                return Some(receive(request, &agent, callback::MAX_BODY_BYTES, ask).await);
            }
            Need::Verdicts(tokens) => {
                facts.verdicts.keep(check(&self.env, &tokens, &self.observer).await);
            }
            Need::Skills(slug) => Box::pin(self.learn(&slug)).await,
            Need::Signature(card) => {
                if let Err(reason) = card.sign(&self.env).await {
                    self.observer.observe(&Observation::KeyFailed { reason: &reason });
                    facts.cannot_sign.set(true);
                }
            }
            Need::Terms(need) => {
                let _ = facts.terms.set(self.find_terms(*need).await);
            }
            Need::Page(command) => {
                let page = self.find_page(*command).await;
                facts.page.replace(Some(FoundPage::Whole(page)));
            }
            Need::Overview(asked) => {
                let found = find_overview(&self.env, &self.settings, &self.observer, *asked).await;
                facts.overview.replace(Some(found));
            }
        }
        None
    }

    async fn find_terms(&self, need: TermsNeed) -> FoundTerms {
        let TermsNeed { command, key, has_quota, has_allowance, has_credentials } = need;
        let quota = async {
            let limit = if has_quota { self.settings.max_active_tasks } else { 0 };
            quota::reached(&self.env, limit, &command.caller, &self.observer).await
        };
        let usage = async {
            let at = now();
            if !has_allowance {
                return None;
            }
            match used(&self.env, &command, at).await {
                Ok(used) => Some((used, at)),
                Err(reason) => {
                    let agent = &command.agent;
                    self.observer.observe(&Observation::UsageUnknown { agent, reason: &reason });
                    None
                }
            }
        };
        let sealed = async {
            let given = command.unsealed.as_ref().filter(|_| has_credentials)?;
            let task = command.call.task_id();
            let address = TaskAddress::of_command(&command, task, key.as_deref());
            let object = match (Object::at(&self.env, &address), task) {
                (Ok(object), _) => object,
                (Err(AskError::Unknown), Some(id)) => {
                    return Some(Err(Error::TaskNotFound(id.clone())));
                }
                (Err(error), _) => return Some(Err(self.unreachable(None, &error))),
            };
            Some(seal(&self.env, given, object.id(), &self.observer).await)
        };
        let (quota, used, sealed) = join3(quota, usage, sealed).await;
        FoundTerms { quota, used, sealed }
    }

    async fn find_page(&self, command: Command<Call>) -> Result<String, Error> {
        let (command, call) = command.take_call();
        match call {
            Call::List(request) => list_tasks(&self.env, &command, &request, &self.observer).await,
            Call::Webhooks(request) => {
                list_webhooks(&self.env, &command, &request, &self.observer).await
            }
            Call::Card | Call::Task(_) | Call::Follow(_) => Err(Error::Internal { task: None }),
        }
    }

    /// For which agent a body is received, as far as its path tells.
    fn sender_of(&self, request: &Request) -> String {
        let agent = self.agents.find(crate::front::route::route(&request.path()).agent());
        agent.map_or_else(String::new, |agent| agent.slug.to_string())
    }
}
