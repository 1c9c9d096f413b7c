//! The port that receives observations.

use super::Observation;

/// Receives observations. Its readers are log lines, metrics and tests.
pub trait Observer {
    /// Receives one observation. It must neither fail nor wait.
    fn observe(&self, observation: &Observation<'_>);
}
