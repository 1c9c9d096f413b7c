//! Who makes a request: asks the policy of the agent, which decides by the head alone wherever it can.

use std::cell::RefCell;

use super::seen::address;
use crate::auth::{Evidence, Identity, Judged, TokenDigest, Verdict};
use crate::edge::service::clock::now;
use crate::executor::HostedAgent;
use crate::front::head::Head;
use a2a::binding::http::split_url;
use a2a::error::Error;

/// What the checks of signatures in one request have found.
#[derive(Default)]
pub(super) struct Verdicts(RefCell<Vec<(TokenDigest, Verdict)>>);

impl Verdicts {
    /// Keeps what was found.
    pub(super) fn keep(&self, found: Vec<(TokenDigest, Verdict)>) {
        self.0.borrow_mut().extend(found);
    }

    fn of(&self, digest: &TokenDigest) -> Option<Verdict> {
        let found = self.0.borrow().iter().find(|(known, _)| known == digest).copied();
        found.map(|(_, verdict)| verdict)
    }
}

/// Who makes a request to an agent, and what the agent finds about its credentials.
pub(super) fn judge<'a>(
    head: &Head<'_>,
    agent: &'a HostedAgent,
    verdicts: &Verdicts,
) -> Judged<'a> {
    let Ok(policy) = &agent.policy else {
        return Identity::Refused(Error::AgentUnusable(agent.slug.to_string())).into();
    };
    let (evidence, now) = (evidence(head), now());
    let held = policy.held(&evidence, || address(head), now);
    held.unwrap_or_else(|| policy.identify(&evidence, &|digest| verdicts.of(digest), now))
}

/// Whether a request to an agent shows who makes it, truly or not.
pub(super) fn shows_credentials(head: &Head<'_>, agent: &HostedAgent) -> bool {
    agent.policy.as_ref().is_ok_and(|policy| policy.sees_credentials(&evidence(head)))
}

fn evidence<'a>(head: &'a Head<'_>) -> Evidence<'a> {
    let (origin, _, query) = split_url(head.url());
    Evidence { method: head.method(), origin, query, headers: head.headers() }
}
