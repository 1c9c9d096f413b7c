//! The readers of observations in a deployed Worker: the console, and the lists under `/_dev/`.

use worker::{Env, console_error, console_log};

use crate::edge::bindings;
use crate::edge::development::{received, statements};
use crate::port::{Observation, Observer, Severity};

/// Writes observations to the console of the Worker; with `DEVELOPMENT` also into the lists of
/// [`received`] and [`statements`].
#[derive(Clone, Copy)]
pub(in crate::edge) struct ConsoleObserver {
    /// Whether somebody may look at details.
    pub(in crate::edge) is_development: bool,
}

impl ConsoleObserver {
    /// The one that has the console only.
    pub(in crate::edge) const CONSOLE: Self = Self { is_development: false };

    /// The observer of a deployment. One whose settings cannot be read has the console only.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        let is_development = bindings::settings(env).is_ok_and(|settings| settings.development);
        Self { is_development }
    }
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
            statements::note(observation);
        }
    }
}
