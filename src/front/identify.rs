//! A request with all data for its decision, and the identification of its caller. If possible, the policy of the agent
//! identifies the caller by the head alone.

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
    /// The facts about the request that were found.
    pub(crate) facts: &'a Facts,
    pub(crate) head: &'a Head<'a>,
    /// Returns the current time. It is called only if the decision depends on the time, because each call goes to
    /// JavaScript.
    pub(crate) now: fn() -> UnixMillis,
}

impl Request<'_> {
    /// Identifies the caller of the request for an agent, with the agent's findings about the credentials.
    pub(crate) fn judge<'p>(&self, agent: &'p HostedAgent) -> Judged<'p> {
        match (&self.facts.inside, &agent.policy) {
            (Some(Inside { by, caller, .. }), Ok(policy)) => {
                let calling = self.deployment.agents.find(Some(&by.agent));
                let calling = calling.and_then(|agent| agent.policy.as_ref().ok());
                policy.vouch(caller, calling.map(Policy::access)).into()
            }
            (Some(_), Err(_)) | (None, _) => self.judge_credentials(agent),
        }
    }

    /// Identifies the caller of the request by its credentials, even if the request comes from inside of the Worker.
    pub(super) fn judge_credentials<'p>(&self, agent: &'p HostedAgent) -> Judged<'p> {
        let Ok(policy) = &agent.policy else {
            return Identity::Refused(Error::AgentUnusable(agent.slug.to_string())).into();
        };
        let (evidence, now) = (evidence(self.head), (self.now)());
        let held = policy.held(&evidence, || address(self.head), now);
        let verdict_of = |digest: &_| self.facts.verdict_of(digest);
        held.unwrap_or_else(|| policy.identify(&evidence, &verdict_of, now))
    }

    /// The need to check the sources of the agent's skills, if a request that uses the agent's card has to wait for
    /// this check.
    pub(super) fn unlearned(&self, agent: &HostedAgent) -> Option<Need> {
        let learned = agent.learned.as_ref()?;
        let is_due = !self.facts.has_learned && learned.is_due((self.now)());
        is_due.then(|| Need::Skills(vec![agent.slug.to_string()]))
    }
}

/// The judgements of several agents about a request, each by the agent's own policy.
pub(crate) struct Judgements<'p>(pub(crate) Vec<(&'p HostedAgent, Judged<'p>)>);

impl<'p> Judgements<'p> {
    /// Applies the policies of these agents.
    pub(crate) fn of(request: Request<'_>, agents: &[&'p HostedAgent]) -> Self {
        Self(agents.iter().map(|agent| (*agent, request.judge_credentials(agent))).collect())
    }

    /// The need to check the tokens whose verdicts these judgements lack, if any.
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

/// True if a request to an agent contains credentials, right or wrong ones.
pub(crate) fn shows_credentials(head: &Head<'_>, agent: &HostedAgent) -> bool {
    agent.policy.as_ref().is_ok_and(|policy| policy.sees_credentials(&evidence(head)))
}

fn evidence<'a>(head: &'a Head<'_>) -> Evidence<'a> {
    let (origin, _, query) = split_url(head.url());
    Evidence { method: head.method(), origin, query, headers: head.headers() }
}
