//! Writes the observations of a deployed Worker to its console, and passes on those that telemetry is made of.

use worker::Env;
use worker::wasm_bindgen;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use super::telemetry::Telemetry;
use crate::edge::bindings;
use crate::port::{Observation, Observer, Severity};

/// Writes observations to the console of the Worker; with `DEVELOPMENT`, also details.
#[derive(Clone, Copy)]
pub(in crate::edge) struct ConsoleObserver {
    /// True if details are written.
    pub(in crate::edge) is_development: bool,
    /// True if audit lines are also written for successful calls of daily use, not only for refused calls.
    pub(in crate::edge) audits_all: bool,
    /// What else is done with observations.
    pub(in crate::edge) telemetry: Telemetry,
}

impl ConsoleObserver {
    /// An observer with default settings: no details, all audit lines.
    pub(in crate::edge) const CONSOLE: Self =
        Self { is_development: false, audits_all: true, telemetry: Telemetry::NOTHING };

    /// The observer of a deployment; [`CONSOLE`](Self::CONSOLE) if the settings cannot be read.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        match bindings::settings(env) {
            Ok(settings) => Self {
                is_development: settings.development,
                audits_all: settings.audits_all,
                telemetry: Telemetry::of(env, &settings),
            },
            Err(_) => Self::CONSOLE,
        }
    }
}

impl ConsoleObserver {
    /// True if the operator has switched off this line of an audit.
    fn leaves_out(self, observation: &Observation<'_>) -> bool {
        let Observation::Audited(audit) = observation else { return false };
        !self.audits_all && audit.act.is_of_daily_use()
    }
}

impl Observer for ConsoleObserver {
    fn observe(&self, observation: &Observation<'_>) {
        if self.telemetry.is_used() {
            self.telemetry.take(observation);
        }
        match observation.severity() {
            Severity::Detail if self.is_development => debug(&observation.to_string()),
            Severity::Detail => {}
            Severity::Info if self.leaves_out(observation) => {}
            Severity::Info => log(&observation.to_string()),
            Severity::Error => error(&observation.to_string()),
            Severity::Timing => {}
        }
    }

    fn times(&self) -> bool {
        self.telemetry.is_used()
    }
}

// Imported directly, because the macros of `worker` cross into JavaScript twice for each line.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn debug(line: &str);

    #[wasm_bindgen(js_namespace = console)]
    fn log(line: &str);

    #[wasm_bindgen(js_namespace = console)]
    fn error(line: &str);
}
