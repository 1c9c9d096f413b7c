//! Finds the facts that a decision needs and that have to be awaited. A decision with a missing fact returns this fact
//! as [`Need`]; [`Front::find`] finds the fact, and the request is decided again. This folder neither decides nor
//! answers requests.
//!
//! | file | fact |
//! |---|---|
//! | `body` | the body of a request |
//! | `callback` | the body of a post to a callback, after the object has confirmed that the callback accepts a post |
//! | `tokens`, `key_sets` | the verdicts on tokens: their signatures are checked with the public keys of their issuers |
//! | `skills` | the skills that an agent learns from others |
//! | `signature` | the signatures of a card |
//! | `terms` | the limits of a message: the quota, the usage of its caller, its sealed credentials |
//! | `page` | the page of a list that takes more than one SQL statement |
//! | `operator` | what an operator asks for: the overview or the usage of an agent, a copy or a deletion in the index |
//! | `context` | the number of tasks of a context that were deleted |

pub(super) mod body;
mod callback;
mod context;
mod key_sets;
mod operator;
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
use crate::port::join_all;
use a2a::error::Error;
use body::Body;

/// A fact that was found.
pub(super) enum Found {
    Body(FoundBody),
    /// The body of a post to a callback, or the reason why its object did not confirm that the callback accepts a post.
    CallbackBody(FoundBody, Option<Failure>),
    Verdicts(Vec<(TokenDigest, Verdict)>),
    /// The sources of skills were checked; the agents contain the result.
    Skills,
    /// True if the card was signed; the deployment contains its signatures.
    Signature(bool),
    Terms(FoundTerms),
    Page(FoundPage),
    Operator(Option<String>),
}

/// The result of receiving a body.
#[derive(Default)]
pub(super) enum FoundBody {
    #[default]
    Nothing,
    Whole(Body),
    Refused(Error),
}

impl Found {
    /// Adds the fact to `facts`. A body is returned instead.
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
            Self::Operator(found) => facts.operator = Some(found),
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
                join_all(slugs.iter().map(|slug| self.learn(slug))).await;
                Found::Skills
            }
            Need::Signature(card) => Found::Signature(self.sign(*card).await),
            Need::Terms(need) => Found::Terms(terms::find(env, &need, observer).await),
            Need::Page(command) => {
                Found::Page(FoundPage::Whole(page::find(env, *command, observer).await))
            }
            Need::Operator(need) => {
                Found::Operator(operator::find(env, &need, &self.deployment, observer).await)
            }
        }
    }

    /// Checks the sources of the skills that an agent learns, if the time until the next check is over.
    pub(super) async fn learn_if_due(&self, agent: &HostedAgent) {
        if agent.learned.as_ref().is_some_and(|learned| learned.is_due(now())) {
            self.find(Need::Skills(vec![agent.slug.to_string()]), None).await;
        }
    }

    /// The slug of the agent for which a body is received, by the path of the request; empty if the path names no
    /// agent.
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
