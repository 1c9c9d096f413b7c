//! What a decision has seen of a request: the agents that it is for, who makes it, and why it was refused. From that
//! follow the rate limits that are to be asked first, the pages that may read the answer, and the lines for audits.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::head::Head;
use crate::auth::{Caller, Identity, Policy};
use crate::executor::{Agents, HostedAgent};
use crate::port::{Act, Audit, Observation, Observer};
use a2a::error::Error;
use a2a::model::hex;
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
    }

    /// The answer is this agent's.
    pub(super) fn note_agent(&self, agent: &HostedAgent) {
        let is_limited = access(agent).is_some_and(|access| {
            !access.allowed_origins.is_empty() || !access.rate_limits.is_empty()
        });
        self.answering.replace(is_limited.then(|| agent.slug.clone()));
    }

    /// The request is a call.
    pub(super) fn note_call(&self) {
        self.is_call.set(true);
    }

    /// It is a call of this agent, by this caller.
    pub(super) fn note_identity(&self, agent: &HostedAgent, identity: &Identity) {
        self.note_agent(agent);
        match identity {
            Identity::Caller(caller) if self.answering.borrow().is_some() => {
                self.caller.replace(Some(caller.clone()));
            }
            Identity::Refused(error) => self.note_refusal(agent, error),
            Identity::Caller(_) | Identity::Pending(_) => {}
        }
    }

    /// This is why the agent does not admit it. The first refusal counts.
    pub(super) fn note_refusal(&self, agent: &HostedAgent, error: &Error) {
        let is_noted = matches!(error, Error::Unauthenticated(_) | Error::PermissionDenied(_));
        if is_noted && self.refusal.borrow().is_none() {
            self.refusal.replace(Some((agent.slug.clone(), error.clone())));
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

    /// The rate limits that are to be asked, but for those that were. A request from inside of the Worker has no address, so
    /// they are those of its caller.
    pub(super) fn limits(&self, agents: &Agents, head: &Head<'_>, is_inside: bool) -> Vec<Limit> {
        let slug = self.answering.borrow();
        let agent = slug.as_deref().filter(|_| self.is_call.get());
        let Some(agent) = agent.and_then(|slug| agents.find(Some(slug))) else { return Vec::new() };
        let Some(access) = access(agent) else { return Vec::new() };
        let refusal = self.refusal.borrow();
        let is_failure = matches!(&*refusal, Some((_, Error::Unauthenticated(_))));
        let (caller, asked) = (self.caller.borrow(), self.asked.borrow());
        let limit = |limit: &RateLimit| {
            let (kind, key) = match (limit.by, &*caller) {
                (LimitedBy::Caller, Some(caller)) if !caller.is_anonymous() => {
                    ("caller", caller.id.clone())
                }
                // Another agent of this Worker asks, which has no address.
                _ if is_inside => return None,
                (LimitedBy::Address, _) => ("address", address(head)),
                (LimitedBy::Failures, _) if is_failure => ("failures", address(head)),
                (LimitedBy::Caller, Some(_)) => ("anonymous", address(head)),
                (LimitedBy::Failures, _) | (LimitedBy::Caller, None) => return None,
            };
            let key = bounded(format!("{}/{kind}/{key}", agent.slug));
            Some(Limit(limit.binding.clone(), key, limit.period_s))
        };
        let limits = access.rate_limits.iter().filter_map(limit);
        limits.filter(|limit| !asked.contains(limit)).collect()
    }

    /// Writes the line of an audit about why the request is not admitted.
    pub(super) fn audit(&self, head: &Head<'_>, observer: &dyn Observer) {
        let refusal = self.refusal.borrow();
        let (slug, act, refusal) = match &*refusal {
            Some((slug, Error::Unauthenticated(refusal))) => {
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

/// A rate limit that is to be asked: its binding, what is counted together, and its period in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit(String, String, u32);

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

/// What is counted together as an address. A client that has one IPv6 address has the 2^64 that begin alike.
fn address(head: &Head<'_>) -> String {
    let text = head.header(ADDRESS).unwrap_or_default();
    match text.trim().parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.to_string(),
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        // The platform always says it. Where nobody does, all count together.
        Err(_) => "unknown".to_owned(),
    }
}

/// The key, or its hash where it is long.
fn bounded(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    hex(&Sha256::digest(key.as_bytes()))
}

/// The header that tells from which page a browser sends a request.
const ORIGIN: &str = "origin";

/// The header in which the platform tells the address of the client. What a client sends under this name is lost.
const ADDRESS: &str = "cf-connecting-ip";

/// The longest key of a rate limit as it is, in bytes.
const MAX_KEY_BYTES: usize = 256;
