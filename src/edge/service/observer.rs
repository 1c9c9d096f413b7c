//! The reader of observations in a deployed Worker: its console.

use worker::Env;
use worker::wasm_bindgen;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use crate::edge::bindings;
use crate::port::{Observation, Observer, Severity};

/// Writes observations to the console of the Worker; with `DEVELOPMENT` details, too.
#[derive(Clone, Copy)]
pub(in crate::edge) struct ConsoleObserver {
    /// Whether somebody may look at details.
    pub(in crate::edge) is_development: bool,
    /// Whether audits are told what was done, too, and not only what was refused.
    pub(in crate::edge) audits_all: bool,
}

impl ConsoleObserver {
    /// The one that has the console only.
    pub(in crate::edge) const CONSOLE: Self = Self { is_development: false, audits_all: true };

    /// The observer of a deployment. One whose settings cannot be read has the console only.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        match bindings::settings(env) {
            Ok(settings) => {
                Self { is_development: settings.development, audits_all: settings.audits_all }
            }
            Err(_) => Self::CONSOLE,
        }
    }
}

impl ConsoleObserver {
    /// Whether the operator does not want this line of an audit.
    fn leaves_out(self, observation: &Observation<'_>) -> bool {
        let Observation::Audited(audit) = observation else { return false };
        !self.audits_all && audit.act.is_of_daily_use()
    }
}

impl Observer for ConsoleObserver {
    fn observe(&self, observation: &Observation<'_>) {
        match observation.severity() {
            Severity::Detail if self.is_development => debug(&observation.to_string()),
            Severity::Detail => {}
            Severity::Info if self.leaves_out(observation) => {}
            Severity::Info => log(&observation.to_string()),
            Severity::Error => error(&observation.to_string()),
        }
    }
}

// The macros of `worker` cross the border twice for a line.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn debug(line: &str);

    #[wasm_bindgen(js_namespace = console)]
    fn log(line: &str);

    #[wasm_bindgen(js_namespace = console)]
    fn error(line: &str);
}
