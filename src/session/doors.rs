//! The public methods of [`TaskSession`], except those that open a session: operations of clients, which need the owner check,
//! and methods for the whole session.

use super::agents::RunLimits;
use super::debts::{self, Index};
use super::run::callbacks;
use super::{
    Announcement, Deletion, Owned, Posted, Sender, TaskSession, Visitor, alarm, deletion,
    notifications,
};
use crate::auth::{Caller, not_for_operators};
use crate::port::{Act, Audit, Observation};
use crate::push::{NextNotification, NotificationTurn};
use crate::task::{NewTask, RunRequest, RunStart};
use crate::trail::Trail;
use a2a::Operation;
use a2a::error::Error;
use a2a::model::{Generation, Message, Metadata, Part, TaskId, TaskPushNotificationConfig};

impl TaskSession {
    /// The id of the task, also before the task exists.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The id of the task, if a client has chosen the id and the task exists. A message to this object without a task id is for
    /// this task.
    pub(crate) fn chosen_task(&self) -> Option<&TaskId> {
        Some(&self.id).filter(|_| self.has_chosen_id() && self.life.exists())
    }

    /// True if a client has chosen the id of the task.
    fn has_chosen_id(&self) -> bool {
        self.id != self.object
    }

    /// The only owner check: the task exists and belongs to this agent and this caller. The task is not changed before this
    /// check. `trail` identifies a denied request in the audit.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] in all other cases. The error does not show the reason.
    pub fn owned_by(
        &self,
        agent: &str,
        caller: &Caller,
        trail: &Trail,
    ) -> Result<Owned<'_>, Error> {
        if let Some(facts) = self.life.facts().filter(|_| self.life.exists()) {
            let visitor = Visitor::Caller(agent, caller, trail);
            if visitor.may_see(&facts) {
                self.announce();
                return Ok(Owned::new(self));
            }
            visitor.note_denied(&self.id, self.ports.observer.as_ref());
        }
        Err(Error::TaskNotFound(self.id.clone()))
    }

    /// Returns the task of any caller to an operator of this agent; the caller of this function has checked the operator. Writes
    /// the operation to the audit, even if there is no such task.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] if the agent has no such task; [`Error::PermissionDenied`] if operators must not use this
    /// operation.
    pub fn operated_by(
        &self,
        agent: &str,
        operator: &Caller,
        operation: Operation,
        trail: &Trail,
    ) -> Result<Owned<'_>, Error> {
        let acted = Audit::of(Act::OperatorActed, agent, &operator.id, trail).on(&self.id);
        self.observe(&Observation::Audited(acted.by(operation)));
        if !operation.is_for_operators() {
            return Err(not_for_operators());
        }
        let facts = self.life.facts().filter(|_| self.life.exists());
        if facts.is_some_and(|facts| Visitor::Operator(agent).may_see(&facts)) {
            self.announce();
            return Ok(Owned::for_operator(self));
        }
        Err(Error::TaskNotFound(self.id.clone()))
    }

    /// The task that an earlier send with the same key began in this session, if this send is a repetition of that send. `None`
    /// if the session has no task.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key was used for another message, or if the task was deleted less than a day ago.
    pub(crate) fn repeated(&self, sender: &Sender) -> Result<Option<Owned<'_>>, Error> {
        let Some(facts) = self.life.facts() else { return Ok(None) };
        if self.life.is_deleted() {
            return Err(self.of_deleted());
        }
        self.announce();
        sender.check_repetition(&facts)?;
        Ok(Some(Owned::new(self)))
    }

    /// The error for a send to the object of a deleted task, which is found by a key or by an id that the client has chosen.
    fn of_deleted(&self) -> Error {
        let (field, other) =
            if self.has_chosen_id() { ("id", "id") } else { ("Idempotency-Key", "key") };
        let description = format!("is that of a task that was deleted; take another {other}");
        Error::invalid(field, description)
    }

    /// Begins a new task with its first message. The task is stored when the executor emits an event or `TASK_GRACE_MS` is over;
    /// a task whose id the client has chosen is stored at once, since the client can name it. With [`Announcement::ByTheAnswer`],
    /// the caller must call [`Owned::announce`] before the answer.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if there is no such agent; [`Error::UnsupportedOperation`] if the limit of webhooks is 0. No task has
    /// begun then.
    pub(crate) fn begin(
        &self,
        message: Message,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig<Option<TaskId>>>,
        sender: Sender,
        announcement: Announcement,
    ) -> Result<Owned<'_>, Error> {
        let runner = self.agents.find(&sender.agent).map_err(|_| Error::Internal { task: None })?;
        let owned = Owned::new(self);
        // All calls that can fail precede the draft.
        self.webhooks.clear();
        if let Some(webhook) = webhook {
            let webhook = owned.register(webhook, sender.dialect, Generation::NONE)?;
            owned.note_registered(&webhook.id, &sender);
        }
        let (agent, task) = (sender.agent.as_str(), &self.id);
        self.observe(&Observation::MessageReceived { agent, task, message: &message });
        let context_id = message.context_id.clone();
        let joins_context = context_id.is_some();
        let context_id = context_id.unwrap_or_else(|| self.ports.random.new_id().into());
        // Each attempt of the run gets the message with the same ids as in the history.
        let message = Message {
            task_id: Some(self.id.clone()),
            context_id: Some(context_id.clone()),
            ..message
        };
        let begun = self.now();
        let facts = sender.facts();
        let request = sender.request(&RunLimits::of(&runner, &self.limits), metadata.clone());
        let request = RunRequest { joins_context, ..request };
        let start = RunStart {
            attempt: 1,
            resumes: false,
            message: 1,
            begun_ms: begun.0,
            request: request.clone(),
        };
        let new = NewTask {
            id: self.id.clone(),
            context_id,
            message: message.clone(),
            metadata,
            request,
            begun,
        };
        // The task is known outside of the object at once if the send has an `Idempotency-Key` (a repetition finds the task), if
        // the task has webhooks (they are owed events), or if the client has chosen the id of the task.
        let has_chosen_id = self.has_chosen_id();
        let is_known = facts.fingerprint.is_some() || !self.webhooks.is_empty() || has_chosen_id;
        // The first row of an unannounced task states that the index has its row. Without a wait for the index, this
        // statement could be false, and the first row would have to be corrected.
        let waits = self.limits.index_wait_ms > 0;
        if announcement == Announcement::ByTheAnswer && waits && !is_known {
            self.unannounced.begin();
        }
        self.life.draft(facts, new);
        self.run.begin(message, start, self.now());
        if has_chosen_id {
            self.create();
        }
        Ok(owned)
    }

    /// True if storage has failed, so that memory may differ from storage and the session must be opened again.
    pub fn is_broken(&self) -> bool {
        self.health.is_broken()
    }

    /// True if a request that names the task by this chosen id needs a new session: this session has no task, and a task that
    /// begins in it would have another id.
    pub fn is_unfit_for(&self, chosen: &TaskId) -> bool {
        self.id != *chosen && self.life.facts().is_none()
    }

    /// True if the session should be dropped from memory until the next request: its log is large, its task has ended, and no
    /// work is left.
    pub fn is_dispensable(&self) -> bool {
        self.journal.is_large()
            && self.journal.unsaved_bytes() == 0
            && self.webhooks.is_empty()
            && self.life.is_over()
            && self.debts.owed(&self.life, &self.webhooks).iter().all(Option::is_none)
    }

    /// Handles the alarm: does all work that is due, waits for the end of the work, and sets the next alarm.
    pub async fn wake(&self) {
        alarm::wake(self).await;
    }

    /// Deletes a finished task whose retention is over. Returns true if the task is deleted. A failure is retried later; an
    /// unfinished task is not deleted.
    pub async fn expire(&self, deletion: Deletion) -> bool {
        self.announce();
        deletion::expire(self, deletion).await
    }

    /// True if a caller has deleted the task less than a day ago, and this visitor might have seen it before.
    pub fn was_deleted_for(&self, visitor: &Visitor<'_>) -> bool {
        let facts = self.life.facts().filter(|_| self.life.is_deleted());
        facts.is_some_and(|facts| visitor.may_see(&facts))
    }

    /// Waits until the index does not show the deleted task any more.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the index fails. The task stays deleted, and the alarm repeats the removal of its row.
    pub async fn until_unlisted(&self) -> Result<(), Error> {
        debts::pay_now::<Index>(self).await;
        if self.owes::<Index>() { Err(Error::Internal { task: None }) } else { Ok(()) }
    }

    /// Records the report of a queue consumer. Returns the next notification of the webhook, if a notification is owed and no
    /// other consumer has the lease.
    pub fn next_notification(&self, asked: NextNotification) -> NotificationTurn {
        self.announce();
        notifications::next_notification(self, asked)
    }

    /// Stores a post to the callback with this token, if the task belongs to this agent. The token is the permission. Posts with
    /// the same `key` (the sender's `Idempotency-Key`) count once.
    pub fn call_back(&self, agent: &str, token: &str, key: Option<String>, body: Part) -> Posted {
        callbacks::call(self, agent, token, key, body)
    }

    /// The result of a post to the callback with this token, before the body of the post has arrived. Writes nothing.
    pub fn takes_call(&self, agent: &str, token: &str, key: Option<&str>) -> Posted {
        callbacks::admit(self, agent, token, key)
            .map_or_else(|refused| refused, |_| Posted::Accepted)
    }
}
