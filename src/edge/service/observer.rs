//! The readers of observations in a deployed Worker: the console, and what `/_dev/received` shows.

use worker::{console_error, console_log};

use crate::edge::development::received;
use crate::port::{Observation, Observer, Severity};

/// Writes observations to the console of the Worker; with `DEVELOPMENT` also into the lists of
/// [`received`].
#[derive(Clone, Copy)]
pub(in crate::edge) struct ConsoleObserver {
    /// Whether `DEVELOPMENT` is set.
    pub(in crate::edge) is_development: bool,
}

impl Observer for ConsoleObserver {
    fn observe(&self, observation: &Observation<'_>) {
        match observation.severity() {
            Severity::Detail => {}
            Severity::Info => console_log!("{observation}"),
            Severity::Error => console_error!("{observation}"),
        }
        if self.is_development {
            received::note(observation);
        }
    }
}
