//! The Durable Object of one task: opens the session of the task, executes the forms that it receives, and answers calls in the
//! client's form.
#![allow(missing_docs, reason = "the macro exports methods that cannot be documented")]

mod audit;
mod followers;
mod platform;
mod store;
mod streams;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::worker_sys::DurableObjectState;
use worker::{Delay, Env, State};

use crate::auth::not_for_operators;
use crate::config::{Limits, Settings};
use crate::edge::agents;
use crate::edge::bindings;
use crate::edge::objects;
use crate::edge::panics::PanicError;
use crate::edge::poll::poll_now;
use crate::edge::service::observer::ConsoleObserver;
use crate::format;
use crate::forms::answer::to_text;
use crate::forms::ask::{Form, Refusal};
use crate::forms::callback::{CallbackPost, answer_to};
use crate::forms::command::Command;
use crate::operation;
use crate::port::{Observation, Observer, StoreError};
use crate::push::NextNotification;
use crate::session::{
    Deletion, FindAgent, Ids, NoAgent, OpenError, Opening, Owned, Posted, Sender, TaskSession,
    Visitor,
};
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{DeleteTaskRequest, SendMessageRequest, TaskId, to_json};
use a2a::{Operation, Outcome, TaskCall, Terms};
use followers::SocketCounts;
use store::SqlTaskStore;

/// The object of one task. Its handlers are exported without the macro `durable_object`, whose handlers are Rust futures
/// even if they do not wait. Closed or broken sockets need no handler.
#[wasm_bindgen]
#[derive(Clone)]
pub struct TaskObject {
    state: Rc<State>,
    env: Env,
    session: Rc<InMemory>,
    counts: Rc<SocketCounts>,
}

#[wasm_bindgen]
impl TaskObject {
    /// The object that the platform wakes, with the platform's state of the object.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let state = Rc::new(State::from(state));
        Self { state, env, session: Rc::default(), counts: Rc::default() }
    }

    /// Answers a form (`forms/ask.rs`) in the text form of `forms/answer.rs`: at once if the answer needs no wait, else by a
    /// promise. A status of 500 or more is a `Refusal`.
    #[wasm_bindgen(js_name = ask)]
    pub fn ask(&self, form: &str, text: String) -> JsValue {
        let (object, form) = (self.clone(), Form::named(form));
        let answer = async move {
            let answer = object.answer(form, &text).await;
            Ok(JsValue::from_str(&answer.unwrap_or_else(|refusal| refusal.to_text())))
        };
        self.begin(Box::pin(answer)).unwrap_or_else(|error| error)
    }

    /// Like [`ask`](Self::ask), with the text as UTF-8 bytes: as a string, a long text may need twice this memory.
    #[wasm_bindgen(js_name = askBytes)]
    pub fn ask_bytes(&self, form: &str, text: Vec<u8>) -> JsValue {
        // Bytes that are not UTF-8 become an empty text, which cannot be parsed either.
        self.ask(form, String::from_utf8(text).unwrap_or_default())
    }

    /// Runs a statement of the index, if this object is a part of it (`js/index-shard.js`): at once, or by a promise.
    #[wasm_bindgen(js_name = index)]
    pub fn index(&self, request: JsValue) -> std::result::Result<JsValue, JsValue> {
        run_index(self.state.as_raw(), &JsValue::from(self.env.clone()), &request)
    }

    /// The alarm: a deadline of the task is due.
    #[wasm_bindgen(js_name = alarm)]
    pub async fn handle_alarm(&self) -> std::result::Result<(), JsValue> {
        let woken = async move {
            match self.session(Opening::ByAlarm, Visitor::Server, None) {
                Ok(session) => session.wake().await,
                // The deadline stays due until a version that can read the task wakes the object.
                Err(Error::Unavailable(_)) => {
                    self.state.storage().set_alarm(LOOK_AGAIN_AFTER).await?;
                }
                // The platform retries the alarm several times.
                Err(error) => return Err(JsValue::from_str(&error.to_string())),
            }
            Ok(())
        };
        self.caught(Box::pin(woken)).await?
    }

    /// The first and only message over the socket of a follower whose hello was not sent with the upgrade.
    #[wasm_bindgen(js_name = webSocketMessage)]
    pub async fn handle_message(&self, socket: web_sys::WebSocket, message: JsValue) {
        let hello = message.as_string().unwrap_or_default();
        // After a panic, the platform closes the socket with the object.
        let _ = self.caught(Box::pin(self.take_hello(&socket.into(), &hello))).await;
    }
}

