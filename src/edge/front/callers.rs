//! Who makes a request that is for no single agent, as one of MCP or of the console. Each agent is asked by its own policy, as for a
//! request of A2A. What they find about the credentials is gathered over all of them: one that none takes counts once, in rate limits and in
//! audits, also where others let the caller in.

use wasm_bindgen::prelude::*;

use super::check::check;
use super::decision::Front;
use super::identify::judge;
use crate::auth::{Caller, Identity, Judged};
use crate::executor::HostedAgent;
use crate::front::head::Head;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

/// An agent that does not let a request in.
pub(super) struct Refusing<'a> {
    pub(super) agent: &'a HostedAgent,
    /// Why.
    pub(super) error: Error,
}

/// An agent that lets a request in, with its caller, or that does not.
pub(super) type Told<'a> = Result<(&'a HostedAgent, Caller), Refusing<'a>>;

impl Front {
    /// Who calls these agents.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if the request shows a credential that none of them takes, and more of those came than a rate limit of one
    /// of them lets through. Then nothing tells which credentials are right.
    pub(super) async fn callers_of<'a>(
        &'a self,
        head: &Head<'_>,
        agents: impl IntoIterator<Item = &'a HostedAgent>,
    ) -> Result<Vec<Told<'a>>, Error> {
        self.seen.begin();
        let mut all: Vec<Told<'a>> = Vec::new();
        for agent in agents {
            let judged = self.judged(head, agent).await;
            self.seen.note_findings(agent, &judged);
            all.push(match judged.identity {
                Identity::Caller(caller) => Ok((agent, caller)),
                Identity::Refused(error) => Err(Refusing { agent, error }),
                Identity::Pending(_) => {
                    Err(Refusing { agent, error: Error::Internal { task: None } })
                }
            });
        }
        let known = all.iter().flatten().find(|(_, caller)| !caller.is_anonymous());
        let known = known.map(|(_, caller)| caller.id.as_str());
        self.seen.audit_guesses(head, known, &self.observer);
        self.ask_limits(head).await?;
        match self.seen.held_s() {
            Some(seconds) => Err(Error::RateLimited(seconds)),
            None => Ok(all),
        }
    }

    /// What an agent says about a request, with the signatures of its tokens checked.
    async fn judged<'a>(&self, head: &Head<'_>, agent: &'a HostedAgent) -> Judged<'a> {
        let mut judged = judge(head, agent, &self.facts.verdicts);
        for _ in 0..MAX_CHECKS {
            let Identity::Pending(tokens) = &judged.identity else { break };
            self.facts.verdicts.keep(check(&self.env, tokens, &self.observer).await);
            judged = judge(head, agent, &self.facts.verdicts);
        }
        judged
    }

    /// Who calls an agent with a request that is neither of A2A nor of MCP.
    ///
    /// # Errors
    ///
    /// The answer to a request that the agent does not let in. It is counted and audited as those of A2A are.
    pub(super) async fn admitted_to(
        &self,
        head: &Head<'_>,
        agent: &HostedAgent,
    ) -> Result<Caller, HttpResponse> {
        let told = self.callers_of(head, [agent]).await;
        let told = told.map_err(|held| HttpResponse::error(&held))?;
        match told.into_iter().next() {
            Some(Ok((_, caller))) => Ok(caller),
            Some(Err(refusing)) => {
                let counted = self.count_refusal(head, &refusing).await;
                Err(HttpResponse::error(&counted.err().unwrap_or(refusing.error)))
            }
            None => Err(HttpResponse::error(&Error::Internal { task: None })),
        }
    }

    /// Counts a request as a call of an agent that does not let it in, of which a line of the audit tells.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if a rate limit of the agent refuses the request.
    pub(super) async fn count_refusal(
        &self,
        head: &Head<'_>,
        refusing: &Refusing<'_>,
    ) -> Result<(), Error> {
        let Refusing { agent, error } = refusing;
        self.seen.note_agent(agent);
        self.seen.note_call();
        self.seen.note_refusal(agent, error);
        self.seen.audit_refusal(head, &self.observer);
        self.ask_limits(head).await
    }

    /// Asks the rate limits that are to be asked and were not.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if one refuses the request.
    async fn ask_limits(&self, head: &Head<'_>) -> Result<(), Error> {
        let limits = self.limits(head);
        let Ok(text) = serde_json::to_string(&limits) else { return Ok(()) };
        if limits.is_empty() {
            return Ok(());
        }
        self.seen.note_asked(limits);
        let refused = refusing(&JsValue::from(self.env.clone()), &text).await;
        let refused = refused.ok().and_then(|list| list.as_string()).unwrap_or_default();
        match self.seen.refused_by(&refused, &self.agents, head) {
            0 => Ok(()),
            seconds => Err(Error::RateLimited(seconds)),
        }
    }
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Asks rate limits, a list as JSON. Gives those that refuse, as such a list.
    #[wasm_bindgen(catch, js_name = refusing)]
    async fn refusing(env: &JsValue, limits: &str) -> std::result::Result<JsValue, JsValue>;
}

/// How many rounds of checks the tokens of a request may take.
const MAX_CHECKS: usize = 4;
