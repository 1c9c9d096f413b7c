//! The webhooks of a task.
//!
//! No row is stored for a notification: a webhook is owed every event after the newest event that it got. So an event and its
//! notifications are one write, storing an event does not wait for webhooks, and the alarm repeats jobs that the queue has lost.

mod past;
mod webhook;

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;

use super::journal::Journal;
use super::life::Life;
use crate::port::{StoreError, TaskStore, WebhookChange, WebhookTroubles};
use crate::push::{Delivery, Trials, origin_of};
use crate::task::TaskMachine;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{Generation, Task, TaskId, TaskPushNotificationConfig, UnixMillis};
pub(super) use webhook::Webhook;
use webhook::{Listing, Looks};

/// The webhooks of one task, in the order of their registration.
pub(super) struct Webhooks {
    all: RefCell<Vec<Webhook>>,
    /// The deleted webhooks that the list of webhooks in trouble may still have.
    gone: RefCell<Vec<WebhookChange>>,
    trials: RefCell<Trials>,
    store: Rc<dyn TaskStore>,
    /// The highest number of webhooks.
    limit: usize,
    /// The time after which a job that no consumer took counts as lost, in milliseconds.
    keep_alive_ms: u64,
}

impl Webhooks {
    /// No webhooks; at most `limit` can be added.
    pub(super) fn new(store: Rc<dyn TaskStore>, limit: usize, keep_alive_ms: u64) -> Self {
        let (all, gone, trials) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { all, gone, trials, store, limit, keep_alive_ms }
    }

