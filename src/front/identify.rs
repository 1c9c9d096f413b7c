//! One request with everything that it is decided by, and who makes it: the policy of the agent decides by the head alone wherever it can.

use super::address::address;
use super::deployment::Deployment;
use super::facts::{Facts, Inside, Need};
use super::head::Head;
use crate::auth::{Evidence, Identity, Judged, Policy, UncheckedToken};
use crate::executor::HostedAgent;
use a2a::binding::http::split_url;
use a2a::error::Error;
use a2a::model::UnixMillis;

/// A request that is being decided.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) deployment: &'a Deployment,
    /// What was found about it.
    pub(crate) facts: &'a Facts,
    pub(crate) head: &'a Head<'a>,
    /// The present instant. It is asked where the decision depends on it: each look crosses into JavaScript.
    pub(crate) now: fn() -> UnixMillis,
}

impl Request<'_> {
    /// Who makes the request to an agent, and what the agent finds about its credentials.
    pub(crate) fn judge<'p>(&self, agent: &'p HostedAgent) -> Judged<'p> {
        match (&self.facts.inside, &agent.policy) {
            (Some(Inside { agent, caller, .. }), Ok(policy)) => {
                let calling = self.deployment.agents.find(Some(agent));
                let calling = calling.and_then(|agent| agent.policy.as_ref().ok());
                policy.vouch(caller, calling.map(Policy::access)).into()
            }
            (Some(_), Err(_)) | (None, _) => self.judge_credentials(agent),
        }
    }

    /// Who makes the request by its credentials, also where it comes from inside of the Worker.
    pub(super) fn judge_credentials<'p>(&self, agent: &'p HostedAgent) -> Judged<'p> {
        let Ok(policy) = &agent.policy else {
            return Identity::Refused(Error::AgentUnusable(agent.slug.to_string())).into();
        };
        let (evidence, now) = (evidence(self.head), (self.now)());
        let held = policy.held(&evidence, || address(self.head), now);
        let verdict_of = |digest: &_| self.facts.verdict_of(digest);
        held.unwrap_or_else(|| policy.identify(&evidence, &verdict_of, now))
    }

    /// The skills that the agent learns, if a request that needs its card has to wait for a look at them.
    pub(super) fn unlearned(&self, agent: &HostedAgent) -> Option<Need> {
        let learned = agent.learned.as_ref()?;
        let is_due = !self.facts.has_learned && learned.is_due((self.now)());
        is_due.then(|| Need::Skills(vec![agent.slug.to_string()]))
    }
}

/// What several agents say about a request, each by its own policy.
pub(crate) struct Judgements<'p>(pub(crate) Vec<(&'p HostedAgent, Judged<'p>)>);

impl<'p> Judgements<'p> {
    /// Asks these agents.
    pub(crate) fn of(request: Request<'_>, agents: &[&'p HostedAgent]) -> Self {
        Self(agents.iter().map(|agent| (*agent, request.judge_credentials(agent))).collect())
    }

    /// The tokens that have to be checked first, if there are any.
    pub(crate) fn need(&self) -> Option<Need> {
        let mut tokens: Vec<UncheckedToken> = Vec::new();
        for (_, judged) in &self.0 {
            if let Identity::Pending(pending) = &judged.identity {
                tokens.extend(pending.iter().cloned());
            }
        }
        (!tokens.is_empty()).then_some(Need::Verdicts(tokens))
    }
}

/// Whether a request to an agent has credentials, right or wrong ones.
pub(crate) fn shows_credentials(head: &Head<'_>, agent: &HostedAgent) -> bool {
    agent.policy.as_ref().is_ok_and(|policy| policy.sees_credentials(&evidence(head)))
}

fn evidence<'a>(head: &'a Head<'_>) -> Evidence<'a> {
    let (origin, _, query) = split_url(head.url());
    Evidence { method: head.method(), origin, query, headers: head.headers() }
}
