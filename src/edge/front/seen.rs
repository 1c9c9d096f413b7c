//! What a decision has seen of a request: the agents that it is for, who makes it, which of its credentials nobody takes, and why it was
//! refused. From that follow the rate limits that are to be asked first, the pages that may read the answer, and the lines for audits.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::auth::{Caller, Guesses, Identity, Judged, Policy};
use crate::edge::service::clock::now;
use crate::executor::{Agents, HostedAgent};
use crate::front::head::Head;
use crate::port::{Act, Audit, Observation, Observer};
use a2a::binding::http::OWS;
use a2a::error::Error;
use a2a::model::{hex, read_own};
use a2a_agents::access::{Access, LimitedBy, RateLimit};

/// What the decision about this request has seen. Of agents that limit nobody it keeps nothing.
#[derive(Default)]
pub(super) struct Seen {
    /// The slug of the agent whose answer it is, if that limits pages or requests.
    answering: RefCell<Option<String>>,
    /// Whether that agent is called; documents and preflights are no calls.
    is_call: Cell<bool>,
    /// Who calls it.
    caller: RefCell<Option<Caller>>,
    /// The slug of the agent that does not admit the request, and why.
    refusal: RefCell<Option<(String, Error)>>,
    /// What the agents that were asked have found about its credentials.
    guesses: RefCell<Guesses>,
    /// Whether its credentials were reported already, by the request of which it is a part.
    is_reported: Cell<bool>,
    /// The rate limits that were asked.
    asked: RefCell<Vec<Limit>>,
    /// After how many seconds to send the request again, if a rate limit refuses it.
    held: Cell<Option<u32>>,
}

impl Seen {
    /// A new decision about the same request begins.
    pub(super) fn begin(&self) {
        self.answering.replace(None);
        self.is_call.set(false);
        self.caller.replace(None);
        self.refusal.replace(None);
        self.guesses.replace(Guesses::default());
    }

    /// The request is a part of one whose credentials were reported, over all agents that it has asked.
    pub(super) fn note_reported(&self) {
        self.is_reported.set(true);
    }

    /// The answer is this agent's.
    pub(super) fn note_agent(&self, agent: &HostedAgent) {
        let is_limited = access(agent).is_some_and(|access| {
            !access.allowed_origins.is_empty() || !access.rate_limits.is_empty()
        });
        self.answering.replace(is_limited.then(|| agent.slug.to_string()));
    }

    /// The request is a call.
    pub(super) fn note_call(&self) {
        self.is_call.set(true);
    }

    /// This is what the agent says about it, whose answer it is.
    pub(super) fn note_judged(&self, agent: &HostedAgent, judged: &Judged<'_>) {
        self.note_agent(agent);
        self.note_findings(agent, judged);
        match &judged.identity {
            Identity::Caller(caller) => {
                let is_told = || self.guesses.borrow().wrong().next().is_some();
                if self.answering.borrow().is_some() || is_told() {
                    self.caller.replace(Some(caller.clone()));
                }
            }
            Identity::Refused(error) => self.note_refusal(agent, error),
            Identity::Pending(_) => {}
        }
    }

    /// This is what an agent has found about its credentials, of several that it asks.
    pub(super) fn note_findings(&self, agent: &HostedAgent, judged: &Judged<'_>) {
        if !self.is_reported.get() {
            self.guesses.borrow_mut().note(&agent.slug, &judged.findings);
        }
    }

    /// It is a post to a callback of an agent that has no such callback.
    pub(super) fn note_no_callback(&self, slug: &str) {
        self.guesses.borrow_mut().note_path(slug, NO_CALLBACK);
    }

    /// This is why the agent does not admit it. The first refusal counts.
    pub(super) fn note_refusal(&self, agent: &HostedAgent, error: &Error) {
        let is_noted = matches!(error, Error::Unauthenticated(_) | Error::PermissionDenied(_));
        if is_noted && self.refusal.borrow().is_none() {
            self.refusal.replace(Some((agent.slug.to_string(), error.clone())));
        }
    }

