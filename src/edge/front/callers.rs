//! Who makes a request that is for no single agent, as one of MCP or of the console. Each agent is asked by its own policy, as for a
//! request of A2A, and refusals count as they do there: in rate limits, and in audits.

use super::carry_out::MAX_CHECKS;
use super::check::check;
use super::decision::Front;
use super::head::Head;
use super::identify::identify;
use crate::auth::{Caller, Identity};
use crate::executor::HostedAgent;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

/// An agent that does not let a request in.
pub(super) struct Refusing<'a> {
    pub(super) agent: &'a HostedAgent,
    /// Why.
    pub(super) error: Error,
}

impl Front {
    /// Who calls an agent.
    ///
    /// # Errors
    ///
    /// Why the agent does not let the request in.
    pub(super) async fn caller_of(
        &self,
        head: &Head<'_>,
        agent: &HostedAgent,
    ) -> Result<Caller, Error> {
        for _ in 0..MAX_CHECKS {
            match identify(head, agent, &self.verdicts) {
                Identity::Caller(caller) => return Ok(caller),
                Identity::Refused(error) => return Err(error),
                Identity::Pending(tokens) => {
                    self.verdicts.keep(check(&self.env, &tokens, &self.observer).await);
                }
            }
        }
        Err(Error::Internal { task: None })
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
        match self.caller_of(head, agent).await {
            Ok(caller) => Ok(caller),
            Err(error) => {
                let refusing = Refusing { agent, error };
                let counted = self.count_failures(head, std::slice::from_ref(&refusing)).await;
                let error = counted.err().unwrap_or(refusing.error);
                Err(HttpResponse::error(&error))
            }
        }
    }

    /// Writes the lines of audits, and counts the refusals of credentials in the rate limits of their agents.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if such a rate limit refuses the request.
    pub(super) async fn count_failures(
        &self,
        head: &Head<'_>,
        refusals: &[Refusing<'_>],
    ) -> Result<(), Error> {
        for Refusing { agent, error } in refusals {
            self.count(head, agent, &Identity::Refused(error.clone())).await?;
        }
        Ok(())
    }

    /// Counts a request as a call of an agent by this caller, or by one whom it does not let in, of which a line of the audit tells.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if a rate limit of the agent refuses the request.
    pub(super) async fn count(
        &self,
        head: &Head<'_>,
        agent: &HostedAgent,
        identity: &Identity,
    ) -> Result<(), Error> {
        self.seen.begin();
        self.seen.note_call();
        self.seen.note_identity(agent, identity);
        self.seen.audit(head, &self.observer);
        let limits = self.seen.limits(&self.agents, head, false);
        let Ok(text) = serde_json::to_string(&limits) else { return Ok(()) };
        if limits.is_empty() {
            return Ok(());
        }
        self.seen.note_asked(limits);
        match self.held_seconds(&text).await {
            0 => Ok(()),
            seconds => Err(Error::RateLimited(seconds)),
        }
    }
}
