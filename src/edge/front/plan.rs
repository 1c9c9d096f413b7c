//! Returns the plan of a request ([`Plan`]) to `js/hop.js` as text. `js/hop.js` calls the exported functions of this
//! file. They do not wait, and keep no state between two calls.
//!
//! | plan | action of `js/hop.js` |
//! |---|---|
//! | `=` and an answer | send this answer |
//! | `n`, an id or nothing, a line break, a command | call a new object, the one with this id |
//! | `i`, an id, a line break, a command | call the object with this id |
//! | `k`, a name as JSON, a line break, a command | call the object with this name |
//! | `c`, an id, a line break, a post | pass the post to a callback to the object with this id |
//! | `s` before `n`, `i` or `k`, and the plan of a stream instead of the command | open a stream from that object |
//! | `l`, an owner as JSON or nothing, a line break, a statement as JSON | run the statement in the object of that owner's index, or in D1, and pass its lines to [`listed`] |
//! | `g` | call `visit`: a guest of the front answers (MCP, the console, the scripts of test doubles) |
//! | `~` | find the missing fact with [`Waiting`](super::waiting::Waiting), which returns the next plan |
//! | `o`, an origin or nothing, a line break, a plan | carry out the plan, and let only pages of this origin read the answer |
//! | `t`, a subject, a line break, a plan | keep the subject for the observation of the request, and carry out the plan |
//! | `r`, rate limits as JSON, a line break, a plan | carry out the plan if the limits admit the request, otherwise the plan of `Waiting.held` |
//!
//! The text of an answer has the form of HTTP: a line for the status, one for each header, an empty line, the body.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::Env;

use super::deployment::Front;
use crate::auth::Owners;
use crate::edge::service::clock::now;
use crate::edge::service::index::Index;
use crate::forms::address::TaskAddress;
use crate::forms::answer::to_text;
use crate::front::decide::{Decision, decide};
use crate::front::facts::{Facts, FoundPage, Need, Received};
use crate::front::head::{Head, names_for};
use crate::front::limit::{Limit, access};
use crate::front::plan::Plan;
use crate::front::route::route;
use crate::front::stream;
use crate::front::subject::Subject;
use a2a::binding::http::{COMMON, HttpResponse};
use a2a::error::Error;
use a2a::model::{append, encode, to_json};
use a2a_agents::access::Access;

/// The plan of a request. `body` is `undefined` if it was not received yet.
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

/// The plan for ListTasks after its SQL statement: `lines` are the returned lines, separated by the control character
/// RS, and `total` is the total in the first of them.
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

/// The names of the headers that the head of a request with this method contains, one per line. If the path names an agent, only its
/// access rules count, else those of all agents: at `/`, the body may name one. `path` may end after its first part.
#[wasm_bindgen(js_name = headerNames)]
pub fn header_names(env: Env, method: &str, path: &str) -> String {
    let front = Front::of(env);
    let agents = front.as_ref().ok().map(|front| &front.deployment.agents);
    let named = route(path).agent().and_then(|slug| agents?.find(Some(slug)));
    let own = named.and_then(access).map(Access::headers);
    let of_all = || agents.map(|agents| agents.headers().to_vec()).unwrap_or_default();
    let mut names = own.unwrap_or_else(of_all);
    for name in names_for(method) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.join("\n")
}

/// The headers of every answer, one per line.
#[wasm_bindgen(js_name = commonHeaders)]
pub fn common_headers() -> String {
    COMMON.map(|(name, value)| format!("{name}: {value}\n")).concat()
}

/// The text of a decision: the origin whose pages may read the answer, the rate limits to ask first, and the plan; and
/// the missing fact, if the plan is to find one.
pub(super) fn text_of(decision: Decision<'_>) -> (String, Option<Need>) {
    let Decision { plan, origin, limits, subject, .. } = decision;
    match plan {
        // The missing fact may show that the request is for another agent, which has its own allowed origins.
        Plan::Need(need) => (limited(&limits, NEED.to_owned()), Some(need)),
        plan => (about(subject, shown_to(origin, limited(&limits, plan_text(plan)))), None),
    }
}

/// The text of a plan, after the subject of an observed request.
fn about(subject: Option<Subject>, plan: String) -> String {
    match subject {
        Some(subject) => format!("t{subject}\n{plan}"),
        None => plan,
    }
}

/// The text of a plan, after the rate limits to ask first.
fn limited(limits: &[Limit], plan: String) -> String {
    if limits.is_empty() {
        return plan;
    }
    // A limit contains only texts and numbers, so encoding cannot fail.
    let limits = to_json(&limits).unwrap_or_default();
    format!("r{limits}\n{plan}")
}

/// The text of a plan, after the origin whose pages may read its answer.
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
        Plan::List { is_in_objects, query } => {
            let owner = match &query.owners {
                Owners::One(owner) if is_in_objects => encode(&owner.as_str()).unwrap_or_default(),
                Owners::One(_) | Owners::All => String::new(),
            };
            return ["l", &owner, "\n", &Index::listing(&query)].concat();
        }
        Plan::Visit => return "g".to_owned(),
        Plan::Need(_) => return NEED.to_owned(),
        Plan::Call(address, command) => append(address_line("", &address), &*command),
        Plan::Stream(address, hello) => stream::plan(address_line("s", &address), *hello),
        Plan::CallBack(called) => append(format!("c{}\n", called.object), &called.post),
    };
    planned.unwrap_or_else(|_| answered(&HttpResponse::error(&Error::Internal { task: None })))
}

/// The text of the plan that sends an answer.
pub(super) fn answered(answer: &HttpResponse) -> String {
    let mut plan = "=".to_owned();
    plan.push_str(&to_text(answer));
    plan
}

/// The line with an address, after the letter of the plan.
fn address_line(letter: &str, address: &TaskAddress) -> String {
    match address {
        TaskAddress::New => [letter, "n\n"].concat(),
        TaskAddress::NewObject(id) => [letter, "n", id.as_str(), "\n"].concat(),
        TaskAddress::Object(id) => [letter, "i", id.as_str(), "\n"].concat(),
        TaskAddress::Named(name) => [letter, "k", &encode(name).unwrap_or_default(), "\n"].concat(),
    }
}

/// The text of the plan to find a missing fact.
const NEED: &str = "~";
