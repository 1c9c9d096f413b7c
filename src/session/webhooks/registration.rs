//! The webhooks of a task, as those may who own it or operate it: registered, read, sent anew and deleted.

use std::collections::VecDeque;

use super::notifications;
use super::webhook::Webhook;
use crate::push::Attempt;
use crate::push::signature::SigningSecret;
use crate::session::Owned;
use crate::session::debts::{self, Troubles};
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::TaskPushNotificationConfig;

impl Owned<'_> {
    /// The same webhook with an id. In a dialect in which a task has one webhook without an id, that has the id of the object:
    /// the id of a task may be any text, that of a webhook may not.
    pub(crate) fn named(
        self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> TaskPushNotificationConfig {
        let session = self.session;
        if !config.id.is_empty() {
            return config;
        }
        let id = if dialect.has_one_unnamed_webhook() {
            session.object().to_owned()
        } else {
            session.ports.random.new_id()
        };
        TaskPushNotificationConfig { id, ..config }
    }

    /// Adds a webhook, or puts it in the place of the one of the same id. It gets an id and a signing
    /// secret if it has none; one that replaces another keeps that one's signing secret then. Token and
    /// credentials are not kept: the new URL may be somebody else's. Its notifications are in this dialect. Gives it as it is registered, in memory.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if there are as many as there may be.
    pub(crate) fn register(
        self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        after: u64,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let session = self.session;
        let random = &session.ports.random;
        let mut config = self.named(config, dialect);
        config.tenant = None;
        config.task_id = self.id().clone();
        let known = self.with_webhook(&config.id, |webhook| webhook.config.signing_secret.clone());
        let new = || SigningSecret::from_random(random.secret_bytes()).to_secret();
        config.signing_secret = config.signing_secret.or(known.flatten()).or_else(|| Some(new()));
        session.webhooks.put(config.clone(), dialect, after, || session.now())?;
        Ok(config)
    }

    /// The webhook that was registered first, if there is one.
    pub(crate) fn first_webhook(self) -> Option<TaskPushNotificationConfig> {
        self.webhooks().into_iter().next()
    }

    /// Stores a webhook that was registered or changed, and sends what it is owed. Whether it is stored.
    pub(crate) fn commit_webhook(self, id: &str) -> bool {
        let session = self.session;
        notifications::store(session, id);
        // One that replaces another is owed what that was owed.
        notifications::enqueue_due(session);
        debts::pay::<Troubles>(session);
        session.arm();
        self.with_webhook(id, |webhook| webhook.is_stored).unwrap_or(false)
    }

    /// Reads a webhook, if there is one of this id.
    pub(crate) fn with_webhook<T>(self, id: &str, read: impl FnOnce(&Webhook) -> T) -> Option<T> {
        self.session.webhooks.with(id, |webhook| read(webhook))
    }

    /// Lets a webhook, if there is one of this id, get the events from a generation on again.
    pub(crate) fn restart_webhook(
        self,
        id: &str,
        generation: u64,
    ) -> Option<TaskPushNotificationConfig> {
        let now = self.session.now();
        self.session.webhooks.with(id, |webhook| {
            webhook.restart_from(generation, now);
            webhook.config.clone()
        })
    }

    /// The webhooks of the task, in the order of their registration.
    pub(crate) fn webhooks(self) -> Vec<TaskPushNotificationConfig> {
        self.session.webhooks.configs()
    }

    /// The id and the URL of each webhook, and its newest attempts, oldest first.
    pub(crate) fn webhook_attempts(self) -> Vec<(String, String, VecDeque<Attempt>)> {
        let webhooks = self.webhooks().into_iter();
        let attempts = webhooks.filter_map(|TaskPushNotificationConfig { id, url, .. }| {
            let recent = self.with_webhook(&id, |webhook| webhook.delivery.recent.clone())?;
            Some((id, url, recent))
        });
        attempts.collect()
    }

    /// Deletes a webhook, if it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails; it is still there then.
    pub(crate) fn delete_webhook(self, id: &str) -> Result<(), Error> {
        self.session.webhooks.delete(id).map_err(|error| {
            notifications::note_failure(self.session, &error);
            self.internal()
        })?;
        debts::pay::<Troubles>(self.session);
        self.session.arm();
        Ok(())
    }
}
