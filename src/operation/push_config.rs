//! The operations on the webhooks of a task (spec §3.1.7 to §3.1.10), and those of our extension.

use serde_json::json;

use super::TaskSession;
use super::push::Hook;
use crate::auth::Caller;
use crate::port::Observation;
use crate::push::Delivery;
use crate::push::signature::SigningSecret;
use a2a::error::Error;
use a2a::model::{
    AuthenticationInfo, KnownSecrets, ListPushNotificationConfigsRequest,
    PushNotificationConfigRequest, RedeliverRequest, Secret, ShownWebhook,
    TaskPushNotificationConfig,
};
use a2a::{Outcome, WebhookCall};

/// Carries out a call that is about the webhooks of the task.
///
/// # Errors
///
/// Those of the operation.
pub fn manage_webhooks(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    call: WebhookCall,
) -> Result<Outcome, Error> {
    let one = |webhook| Outcome::PushConfig(Box::new(webhook));
    match call {
        WebhookCall::CreateTaskPushNotificationConfig(config) => {
            create_push_config(session, agent, caller, *config).map(one)
        }
        WebhookCall::GetTaskPushNotificationConfig(request) => {
            get_push_config(session, agent, caller, &request).map(one)
        }
        WebhookCall::ListTaskPushNotificationConfigs(request) => {
            list_push_configs(session, agent, caller, &request).map(Outcome::PushConfigs)
        }
        WebhookCall::DeleteTaskPushNotificationConfig(request) => {
            delete_push_config(session, agent, caller, &request)
                .map(|()| Outcome::PushConfigDeleted)
        }
        WebhookCall::ListTaskPushNotificationDeliveries(request) => {
            list_deliveries(session, agent, caller, &request).map(Outcome::Deliveries)
        }
        WebhookCall::RedeliverTaskPushNotifications(request) => {
            redeliver(session, agent, caller, &request).map(one)
        }
    }
}

/// Registers a webhook: it gets what happens from now on. One of the same id is replaced, and the new one
/// gets what that one was still owed. Only the answer that creates a webhook shows its secrets.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such task for this agent and caller;
/// [`Error::UnsupportedOperation`] if the task has as many webhooks as it may have.
fn create_push_config(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    config: TaskPushNotificationConfig,
) -> Result<ShownWebhook, Error> {
    session.authorize(agent, caller)?;
    session.flush().map_err(|_| session.internal())?;
    let is_new = session.with_hook(&config.id, |_| ()).is_none();
    let config = session.register(config, session.generation())?;
    session.store_hook(&config.id);
    // One that replaces another is owed what that was owed.
    session.poke();
    session.arm();
    match session.with_hook(&config.id, |hook| hook.is_stored) {
        Some(true) if is_new => Ok(created(config)),
        Some(true) => Ok(shown(config, caller)),
        Some(false) | None => Err(session.internal()),
    }
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
) -> Result<ShownWebhook, Error> {
    session.authorize(agent, caller)?;
    let found = session.with_hook(&request.id, |hook| hook.config.clone());
    let config = found.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    Ok(shown(config, caller))
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
) -> Result<Vec<ShownWebhook>, Error> {
    session.authorize(agent, caller)?;
    let hooks = session.hooks().borrow();
    Ok(hooks.iter().map(|hook| shown(hook.config.clone(), caller)).collect())
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
    if session.with_hook(&request.id, |_| ()).is_some() {
        session.store().delete_webhook(&request.id).map_err(|error| {
            let (task, reason) = (session.id(), error.reason());
            session.observe(&Observation::StoringFailed { task, reason });
            session.internal()
        })?;
        session.hooks().borrow_mut().retain(|hook| hook.config.id != request.id);
    }
    Ok(())
}

