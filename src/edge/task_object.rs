//! The Durable Object of one task: opens its session, carries commands out, answers in the client's
//! form.
#![allow(missing_docs, reason = "the macro exports methods that cannot be documented")]

use std::cell::RefCell;
use std::rc::Rc;

use worker::{DurableObject, Env, Request, Response, Result, State, console_error, durable_object};

use super::bindings;
use super::command::Command;
use super::platform::ObjectPlatform;
use super::received;
use super::response::to_response;
use super::task_store::SqlTaskStore;
use crate::binding::http::HttpResponse;
use crate::config::Settings;
use crate::error::Error;
use crate::model::TaskId;
use crate::operation::{self, Call, Outcome, Sender, TaskSession};

/// The object of one task.
#[durable_object(fetch)]
pub struct TaskObject {
    state: Rc<State>,
    env: Env,
    session: RefCell<Option<Rc<TaskSession>>>,
}

// After a caught panic the object goes on: the session is rebuilt from storage if it broke.
impl std::panic::UnwindSafe for TaskObject {}
impl std::panic::RefUnwindSafe for TaskObject {}

impl DurableObject for TaskObject {
    fn new(state: State, env: Env) -> Self {
        Self { state: Rc::new(state), env, session: RefCell::new(None) }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let command: Command = match serde_json::from_slice(&request.bytes().await?) {
            Ok(command) => command,
            Err(error) => {
                console_error!("a command could not be read: {error}");
                return Response::error("unknown command", 400);
            }
        };
        let reply = command.reply.clone();
        let response = match self.carry_out(command).await {
            Ok(response) => response,
            Err(error) => reply.error(&error),
        };
        to_response(response)
    }
}

impl TaskObject {
    async fn carry_out(&self, command: Command) -> std::result::Result<HttpResponse, Error> {
        let Command { agent, caller, reply, call } = command;
        let session = self.session()?;
        let settings = self.settings()?;
        let outcome = match call {
            Call::SendMessage(request) => {
                if settings.development {
                    received::note_message(&agent, &request.message);
                }
                let agents = bindings::agents(&settings);
                let Some(hosted) = agents.find(Some(&agent)) else {
                    return Err(Error::Internal { task: None });
                };
                let executor = hosted.executor.clone();
                let modes = request.configuration.accepted_output_modes.clone();
                let sender = Sender { agent, executor, caller, accepted_output_modes: modes };
                operation::send_message(&session, sender, *request).await?
            }
            Call::GetTask(request) => operation::get_task(&session, &agent, &caller, &request)?,
            Call::CancelTask(_) => {
                let outcome = operation::cancel_task(&session, &agent, &caller)?;
                if settings.development {
                    received::note_canceled(&agent, session.id());
                }
                outcome
            }
        };
        let result = match outcome {
            Outcome::SentMessage(message) => {
                serde_json::to_string(&message).ok().map(|json| format!(r#"{{"message":{json}}}"#))
            }
            Outcome::SentTask(history) => {
                session.task_json(history).map(|json| format!(r#"{{"task":{json}}}"#))
            }
            Outcome::Task(history) => session.task_json(history).map(|json| json.to_string()),
        };
        let result = result.ok_or(Error::Internal { task: None })?;
        Ok(reply.result(&result))
    }

    fn settings(&self) -> std::result::Result<Rc<Settings>, Error> {
        // What is wrong with them was logged by the front Worker, which refuses every request then.
        bindings::settings(&self.env).map_err(|_| Error::Internal { task: None })
    }

    /// The session in memory, or a new one from storage.
    fn session(&self) -> std::result::Result<Rc<TaskSession>, Error> {
        let open = self.session.borrow().clone().filter(|session| !session.is_broken());
        if let Some(session) = open {
            return Ok(session);
        }
        let settings = self.settings()?;
        let opened = TaskSession::open(
            TaskId::new(self.state.id().to_string()),
            Box::new(SqlTaskStore::new(self.state.clone())),
            Rc::new(ObjectPlatform::new(self.state.clone(), self.env.clone())),
            settings.limits.clone(),
        );
        match opened {
            Ok(session) => {
                self.session.replace(Some(session.clone()));
                Ok(session)
            }
            Err(error) => {
                console_error!("task {}: opening failed: {error}", self.state.id());
                Err(Error::Internal { task: None })
            }
        }
    }
}
