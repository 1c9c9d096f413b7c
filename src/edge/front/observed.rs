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
    let Some(traces) = &front.deployment.settings.traces else { return String::new() };
    let span = SpanId::random(&WorkerRandom).to_string();
    let (trace, before) = match TraceContext::read(parent, Some(state)) {
        Some(trace) if trace.is_sampled() => {
            (trace.within(&span), format!("\n{OBSERVED}\n{}", trace.span_id()))
        }
        Some(trace) => (trace, String::new()),
        None => {
            let begins = traces.records(WorkerRandom.chance());
            let id = WorkerRandom.secret_bytes();
            let begun = id.get(..16).and_then(|id| TraceContext::begin(&hex(id), &span, true));
            let Some(trace) = begun.filter(|_| begins) else { return String::new() };
            (trace, format!("\n{OBSERVED}\n"))
        }
    };
    let entry = |(name, value): (&str, &str)| format!("\n{name}\n{value}");
    trace.headers().map(entry).collect::<String>() + &before
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
    let Some(trace) = head.trail().trace else { return };
    let request = AnsweredRequest { status, code, ..request_of(subject, &head) };
    let own = SpanId::parse(trace.span_id());
    let client = head.header(OBSERVED).and_then(SpanId::parse);
    let moment = |begun: f64, ended: f64, id: Option<SpanId>, parent: Option<SpanId>| Moment {
        begun: UnixMillis(begun as i64),
        ended: UnixMillis(ended as i64),
        place: Some(SpanPlace {
            trace: (*trace).clone(),
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