/// How the notifications of a webhook have fared, as JSON: see `docs/webhooks.md`.
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
    let shown = session.with_hook(&request.id, |hook| {
        let Delivery { done, health, retry_at, last_error, recent, .. } = &hook.delivery;
        json!({
            "taskId": session.id(),
            "id": request.id,
            "health": health,
            "deliveredGeneration": done,
            "nextAttemptAt": retry_at,
            "lastError": last_error,
            "attempts": recent,
        })
        .to_string()
    });
    shown.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))
}

/// Sends the events from a generation on again, also to a webhook that is suspended.
///
/// # Errors
///
/// [`Error::TaskNotFound`] as above; [`Error::InvalidParams`] if there is no such event yet.
fn redeliver(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &RedeliverRequest,
) -> Result<ShownWebhook, Error> {
    session.authorize(agent, caller)?;
    session.flush().map_err(|_| session.internal())?;
    let (newest, from) = (session.generation(), request.from_generation);
    if from > newest {
        let description = format!("must be the generation of an event, at most {newest}");
        return Err(Error::invalid("fromGeneration", description));
    }
    let config = session.with_hook(&request.id, |hook| {
        hook.restart_from(from);
        hook.config.clone()
    });
    let config = config.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    session.store_hook(&config.id);
    session.poke();
    session.arm();
    Ok(shown(config, caller))
}

/// A webhook as the answer that creates it shows it: with all its secrets.
fn created(config: TaskPushNotificationConfig) -> ShownWebhook {
    ShownWebhook { has: Some(KnownSecrets::of(&config)), config }
}

/// A webhook as every other answer shows it. Its owner sees token and credentials, as the specification has
/// it, if we know who that is; nobody sees the signing secret, which is all that tells our notifications from
/// those of others.
fn shown(mut config: TaskPushNotificationConfig, caller: &Caller) -> ShownWebhook {
    let has = Some(KnownSecrets::of(&config));
    config.signing_secret = None;
    // Everybody without credentials is the same caller, and so the owner of every such webhook.
    if caller.id == Caller::anonymous().id {
        config.token = None;
        config.authentication =
            config.authentication.map(|AuthenticationInfo { scheme, .. }| AuthenticationInfo {
                scheme,
                credentials: None,
            });
    }
    ShownWebhook { config, has }
}

impl TaskSession {
    /// Adds a webhook in memory, or replaces the one of the same id, where it stands. It gets an id and a signing
    /// secret if it has none; one that replaces another keeps that one's signing secret then. Token and
    /// credentials are not kept: the new URL may be somebody else's.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if there are as many as there may be.
    pub(super) fn register(
        &self,
        mut config: TaskPushNotificationConfig,
        after: u64,
    ) -> Result<TaskPushNotificationConfig, Error> {
        if config.id.is_empty() {
            config.id = self.ports().random.new_id();
        }
        config.tenant = None;
        config.task_id = self.id().clone();
        let known = self.with_hook(&config.id, |hook| hook.config.signing_secret.clone()).flatten();
        config.signing_secret = config.signing_secret.or(known).or_else(|| Some(self.new_secret()));
        self.check_webhook_room(&config.id)?;
        let mut hooks = self.hooks().borrow_mut();
        match hooks.iter_mut().find(|hook| hook.config.id == config.id) {
            Some(hook) => hook.replace(config.clone()),
            None => hooks.push(Hook::new(config.clone(), after)),
        }
        Ok(config)
    }

    /// Whether the task takes a webhook of this id.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if there are as many others as there may be.
    pub(super) fn check_webhook_room(&self, id: &str) -> Result<(), Error> {
        let limit = self.limits().max_webhooks;
        let others = self.hooks().borrow().iter().filter(|hook| hook.config.id != id).count();
        if others < limit {
            return Ok(());
        }
        let hint = format!("a task has at most {limit} webhooks; delete one first");
        Err(Error::UnsupportedOperation(hint))
    }

    /// 32 random bytes in the form of the Standard Webhooks.
    fn new_secret(&self) -> Secret {
        SigningSecret::from_random(self.ports().random.secret_bytes()).to_secret()
    }
}
