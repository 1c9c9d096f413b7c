//! Secrets and variables of the deployment, by name.

use worker::Env;

use crate::port::{Secrets, Variables};
use a2a::model::Secret;

/// The secrets that are bound to the Worker.
pub(in crate::edge) struct WorkerSecrets {
    pub(in crate::edge) env: Env,
}

impl Secrets for WorkerSecrets {
    fn secret(&self, name: &str) -> Option<Secret> {
        let secret = self.env.secret(name).ok()?;
        Some(Secret::new(secret.to_string()))
    }
}

/// The variables that are bound to the Worker.
pub(in crate::edge) struct WorkerVariables {
    pub(in crate::edge) env: Env,
}

impl Variables for WorkerVariables {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.var(name).ok().map(|variable| variable.to_string())
    }
}
