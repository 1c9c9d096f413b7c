//! SendMessage (spec §3.1.1): a message begins a task, or goes on with one.

use std::rc::Rc;

use super::TaskSession;
use super::session::Refusal;
use crate::auth::Caller;
use crate::executor::TurnHost;
use crate::port::Observation;
use crate::task::TaskError;
use a2a::error::Error;
use a2a::model::{ContextId, HistoryLimit, SendMessageRequest};
use a2a::{Outcome, Terms};

/// Who sends, and how.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The agent that is asked.
    pub agent: String,
    /// Who asks.
    pub caller: Caller,
    /// Media types that the client can take.
    pub accepted_output_modes: Vec<String>,
    /// What tells the message from others, if the send is idempotent: repeating it begins nothing new.
    pub fingerprint: Option<String>,
    /// How long the run may take, in milliseconds, if less than the agent's runs may.
    pub run_timeout_ms: Option<u64>,
}

/// Delivers a message and waits for what comes of it: a direct message, or the task once it is
/// finished or waits for somebody (or, with `returnImmediately`, once it exists). A send that is
/// repeated under its key is not delivered again, and gets the same answer as the first.
///
/// A message without task id begins a task in this session, which must be new. A blocking send that
/// takes longer than the blocking limit gives the task as it is then.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if the message names a task that this caller does not have;
/// [`Error::GenerationMismatch`] if that task is not at the generation expected, unless it has received
/// the message before; [`Error::UnsupportedOperation`] if it has ended; [`Error::InvalidParams`] if the
/// message names another context than the task's, or the key was used for another message;
/// [`Error::TooManyTasks`] if the message may not begin a task; [`Error::Internal`] if the agent panicked
/// or storage failed.
pub async fn send_message(
    session: &Rc<TaskSession>,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    let configuration = request.configuration.clone();
    deliver(session, sender, request, terms)?;
    let history = HistoryLimit::from_wire(configuration.history_length);
    let outcome = wait(session, configuration.return_immediately, history, terms).await;
    if !configuration.return_immediately {
        session.until_indexed().await;
    }
    outcome
}

/// Delivers a message: begins the task, or goes on with it. What comes of it is not waited for.
///
/// # Errors
///
/// As [`send_message`].
pub(super) fn deliver(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
) -> Result<Delivery, Error> {
    let SendMessageRequest { message, metadata, configuration, .. } = request;
    let webhook = configuration.task_push_notification_config;
    if message.task_id.is_none() {
        if session.is_repeated(&sender)? {
            return Ok(Delivery::Repeated);
        }
        if let Some(limit) = terms.quota {
            return Err(Error::TooManyTasks(limit));
        }
        let (agent, task) = (sender.agent.as_str(), session.id());
        session.observe(&Observation::MessageReceived { agent, task, message: &message });
        let context_id = message.context_id.clone();
        let context_id = context_id.unwrap_or_else(|| ContextId::new(session.new_id()));
        session.begin(message, context_id, metadata, webhook, sender)?;
        return Ok(Delivery::Begun);
    }
    session.authorize(&sender.agent, &sender.caller)?;
    // Who repeats a message did not get the answer: that is what the message came to, and no refusal
    // because of what it has changed.
    if !session.has_received(&message) {
        session.check_generation(terms.expected)?;
        session.check_room()?;
    }
    let agent = sender.agent.clone();
    if let Some(webhook) = &webhook {
        session.check_webhook_room(&webhook.id)?;
    }
    let before = session.generation();
    let received = session.receive(message, metadata, sender).map_err(|refused| match refused {
        Refusal::NoAgent => session.internal(),
        Refusal::Task(error) => refusal(error),
    });
    if received? {
        if let Some(webhook) = webhook {
            session.register(webhook, before)?;
        }
        session.note_newest_message(&agent);
    }
    session.flush().map_err(|_| session.internal())?;
    Ok(Delivery::Continued)
}

/// What a delivered message did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It begins a task.
    Begun,
    /// It goes on with a task.
    Continued,
    /// It began the task of this session before; nothing has changed.
    Repeated,
}

/// Waits for what comes of a message, as [`send_message`].
pub(super) async fn wait(
    session: &TaskSession,
    return_immediately: bool,
    history: HistoryLimit,
    terms: Terms,
) -> Result<Outcome, Error> {
    let crashes = session.crashes();
    let is_so = || {
        let is_enough = session.is_settled() || (return_immediately && session.exists());
        is_enough || session.reply().is_some() || session.crashes() > crashes
    };
    session.until(&is_so, session.limits().blocking_limit_ms).await;
    if session.crashes() > crashes {
        return Err(session.internal());
    }
    match session.reply() {
        Some(message) => Ok(Outcome::SentMessage(Box::new(message))),
        None => session.shown(history, terms).map(Outcome::SentTask),
    }
}

fn refusal(error: TaskError) -> Error {
    match error {
        TaskError::Finished(state) => Error::UnsupportedOperation(format!(
            "the task is {state}, which is final; send the message without taskId to begin a new task"
        )),
        TaskError::OtherContext { expected } => Error::invalid(
            "message.contextId",
            format!("must be the context of the task, {expected}, or be left out"),
        ),
        other @ (TaskError::NotCancelable(_)
        | TaskError::IllegalMove { .. }
        | TaskError::NoRun
        | TaskError::UnknownArtifact(_)
        | TaskError::NoParts(_)) => Error::UnsupportedOperation(other.to_string()),
    }
}
