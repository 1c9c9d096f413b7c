//! Operations of owners and operators on the webhooks of a task: register, read, restart and delete.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Owned;
use crate::port::{Act, Audit, Observation};
use crate::push::signature::SigningSecret;
use crate::push::{Attempt, Checked, Notification, Report, Signer, Standing};
use crate::session::debts::{self, Troubles};
use crate::session::webhooks::Webhook;
use crate::session::{Sender, notifications};
use crate::task::set_member;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{
    Generation, Metadata, StreamResponse, Task, TaskPushNotificationConfig, TaskStatus,
    TaskStatusUpdateEvent, VerifySignatureRequest, to_json,
};

impl Owned<'_> {
    /// Adds an id to a config without one. In a dialect in which a task has one unnamed webhook, that webhook gets the id of the
    /// object: the id of the task may be any text, but not every text is a valid id of a webhook.
    pub(crate) fn named<T>(
        self,
        config: TaskPushNotificationConfig<T>,
        dialect: Dialect,
    ) -> TaskPushNotificationConfig<T> {
        let session = self.session;
        if !config.id.is_empty() {
            return config;
        }
        let id = if dialect.has_one_unnamed_webhook() {
            session.object().to_owned()
        } else {
            session.ports.random.new_id().into()
        };
        TaskPushNotificationConfig { id, ..config }
    }

    /// Registers a webhook in memory, or replaces the one with the same id. A config without an id or a signing secret gets one; a replacement
    /// keeps the signing secret of the old config. The old token and credentials are dropped, since the new URL may belong to another party.
    /// Notifications are in this dialect. Returns the registered config.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if the task has the largest allowed number of webhooks.
    pub(crate) fn register<T>(
        self,
        config: TaskPushNotificationConfig<T>,
        dialect: Dialect,
        after: Generation,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let session = self.session;
        let random = &session.ports.random;
        let mut config = self.named(config, dialect).of_task(self.id().clone());
        config.tenant = None;
        let known = self.with_webhook(&config.id, |webhook| webhook.config.signing_secret.clone());
        let new = || SigningSecret::from_random(random.secret_bytes()).to_secret();
        config.signing_secret = config.signing_secret.or(known.flatten()).or_else(|| Some(new()));
        session.webhooks.put(config.clone(), dialect, after, || session.now())?;
        Ok(config)
    }

    /// Writes the audit line for a webhook that was registered with a message.
    pub(in crate::session) fn note_registered(self, webhook: &str, sender: &Sender) {
        let Sender { agent, caller, trail, .. } = sender;
        let registered = Audit::of(Act::WebhookRegistered, agent, &caller.id, trail);
        let registered = registered.on(self.id()).with_webhook(webhook);
        self.session.observe(&Observation::Audited(registered));
    }

    /// The webhook registered first, if there is one.
    pub(crate) fn first_webhook(self) -> Option<TaskPushNotificationConfig> {
        self.webhooks().into_iter().next()
    }

    /// Stores a registered or changed webhook, and queues its owed notifications. Returns true if the webhook is stored.
    pub(crate) fn commit_webhook(self, id: &str) -> bool {
        let session = self.session;
        session.store_webhook(id);
        // A webhook that replaces another one inherits the owed events.
        notifications::enqueue_due(session);
        debts::pay::<Troubles>(session);
        session.arm();
        self.with_webhook(id, |webhook| webhook.is_stored).unwrap_or(false)
    }

    /// Reads a webhook, if there is one with this id.
    pub(crate) fn with_webhook<T>(self, id: &str, read: impl FnOnce(&Webhook) -> T) -> Option<T> {
        self.session.webhooks.with(id, |webhook| read(webhook))
    }

    /// Restarts the webhook with this id, if there is one: it gets the events from a generation on again.
    pub(crate) fn restart_webhook(
        self,
        id: &str,
        generation: Generation,
    ) -> Option<TaskPushNotificationConfig> {
        let now = self.session.now();
        self.session.webhooks.with(id, |webhook| {
            webhook.restart_from(generation, now);
            webhook.config.clone()
        })
    }

    /// Sends a test notification to the webhook with this id, in one attempt, and returns its report. Neither the state of the webhook nor what
    /// is owed to it changes. `None` if there is no such webhook.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if there are too many tests.
    pub(crate) async fn test_webhook(self, id: &str) -> Result<Option<Report>, Error> {
        let session = self.session;
        let found = self.with_webhook(id, |webhook| (webhook.config.clone(), webhook.dialect));
        let Some((config, dialect)) = found else { return Ok(None) };
        let body = self.test_body(dialect).ok_or_else(|| self.internal())?;
        let agent = session.life.facts().map(|facts| facts.agent).unwrap_or_default();
        let notification = Notification {
            lease: String::new(),
            generation: Generation::NONE,
            body,
            dialect,
            config,
            standing: Standing::Unknown,
            trace: None,
        };
        let _trial = session.webhooks.begin_trial(id, session.now())?;
        Ok(Some(session.ports.queue.attempt(agent, notification).await))
    }

    /// Checks the signature of a request that the receiver of a webhook has got. Changes nothing. `None` if there is no such webhook.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if there are too many tests and checks.
    pub(crate) fn check_signature(
        self,
        asked: &VerifySignatureRequest,
    ) -> Result<Option<Checked>, Error> {
        let session = self.session;
        let signed = |webhook: &Webhook| (SigningSecret::of(&webhook.config), webhook.dialect);
        let found = self.with_webhook(&asked.id, signed);
        let Some((secret, dialect)) = found else { return Ok(None) };
        let _trial = session.webhooks.begin_trial(&asked.id, session.now())?;
        let ids = format!("{}.{}.", session.object(), asked.id);
        let signer = Signer { secret: secret.as_ref(), ids: &ids };
        let sent = |generation| notifications::body_of(session, dialect, generation);
        Ok(Some(signer.check(&asked.headers, &asked.body, session.now(), sent)))
    }

    /// The body of a test notification: the state of the task, marked as a test.
    fn test_body(self, dialect: Dialect) -> Option<String> {
        let marked = |mut metadata: Option<Metadata>| {
            set_member(&mut metadata, TEST, Some(true.into()));
            metadata
        };
        let event = self.with_task(|Task { id, context_id, status, .. }| {
            let TaskStatus { state, timestamp, .. } = *status;
            to_json(&StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
                task_id: id.clone(),
                context_id: context_id.clone(),
                status: TaskStatus { state, message: None, timestamp },
                metadata: marked(None),
            }))
        })?;
        let whole = || {
            self.with_task(|task| Task { metadata: marked(task.metadata.clone()), ..task.clone() })
        };
        let event = event.unwrap_or_default();
        dialect.notification(&event, whole, self.session.now()).map(Cow::into_owned)
    }

    /// The webhooks of the task, in the order of their registration.
    pub(crate) fn webhooks(self) -> Vec<TaskPushNotificationConfig> {
        self.session.webhooks.configs()
    }

    /// The id, the URL and the newest attempts of each webhook; attempts oldest first.
    pub(crate) fn webhook_attempts(self) -> Vec<(String, String, VecDeque<Attempt>)> {
        let webhooks = self.webhooks().into_iter();
        let attempts = webhooks.filter_map(|TaskPushNotificationConfig { id, url, .. }| {
            let recent = self.with_webhook(&id, |webhook| webhook.delivery.recent.clone())?;
            Some((id, url, recent))
        });
        attempts.collect()
    }

    /// Deletes a webhook, if there is one with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if storage fails. In that case, the webhook is not deleted.
    pub(crate) fn delete_webhook(self, id: &str) -> Result<(), Error> {
        self.session.webhooks.delete(id).map_err(|error| {
            self.session.note_unstored(&error);
            self.internal()
        })?;
        debts::pay::<Troubles>(self.session);
        self.session.arm();
        Ok(())
    }
}

/// The member of the metadata of a test notification.
const TEST: &str = "urn:a2a-edge:webhooks:v1/test";
