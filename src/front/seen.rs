//! The notes of a decision about a request: the agents of the request, its caller, the credentials that no agent
//! accepts, and the reason of a refusal. The rate limits to ask first, the pages that may read the answer, and the
//! audit lines follow from these notes.

use super::address::address;
use super::head::Head;
use super::limit::{Limit, access};
use super::report::{Line, Report};
use crate::auth::{Caller, Guesses, Identity, Judged};
use crate::executor::{Agents, HostedAgent};
use crate::port::Act;
use a2a::error::Error;
use a2a_agents::access::{LimitedBy, ORIGIN};

/// The notes of one decision. Agents without rate limits and without allowed origins are not noted as the answering
/// agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The slug of the answering agent, if it limits pages or requests.
    answering: Option<String>,
    /// True if the request is a call of an agent; requests for documents and preflights are not.
    is_call: bool,
    /// The caller of the agent.
    caller: Option<Caller>,
    /// The slug of the agent that refuses the request, and the error.
    refusal: Option<(String, Error)>,
    /// The findings of the agents about the credentials of the request.
    guesses: Guesses,
    /// The reports that are written for every plan of the request.
    reports: Vec<Report>,
}

impl Seen {
    /// Notes the answering agent.
    pub(crate) fn note_agent(&mut self, agent: &HostedAgent) {
        let is_limited = access(agent).is_some_and(|access| {
            !access.allowed_origins.is_empty() || !access.rate_limits.is_empty()
        });
        self.answering = is_limited.then(|| agent.slug.to_string());
    }

    /// Notes that the request is a call.
    pub(crate) fn note_call(&mut self) {
        self.is_call = true;
    }

    /// Notes the judgement of the answering agent about the request. `is_reported` is true if another request has
    /// reported the credentials already.
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

    /// Notes the findings of one of several agents about the credentials of the request.
    pub(crate) fn note_findings(&mut self, agent: &HostedAgent, judged: &Judged<'_>) {
        self.guesses.note(&agent.slug, &judged.findings);
    }

    /// Notes a post to a callback that does not exist at this agent.
    pub(super) fn note_no_callback(&mut self, slug: &str) {
        self.guesses.note_path(slug, NO_CALLBACK);
    }

    /// Notes the error with which an agent refuses the request. Only the first refusal is kept.
    pub(crate) fn note_refusal(&mut self, agent: &HostedAgent, error: &Error) {
        let is_noted = matches!(error, Error::Unauthenticated(_) | Error::PermissionDenied(_));
        if is_noted && self.refusal.is_none() {
            self.refusal = Some((agent.slug.to_string(), error.clone()));
        }
    }

    /// Adds a report for the operator.
    pub(super) fn report(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// Removes and returns the reports for the operator.
    pub(super) fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// The only origin whose pages may read the answer; empty if no page may. `None` if pages of all origins may.
    pub(super) fn origin<'h>(&self, agents: &Agents, head: &Head<'h>) -> Option<&'h str> {
        let allowed = &access(agents.find(Some(self.answering.as_deref()?))?)?.allowed_origins;
        if allowed.is_empty() {
            return None;
        }
        let is_allowed = |origin: &&str| allowed.iter().any(|known| known == origin);
        Some(head.header(ORIGIN).filter(is_allowed).unwrap_or_default())
    }

    /// The number of seconds for which an agent accepts no guessable credentials from the address of the request;
    /// `None` if no agent for which the request's credentials may be meant does so.
    pub(crate) fn held_s(&self) -> Option<u32> {
        self.guesses.held_s()
    }

    /// The rate limits that the request has to pass, without those in `asked`. A request from inside of the Worker has
    /// no address, so only the limits on its caller apply.
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
                    // Another agent of this Worker sends the request, which has no address.
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

    /// The audit lines about credentials that no agent accepts, and about the refusal of the request.
    pub(super) fn audit(&self, head: &Head<'_>) -> Vec<Report> {
        let caller = self.caller.as_ref().map(|caller| caller.id.as_str());
        let mut lines = self.audit_guesses(head, caller);
        lines.extend(self.audit_refusal(head));
        lines
    }

    /// One audit line for each credential that no agent accepts. `caller` is the caller that the other credentials
    /// identify.
    #[inline(never)]
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

    /// The audit line about the refusal of the request; `None` if a wrong credential, which has its own line, is the
    /// reason.
    #[inline(never)]
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

/// The reason in the audit line about a post that no callback accepts.
const NO_CALLBACK: &str = "a post to a callback that there is not, or that is over";
