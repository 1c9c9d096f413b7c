//! The Durable Object of one task: opens its session, carries commands out, answers in the client's
//! form.
#![allow(missing_docs, reason = "the macro exports methods that cannot be documented")]

pub(super) mod followers;
mod platform;
mod store;

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use worker::{
    Delay, DurableObject, Env, Method, Request, Response, ResponseBuilder, Result, State,
    WebSocket, WebSocketIncomingMessage, console_error, durable_object,
};

use crate::auth::Caller;
use crate::config::Settings;
use crate::edge::bindings;
use crate::edge::command::WEBHOOK_PATH;
use crate::edge::command::{Command, StreamCommand};
use crate::edge::development::received;
use crate::edge::front::read_text;
use crate::edge::response::to_response;
use crate::format;
use crate::operation::{self, Beginning, FindAgent, Sender, TaskSession};
use crate::port::StoreError;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{SendMessageRequest, TaskId, UnixMillis};
use a2a::{Call, Terms};
use followers::CloseCode;
use platform::ObjectPlatform;
use store::SqlTaskStore;

/// The object of one task.
#[durable_object(websocket)]
pub struct TaskObject {
    state: Rc<State>,
    env: Env,
    session: Rc<RefCell<Option<Rc<TaskSession>>>>,
}

// After a caught panic the object goes on: the session is rebuilt from storage if it broke.
impl std::panic::UnwindSafe for TaskObject {}
impl std::panic::RefUnwindSafe for TaskObject {}

impl DurableObject for TaskObject {
    fn new(state: State, env: Env) -> Self {
        Self { state: Rc::new(state), env, session: Rc::default() }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        if request.headers().has("upgrade")? {
            return self.accept_follower();
        }
        if request.method() == Method::Delete {
            return self.delete().await;
        }
        if request.path() == WEBHOOK_PATH {
            return self.next_notification(&request.text().await?).await;
        }
        let command: Command = match read_json(&read_text(&request).await?) {
            Ok(command) => command,
            Err(error) => {
                console_error!("a command could not be read: {error}");
                return other_version();
            }
        };
        let reply = command.reply.clone();
        let response = match self.carry_out(command).await {
            Ok(response) => response,
            Err(error) => reply.error(&error),
        };
        self.let_go_soon();
        to_response(response)
    }

    /// A follower says what it wants: the first and only message that comes over its socket.
    async fn websocket_message(
        &self,
        socket: WebSocket,
        message: WebSocketIncomingMessage,
    ) -> Result<()> {
        let read = match &message {
            WebSocketIncomingMessage::String(text) => {
                read_json(text).map_err(|error| error.to_string())
            }
            WebSocketIncomingMessage::Binary(_) => Err("it is not text".to_owned()),
        };
        let StreamCommand { command, after } = match read {
            Ok(command) => command,
            Err(error) => {
                console_error!("a stream command could not be read: {error}");
                followers::close(&socket, CloseCode::Unreadable);
                return Ok(());
            }
        };
        let reply = command.reply.clone();
        match self.begin_stream(command, after).await {
            Ok(beginning) => followers::begin(&socket, &beginning),
            Err(Error::Unavailable(_)) => followers::close(&socket, CloseCode::Unreadable),
            Err(error) => {
                let answer = reply.error(&error);
                followers::refuse(&socket, answer.status, error.retry_after_s(), &answer.body);
            }
        }
        Ok(())
    }

    async fn websocket_close(
        &self,
        socket: WebSocket,
        _code: usize,
        _reason: String,
        _was_clean: bool,
    ) -> Result<()> {
        followers::close(&socket, CloseCode::Over);
        self.let_go_soon();
        Ok(())
    }

    async fn websocket_error(&self, socket: WebSocket, _error: worker::Error) -> Result<()> {
        followers::close(&socket, CloseCode::Over);
        Ok(())
    }
}

#[wasm_bindgen]
impl TaskObject {
    /// The alarm: something that could not be done before is due. The macro's own export of it can only
    /// be had without that of the other events.
    #[wasm_bindgen(js_name = alarm)]
    pub async fn ring(&self) -> std::result::Result<(), JsValue> {
        AssertUnwindSafe(async move {
            match self.session().await {
                Ok(session) => session.wake().await,
                // What is due stays so until a version has the task that can read it.
                Err(Error::Unavailable(_)) => {
                    self.state.storage().set_alarm(LOOK_AGAIN_AFTER).await?;
                }
                // The platform rings again, some times.
                Err(error) => return Err(JsValue::from_str(&error.to_string())),
            }
            Ok(())
        })
        .await
    }
}

impl TaskObject {
    async fn carry_out(&self, command: Command) -> std::result::Result<HttpResponse, Error> {
        let Command { agent, caller, reply, fingerprint, terms, call } = command;
        let session = self.session().await?;
        let settings = self.settings()?;
        let outcome = match call {
            Call::SendMessage(request) => {
                let sender = sender(agent, caller, fingerprint, &terms, &request);
                operation::send_message(&session, sender, *request, terms).await?
            }
            Call::GetTask(request) => {
                operation::get_task(&session, &agent, &caller, &request, terms).await?
            }
            Call::CancelTask(_) => {
                let outcome = operation::cancel_task(&session, &agent, &caller, terms)?;
                if settings.development {
                    received::note_canceled(&agent, session.id());
                }
                session.until_indexed().await;
                outcome
            }
            Call::CreateTaskPushNotificationConfig(_)
            | Call::GetTaskPushNotificationConfig(_)
            | Call::ListTaskPushNotificationConfigs(_)
            | Call::DeleteTaskPushNotificationConfig(_)
            | Call::ListTaskPushNotificationDeliveries(_)
            | Call::RedeliverTaskPushNotifications(_) => {
                operation::manage_webhooks(&session, &agent, &caller, call)?
            }
            // Streams come over a socket, and the front Worker lists from the index.
            Call::SendStreamingMessage(_) | Call::SubscribeToTask(_) | Call::ListTasks(_) => {
                return Err(Error::Internal { task: None });
            }
        };
        reply.outcome(&outcome)
    }

