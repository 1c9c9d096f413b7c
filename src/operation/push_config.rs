//! The operations on the webhooks of a task (spec §3.1.7 to §3.1.10), and those of our extension.

use std::cell::RefCell;

use super::{Call, Outcome, TaskSession};
use crate::auth::Caller;
use crate::error::Error;
use crate::executor::TurnHost;
use crate::model::{
    ListPushNotificationConfigsRequest, PushNotificationConfigRequest, RedeliverRequest,
    TaskPushNotificationConfig,
};

/// Carries out a call that is about the webhooks of the task.
///
/// # Errors
///
/// Those of the operation; [`Error::Internal`] for a call of another kind.
pub fn manage_webhooks(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    call: Call,
) -> Result<Outcome, Error> {
    let one = |config| Outcome::PushConfig(Box::new(config));
    match call {
        Call::CreateTaskPushNotificationConfig(config) => {
            create_push_config(session, agent, caller, *config).map(one)
        }
        Call::GetTaskPushNotificationConfig(request) => {
            get_push_config(session, agent, caller, &request).map(one)
        }
        Call::ListTaskPushNotificationConfigs(request) => {
            list_push_configs(session, agent, caller, &request).map(Outcome::PushConfigs)
        }
        Call::DeleteTaskPushNotificationConfig(request) => {
            delete_push_config(session, agent, caller, &request)
                .map(|()| Outcome::PushConfigDeleted)
        }
        Call::ListTaskPushNotificationDeliveries(request) => {
            list_deliveries(session, agent, caller, &request).map(Outcome::Deliveries)
        }
        Call::RedeliverTaskPushNotifications(request) => {
            redeliver(session, agent, caller, &request).map(one)
        }
        Call::SendMessage(_)
        | Call::SendStreamingMessage(_)
        | Call::SubscribeToTask(_)
        | Call::GetTask(_)
        | Call::ListTasks(_)
        | Call::CancelTask(_) => Err(session.internal()),
    }
}

/// Registers a webhook: it gets what happens from now on. One of the same id is replaced.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller.
fn create_push_config(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    mut config: TaskPushNotificationConfig,
) -> Result<TaskPushNotificationConfig, Error> {
    session.authorize(agent, caller)?;
    if config.id.is_empty() {
        config.id = session.new_id();
    }
    config.tenant = None;
    config.task_id = session.id().clone();
    CONFIGS.with_borrow_mut(|configs| {
        configs.retain(|known| known.task_id != config.task_id || known.id != config.id);
        configs.push(config.clone());
    });
    Ok(config)
}

/// One webhook.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller, or no such webhook.
fn get_push_config(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &PushNotificationConfigRequest,
) -> Result<TaskPushNotificationConfig, Error> {
    session.authorize(agent, caller)?;
    find(session, &request.id)
}

/// All webhooks of the task, in the order of their registration.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller.
fn list_push_configs(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    _request: &ListPushNotificationConfigsRequest,
) -> Result<Vec<TaskPushNotificationConfig>, Error> {
    session.authorize(agent, caller)?;
    Ok(CONFIGS.with_borrow(|configs| {
        configs.iter().filter(|known| known.task_id == *session.id()).cloned().collect()
    }))
}

/// Deletes a webhook: nothing more is sent to it. Deleting it again does no harm.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller.
fn delete_push_config(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &PushNotificationConfigRequest,
) -> Result<(), Error> {
    session.authorize(agent, caller)?;
    CONFIGS.with_borrow_mut(|configs| {
        configs.retain(|known| known.task_id != *session.id() || known.id != request.id);
    });
    Ok(())
}

/// How the notifications of a webhook have fared, as JSON.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller, or no such webhook.
fn list_deliveries(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &PushNotificationConfigRequest,
) -> Result<String, Error> {
    session.authorize(agent, caller)?;
    let config = find(session, &request.id)?;
    let shown = serde_json::json!({"taskId": config.task_id, "id": config.id, "attempts": []});
    Ok(shown.to_string())
}

/// Sends the events from a generation on again.
///
/// # Errors
///
/// [`Error::TaskNotFound`] as above; [`Error::InvalidParams`] if there is no such event yet.
fn redeliver(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &RedeliverRequest,
) -> Result<TaskPushNotificationConfig, Error> {
    session.authorize(agent, caller)?;
    let newest = session.generation();
    if request.from_generation > newest {
        let description = format!("must be the generation of an event, at most {newest}");
        return Err(Error::invalid("fromGeneration", description));
    }
    find(session, &request.id)
}

fn find(session: &TaskSession, id: &str) -> Result<TaskPushNotificationConfig, Error> {
    let found = CONFIGS.with_borrow(|configs| {
        configs.iter().find(|known| known.task_id == *session.id() && known.id == id).cloned()
    });
    found.ok_or_else(|| Error::TaskNotFound(session.id().clone()))
}

thread_local! {
    /// The webhooks of all tasks here.
    static CONFIGS: RefCell<Vec<TaskPushNotificationConfig>> = const { RefCell::new(Vec::new()) };
}
