//! What `js/hop.js` does with a request, told in one text. The functions here are what it calls; none of them waits, and
//! none remembers anything between two calls.
//!
//! | plan | what is to be done |
//! |---|---|
//! | `=` and an answer | give this answer |
//! | `n`, a line break, a command | ask a new object |
//! | `i`, an id, a line break, a command | ask the object of this id |
//! | `k`, a name as JSON, a line break, a command | ask the object of this name |
//! | `s` before one of the last three, and the plan of a stream instead of the command | open a stream from that object |
//! | `l` and a statement as JSON | let D1 carry it out, and [`listed`] answer |
//! | `~` | let `carry_out` do it, which waits |
//! | `o`, an origin or nothing, a line break, a plan | carry that out, and let pages of this origin alone read the answer |
//! | `d`, a fault as JSON, a line break, a plan | carry that out, in development, with what goes wrong on purpose |
//! | `r`, rate limits as JSON, a line break, a plan | carry that out if they let the request through, else give what [`held`] answers |
//!
//! An answer is written as HTTP writes one: a line for the status, one for each header, an empty line, the body.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::Env;

use super::carry_out::hello;
use super::decision::{Decision, Front, Received};
use super::double;
use super::head::{Head, NAMES};
use super::listing::{listing_failed, query_of, whole_page};
use super::seen;
use super::stream;
use crate::edge::address::TaskAddress;
use crate::edge::answer::to_text;
use crate::edge::command::Command;
use crate::edge::objects::AskError;
use crate::edge::service::index::D1Index;
use crate::operation::list_tasks::Page;
use a2a::binding::ServiceParameters;
use a2a::binding::http::{COMMON, HttpResponse};
use a2a::error::Error;
use a2a::model::encode;
use a2a::{Call, Operation, Outcome};

/// What to do with a request. Its body is `undefined` while it was not received, which is for `carry_out` to do.
#[wasm_bindgen(js_name = plan)]
pub fn plan(env: Env, head: &str, body: Option<Vec<u8>>, is_broken: bool) -> String {
    let front = match Front::of(env) {
        Ok(front) => front,
        Err(answer) => return answered(answer),
    };
    let head = Head::parse(head);
    let plan = match front.decide(&head, &received(body.as_deref(), is_broken)) {
        Decision::Answer(answer) => answered(answer),
        Decision::Receive(_)
        | Decision::Check(_)
        | Decision::Learn(_)
        | Decision::Sign(_)
        | Decision::CallBack(_)
        | Decision::Overview(_)
        | Decision::Mcp
        | Decision::Console => LATER.to_owned(),
        Decision::Perform(command, parameters) => {
            let (reply, is_stream) = (command.reply.clone(), command.call.is_stream());
            let planned = plan_command(&front, &parameters, *command);
            planned.unwrap_or_else(|error| answered(reply.refusal(is_stream, &error)))
        }
    };
    // What is left to `carry_out` is audited there.
    if plan != LATER {
        front.seen.audit(&head, &front.observer);
    }
    let plan = front.limited(&head, plan);
    match front.settings.development {
        true => front.with_fault(&head, body.as_deref(), plan),
        false => plan,
    }
}

/// The answer to a request that rate limits refuse, a list as JSON.
#[wasm_bindgen(js_name = held)]
pub fn held(env: Env, head: &str, body: Option<Vec<u8>>, limits: &str) -> String {
    let front = match Front::of(env) {
        Ok(front) => front,
        Err(answer) => return to_text(&answer),
    };
    let head = Head::parse(head);
    let seconds = front.seen.refused_by(limits, &front.agents, &head);
    front.seen.hold(seconds);
    let refused = || HttpResponse::error(&Error::RateLimited(seconds));
    to_text(&match front.decide(&head, &received(body.as_deref(), false)) {
        Decision::Answer(answer) => answer,
        _ => refused(),
    })
}

