//! The sender of a message, from which the facts of a task and the request of a run are made.

use super::SentCredentials;
use super::agents::RunLimits;
use crate::auth::Caller;
use crate::port::TaskFacts;
use crate::task::RunRequest;
use crate::trail::Trail;
use a2a::Allowance;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::Metadata;

/// The sender of a message, and the terms of its request.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The slug of the agent.
    pub agent: String,
    /// The caller.
    pub caller: Caller,
    /// The media types that the client accepts.
    pub accepted_output_modes: Vec<String>,
    /// A hash of the message, if the send has an `Idempotency-Key`: a repetition with the same fingerprint finds the same task.
    pub fingerprint: Option<String>,
    /// The dialect of the request. A webhook registered with the message gets notifications in this dialect.
    pub dialect: Dialect,
    /// The origin of the request's URL, for example `https://agents.example`; `None` if the origin is not known.
    pub origin: Option<String>,
    /// The ids of the request, for logs and traces.
    pub trail: Trail,
    /// The time limit of the run, in milliseconds, if it is shorter than the time limit of the agent.
    pub run_timeout_ms: Option<u64>,
    /// The caller's remaining use of models for the day, if that is limited.
    pub allowance: Option<Allowance>,
    /// The credentials that arrived with the message, for a task that waits for credentials.
    pub credentials: Option<SentCredentials>,
}

impl Sender {
    /// The facts of a task that this send begins.
    pub(super) fn facts(&self) -> TaskFacts {
        TaskFacts {
            agent: self.agent.clone(),
            owner: self.caller.owner().to_owned(),
            fingerprint: self.fingerprint.clone(),
        }
    }

    /// The request of a run for this sender.
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

    /// Checks that this send has the same message as the send that began the task with these facts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key was used for another message.
    pub(super) fn check_repetition(&self, facts: &TaskFacts) -> Result<(), Error> {
        if self.facts() == *facts {
            return Ok(());
        }
        let description = "was used for another message; take a new key for a new one";
        Err(Error::invalid("Idempotency-Key", description))
    }
}
