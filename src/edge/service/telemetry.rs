//! Passes observations on to telemetry: spans to `js/traces.js`, which sends them to the receiver of the deployment (`OTLP_URL`), and
//! counts to `js/metrics.js`, which adds them to the table `metrics` (`METRICS`) and to a dataset of Analytics Engine.

use std::cell::Cell;

use wasm_bindgen::prelude::*;
use worker::{Env, wasm_bindgen};

use crate::config::{Settings, Traces};
use crate::edge::bindings;
use crate::edge::target::check_otlp_url;
use crate::port::Observation;
use crate::telemetry::{Sample, samples_of, span_of};

/// What this instance does with observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::edge) struct Telemetry {
    /// True if spans are sent.
    pub(in crate::edge) traces: bool,
    /// True if observations are counted.
    pub(in crate::edge) counts: bool,
}

impl Telemetry {
    /// Nothing.
    pub(in crate::edge) const NOTHING: Self = Self { traces: false, counts: false };

    /// That of a deployment with these settings. The first call of an instance makes it ready.
    pub(in crate::edge) fn of(env: &Env, settings: &Settings) -> Self {
        let known = READY.get();
        let ready = known.unwrap_or_else(|| {
            let kind = settings.metrics.then(|| settings.index.kind.name());
            let counts = begin_metrics(env.as_ref(), kind);
            let traces = settings.traces.as_ref().filter(|_| check(env, settings).is_ok());
            if let Some(Traces { url, service, .. }) = traces {
                let headers = bindings::otlp_headers(env);
                begin_traces(url, &headers, service, env!("CARGO_PKG_VERSION"));
            }
            Self { traces: traces.is_some(), counts }
        });
        READY.set(Some(ready));
        ready
    }

    /// True if durations are to be measured.
    pub(in crate::edge) fn is_used(self) -> bool {
        self.traces || self.counts
    }

    /// Keeps the span of an observation until it is sent, and counts it.
    pub(in crate::edge) fn take(self, observation: &Observation<'_>) {
        if self.traces
            && let Some(span) = span_of(observation)
        {
            keep_span(&span);
        }
        if self.counts {
            samples_of(observation, &mut |Sample {
                                              metric,
                                              agent,
                                              labels: [first, second],
                                              value,
                                          }| {
                count(metric, agent, first, second, value as f64);
            });
        }
    }
}

/// Checks the settings of telemetry.
///
/// # Errors
///
/// What is wrong with them, and how to mend it. Secrets are not part of it.
pub(in crate::edge) fn check(env: &Env, settings: &Settings) -> Result<(), String> {
    let Some(traces) = &settings.traces else { return Ok(()) };
    check_otlp_url(&traces.url, settings)
        .map_err(|rule| format!("the variable OTLP_URL {rule}"))?;
    let unfit = unfit_headers(&bindings::otlp_headers(env));
    if unfit.is_empty() { Ok(()) } else { Err(unfit) }
}

#[wasm_bindgen(module = "/js/traces.js")]
extern "C" {
    #[wasm_bindgen(js_name = beginTraces)]
    fn begin_traces(url: &str, headers: &str, service: &str, version: &str);

    #[wasm_bindgen(js_name = unfitHeaders)]
    fn unfit_headers(headers: &str) -> String;

    #[wasm_bindgen(js_name = keepSpan)]
    fn keep_span(span: &str);
}

#[wasm_bindgen(module = "/js/metrics.js")]
extern "C" {
    #[wasm_bindgen(js_name = beginMetrics)]
    fn begin_metrics(env: &JsValue, kind: Option<&str>) -> bool;

    fn count(metric: &str, agent: &str, first: &str, second: &str, value: f64);
}

thread_local! {
    static READY: Cell<Option<Telemetry>> = const { Cell::new(None) };
}