    /// Reads the webhooks of a stored task, a line of JSON each.
    ///
    /// # Errors
    ///
    /// If this version cannot read a webhook.
    pub(super) fn restore(&self, id: &TaskId, lines: &[String]) -> Result<(), StoreError> {
        let read = |json: &String| {
            read_json(json)
                .map_err(|error| StoreError::Unreadable(format!("webhook of {id}: {error}")))
        };
        self.all.replace(lines.iter().map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// True if there are no webhooks.
    pub(super) fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// Removes all webhooks from memory. For a session that begins a task: no webhook is stored yet.
    pub(super) fn clear(&self) {
        self.all.borrow_mut().clear();
    }

    /// Checks that a webhook with this id can be registered.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if the task has the highest number of other webhooks.
    pub(super) fn check_room(&self, id: &str) -> Result<(), Error> {
        let others = self.all.borrow().iter().filter(|webhook| webhook.config.id != id).count();
        if others < self.limit {
            return Ok(());
        }
        let limit = self.limit;
        let hint = format!("a task has at most {limit} webhooks; delete one first");
        Err(Error::UnsupportedOperation(hint))
    }

    /// Adds a webhook in memory that gets the events after this generation. The new webhook replaces a webhook with the same id
    /// and continues at the position of the old webhook.
    ///
    /// # Errors
    ///
    /// As [`check_room`](Self::check_room).
    pub(super) fn put(
        &self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
        after: Generation,
        now: impl FnOnce() -> UnixMillis,
    ) -> Result<(), Error> {
        self.check_room(&config.id)?;
        let mut all = self.all.borrow_mut();
        match all.iter_mut().find(|webhook| webhook.config.id == config.id) {
            Some(webhook) => webhook.replace(config, dialect, now()),
            None => all.push(Webhook::new(config, dialect, after)),
        }
        Ok(())
    }

    /// Deletes the webhook with this id, if there is one.
    ///
    /// # Errors
    ///
    /// If storage fails. After this error, the webhook is not deleted.
    pub(super) fn delete(&self, id: &str) -> Result<(), StoreError> {
        if let Some(listing) = self.with(id, |webhook| webhook.listing) {
            self.store.delete_webhook(id)?;
            self.all.borrow_mut().retain(|webhook| webhook.config.id != id);
            if listing.version > 0 {
                let (id, version) = (id.to_owned(), listing.version.saturating_add(1));
                self.gone.borrow_mut().push(WebhookChange { id, version, troubles: None });
            }
        }
        Ok(())
    }

    /// True if the list of webhooks in trouble lacks a change.
    pub(super) fn owe_listing(&self) -> bool {
        !self.gone.borrow().is_empty() || self.all.borrow().iter().any(Webhook::owes_listing)
    }

    /// The next change that the list of webhooks in trouble lacks.
    pub(super) fn next_change(&self, task: &TaskId) -> Option<WebhookChange> {
        let gone = self.gone.borrow().first().cloned();
        gone.or_else(|| {
            let all = self.all.borrow();
            all.iter()
                .find(|webhook| webhook.owes_listing())
                .map(|webhook| change_of(webhook, task))
        })
    }

    /// Records that the list has a change. Later changes are still owed.
    pub(super) fn note_listed(&self, change: &WebhookChange) {
        self.gone.borrow_mut().retain(|gone| gone != change);
        let is_meant = |webhook: &&mut Webhook| webhook.config.id == change.id;
        if let Some(webhook) = self.all.borrow_mut().iter_mut().find(is_meant) {
            let Listing { version, listed } = webhook.listing;
            webhook.listing.listed = change.version.min(version).max(listed);
        }
    }

    /// Reads or changes the webhook with this id, if there is one.
    pub(super) fn with<T>(&self, id: &str, change: impl FnOnce(&mut Webhook) -> T) -> Option<T> {
        self.all.borrow_mut().iter_mut().find(|webhook| webhook.config.id == id).map(change)
    }

    /// The task after the event of a generation, for a notification of this webhook. `None` if the log does not reach this generation.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read.
    pub(super) fn task_at(
        &self,
        id: &str,
        generation: Generation,
        task: &TaskId,
        life: &Life,
        journal: &Journal,
    ) -> Result<Option<Task>, StoreError> {
        if generation == life.generation() {
            self.forget_past(id);
            return Ok(life.with_task(Task::clone));
        }
        let Some(mut past) = self.with(id, |webhook| webhook.past.take()) else { return Ok(None) };
        let replay = past.get_or_insert_default();
        let found = replay.at(journal, task, generation).map(|task| task.cloned());
        self.with(id, |webhook| webhook.past = past);
        found
    }

    /// Drops the replayed log of a webhook.
    pub(super) fn forget_past(&self, id: &str) {
        self.with(id, |webhook| webhook.past = None);
    }

    /// Begins a test of this webhook, or a check of a signature, which lasts until the result is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if there are too many tests.
    #[inline(never)]
    pub(super) fn begin_trial<'a>(
        &'a self,
        id: &'a str,
        now: UnixMillis,
    ) -> Result<Trial<'a>, Error> {
        self.trials.borrow_mut().begin(id, now).map_err(Error::RateLimited)?;
        Ok(Trial { trials: &self.trials, id })
    }

    /// The registered configs.
    pub(super) fn configs(&self) -> Vec<TaskPushNotificationConfig> {
        self.all.borrow().iter().map(|webhook| webhook.config.clone()).collect()
    }

    /// Stores the present state of a webhook.
    ///
    /// # Errors
    ///
    /// If storage fails. If the object crashes after that, the newest notifications of the webhook are sent again.
    pub(super) fn store(&self, id: &str) -> Result<(), StoreError> {
        let Some(json) = self.with(id, |webhook| webhook.to_json()) else { return Ok(()) };
        self.store.put_webhook(id, &json)?;
        self.with(id, Webhook::note_stored);
        Ok(())
    }

    /// Stores the webhooks that were registered with a message and are not stored yet.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn store_new(&self) -> Result<(), StoreError> {
        for webhook in self.all.borrow_mut().iter_mut().filter(|webhook| !webhook.is_stored) {
            self.store.put_webhook(&webhook.config.id, &webhook.to_json())?;
            webhook.is_stored = true;
        }
        Ok(())
    }

    /// The ids of the webhooks that need a job in the queue now. These webhooks then count as queued.
    pub(super) fn take_due(
        &self,
        machine: &TaskMachine,
        now: UnixMillis,
        is_meant: impl Fn(&Webhook) -> bool,
    ) -> Vec<String> {
        let mut all = self.all.borrow_mut();
        let due = all.iter_mut().filter(|webhook| is_meant(webhook));
        let due = due.filter(|webhook| webhook.needs_job(machine, now));
        due.map(|webhook| {
            webhook.note_queued(machine, self.keep_alive_ms, now);
            webhook.config.id.clone()
        })
        .collect()
    }

    /// The instants at which the webhooks need the alarm.
    pub(super) fn looks(&self, machine: &TaskMachine, now: UnixMillis) -> Looks {
        let all = self.all.borrow();
        let looks = all.iter().map(|webhook| webhook.looks(machine, self.keep_alive_ms, now));
        looks.fold(Looks::default(), Looks::or)
    }
}