    /// A sender of notifications reports, and asks for more.
    async fn next_notification(&self, asked: &str) -> Result<Response> {
        let Ok(asked) = read_json(asked) else { return other_version() };
        match self.session().await {
            Ok(session) => {
                let turn = session.next_notification(asked);
                Response::ok(serde_json::to_string(&turn)?)
            }
            Err(Error::Unavailable(_)) => other_version(),
            Err(_) => Response::error("not now", 500),
        }
    }

    /// Deletes the task if it is finished: 204, else 409.
    async fn delete(&self) -> Result<Response> {
        let is_deleted = match self.session().await {
            Ok(session) => session.delete().await,
            Err(_) => false,
        };
        Ok(Response::empty()?.with_status(if is_deleted { 204 } else { 409 }))
    }

    fn accept_follower(&self) -> Result<Response> {
        let limit = match self.settings() {
            Ok(settings) => settings.limits.max_streams,
            Err(_) => return Response::error("misconfigured", 500),
        };
        match followers::accept(&self.state, limit)? {
            Some(client) => Response::from_websocket(client),
            None => {
                let builder = ResponseBuilder::new().with_status(429);
                Ok(builder.with_header("x-limit", &limit.to_string())?.empty())
            }
        }
    }

    async fn begin_stream(
        &self,
        command: Command,
        after: Option<u64>,
    ) -> std::result::Result<Beginning, Error> {
        let Command { agent, caller, fingerprint, terms, call, .. } = command;
        let session = self.session().await?;
        match call {
            Call::SendStreamingMessage(request) => {
                let sender = sender(agent, caller, fingerprint, &terms, &request);
                operation::send_streaming_message(&session, sender, *request, after, terms).await
            }
            Call::SubscribeToTask(_) => {
                operation::subscribe_to_task(&session, &agent, &caller, after, terms)
            }
            // No other call is answered by a stream.
            _ => Err(Error::Internal { task: None }),
        }
    }

    fn settings(&self) -> std::result::Result<Rc<Settings>, Error> {
        // What is wrong with them was logged by the front Worker, which refuses every request then.
        bindings::settings(&self.env).map_err(|_| Error::Internal { task: None })
    }

    /// The session in memory, or a new one from storage.
    async fn session(&self) -> std::result::Result<Rc<TaskSession>, Error> {
        if let Some(session) = self.open_session() {
            return Ok(session);
        }
        let failed = |error: &dyn std::fmt::Display| {
            console_error!("task {}: opening failed: {error}", self.state.id());
            Error::Internal { task: None }
        };
        let alarm = self.state.storage().get_alarm().await.map_err(|error| failed(&error))?;
        // Somebody else may have opened it meanwhile.
        if let Some(session) = self.open_session() {
            return Ok(session);
        }
        let settings = self.settings()?;
        let agents = bindings::agents(&settings).map_err(|error| failed(&error))?;
        let find: FindAgent =
            Rc::new(move |slug| agents.find(Some(slug)).map(|agent| agent.runner.clone()));
        let (state, env) = (self.state.clone(), self.env.clone());
        let session = TaskSession::open(
            TaskId::new(self.state.id().to_string()),
            Box::new(SqlTaskStore::new(state.clone())),
            Rc::new(ObjectPlatform::new(state, env, settings.development)),
            settings.limits.clone(),
            find,
            alarm.map(UnixMillis),
        );
        let session = session.map_err(|error| match &error {
            StoreError::Failed(_) => failed(&error),
            StoreError::Unreadable(_) => {
                failed(&error);
                Error::Unavailable(format::OTHER_VERSION)
            }
        })?;
        self.session.replace(Some(session.clone()));
        Ok(session)
    }

    /// Frees the memory of a large task that has ended, once nobody works with it any more. The object itself
    /// stays for some seconds, and an isolate may hold many.
    fn let_go_soon(&self) {
        if !self.session.borrow().as_ref().is_some_and(|session| session.is_dispensable()) {
            return;
        }
        let session = self.session.clone();
        self.state.wait_until(async move {
            Delay::from(LET_GO_AFTER).await;
            session
                .borrow_mut()
                .take_if(|session| Rc::strong_count(session) == 1 && session.is_dispensable());
        });
    }

    fn open_session(&self) -> Option<Rc<TaskSession>> {
        self.session.borrow().clone().filter(|session| !session.is_broken())
    }
}

/// The answer to what this version cannot read, or cannot read the task for. It has no content type: what the
/// client is told is up to whoever asked.
fn other_version() -> Result<Response> {
    Ok(Response::empty()?.with_status(503))
}

/// When an object that this version cannot read is looked at again.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// How long the last work on a task may take after it was answered.
const LET_GO_AFTER: Duration = Duration::from_millis(100);

/// Who sends a message, and how.
fn sender(
    agent: String,
    caller: Caller,
    fingerprint: Option<String>,
    terms: &Terms,
    request: &SendMessageRequest,
) -> Sender {
    let accepted_output_modes = request.configuration.accepted_output_modes.clone();
    let run_timeout_ms = terms.run_timeout_ms;
    Sender { agent, caller, accepted_output_modes, fingerprint, run_timeout_ms }
}
