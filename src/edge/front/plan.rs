//! What is to be done with a request ([`Plan`]), and the text in which `js/hop.js` gets it. The functions here are what it
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
//! | `g` | let a guest of the front answer: MCP, the console |
//! | `~` | find a fact by [`Waiting`](super::waiting::Waiting), which plans again |
//! | `o`, an origin or nothing, a line break, a plan | carry that out, and let pages of this origin alone read the answer |
//! | `d`, a fault as JSON, a line break, a plan | carry that out, in development, with what goes wrong on purpose |
//! | `r`, rate limits as JSON, a line break, a plan | carry that out if they let the request through, else what `Waiting.held` plans |
//!
//! An answer is written as HTTP writes one: a line for the status, one for each header, an empty line, the body.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::Env;

use super::callback::Called;
use super::decision::{Front, Received};
use super::facts::{FoundPage, Need};
use super::seen::{self, Limit};
use super::stream;
use crate::edge::objects::AskError;
use crate::forms::address::TaskAddress;
use crate::forms::answer::to_text;
use crate::forms::command::{Command, StreamCommand};
use crate::front::head::{Head, NAMES};
use a2a::TaskCall;
use a2a::binding::Reply;
use a2a::binding::http::{COMMON, HttpResponse};
use a2a::error::Error;
use a2a::model::{TaskId, encode};

/// What is to be done with a request.
pub(super) enum Plan {
    /// Give this answer.
    Answer(HttpResponse),
    /// Let the object of a task answer a call.
    Call(TaskAddress, Box<Command<TaskCall>>),
    /// Open a stream from the object of a task.
    Stream(TaskAddress, Box<StreamCommand>),
    /// Let the object of a task take a post to a callback.
    CallBack(Box<Called>),
    /// Let D1 carry out this statement, which [`listed`] takes.
    List(String),
    /// Let MCP or the console answer.
    Visit,
    /// Find a fact, and plan again.
    Need(Need),
}

/// How an answer is written for the client of a command.
pub(super) struct Form {
    reply: Reply,
    is_stream: bool,
    task: Option<TaskId>,
}

impl Plan {
    /// The text for `js/hop.js`.
    pub(super) fn into_text(self) -> String {
        let planned = match self {
            Self::Answer(answer) => return answered(&answer),
            Self::List(statement) => return format!("l{statement}"),
            Self::Visit => return "g".to_owned(),
            Self::Need(_) => return NEED.to_owned(),
            Self::Call(address, command) => {
                encode(&*command).map(|command| format!("{}\n{command}", address_text(&address)))
            }
            Self::Stream(address, hello) => stream::plan::plan(*hello)
                .map(|plan| format!("s{}\n{plan}", address_text(&address))),
            Self::CallBack(called) => {
                encode(&called.post).map(|post| format!("c{}\n{post}", called.object))
            }
        };
        planned.unwrap_or_else(|_| answered(&HttpResponse::error(&Error::Internal { task: None })))
    }

    /// How an answer is written that the object does not give; `None` unless this is to ask one for a client.
    pub(super) fn form(&self) -> Option<Form> {
        match self {
            Self::Call(_, command) => {
                let (reply, task) = (command.reply.clone(), command.call.task_id().cloned());
                Some(Form { reply, is_stream: false, task })
            }
            Self::Stream(_, hello) => {
                let (reply, call) = (hello.command.reply.clone(), &hello.command.call);
                Some(Form { reply, is_stream: true, task: call.task_id().cloned() })
            }
            _ => None,
        }
    }
}

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
    let plan = front.decide(&head, &received);
    if !matches!(plan, Plan::Need(_) | Plan::Visit) {
        front.seen.audit(&head, &front.observer);
    }
    front.limited(&head, &front.limits(&head), plan.into_text())
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
    front.facts.page.replace(Some(FoundPage::lines(lines, total)));
    let body = body.as_deref().map_or(Received::Nothing, Received::Whole);
    front.decide(&Head::parse(head), &body).into_text()
}

/// The names of the headers that heads hold, a line each.
#[wasm_bindgen(js_name = headerNames)]
pub fn header_names(env: Env) -> String {
    let agents = Front::of(env.clone()).map(|front| front.agents.credential_headers());
    let mut names = agents.unwrap_or_default();
    let limiting = Front::of(env).map(|front| seen::headers(&front.agents).collect::<Vec<_>>());
    for name in NAMES.into_iter().chain(limiting.unwrap_or_default()) {
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
    /// Prefixes a plan with the rate limits to ask first, and with the origin whose pages may read its answer.
    pub(super) fn limited(&self, head: &Head<'_>, limits: &[Limit], plan: String) -> String {
        let mut plan = plan;
        if let (false, Ok(limits)) = (limits.is_empty(), serde_json::to_string(limits)) {
            plan = format!("r{limits}\n{plan}");
        }
        self.shown_to(head, plan)
    }

    /// The rate limits to ask before what was decided is done.
    pub(super) fn limits(&self, head: &Head<'_>) -> Vec<Limit> {
        self.seen.limits(&self.agents, head, self.inside.is_some())
    }

    /// Prefixes a plan with the origin whose pages may read its answer.
    pub(super) fn shown_to(&self, head: &Head<'_>, plan: String) -> String {
        match self.seen.origin(&self.agents, head) {
            // What is found first may tell another agent, whose pages they are.
            Some(origin) if !plan.ends_with(NEED) => format!("o{origin}\n{plan}"),
            _ => plan,
        }
    }

    /// The answer to a command whose object has none.
    pub(super) fn refusal(&self, form: &Form, failure: &AskError) -> HttpResponse {
        let error = self.failure(failure, form.task.as_ref());
        form.reply.refusal(form.is_stream, &error)
    }
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
pub(super) const NEED: &str = "~";
