//! The observation of requests: which ones are observed, in which trace, and how they ended. `js/hop.js` calls the exported
//! functions, and only if something is observed at all.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::Env;

use super::deployment::Front;
use crate::edge::service::random::WorkerRandom;
use crate::front::head::{Head, OBSERVED};
use crate::front::subject::request_of;
use crate::port::{AnsweredRequest, Moment, Observation, Observer, Random, SpanId, SpanPlace};
use a2a::http::trace::TraceContext;
use a2a::model::{UnixMillis, hex};

/// True if requests are observed in this deployment.
#[wasm_bindgen(js_name = observes)]
pub fn observes(env: Env) -> bool {
    Front::of(env).is_ok_and(|front| front.observer.times())
}

/// The entries of the head of a request, for its trace: with [`OBSERVED`] if the request is observed. `parent` and `state` are the headers
/// `traceparent` and `tracestate` of the client, or empty.
#[wasm_bindgen(js_name = traceHead)]
pub fn trace_head(env: Env, parent: &str, state: &str) -> String {
    let Ok(front) = Front::of(env) else { return String::new() };
    let span = SpanId::random(&WorkerRandom).to_string();
    let observed = |client: &str| format!("\n{OBSERVED}\n{client}");
    let counted =
        if front.observer.telemetry.counts { observed(UNRECORDED) } else { String::new() };
    let traces = front.deployment.settings.traces.as_ref();
    let (trace, entry) = match TraceContext::read(parent, Some(state)) {
        Some(trace) if trace.is_sampled() && traces.is_some() => {
            (Some(trace.within(&span)), observed(trace.span_id()))
        }
        Some(trace) => (Some(trace), counted),
        None if traces.is_some_and(|traces| traces.records(WorkerRandom.chance())) => {
            let id = WorkerRandom.secret_bytes();
            let id = id.get(..16).map(hex).unwrap_or_default();
            (TraceContext::begin(&id, &span, true), observed(""))
        }
        None => (None, counted),
    };
    let headers = trace.iter().flat_map(TraceContext::headers);
    headers.map(|(name, value)| format!("\n{name}\n{value}")).collect::<String>() + &entry
}

/// Observes the end of a request with this head. `subject` is that of its plan, or empty if it had none; `code` is the code of the
/// error in an answer over JSON-RPC. The instants, in milliseconds, are those of the begin and the end of the request; of the end of
/// the search for facts, or 0; and those at which its object was asked and answered, or 0.
#[wasm_bindgen(js_name = requestAnswered)]
#[expect(clippy::too_many_arguments, reason = "numbers need no glue")]
pub fn request_answered(
    env: Env,
    head: &str,
    subject: &str,
    status: u16,
    code: Option<i32>,
    begun: f64,
    ended: f64,
    found: f64,
    asked: f64,
    answered: f64,
) {
    let Ok(front) = Front::of(env) else { return };
    let head = Head::parse(head);
    let client = head.header(OBSERVED).filter(|client| *client != UNRECORDED);
    let trace = head.trail().trace.filter(|_| client.is_some());
    let request = AnsweredRequest { status, code, ..request_of(subject, &head) };
    let own = trace.as_ref().and_then(|trace| SpanId::parse(trace.span_id()));
    let client = client.and_then(SpanId::parse);
    let moment = |begun: f64, ended: f64, id: Option<SpanId>, parent: Option<SpanId>| Moment {
        begun: UnixMillis(begun as i64),
        ended: UnixMillis(ended as i64),
        place: trace.as_deref().map(|trace| SpanPlace {
            trace: trace.clone(),
            id: id.unwrap_or_else(|| SpanId::random(&WorkerRandom)),
            parent,
            follows: None,
        }),
    };
    let observe = |observation: Observation<'_>| front.observer.observe(&observation);
    if found > 0.0 {
        observe(Observation::FactsFound { at: &moment(begun, found, None, own) });
    }
    if asked > 0.0 {
        observe(Observation::ObjectAsked { at: &moment(asked, answered, None, own) });
    }
    observe(Observation::RequestAnswered { request, at: &moment(begun, ended, own, client) });
}

/// The value of [`OBSERVED`] for a request that is observed and not recorded in a trace.
const UNRECORDED: &str = "-";
