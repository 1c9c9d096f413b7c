//! The text in which `js/hop.js` gets what is to be done with a request ([`Plan`]). The functions here are what it
//! calls; none of them waits, and none remembers anything between two calls.
//!
//! | plan | what is to be done |
//! |---|---|
//! | `=` and an answer | give this answer |
//! | `n`, a line break, a command | ask a new object |
//! | `i`, an id, a line break, a command | ask the object of this id |
//! | `k`, a name as JSON, a line break, a command | ask the object of this name |
//! | `c`, an id, a line break, a post | let the object of this id take a post to a callback |
//! | `s` before one of `n`, `i`, `k`, and the plan of a stream instead of the command | open a stream from that object |
//! | `l` and a statement as JSON | let D1 carry it out, and [`listed`] answer |
//! | `g` | let a guest of the front answer: MCP, the console, the scripts of test doubles |
//! | `~` | find a fact by [`Waiting`](super::waiting::Waiting), which plans again |
//! | `o`, an origin or nothing, a line break, a plan | carry that out, and let pages of this origin alone read the answer |
//! | `r`, rate limits as JSON, a line break, a plan | carry that out if they let the request through, else what `Waiting.held` plans |
//!
//! An answer is written as HTTP writes one: a line for the status, one for each header, an empty line, the body.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::Env;

use super::deployment::Front;
use crate::edge::service::clock::now;
use crate::edge::service::index::D1Index;
use crate::forms::address::TaskAddress;
use crate::forms::answer::to_text;
use crate::front::decide::{Decision, decide};
use crate::front::facts::{Facts, FoundPage, Need, Received};
use crate::front::head::{Head, NAMES};
use crate::front::limit::{self, Limit};
use crate::front::plan::Plan;
use crate::front::stream;
use a2a::binding::http::{COMMON, HttpResponse};
use a2a::error::Error;
use a2a::model::encode;

/// What to do with a request. Its body is `undefined` while it was not received.
#[wasm_bindgen(js_name = plan)]
pub fn plan(env: Env, head: &str, body: Option<Vec<u8>>, is_broken: bool) -> String {
    let front = match Front::of(env) {
        Ok(front) => front,
        Err(answer) => return answered(&answer),
    };
    let head = Head::parse(head);
    let received = match &body {
        _ if is_broken => Received::Refused(Error::BodyIncomplete),
        Some(body) => Received::Whole(body),
        None => Received::Nothing,
    };
    let decision = decide(&front.deployment, &Facts::default(), &head, &received, now);
    front.report(&decision.reports);
    if !matches!(decision.plan, Plan::Need(_) | Plan::Visit) {
        front.report(&decision.audits);
    }
    text_of(decision).0
}

/// The plan for ListTasks: the lines that the statement of its first plan has found, which the control character RS
/// separates, and the total of the first one.
#[wasm_bindgen(js_name = listed)]
pub fn listed(
    env: Env,
    head: &str,
    body: Option<Vec<u8>>,
    lines: String,
    total: Option<f64>,
) -> String {
    let front = match Front::of(env) {
        Ok(front) => front,
        Err(answer) => return answered(&answer),
    };
    let facts = Facts { page: Some(FoundPage::lines(lines, total)), ..Facts::default() };
    let body = body.as_deref().map_or(Received::Nothing, Received::Whole);
    let decision = decide(&front.deployment, &facts, &Head::parse(head), &body, now);
    front.report(&decision.reports);
    plan_text(decision.plan)
}

/// The names of the headers that heads hold, a line each.
#[wasm_bindgen(js_name = headerNames)]
pub fn header_names(env: Env) -> String {
    let front = Front::of(env);
    let agents = front.as_ref().ok().map(|front| &front.deployment.agents);
    let mut names = agents.map(|agents| agents.credential_headers()).unwrap_or_default();
    for name in
        NAMES.into_iter().chain(agents.into_iter().flat_map(|agents| limit::headers(agents)))
    {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.join("\n")
}

/// The headers that every answer has, a line each.
#[wasm_bindgen(js_name = commonHeaders)]
pub fn common_headers() -> String {
    COMMON.map(|(name, value)| format!("{name}: {value}\n")).concat()
}

/// The text of a decision: its plan behind the origin whose pages may read the answer, and the rate limits to ask first. Beside it the
/// fact that it lacks, if it does.
pub(super) fn text_of(decision: Decision<'_>) -> (String, Option<Need>) {
    let Decision { plan, origin, limits, .. } = decision;
    match plan {
        // What is found first may tell another agent, whose pages they are.
        Plan::Need(need) => (limited(&limits, NEED.to_owned()), Some(need)),
        plan => (shown_to(origin, limited(&limits, plan_text(plan))), None),
    }
}

/// A plan behind the rate limits to ask first.
fn limited(limits: &[Limit], plan: String) -> String {
    if limits.is_empty() {
        return plan;
    }
    // A limit has nothing but texts and numbers, so encoding cannot fail.
    let limits = serde_json::to_string(limits).unwrap_or_default();
    format!("r{limits}\n{plan}")
}

/// A plan behind the origin whose pages may read its answer.
pub(super) fn shown_to(origin: Option<&str>, plan: String) -> String {
    match origin {
        Some(origin) => format!("o{origin}\n{plan}"),
        None => plan,
    }
}

/// The text of a plan.
pub(super) fn plan_text(plan: Plan) -> String {
    let planned = match plan {
        Plan::Answer(answer) => return answered(&answer),
        Plan::List(query) => return format!("l{}", D1Index::listing(&query)),
        Plan::Visit => return "g".to_owned(),
        Plan::Need(_) => return NEED.to_owned(),
        Plan::Call(address, command) => {
            encode(&*command).map(|command| format!("{}\n{command}", address_text(&address)))
        }
        Plan::Stream(address, hello) => {
            stream::plan(*hello).map(|plan| format!("s{}\n{plan}", address_text(&address)))
        }
        Plan::CallBack(called) => {
            encode(&called.post).map(|post| format!("c{}\n{post}", called.object))
        }
    };
    planned.unwrap_or_else(|_| answered(&HttpResponse::error(&Error::Internal { task: None })))
}

/// The plan that gives an answer.
pub(super) fn answered(answer: &HttpResponse) -> String {
    let mut plan = "=".to_owned();
    plan.push_str(&to_text(answer));
    plan
}

fn address_text(address: &TaskAddress) -> String {
    match address {
        TaskAddress::New => "n".to_owned(),
        TaskAddress::Object(id) => format!("i{id}"),
        TaskAddress::Named(name) => format!("k{}", encode(name).unwrap_or_default()),
    }
}

/// The plan to find a fact.
const NEED: &str = "~";