impl TaskObject {
    /// The output of a future if it does not wait, else a promise of its output.
    fn begin(
        &self,
        future: LocalBoxFuture<'static, std::result::Result<JsValue, JsValue>>,
    ) -> std::result::Result<JsValue, JsValue> {
        poll_now(future).unwrap_or_else(|rest| {
            let object = self.clone();
            Ok(future_to_promise(async move { object.caught(rest).await? }).into())
        })
    }

    /// The output of a future. If it panics, the object is restarted.
    async fn caught<T>(&self, future: LocalBoxFuture<'_, T>) -> std::result::Result<T, PanicError> {
        platform::caught(&self.state, future).await
    }

    /// Answers a text in this form.
    async fn answer(&self, form: Option<Form>, text: &str) -> std::result::Result<String, Refusal> {
        let unreadable = |error: serde_json::Error| self.unreadable(&error);
        let answer = match form {
            Some(Form::Begin) => {
                self.call(read_json(text).map_err(unreadable)?, Opening::New).await?
            }
            Some(Form::Call) => {
                self.call(read_json(text).map_err(unreadable)?, Opening::ByRequest).await?
            }
            Some(Form::NextNotification) => {
                self.next_notification(read_json(text).map_err(unreadable)?)?
            }
            Some(Form::CallBack) => self.call_back(read_json(text).map_err(unreadable)?)?,
            Some(Form::Clear) => {
                self.clear().await?;
                HttpResponse::empty(204)
            }
            Some(Form::Open) => {
                self.own_session().map_err(not_opened)?;
                HttpResponse::empty(204)
            }
            None => return Err(Refusal::Unreadable),
        };
        Ok(to_text(&answer))
    }

    fn next_notification(
        &self,
        asked: NextNotification,
    ) -> std::result::Result<HttpResponse, Refusal> {
        let session = self.own_session().map_err(not_opened)?;
        let turn = to_json(&session.next_notification(asked));
        turn.map(|turn| HttpResponse::json(200, turn)).map_err(|_| Refusal::Failed(500))
    }

    /// Answers a call, in the client's form.
    async fn call(
        &self,
        command: Command,
        opening: Opening,
    ) -> std::result::Result<HttpResponse, Refusal> {
        let reply = command.reply.clone();
        let answer = match self.carry_out(command, opening).await {
            Ok(answer) => answer,
            Err(Error::Unavailable(_)) => return Err(Refusal::Unreadable),
            Err(error) => reply.error(&error),
        };
        self.let_go_soon();
        Ok(answer)
    }

    fn unreadable(&self, error: &serde_json::Error) -> Refusal {
        let reason = error.to_string();
        self.observer().observe(&Observation::CommandUnreadable { reason: &reason });
        Refusal::Unreadable
    }

    async fn carry_out(
        &self,
        command: Command,
        opening: Opening,
    ) -> std::result::Result<HttpResponse, Error> {
        let (command, call) = command.take_call();
        let Command { reply, terms, .. } = &command;
        let (reply, terms) = (reply.clone(), *terms);
        let chosen = command.chosen_id.as_ref();
        let session = self.session(opening, visitor(&command, call.task_id()), chosen)?;
        let asked = call.operation();
        let outcome = match call {
            TaskCall::SendMessage(_) if command.is_operators() => return Err(not_for_operators()),
            TaskCall::SendMessage(request) => {
                let sender = sender(command, &request);
                operation::send_message(&session, sender, *request, terms).await?
            }
            TaskCall::GetTask(request) => {
                operation::get_task(task_of(&session, &command, asked)?, &request, terms).await?
            }
            TaskCall::GetTaskTimeline(request) => {
                let task = task_of(&session, &command, asked)?;
                let is_developer = self.settings()?.development;
                operation::get_task_timeline(task, &request, is_developer)?
            }
            TaskCall::CancelTask(_) => {
                let task = task_of(&session, &command, asked)?;
                let outcome = operation::cancel_task(task, terms);
                audit::canceled(&self.observer(), &command, task.id(), &outcome);
                let outcome = outcome?;
                task.until_indexed().await;
                outcome
            }
            TaskCall::DeleteTask(request) => {
                // In a box, since few calls need it: each call of the object has the size of the largest.
                Box::pin(self.delete(&session, &command, &request, terms)).await?
            }
            TaskCall::Webhook(call) => {
                let task = task_of(&session, &command, asked)?;
                let change = audit::Change::of(&call);
                let outcome = operation::manage_webhooks(task, call, reply.dialect()).await;
                if let Some(change) = change {
                    change.note(&self.observer(), &command, task.id(), &outcome);
                }
                outcome?
            }
        };
        reply.outcome(&outcome)
    }

