//! Identifies the callers of requests to guests. Such a request, as one of MCP, may be for several agents. Each agent
//! applies its own policy, as for a request of A2A. The findings of all agents about the credentials are combined: a
//! credential that no agent accepts counts once in rate limits and audits, even if an agent admits the caller by
//! another credential.

use wasm_bindgen::prelude::*;

use super::deployment::Front;
use crate::auth::{Caller, Identity};
use crate::edge::service::clock::now;
use crate::executor::HostedAgent;
use crate::front::facts::Facts;
use crate::front::head::Head;
use crate::front::identify::{Judgements, Request};
use crate::front::limit::{Limit, refused_s};
use crate::front::seen::Seen;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::to_json;

/// An agent that does not let a request in.
pub(super) struct Refusing<'a> {
    pub(super) agent: &'a HostedAgent,
    /// The reason of the refusal.
    pub(super) error: Error,
}

/// The identity of a request at one agent: the agent that admits the request with the caller, or the refusal.
pub(super) type Told<'a> = Result<(&'a HostedAgent, Caller), Refusing<'a>>;

/// The identities of a request at several agents.
pub(super) struct Callers<'a> {
    pub(super) told: Vec<Told<'a>>,
    pub(super) counted: Counted,
}

/// The notes about a request, and the rate limits that were asked for it.
pub(super) struct Counted {
    seen: Seen,
    asked: Vec<Limit>,
}

impl Front {
    /// Identifies the caller of a request for each of these agents.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if the request contains a credential that no agent accepts, and a rate limit of one of
    /// the agents refuses more of these. All callers get this same error, so that it does not reveal which credentials
    /// are right.
    pub(super) async fn callers_of<'a>(
        &'a self,
        head: &Head<'_>,
        agents: &[&'a HostedAgent],
    ) -> Result<Callers<'a>, Error> {
        let mut seen = Seen::default();
        let mut told: Vec<Told<'a>> = Vec::new();
        for (agent, judged) in self.judge(head, agents).await.0 {
            seen.note_findings(agent, &judged);
            told.push(match judged.identity {
                Identity::Caller(caller) => Ok((agent, caller)),
                Identity::Refused(error) => Err(Refusing { agent, error }),
                Identity::Pending(_) => {
                    Err(Refusing { agent, error: Error::Internal { task: None } })
                }
            });
        }
        let known = told.iter().flatten().find(|(_, caller)| !caller.is_anonymous());
        let known = known.map(|(_, caller)| caller.id.as_str());
        self.report(&seen.audit_guesses(head, known));
        let asked = self.ask_limits(head, &seen, &[]).await?;
        match seen.held_s() {
            Some(seconds) => Err(Error::RateLimited(seconds)),
            None => Ok(Callers { told, counted: Counted { seen, asked } }),
        }
    }

    /// The judgements of these agents about a request, after the signatures of its tokens were checked.
    async fn judge<'a>(&'a self, head: &Head<'_>, agents: &[&'a HostedAgent]) -> Judgements<'a> {
        let (mut facts, mut rounds) = (Facts::default(), 0);
        loop {
            let deployment = &self.deployment;
            let request = Request { deployment, facts: &facts, head, now };
            let judgements = Judgements::of(request, agents);
            let need = judgements.need().filter(|_| rounds < MAX_CHECKS);
            let Some(need) = need else { return judgements };
            rounds += 1;
            self.find(need, None).await.keep(&mut facts);
        }
    }

    /// Identifies the caller of an agent for a request that is neither of A2A nor of MCP.
    ///
    /// # Errors
    ///
    /// The answer to a request that the agent refuses. The refusal counts in rate limits and audits like one of a
    /// request of A2A.
    pub(super) async fn admitted_to(
        &self,
        head: &Head<'_>,
        agent: &HostedAgent,
    ) -> Result<Caller, HttpResponse> {
        let callers = self.callers_of(head, &[agent]).await;
        let Callers { told, counted } = callers.map_err(|held| HttpResponse::error(&held))?;
        match told.into_iter().next() {
            Some(Ok((_, caller))) => Ok(caller),
            Some(Err(refusing)) => {
                let held = self.count_refusal(head, &counted, &refusing).await;
                Err(HttpResponse::error(&held.err().unwrap_or(refusing.error)))
            }
            None => Err(HttpResponse::error(&Error::Internal { task: None })),
        }
    }

    /// Counts a request as a call of an agent that refuses it, and writes a line of the audit.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if a rate limit of the agent refuses the request.
    pub(super) async fn count_refusal(
        &self,
        head: &Head<'_>,
        counted: &Counted,
        refusing: &Refusing<'_>,
    ) -> Result<(), Error> {
        let (Refusing { agent, error }, mut seen) = (refusing, counted.seen.clone());
        seen.note_agent(agent);
        seen.note_call();
        seen.note_refusal(agent, error);
        self.report(seen.audit_refusal(head).as_slice());
        self.ask_limits(head, &seen, &counted.asked).await.map(|_| ())
    }

    /// Asks the rate limits that follow from `seen`, without those that were `asked` already. Returns the limits that
    /// it has asked.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if a rate limit refuses the request.
    async fn ask_limits(
        &self,
        head: &Head<'_>,
        seen: &Seen,
        asked: &[Limit],
    ) -> Result<Vec<Limit>, Error> {
        let agents = &self.deployment.agents;
        let limits = seen.limits(agents, head, asked, false);
        if limits.is_empty() {
            return Ok(limits);
        }
        // A limit contains only texts and numbers, so encoding cannot fail.
        let text = to_json(&limits).unwrap_or_default();
        let refused = refusing(&JsValue::from(self.env.clone()), &text).await;
        let refused = refused.ok().and_then(|list| list.as_string()).unwrap_or_default();
        match refused_s(&refused, agents, head, now()) {
            0 => Ok(limits),
            seconds => Err(Error::RateLimited(seconds)),
        }
    }
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Asks rate limits, a JSON list. Returns the limits that refuse, as a JSON list.
    #[wasm_bindgen(catch, js_name = refusing)]
    async fn refusing(env: &JsValue, limits: &str) -> std::result::Result<JsValue, JsValue>;
}

/// The largest number of rounds of token checks for one request.
const MAX_CHECKS: usize = 4;
