//! What a decision has seen of a request: the agents that it is for, who makes it, which of its credentials nobody takes, and why it was
//! refused. From that follow the rate limits that are to be asked first, the pages that may read the answer, and the lines for audits.

use super::address::address;
use super::head::Head;
use super::limit::{Limit, ORIGIN, access};
use super::report::{Line, Report};
use crate::auth::{Caller, Guesses, Identity, Judged};
use crate::executor::{Agents, HostedAgent};
use crate::port::Act;
use a2a::error::Error;
use a2a_agents::access::LimitedBy;

/// What one decision has seen. Of agents that limit nobody it keeps nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The slug of the agent whose answer it is, if that limits pages or requests.
    answering: Option<String>,
    /// Whether that agent is called; documents and preflights are no calls.
    is_call: bool,
    /// Who calls it.
    caller: Option<Caller>,
    /// The slug of the agent that does not admit the request, and why.
    refusal: Option<(String, Error)>,
    /// What the agents that were asked have found about its credentials.
    guesses: Guesses,
    /// What the operator is told in any case.
    reports: Vec<Report>,
}

impl Seen {
    /// The answer is this agent's.
    pub(crate) fn note_agent(&mut self, agent: &HostedAgent) {
        let is_limited = access(agent).is_some_and(|access| {
            !access.allowed_origins.is_empty() || !access.rate_limits.is_empty()
        });
        self.answering = is_limited.then(|| agent.slug.to_string());
    }

    /// The request is a call.
    pub(crate) fn note_call(&mut self) {
        self.is_call = true;
    }

    /// This is what the agent says about it, whose answer it is. `is_reported` is true if another request has reported its credentials.
    pub(super) fn note_judged(
        &mut self,
        agent: &HostedAgent,
        judged: &Judged<'_>,
        is_reported: bool,
    ) {
        self.note_agent(agent);
        if !is_reported {
            self.note_findings(agent, judged);
        }
        match &judged.identity {
            Identity::Caller(caller) => {
                if self.answering.is_some() || self.guesses.wrong().next().is_some() {
                    self.caller = Some(caller.clone());
                }
            }
            Identity::Refused(error) => self.note_refusal(agent, error),
            Identity::Pending(_) => {}
        }
    }

    /// This is what an agent has found about its credentials, of several that it asks.
    pub(crate) fn note_findings(&mut self, agent: &HostedAgent, judged: &Judged<'_>) {
        self.guesses.note(&agent.slug, &judged.findings);
    }

    /// It is a post to a callback of an agent that has no such callback.
    pub(super) fn note_no_callback(&mut self, slug: &str) {
        self.guesses.note_path(slug, NO_CALLBACK);
    }

    /// This is why the agent does not admit it. The first refusal counts.
    pub(crate) fn note_refusal(&mut self, agent: &HostedAgent, error: &Error) {
        let is_noted = matches!(error, Error::Unauthenticated(_) | Error::PermissionDenied(_));
        if is_noted && self.refusal.is_none() {
            self.refusal = Some((agent.slug.to_string(), error.clone()));
        }
    }

    /// The operator is told this in any case.
    pub(super) fn report(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// What the operator is told in any case.
    pub(super) fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// Which pages may read the answer: those of this origin, or none if it is empty. `None` where pages of all
    /// origins may.
    pub(super) fn origin<'h>(&self, agents: &Agents, head: &Head<'h>) -> Option<&'h str> {
        let allowed = &access(agents.find(Some(self.answering.as_deref()?))?)?.allowed_origins;
        if allowed.is_empty() {
            return None;
        }
        let is_allowed = |origin: &&str| allowed.iter().any(|known| known == origin);
        Some(head.header(ORIGIN).filter(is_allowed).unwrap_or_default())
    }

    /// For how many seconds an agent takes nothing from the address of the request, if its credentials may be meant for it.
    pub(crate) fn held_s(&self) -> Option<u32> {
        self.guesses.held_s()
    }

    /// The rate limits that are to be asked, but for those that were. A request from inside of the Worker has no address, so
    /// they are those of its caller.
    pub(crate) fn limits(
        &self,
        agents: &Agents,
        head: &Head<'_>,
        asked: &[Limit],
        is_inside: bool,
    ) -> Vec<Limit> {
        let limited = |slug: &str| Some((slug.to_owned(), access(agents.find(Some(slug))?)?));
        let called = self.answering.as_deref().filter(|_| self.is_call).and_then(limited);
        let mut limits: Vec<Limit> = Vec::new();
        if let Some((slug, access)) = called {
            limits.extend(access.rate_limits.iter().filter_map(|limit| {
                let (kind, key) = match (limit.by, &self.caller) {
                    (LimitedBy::Caller, Some(caller)) if !caller.is_anonymous() => {
                        ("caller", caller.id.clone())
                    }
                    // Another agent of this Worker asks, which has no address.
                    _ if is_inside => return None,
                    (LimitedBy::Address, _) => ("address", address(head)),
                    (LimitedBy::Caller, Some(_)) => ("anonymous", address(head)),
                    (LimitedBy::Failures, _) | (LimitedBy::Caller, None) => return None,
                };
                Some(Limit::new(limit, &slug, kind, &key))
            }));
        }
        for (slug, access) in self.guesses.agents().into_iter().filter_map(limited) {
            let counted = access.rate_limits.iter().filter(|limit| limit.by == LimitedBy::Failures);
            limits.extend(counted.map(|limit| Limit::of_failures(limit, &slug, &address(head))));
        }
        limits.retain(|limit| !asked.contains(limit));
        limits
    }

    /// The lines of an audit about credentials that nobody takes, and about why the request is not admitted.
    pub(super) fn audit(&self, head: &Head<'_>) -> Vec<Report> {
        let caller = self.caller.as_ref().map(|caller| caller.id.as_str());
        let mut lines = self.audit_guesses(head, caller);
        lines.extend(self.audit_refusal(head));
        lines
    }

    /// A line of an audit for each of the credentials that nobody takes. `caller` is who the others say it is.
    pub(crate) fn audit_guesses(&self, head: &Head<'_>, caller: Option<&str>) -> Vec<Report> {
        let wrong = self.guesses.wrong();
        let lines = wrong.map(|guess| {
            let (act, agent) = (Act::AuthenticationFailed, guess.agent.clone());
            let (caller, refusal) = (caller.map(str::to_owned), Some(guess.reason.clone()));
            Report::Audited(Line {
                act,
                agent,
                caller,
                operation: None,
                refusal,
                trail: head.trail(),
            })
        });
        lines.collect()
    }

    /// The line of an audit about why the request is not admitted, unless a wrong credential is why.
    pub(crate) fn audit_refusal(&self, head: &Head<'_>) -> Option<Report> {
        let (slug, act, refusal) = match &self.refusal {
            Some((slug, Error::Unauthenticated(refusal))) => {
                if self.guesses.agents().contains(&slug.as_str()) {
                    return None;
                }
                (slug, Act::AuthenticationFailed, refusal)
            }
            Some((slug, Error::PermissionDenied(refusal))) => (slug, Act::AccessDenied, refusal),
            Some(_) | None => return None,
        };
        Some(Report::Audited(Line {
            act,
            agent: slug.clone(),
            caller: self.caller.as_ref().map(|caller| caller.id.clone()),
            operation: None,
            refusal: Some(refusal.message.clone()),
            trail: head.trail(),
        }))
    }
}

/// What an audit says of a post that no callback takes.
const NO_CALLBACK: &str = "a post to a callback that there is not, or that is over";