    /// Deletes a task for its caller. What the caller has deleted before is deleted again.
    async fn delete(
        &self,
        session: &TaskSession,
        command: &Command<()>,
        request: &DeleteTaskRequest,
        terms: Terms,
    ) -> std::result::Result<Outcome, Error> {
        if !session.was_deleted_for(&visitor(command, Some(&request.id))) {
            let task = task_of(session, command, Operation::DeleteTask)?;
            let deleted = operation::delete_task(task, request, terms).await;
            audit::deleted(&self.observer(), command, task.id(), &deleted);
            deleted?;
        }
        session.until_unlisted().await?;
        Ok(Outcome::Deleted)
    }

    /// Accepts the body of a callback; without a body, reports if the callback would be accepted.
    fn call_back(&self, post: CallbackPost) -> std::result::Result<HttpResponse, Refusal> {
        let CallbackPost { agent, token, key, body } = post;
        let visitor = Visitor::Callback(&agent, token.reveal(), key.as_deref());
        let posted = match self.session(Opening::ByRequest, visitor, None) {
            Ok(session) => match body {
                Some(body) => session.call_back(&agent, token.reveal(), key, body),
                None => session.takes_call(&agent, token.reveal(), key.as_deref()),
            },
            Err(Error::TaskNotFound(_)) => Posted::Unknown,
            // Storage failed, only another version can read the task, or its agent cannot run: the callback stays open in all
            // three cases.
            Err(_) => Posted::Busy,
        };
        match posted {
            Posted::Busy => Err(Refusal::Unreadable),
            posted => Ok(answer_to(posted)),
        }
    }

    /// Deletes the task if it is finished, except for its row in the index.
    async fn clear(&self) -> std::result::Result<(), Refusal> {
        let session = self.own_session().map_err(|_| Refusal::NotDeleted)?;
        let is_deleted = session.expire(Deletion::AllButItsRow).await;
        if is_deleted { Ok(()) } else { Err(Refusal::NotDeleted) }
    }

    fn observer(&self) -> ConsoleObserver {
        ConsoleObserver::of(&self.env)
    }

    fn settings(&self) -> std::result::Result<Rc<Settings>, Error> {
        // If the settings cannot be read, the front Worker logs the reason and refuses every request.
        bindings::settings(&self.env).map_err(|_| Error::Internal { task: None })
    }

    /// The session for requests of this server itself.
    fn own_session(&self) -> std::result::Result<Rc<TaskSession>, Error> {
        self.session(Opening::ByRequest, Visitor::Server, None)
    }

    /// The session in memory, or a new session from storage for this visitor. [`Error::Unavailable`] if this version cannot read
    /// the storage, [`Error::TaskNotFound`] if the task is not the visitor's. The owner of a session in memory has still to be
    /// checked. `chosen` is the id that the client has chosen for the task, if the object is addressed by such an id.
    fn session(
        &self,
        opening: Opening,
        visitor: Visitor<'_>,
        chosen: Option<&TaskId>,
    ) -> std::result::Result<Rc<TaskSession>, Error> {
        let is_fit = |session: &Rc<TaskSession>| !chosen.is_some_and(|id| session.is_unfit_for(id));
        if let Some(session) = self.open_session().filter(is_fit) {
            return Ok(session);
        }
        let object =
            objects::id_of(&self.state.id()).map_err(|_| Error::Internal { task: None })?;
        let ids = Ids { object: object.task_id().clone(), chosen: chosen.cloned() };
        let id = chosen.unwrap_or(object.task_id()).clone();
        let failed = |error: &dyn std::fmt::Display| {
            let (task, reason) = (id.clone(), error.to_string());
            self.observer().observe(&Observation::OpeningFailed { task: &task, reason: &reason });
            Error::Internal { task: None }
        };
        let settings = self.settings()?;
        let shard: Rc<Cell<u32>> = Rc::default();
        let agents = agents::agents(&self.env, &settings).map_err(|error| failed(&error))?;
        let limits = Limits { retention_of: agents.retention_of(), ..settings.limits.clone() };
        let find: FindAgent = Rc::new(move |slug| {
            let agent = agents.find(Some(slug)).ok_or(NoAgent::Missing)?;
            agent.runner.clone().map_err(|_| NoAgent::Unusable)
        });
        let session = TaskSession::open_for(
            visitor,
            ids,
            Rc::new(SqlTaskStore::new(self.state.clone(), object.clone(), shard.clone())),
            platform::ports(self, object, shard),
            limits,
            find,
            opening,
        );
        let session = session.map_err(|error| {
            if error == OpenError::Denied {
                return Error::TaskNotFound(id.clone());
            }
            let failure = failed(&error);
            match error {
                OpenError::Store(StoreError::Failed(_)) | OpenError::Denied => failure,
                OpenError::Store(StoreError::Unreadable(_)) => {
                    Error::Unavailable(format::OTHER_VERSION)
                }
                OpenError::AgentUnusable(_) => Error::Unavailable(AGENT_UNUSABLE),
            }
        })?;
        self.session.replace(Some(session.clone()));
        Ok(session)
    }