/// The answer to a request whose object was asked and has not answered as objects do. `status` is what it answered
/// instead, 404 for an object that the namespace does not know, 0 if nothing came.
#[wasm_bindgen(js_name = failed)]
pub fn failed(env: Env, head: &str, body: Option<Vec<u8>>, status: u16, reason: &str) -> String {
    let answer = match Front::of(env) {
        Ok(front) => front.failed(&Head::parse(head), body.as_deref(), status, reason),
        Err(answer) => answer,
    };
    to_text(&answer)
}

/// The answer to ListTasks: the lines that the statement of its plan has found, which the control character RS separates,
/// the total of the first one, and the number of rows that were read. `~` if `carry_out` has to ask for the total.
#[wasm_bindgen(js_name = listed)]
pub fn listed(
    env: Env,
    head: &str,
    body: Option<Vec<u8>>,
    lines: &str,
    total: Option<f64>,
    rows_read: f64,
) -> String {
    let total = total.map(|total| total as u64);
    let listed = Listed { lines, total, rows_read: rows_read as u64 };
    let answer = match Front::of(env) {
        Ok(front) => front.listed(&Head::parse(head), body.as_deref(), listed),
        Err(answer) => Some(answer),
    };
    answer.map_or_else(|| LATER.to_owned(), |answer| to_text(&answer))
}