    /// A rate limit refuses the request for this number of seconds.
    pub(super) fn hold(&self, seconds: u32) {
        self.held.set(Some(seconds));
    }

    /// Whether a rate limit refuses the request.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if one does.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.held.get().map_or(Ok(()), |seconds| Err(Error::RateLimited(seconds)))
    }

    /// These rate limits were asked.
    pub(super) fn note_asked(&self, limits: Vec<Limit>) {
        self.asked.borrow_mut().extend(limits);
    }

    /// Which pages may read the answer: those of this origin, or none if it is empty. `None` where pages of all
    /// origins may.
    pub(super) fn origin<'h>(&self, agents: &Agents, head: &Head<'h>) -> Option<&'h str> {
        let slug = self.answering.borrow();
        let allowed = &access(agents.find(Some(slug.as_deref()?))?)?.allowed_origins;
        if allowed.is_empty() {
            return None;
        }
        let is_allowed = |origin: &&str| allowed.iter().any(|known| known == origin);
        Some(head.header(ORIGIN).filter(is_allowed).unwrap_or_default())
    }

    /// For how many seconds an agent takes nothing from the address of the request, if its credentials may be meant for it.
    pub(super) fn held_s(&self) -> Option<u32> {
        self.guesses.borrow().held_s()
    }

    /// The rate limits that are to be asked, but for those that were. A request from inside of the Worker has no address, so
    /// they are those of its caller.
    pub(super) fn limits(&self, agents: &Agents, head: &Head<'_>, is_inside: bool) -> Vec<Limit> {
        let limited = |slug: &str| Some((slug.to_owned(), access(agents.find(Some(slug))?)?));
        let answering = self.answering.borrow();
        let called = answering.as_deref().filter(|_| self.is_call.get()).and_then(limited);
        let (caller, asked, guesses) =
            (self.caller.borrow(), self.asked.borrow(), self.guesses.borrow());
        let mut limits: Vec<Limit> = Vec::new();
        if let Some((slug, access)) = called {
            limits.extend(access.rate_limits.iter().filter_map(|limit| {
                let (kind, key) = match (limit.by, &*caller) {
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
        for (slug, access) in guesses.agents().into_iter().filter_map(limited) {
            let counted = access.rate_limits.iter().filter(|limit| limit.by == LimitedBy::Failures);
            limits.extend(counted.map(|limit| {
                let counted = Limit::new(limit, &slug, "failures", &address(head));
                Limit { guessed_at: slug.clone(), ..counted }
            }));
        }
        limits.retain(|limit| !asked.contains(limit));
        limits
    }

    /// For how many seconds rate limits refuse the request: those in a list as JSON; 0 if it is empty. Where one of them counts wrong
    /// credentials, its agent takes none from the address for so long.
    pub(super) fn refused_by(&self, limits: &str, agents: &Agents, head: &Head<'_>) -> u32 {
        // It has come from `js/hop.js`, which gives back what it was given.
        let limits: Vec<Limit> = read_own(limits).unwrap_or_default();
        let now = now();
        for limit in limits.iter().filter(|limit| !limit.guessed_at.is_empty()) {
            let agent = agents.find(Some(&limit.guessed_at));
            if let Some(policy) = agent.and_then(|agent| agent.policy.as_ref().ok()) {
                policy.hold(&address(head), now.after(u64::from(limit.period_s) * 1000), now);
            }
        }
        limits.iter().map(|limit| limit.period_s).max().unwrap_or_default()
    }

    /// Writes the lines of an audit about credentials that nobody takes, and about why the request is not admitted.
    pub(super) fn audit(&self, head: &Head<'_>, observer: &dyn Observer) {
        let caller = self.caller.borrow();
        self.audit_guesses(head, caller.as_ref().map(|caller| caller.id.as_str()), observer);
        self.audit_refusal(head, observer);
    }

    /// Writes a line of an audit for each of the credentials that nobody takes. `caller` is who the others say it is.
    pub(super) fn audit_guesses(
        &self,
        head: &Head<'_>,
        caller: Option<&str>,
        observer: &dyn Observer,
    ) {
        for guess in self.guesses.borrow().wrong() {
            let (act, trail) = (Act::AuthenticationFailed, head.trail());
            let audit = Audit { caller, ..Audit::of(act, &guess.agent, "", &trail) };
            observer.observe(&Observation::Audited(audit.refused(Some(&guess.reason))));
        }
    }

    /// Writes the line of an audit about why the request is not admitted, unless a wrong credential is why.
    pub(super) fn audit_refusal(&self, head: &Head<'_>, observer: &dyn Observer) {
        let refusal = self.refusal.borrow();
        let (slug, act, refusal) = match &*refusal {
            Some((slug, Error::Unauthenticated(refusal))) => {
                if self.guesses.borrow().agents().contains(&slug.as_str()) {
                    return;
                }
                (slug, Act::AuthenticationFailed, refusal)
            }
            Some((slug, Error::PermissionDenied(refusal))) => (slug, Act::AccessDenied, refusal),
            Some(_) | None => return,
        };
        let trail = head.trail();
        let caller = self.caller.borrow();
        let caller = caller.as_ref().map(|caller| caller.id.as_str());
        let audit = Audit { caller, ..Audit::of(act, slug, "", &trail) };
        let audit = audit.refused(Some(&refusal.message));
        observer.observe(&Observation::Audited(audit));
    }
}

/// A rate limit that is to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit {
    /// Its binding.
    binding: String,
    /// What is counted together.
    key: String,
    /// Its period in seconds.
    period_s: u32,
    /// The slug of the agent whose wrong credentials it counts; empty if it counts something else.
    guessed_at: String,
}

impl Limit {
    fn new(limit: &RateLimit, slug: &str, kind: &str, key: &str) -> Self {
        let key = bounded(format!("{slug}/{kind}/{key}"));
        let (binding, period_s) = (limit.binding.clone(), limit.period_s);
        Self { binding, key, period_s, guessed_at: String::new() }
    }
}

/// The headers that what the files of agents say makes necessary, in lower case.
pub(super) fn headers(agents: &Agents) -> impl Iterator<Item = &'static str> {
    let any = |is_so: fn(&Access) -> bool| {
        let mut all = agents.slugs().filter_map(|slug| access(agents.find(Some(slug))?));
        all.any(is_so)
    };
    let origin = any(|access| !access.allowed_origins.is_empty()).then_some(ORIGIN);
    let address = any(|access| !access.rate_limits.is_empty()).then_some(ADDRESS);
    origin.into_iter().chain(address)
}

fn access(agent: &HostedAgent) -> Option<&Access> {
    agent.policy.as_ref().ok().map(Policy::access)
}

/// What is counted together as the address of a request.
pub(super) fn address(head: &Head<'_>) -> String {
    // The platform always says it. Where nobody does, all count together.
    head.header(ADDRESS).and_then(network).unwrap_or_else(|| "unknown".to_owned())
}

/// What is counted together as this address; `None` if it is none. A client that has one IPv6 address has the 2^64 that begin
/// alike.
pub(super) fn network(text: &str) -> Option<String> {
    match text.trim_matches(OWS).parse::<IpAddr>().ok()?.to_canonical() {
        IpAddr::V4(address) => Some(address.to_string()),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
        }
    }
}

/// The key, or its hash where it is long.
fn bounded(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    hex(&Sha256::digest(key.as_bytes()))
}

/// What an audit says of a post that no callback takes.
const NO_CALLBACK: &str = "a post to a callback that there is not, or that is over";

/// The header that tells from which page a browser sends a request.
const ORIGIN: &str = "origin";

/// The header in which the platform tells the address of the client. What a client sends under this name is lost.
pub(super) const ADDRESS: &str = "cf-connecting-ip";

/// The longest key of a rate limit as it is, in bytes.
const MAX_KEY_BYTES: usize = 256;
