//! Carries out a request that has to wait for something before its object can be asked, or asks for more than one
//! answer: a large body, the quota, what a caller has used, a listing, a stream, a callback.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use js_sys::Uint8Array;
use std::panic::AssertUnwindSafe;
use wasm_bindgen::prelude::*;
use worker::{Env, Request, Response, Result};

use super::body::Body;
use super::check::check;
use super::credentials::seal;
use super::decision::{Decision, Front, Received};
use super::head::Head;
use super::listing::{list_tasks, list_webhooks};
use super::route::{Route, route};
use super::{callback, quota, stream};
use crate::edge::address::TaskAddress;
use crate::edge::command::{Command, StreamCommand};
use crate::edge::objects::{AskError, Object};
use crate::edge::response::to_response;
use crate::format;
use crate::port::{Act, Audit, Observation, Observer};
use a2a::binding::ServiceParameters;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a::model::{TaskId, read_own};
use a2a::{Call, FollowCall, Operation, Outcome, TaskCall};

/// Answers a request. Its body is `undefined` while it was not received. `asked` are the rate limits that were asked, as JSON.
///
/// # Errors
///
/// When the platform fails to build a response.
#[wasm_bindgen(js_name = carryOut)]
pub async fn carry_out(
    env: Env,
    request: web_sys::Request,
    head: String,
    asked: String,
    body: Option<Uint8Array>,
) -> std::result::Result<web_sys::Response, JsValue> {
    // What is no list of limits is none that was asked.
    let asked = read_own(&asked).unwrap_or_default();
    let answered = AssertUnwindSafe(async move {
        let front = match Front::of(env) {
            Ok(front) => front,
            Err(answer) => return to_response(answer),
        };
        front.seen.note_asked(asked);
        front.carry_out(&Request::from(request), &Head::parse(&head), body).await
    });
    Ok(answered.await?.into())
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Asks rate limits, a list as JSON. Gives those that refuse, as such a list.
    #[wasm_bindgen(catch, js_name = refusing)]
    async fn refusing(env: &JsValue, limits: &str) -> std::result::Result<JsValue, JsValue>;
}

impl Front {
    async fn carry_out(
        &self,
        request: &Request,
        head: &Head<'_>,
        body: Option<Uint8Array>,
    ) -> Result<Response> {
        let (_, path, _) = split_url(head.url());
        if let Route::Mcp(slug) = route(path) {
            return Box::pin(self.mcp(request, head, slug, body)).await;
        }
        if let Route::Console(below) = route(path) {
            return Box::pin(self.console(request, head, below, body)).await;
        }
        let slug = || {
            let agent = self.agents.find(route(path).agent());
            agent.map_or("", |agent| agent.slug.as_str())
        };
        let body = match body {
            Some(body) => Ok(Body::of(&body)),
            // What is decided without the body is an answer, or that it must be received, maybe after its object was asked.
            None => match self.decide_checked(head, &Received::Nothing).await {
                Decision::Receive(limit) => Body::receive(request, slug(), limit).await,
                Decision::Answer(answer) => return to_response(answer),
                Decision::Perform(command, parameters) => {
                    return self.perform(&parameters, *command).await;
                }
                Decision::CallBack(asked) => {
                    let ask = async || self.ask_callback(head, *asked).await;
                    Body::receive_if(request, slug(), callback::MAX_BODY_BYTES, ask).await
                }
                Decision::Overview(asked) => return self.show_overview(*asked).await,
                Decision::Check(_)
                | Decision::Learn(_)
                | Decision::Sign(_)
                | Decision::Mcp
                | Decision::Console => return to_response(unchecked()),
            },
        };
        let (decision, _turn) = match body {
            Ok(body) => {
                let decision = self.decide_checked(head, &Received::Whole(body.bytes())).await;
                // Kept to the end of the call.
                (decision, body.into_turn())
            }
            Err(error) => (self.decide_checked(head, &Received::Refused(error)).await, None),
        };
        match decision {
            Decision::Perform(command, parameters) => self.perform(&parameters, *command).await,
            Decision::Answer(answer) => to_response(answer),
            Decision::CallBack(called) => self.call_back(head, *called).await,
            Decision::Overview(asked) => self.show_overview(*asked).await,
            Decision::Receive(_) => to_response(HttpResponse::error(&Error::BodyIncomplete)),
            Decision::Check(_)
            | Decision::Learn(_)
            | Decision::Sign(_)
            | Decision::Mcp
            | Decision::Console => to_response(unchecked()),
        }
    }