/// The names of the headers that heads hold, a line each.
#[wasm_bindgen(js_name = headerNames)]
pub fn header_names(env: Env) -> String {
    let agents = Front::of(env.clone()).map(|front| front.agents.credential_headers());
    let mut names = agents.unwrap_or_default();
    let limiting =
        Front::of(env.clone()).map(|front| seen::headers(&front.agents).collect::<Vec<_>>());
    let noted = Front::of(env).map(|front| double::headers(&front)).unwrap_or_default();
    for name in NAMES.into_iter().chain(limiting.unwrap_or_default()).chain(noted.iter().copied()) {
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

impl Front {
    /// A plan behind what is to be heeded first: which pages may read the answer, and the rate limits to ask.
    fn limited(&self, head: &Head<'_>, plan: String) -> String {
        let mut plan = plan;
        let limits = self.seen.limits(&self.agents, head, false);
        if let (false, Ok(limits)) = (limits.is_empty(), serde_json::to_string(&limits)) {
            plan = format!("r{limits}\n{plan}");
        }
        match self.seen.origin(&self.agents, head) {
            Some(origin) => format!("o{origin}\n{plan}"),
            None => plan,
        }
    }

    fn listed(
        &self,
        head: &Head<'_>,
        body: Option<&[u8]>,
        listed: Listed<'_>,
    ) -> Option<HttpResponse> {
        let command = match self.decide(head, &received(body, false)) {
            Decision::Perform(command, _) => *command,
            Decision::Answer(answer) => return Some(answer),
            Decision::Receive(_)
            | Decision::Check(_)
            | Decision::Learn(_)
            | Decision::Sign(_)
            | Decision::CallBack(_)
            | Decision::Overview(_)
            | Decision::Mcp
            | Decision::Console => return None,
        };
        let (command, call) = command.take_call();
        let Call::List(request) = call else { return None };
        let reply = command.reply.clone();
        let Listed { lines, total, rows_read } = listed;
        let found = query_of(&command, &request).and_then(|query| {
            let index = D1Index { env: self.env.clone() };
            let found = index.listed(&query, lines, total, rows_read);
            let found = found.map_err(|reason| listing_failed(&reason, &self.observer))?;
            Ok(found.map(|found| Page::new(&query, &request, found)))
        });
        if let Ok(Some(_)) = &found {
            self.note_operator(&command, Operation::ListTasks);
        }
        let answer = match found {
            Ok(page) => reply.outcome(&Outcome::Tasks(whole_page(&page?, &request))),
            Err(error) => Err(error),
        };
        Some(answer.unwrap_or_else(|error| reply.error(&error)))
    }

    fn failed(
        &self,
        head: &Head<'_>,
        body: Option<&[u8]>,
        status: u16,
        reason: &str,
    ) -> HttpResponse {
        // Decided once more, so that nothing has to be kept for a failure that hardly ever comes.
        let command = match self.decide(head, &received(body, false)) {
            Decision::Perform(command, _) => command,
            Decision::Answer(answer) => return answer,
            Decision::Receive(_)
            | Decision::Check(_)
            | Decision::Learn(_)
            | Decision::Sign(_)
            | Decision::CallBack(_)
            | Decision::Overview(_)
            | Decision::Mcp
            | Decision::Console => {
                return HttpResponse::error(&Error::Internal { task: None });
            }
        };
        let task = command.call.task_id().cloned();
        let error = AskError::of_status(status, reason);
        let error = match (&error, task) {
            (AskError::Unknown, Some(task)) => Error::TaskNotFound(task),
            (_, task) => self.unreachable(task.as_ref(), &error),
        };
        command.reply.refusal(command.call.is_stream(), &error)
    }
}

/// What the statement of a plan has found.
struct Listed<'a> {
    lines: &'a str,
    total: Option<u64>,
    rows_read: u64,
}

/// The plan for a command.
///
/// # Errors
///
/// Why it is refused.
fn plan_command(
    front: &Front,
    parameters: &ServiceParameters,
    command: Command<Call>,
) -> Result<String, Error> {
    let (command, call) = command.take_call();
    match &call {
        Call::Task(_) | Call::Follow(_) => {}
        // The exchange has answered it.
        Call::Card => return Err(Error::Internal { task: None }),
        Call::List(request) if !request.include_artifacts => {
            let query = query_of(&command, request)?;
            if command.scope.hides_all(request) {
                let page = whole_page(&Page::empty(&query, request), request);
                return command.reply.outcome(&Outcome::Tasks(page)).map(answered);
            }
            return Ok(format!("l{}", D1Index::listing(&query)));
        }
        Call::List(_) | Call::Webhooks(_) => return Ok(LATER.to_owned()),
    }
    let waits_for_quota = call.begins_task() && front.settings.max_active_tasks > 0;
    let waits_for_usage =
        call.message().is_some() && !front.caller_limits(&command.agent).is_none();
    if waits_for_quota || waits_for_usage || command.unsealed.is_some() {
        return Ok(LATER.to_owned());
    }
    let key = parameters.idempotency_key()?;
    let address = match TaskAddress::of_command(&command, call.task_id(), key) {
        TaskAddress::New => "n".to_owned(),
        TaskAddress::Object(id) if id.is_well_formed() => format!("i{id}"),
        TaskAddress::Object(id) => return Err(Error::TaskNotFound(id.task_id())),
        TaskAddress::Named(name) => format!("k{}", encode(&name).unwrap_or_default()),
    };
    let planned = match call {
        Call::Follow(call) => stream::plan::plan(hello(parameters, command.with_call(call))?)
            .map(|plan| format!("s{address}\n{plan}")),
        Call::Task(call) => {
            encode(&command.with_call(call)).map(|command| format!("{address}\n{command}"))
        }
        Call::Card | Call::List(_) | Call::Webhooks(_) => return Ok(LATER.to_owned()),
    };
    planned.map_err(|_| Error::Internal { task: None })
}

fn received(body: Option<&[u8]>, is_broken: bool) -> Received<'_> {
    match body {
        _ if is_broken => Received::Refused(Error::BodyIncomplete),
        Some(body) => Received::Whole(body),
        None => Received::Nothing,
    }
}

fn answered(answer: HttpResponse) -> String {
    let mut plan = "=".to_owned();
    plan.push_str(&to_text(&answer));
    plan
}

/// The plan that leaves a request to `carry_out`.
const LATER: &str = "~";
