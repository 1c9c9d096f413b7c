//! The port that receives observations.

use super::Observation;

/// Receives observations, for log lines, metrics and tests.
pub trait Observer {
    /// Receives one observation. An implementation must neither fail nor wait.
    fn observe(&self, observation: &Observation<'_>);

    /// True if observations of durations are used. Otherwise nobody needs to measure them.
    fn times(&self) -> bool {
        false
    }
}