    /// Decides about a request, with the signatures of its tokens checked, learned skills looked at, and its card signed.
    pub(super) async fn decide_checked(&self, head: &Head<'_>, body: &Received<'_>) -> Decision {
        let mut decision = self.decide(head, body);
        // Each round checks tokens that were not checked before, and a request has few.
        for _ in 0..MAX_CHECKS {
            match decision {
                Decision::Check(tokens) => {
                    self.verdicts.keep(check(&self.env, &tokens, &self.observer).await);
                }
                Decision::Learn(slug) => Box::pin(self.learn(&slug)).await,
                Decision::Sign(card) => {
                    if let Err(reason) = card.sign(&self.env).await {
                        self.observer.observe(&Observation::KeyFailed { reason: &reason });
                        self.cannot_sign.set(true);
                    }
                }
                decided => return self.guarded(head, body, decided).await,
            }
            decision = self.decide(head, body);
        }
        decision
    }

    /// The same decision, if the rate limits that were not asked yet let the request through.
    async fn guarded(&self, head: &Head<'_>, body: &Received<'_>, decided: Decision) -> Decision {
        // What is decided without the body is decided once more with it.
        if !matches!(decided, Decision::Receive(_)) {
            self.seen.audit(head, &self.observer);
        }
        let Err(held) = self.heed_limits(head).await else { return decided };
        if let Error::RateLimited(seconds) = held {
            self.seen.hold(seconds);
        }
        match self.decide(head, body) {
            Decision::Answer(answer) => Decision::Answer(answer),
            _ => Decision::Answer(HttpResponse::error(&held)),
        }
    }

    /// Asks the rate limits that are to be asked and were not.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`], if one refuses the request.
    pub(super) async fn heed_limits(&self, head: &Head<'_>) -> std::result::Result<(), Error> {
        let limits = self.seen.limits(&self.agents, head, self.inside.is_some());
        let Ok(text) = serde_json::to_string(&limits) else { return Ok(()) };
        if limits.is_empty() {
            return Ok(());
        }
        self.seen.note_asked(limits);
        let refused = refusing(&JsValue::from(self.env.clone()), &text).await;
        let refused = refused.ok().and_then(|list| list.as_string()).unwrap_or_default();
        match self.seen.refused_by(&refused, &self.agents, head) {
            0 => Ok(()),
            seconds => Err(Error::RateLimited(seconds)),
        }
    }

    /// Carries a command out: by the index, or by the object of its task.
    pub(super) async fn perform(
        &self,
        parameters: &ServiceParameters,
        mut command: Command<Call>,
    ) -> Result<Response> {
        let (form, is_stream) = (command.reply.clone(), command.call.is_stream());
        let refuse = |error: &Error| to_response(form.refusal(is_stream, error));
        if let Err(error) = self.heed_quota(&mut command).await {
            return refuse(&error);
        }
        if command.call.message().is_some()
            && let Err(error) = self.heed_usage(&mut command).await
        {
            return refuse(&error);
        }
        if let Err(error) = self.seal(parameters, &mut command).await {
            return refuse(&error);
        }
        let (command, call) = command.take_call();
        let answer = match call {
            Call::List(request) => {
                let listed = list_tasks(&self.env, &command, &request, &self.observer).await;
                if listed.is_ok() {
                    self.note_operator(&command, Operation::ListTasks);
                }
                let answer = listed.and_then(|listed| form.outcome(&Outcome::Tasks(listed)));
                answer.map(to_response)
            }
            Call::Webhooks(request) => {
                let listed = list_webhooks(&self.env, &command, &request, &self.observer).await;
                if listed.is_ok() {
                    self.note_operator(&command, Operation::ListWebhooks);
                }
                let answer = listed.and_then(|listed| form.outcome(&Outcome::Webhooks(listed)));
                answer.map(to_response)
            }
            // The exchange has answered it.
            Call::Card => Err(Error::Internal { task: None }),
            Call::Task(call) => self.ask(parameters, command.with_call(call)).await,
            Call::Follow(call) => self.follow(parameters, command.with_call(call)).await,
        };
        answer.unwrap_or_else(|error| refuse(&error))
    }