    /// Drops the session of a large task that has ended, once no event uses the session. An idle object stays in memory for some
    /// seconds, and an isolate may hold many objects.
    fn let_go_soon(&self) {
        if !self.session.borrow().as_ref().is_some_and(|session| session.is_dispensable()) {
            return;
        }
        let session = self.session.clone();
        let later = async move {
            Delay::from(LET_GO_AFTER).await;
            let_go(&session);
        };
        platform::go_on(&self.state, Box::pin(later));
    }

    /// The session in memory; `None` if there is no session, or if its storage has failed.
    fn open_session(&self) -> Option<Rc<TaskSession>> {
        self.session.borrow().clone().filter(|session| !session.is_broken())
    }
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Throws or rejects what the statement does.
    #[wasm_bindgen(catch, js_name = runIndex)]
    fn run_index(
        state: &DurableObjectState,
        env: &JsValue,
        request: &JsValue,
    ) -> std::result::Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/index-shard.js")]
extern "C" {
    #[wasm_bindgen(js_name = runInShard)]
    #[allow(dead_code, reason = "`glue.js` calls it")]
    fn run_in_shard(state: &JsValue, env: &JsValue, request: &JsValue, schema: &JsValue)
    -> JsValue;
}

/// The refusal of a request of this server, because the task cannot be opened.
fn not_opened(error: Error) -> Refusal {
    match error {
        Error::Unavailable(_) => Refusal::Unreadable,
        _ => Refusal::Failed(500),
    }
}

/// The session in memory, if one is open.
type InMemory = RefCell<Option<Rc<TaskSession>>>;

/// Drops the session of a large task that has ended, if no event uses the session.
fn let_go(session: &InMemory) {
    session
        .borrow_mut()
        .take_if(|session| Rc::strong_count(session) == 1 && session.is_dispensable());
}

/// The message to clients if the run of a task has to continue but cannot.
const AGENT_UNUSABLE: &str =
    "the agent of this task is not set up correctly; the log says why; try again later";

/// The delay of the next alarm of an object whose task cannot be read by this version, or whose run cannot continue.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// The delay between an answer and the attempt to drop the session from memory. Events that arrive in between use the session.
const LET_GO_AFTER: Duration = Duration::from_millis(100);

/// The task that a call is about, for its owner or for an operator.
fn task_of<'a, C>(
    session: &'a TaskSession,
    command: &Command<C>,
    operation: Operation,
) -> std::result::Result<Owned<'a>, Error> {
    let Command { agent, caller, trail, .. } = command;
    if command.is_operators() {
        session.operated_by(agent, caller, operation, trail)
    } else {
        session.owned_by(agent, caller, trail)
    }
}

/// The visitor for which a session is opened for a call.
fn visitor<'a, C>(command: &'a Command<C>, task: Option<&TaskId>) -> Visitor<'a> {
    match task.or(command.chosen_id.as_ref()) {
        Some(_) if command.is_operators() => Visitor::Operator(&command.agent),
        Some(_) => Visitor::Caller(&command.agent, &command.caller, &command.trail),
        // The object is new, or its name was made from an idempotency key of the caller.
        None => Visitor::Server,
    }
}

/// The sender of a message in the form for the session.
fn sender(command: Command<()>, request: &SendMessageRequest) -> Sender {
    let Command { agent, caller, reply, fingerprint, terms, origin, trail, credentials, .. } =
        command;
    Sender {
        agent,
        caller,
        accepted_output_modes: request.configuration.accepted_output_modes.clone(),
        fingerprint,
        dialect: reply.dialect(),
        origin,
        trail,
        run_timeout_ms: terms.run_timeout_ms,
        allowance: terms.allowance,
        credentials,
    }
}
