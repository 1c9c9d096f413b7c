//! Finds what has to be waited for before a request can be decided, one fact at a time. A decision that lacks a fact names it
//! ([`Need`]); [`Front::find`] finds that one, and the request is decided again. Nothing here decides or answers.
//!
//! | file | fact |
//! |---|---|
//! | `body` | the body of a request |
//! | `callback` | whether a callback takes a post, before its body is received |
//! | `tokens`, `key_sets` | whether the signatures of tokens are genuine, by the public keys of those who gave them out |
//! | `skills` | the skills that an agent learns from others |
//! | `signature` | the signatures of a card |
//! | `terms` | the bounds of a message: the quota, the usage of its caller, its sealed credentials |
//! | `page` | the page of a list that takes more than one statement |
//! | `overview` | the overview of an agent |

pub(super) mod body;
mod callback;
mod key_sets;
mod overview;
mod page;
mod signature;
mod skills;
mod terms;
mod tokens;

use worker::Request;

use super::deployment::Front;
use crate::auth::{TokenDigest, Verdict};
use crate::edge::service::clock::now;
use crate::executor::HostedAgent;
use crate::front::facts::{Facts, FoundPage, FoundTerms, Need};
use crate::front::failure::Failure;
use crate::front::route::route;
use crate::overview::Overview;
use a2a::error::Error;
use body::Body;
use futures_util::future::join_all;

/// A fact that was found.
pub(super) enum Found {
    Body(FoundBody),
    /// The body of a post to a callback, or why its object could not be asked whether it takes one.
    CallbackBody(FoundBody, Option<Failure>),
    Verdicts(Vec<(TokenDigest, Verdict)>),
    /// The skills were looked at: the agents have them.
    Skills,
    /// Whether the card was signed: the deployment has its signatures.
    Signature(bool),
    Terms(FoundTerms),
    Page(FoundPage),
    Overview(Option<Box<Overview>>),
}

/// What was found of a body.
#[derive(Default)]
pub(super) enum FoundBody {
    #[default]
    Nothing,
    Whole(Body),
    Refused(Error),
}

impl Found {
    /// Keeps the fact. Returns the body if it is that.
    pub(super) fn keep(self, facts: &mut Facts) -> Option<FoundBody> {
        match self {
            Self::Body(body) => return Some(body),
            Self::CallbackBody(body, failure) => {
                facts.failure = facts.failure.take().or(failure);
                return Some(body);
            }
            Self::Verdicts(verdicts) => facts.verdicts.extend(verdicts),
            Self::Skills => facts.has_learned = true,
            Self::Signature(is_signed) => facts.cannot_sign |= !is_signed,
            Self::Terms(terms) => facts.terms = Some(terms),
            Self::Page(page) => facts.page = Some(page),
            Self::Overview(overview) => facts.overview = Some(overview),
        }
        None
    }
}

impl Front {
    /// Finds a fact about a request.
    pub(super) async fn find(&self, need: Need, request: Option<&Request>) -> Found {
        let Self { env, observer, .. } = self;
        match need {
            Need::Body(limit) => {
                let agent = request.map(|request| self.sender_of(request)).unwrap_or_default();
                Found::Body(receive(request, &agent, limit, async || Ok(())).await)
            }
            Need::CallbackBody(called) => {
                let (body, failure) = callback::receive_post(env, &called, request).await;
                Found::CallbackBody(body, failure)
            }
            Need::Verdicts(tokens) => Found::Verdicts(tokens::check(env, &tokens, observer).await),
            Need::Skills(slugs) => {
                join_all(slugs.iter().map(|slug| Box::pin(self.learn(slug)))).await;
                Found::Skills
            }
            Need::Signature(card) => Found::Signature(self.sign(*card).await),
            Need::Terms(need) => Found::Terms(terms::find(env, &need, observer).await),
            Need::Page(command) => {
                Found::Page(FoundPage::Whole(page::find(env, *command, observer).await))
            }
            Need::Overview(need) => {
                let counts = self.deployment.settings.task_statistics;
                Found::Overview(overview::find(env, &need, counts, observer).await)
            }
        }
    }

    /// Looks at the sources of the skills that an agent learns, if that was not done for a while.
    pub(super) async fn learn_if_due(&self, agent: &HostedAgent) {
        if agent.learned.as_ref().is_some_and(|learned| learned.is_due(now())) {
            self.find(Need::Skills(vec![agent.slug.to_string()]), None).await;
        }
    }

    /// For which agent a body is received, as far as its path tells.
    fn sender_of(&self, request: &Request) -> String {
        let agent = self.deployment.agents.find(route(&request.path()).agent());
        agent.map_or_else(String::new, |agent| agent.slug.to_string())
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