    /// Tells the observer that an operator has listed something by this operation.
    pub(super) fn note_operator<C>(&self, command: &Command<C>, operation: Operation) {
        if command.is_operators() {
            let Command { agent, caller, trail, .. } = command;
            let acted = Audit::of(Act::OperatorActed, agent, &caller.id, trail);
            self.observer.observe(&Observation::Audited(acted.by(operation)));
        }
    }

    /// Lets the object of the task that a call is about answer it.
    async fn ask(&self, parameters: &ServiceParameters, command: Command<TaskCall>) -> Answer {
        let object = self.object(parameters, &command, command.call.task_id())?;
        match object.call(command).await {
            Ok(response) => Ok(Ok(response)),
            Err(error) => Err(self.unreachable(Some(&object.id().task_id()), &error)),
        }
    }

    /// Opens a stream from the object of the task that a call is about.
    async fn follow(&self, parameters: &ServiceParameters, command: Command<FollowCall>) -> Answer {
        let object = self.object(parameters, &command, command.call.task_id())?;
        let hello = hello(parameters, command)?;
        Ok(stream::open(&self.env, object.id(), hello).await)
    }

    /// The object of the task that a call names, or of a new one. An id that was never given out is refused
    /// here: the namespace knows its own ids.
    fn object<C>(
        &self,
        parameters: &ServiceParameters,
        command: &Command<C>,
        task: Option<&TaskId>,
    ) -> std::result::Result<Object, Error> {
        let key = parameters.idempotency_key()?;
        let address = TaskAddress::of_command(command, task, key);
        Object::at(&self.env, &address).map_err(|error| match (error, task) {
            (AskError::Unknown, Some(id)) => Error::TaskNotFound(id.clone()),
            (error, _) => self.unreachable(None, &error),
        })
    }

    /// Seals the credentials that a message brings for a task, if there can be one.
    async fn seal(
        &self,
        parameters: &ServiceParameters,
        command: &mut Command<Call>,
    ) -> std::result::Result<(), Error> {
        if command.unsealed.is_none() || !command.may_go_on() {
            return Ok(());
        }
        let object = self.object(parameters, command, command.call.task_id())?;
        seal(&self.env, command, object.id(), &self.observer).await
    }

    async fn heed_quota(&self, command: &mut Command<Call>) -> std::result::Result<(), Error> {
        if !command.call.begins_task() {
            return Ok(());
        }
        let limit = self.settings.max_active_tasks;
        let reached = quota::reached(&self.env, limit, &command.caller, &self.observer).await;
        quota::heed(reached, command)
    }

    /// The error for an object that does not answer as objects do.
    pub(super) fn unreachable(&self, task: Option<&TaskId>, error: &AskError) -> Error {
        let reason = error.to_string();
        self.observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
        match error.is_of_versions() {
            true => Error::Unavailable(format::OTHER_VERSION),
            false => Error::Internal { task: None },
        }
    }
}

/// What the object is told that a stream is asked from.
///
/// # Errors
///
/// When the request says wrongly what the client has already.
pub(super) fn hello(
    parameters: &ServiceParameters,
    command: Command<FollowCall>,
) -> std::result::Result<StreamCommand, Error> {
    let after = match &command.call {
        _ if !command.reply.dialect().resumes_by_event() => None,
        FollowCall::SubscribeToTask(_) => parameters.after()?,
        FollowCall::SendStreamingMessage(_) if parameters.idempotency_key()?.is_some() => {
            parameters.after()?
        }
        FollowCall::SendStreamingMessage(_) => None,
    };
    Ok(StreamCommand { command, after })
}

/// What comes of a call: a response, which the platform may fail to build, or a refusal.
type Answer = std::result::Result<Result<Response>, Error>;

/// The answer to a request whose tokens are not checked after all rounds.
pub(super) fn unchecked() -> HttpResponse {
    HttpResponse::error(&Error::Internal { task: None })
}

/// How many rounds of checks a request may take.
pub(super) const MAX_CHECKS: usize = 4;