/// A test of a webhook that is under way.
pub(super) struct Trial<'a> {
    trials: &'a RefCell<Trials>,
    id: &'a str,
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.trials.borrow_mut().end(self.id);
    }
}

/// The row of a webhook in the list of webhooks in trouble.
fn change_of(webhook: &Webhook, task: &TaskId) -> WebhookChange {
    let Webhook { config, delivery, listing, .. } = webhook;
    let Delivery { health, retry_at, last_error, unhealthy_since, dead_letters, done, .. } =
        delivery;
    let troubles = delivery.troubled_since().map(|since| {
        let shown = json!({
            "taskId": task,
            "id": config.id,
            "url": origin_of(&config.url),
            "health": health,
            "failingSince": unhealthy_since.map(|at| at.0),
            "nextAttemptAt": retry_at.map(|at| at.0),
            "lastError": last_error,
            "deliveredGeneration": done,
            "givenUp": dead_letters.len(),
            "deadLetters": dead_letters,
            "updatedAt": listing.version,
        });
        WebhookTroubles {
            health: *health,
            dead_letters: dead_letters.len(),
            since_ms: since.0,
            shown: shown.to_string(),
        }
    });
    WebhookChange { id: config.id.clone(), version: listing.version, troubles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twins::MemoryStore;

    fn now() -> UnixMillis {
        UnixMillis(7)
    }

    fn config(id: &str, url: &str) -> TaskPushNotificationConfig {
        read_json(&format!(r#"{{"id": "{id}", "taskId": "t", "url": "https://{url}/"}}"#)).unwrap()
    }

    fn ids(webhooks: &Webhooks) -> Vec<String> {
        webhooks.configs().into_iter().map(|config| config.id).collect()
    }

    #[test]
    fn a_webhook_of_the_same_id_is_replaced_where_it_stands_and_needs_no_room() {
        let webhooks = Webhooks::new(Rc::new(MemoryStore::default()), 2, 1);
        webhooks.put(config("a", "one.example"), Dialect::V1, Generation(3), now).unwrap();
        webhooks.put(config("b", "two.example"), Dialect::V1, Generation(4), now).unwrap();
        let full = webhooks
            .put(config("c", "three.example"), Dialect::V1, Generation(5), now)
            .unwrap_err();
        assert!(full.to_string().contains("at most 2 webhooks"), "{full}");
        webhooks.put(config("a", "four.example"), Dialect::V1, Generation(9), now).unwrap();
        assert_eq!(ids(&webhooks), ["a", "b"]);
        assert_eq!(webhooks.configs()[0].url, "https://four.example/");
        assert_eq!(
            webhooks.with("a", |webhook| webhook.delivery.done),
            Some(Generation(3)),
            "where it was"
        );
    }

    #[test]
    fn a_webhook_that_cannot_be_deleted_stays() {
        let store = MemoryStore::default();
        let webhooks = Webhooks::new(Rc::new(store.clone()), 2, 1);
        webhooks.put(config("a", "one.example"), Dialect::V1, Generation::NONE, now).unwrap();
        store.set_failing(true);
        assert!(webhooks.delete("a").is_err());
        assert_eq!(webhooks.delete("b"), Ok(()), "nothing to delete");
        assert_eq!(ids(&webhooks), ["a"]);
        store.set_failing(false);
        assert_eq!(webhooks.delete("a"), Ok(()));
        assert!(webhooks.is_empty());
    }
}
