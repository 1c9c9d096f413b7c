//! Sends spans to the receiver of the deployment (`OTLP_URL`). `js/traces.js` collects them and sends them in the background.

use std::cell::OnceCell;

use wasm_bindgen::prelude::*;
use worker::{Env, wasm_bindgen};

use crate::config::{Settings, Traces};
use crate::edge::bindings;
use crate::edge::target::check_otlp_url;
use crate::port::Observation;
use crate::telemetry::span_of;

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

/// Makes this instance ready to send telemetry, once. True if durations are to be observed.
pub(in crate::edge) fn begin(env: &Env, settings: &Settings) -> bool {
    let Some(traces) = &settings.traces else { return false };
    IS_READY
        .with(|cell| *cell.get_or_init(|| check(env, settings).is_ok() && begin_with(env, traces)))
}

fn begin_with(env: &Env, traces: &Traces) -> bool {
    let headers = bindings::otlp_headers(env);
    begin_traces(&traces.url, &headers, &traces.service, env!("CARGO_PKG_VERSION"));
    true
}

/// Keeps the span of an observation until it is sent, if it has one.
pub(in crate::edge) fn keep(observation: &Observation<'_>) {
    if let Some(span) = span_of(observation) {
        keep_span(&span);
    }
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

thread_local! {
    static IS_READY: OnceCell<bool> = const { OnceCell::new() };
}
