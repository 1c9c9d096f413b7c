//! Who sends a message, and what that means for the task and its run.

use super::SentCredentials;
use super::run::RunLimits;
use crate::auth::Caller;
use crate::port::TaskFacts;
use crate::task::RunRequest;
use crate::trail::Trail;
use a2a::Allowance;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::Metadata;

/// Who sends a message, and how.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The agent that is asked.
    pub agent: String,
    /// Who asks.
    pub caller: Caller,
    /// Media types that the client can take.
    pub accepted_output_modes: Vec<String>,
    /// Tells the message from others, if the send is idempotent: repeating it begins nothing new.
    pub fingerprint: Option<String>,
    /// The dialect of the request. A webhook that comes with the message keeps it.
    pub dialect: Dialect,
    /// The origin under which the request reached the server, as `https://agents.example`; none where it is not known.
    pub origin: Option<String>,
    /// What the request is found again by.
    pub trail: Trail,
    /// How long the run may take, in milliseconds, if less than the agent's runs may.
    pub run_timeout_ms: Option<u64>,
    /// What the caller may still use of models in the day, where that is limited.
    pub allowance: Option<Allowance>,
    /// The credentials that come with the message, for a task that waits for some.
    pub credentials: Option<SentCredentials>,
}

impl Sender {
    /// What the sender's task knows from its first moment on.
    pub(super) fn facts(&self) -> TaskFacts {
        TaskFacts {
            agent: self.agent.clone(),
            owner: self.caller.owner().to_owned(),
            fingerprint: self.fingerprint.clone(),
        }
    }

    /// What a run for this sender is to know.
    pub(super) fn request(self, limits: &RunLimits, metadata: Option<Metadata>) -> RunRequest {
        let longest = limits.timeout_ms;
        RunRequest {
            timeout_ms: self.run_timeout_ms.unwrap_or(longest).min(longest),
            caller: self.caller,
            accepted_output_modes: self.accepted_output_modes,
            metadata,
            origin: self.origin,
            allowance: self.allowance.map(Box::new),
            trail: Box::new(self.trail),
            joins_context: false,
        }
    }

    /// Whether the send that left these facts was the same as this one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if it was another one: the key was used for another message.
    pub(super) fn check_repetition(&self, facts: &TaskFacts) -> Result<(), Error> {
        if self.facts() == *facts {
            return Ok(());
        }
        let description = "was used for another message; take a new key for a new one";
        Err(Error::invalid("Idempotency-Key", description))
    }
}
