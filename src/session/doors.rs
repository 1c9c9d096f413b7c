//! What others may ask a session: its operations for clients, behind the one owner check, and what concerns the session as a
//! whole. All public methods of [`TaskSession`] but those that open it are here.

use super::run::{self, RunLimits, callbacks};
use super::webhooks::notifications;
use super::{
    Announcement, Deletion, Owned, Posted, Sender, TaskSession, Visitor, alarm, debts, retention,
};
use crate::auth::{Caller, not_for_operators};
use crate::port::{Act, Audit, Observation};
use crate::push::{NextNotification, NotificationTurn};
use crate::task::{NewTask, RunRequest, RunStart};
use crate::trail::Trail;
use a2a::Operation;
use a2a::error::Error;
use a2a::model::{ContextId, Message, Metadata, Part, TaskId, TaskPushNotificationConfig};

impl TaskSession {
    /// The id of the task, whether it exists yet or not.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The id of the task, if a client has chosen it and the task exists: what a message means that names no task.
    pub(crate) fn chosen_task(&self) -> Option<&TaskId> {
        Some(&self.id).filter(|_| self.has_chosen_id() && self.life.exists())
    }

    /// The one owner check: the task exists, and is this agent's and this caller's. Nothing happens to the task before.
    /// `trail` tells operators which request it was that is denied.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] otherwise, whatever the reason.
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

    /// The task of any caller, for one that was found to be an operator of this agent. Operators are
    /// told of the operation, also if there is no such task.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] if the agent has no such task; [`Error::PermissionDenied`] for an operation that is the
    /// owner's alone.
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

    /// What the send that began this session has come to, if it was the same as this one, under the same key;
    /// none if nothing has begun.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key was used for another message.
    pub(crate) fn repeated(&self, sender: &Sender) -> Result<Option<Owned<'_>>, Error> {
        let Some(facts) = self.life.facts() else { return Ok(None) };
        self.announce();
        sender.check_repetition(&facts)?;
        Ok(Some(Owned::new(self)))
    }

    /// Begins a new task with its first message. Nothing is stored before the executor says something
    /// or the grace is over; a task whose id its client has chosen exists at once, since the client will ask for it by that id
    /// whatever the executor says. Where the task is announced by the answer, [`Owned::announce`] goes before that.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if there is no such agent, [`Error::UnsupportedOperation`] if a task takes no webhook:
    /// nothing has begun then.
    pub(crate) fn begin(
        &self,
        message: Message,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig>,
        sender: Sender,
        announcement: Announcement,
    ) -> Result<Owned<'_>, Error> {
        let runner = (self.agents)(&sender.agent).map_err(|_| Error::Internal { task: None })?;
        let owned = Owned::new(self);
        // All that may fail comes before the draft.
        self.webhooks.clear();
        if let Some(webhook) = webhook {
            let webhook = owned.register(webhook, sender.dialect, 0)?;
            self.note_registered(&webhook.id, &sender);
        }
        let (agent, task) = (sender.agent.as_str(), &self.id);
        self.observe(&Observation::MessageReceived { agent, task, message: &message });
        let context_id = message.context_id.clone();
        let joins_context = context_id.is_some();
        let context_id = context_id.unwrap_or_else(|| ContextId::new(self.ports.random.new_id()));
        // The run sees its message as it will be in the history, on its first attempt as on any other.
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
        // A send that may be repeated is remembered from its first row on, and webhooks are owed its events.
        // The client can ask for a task whose id it has chosen.
        let has_chosen_id = self.has_chosen_id();
        let is_known = facts.fingerprint.is_some() || !self.webhooks.is_empty() || has_chosen_id;
        // An answer that does not wait for the index would have to correct the first row.
        let waits = self.limits.index_wait_ms > 0;
        if announcement == Announcement::ByTheAnswer && waits && !is_known {
            self.unannounced.begin();
        }
        self.life.draft(facts, new);
        run::begin(self, message, start);
        if has_chosen_id {
            self.create();
        }
        Ok(owned)
    }

    /// Whether storage failed, so that this session is no longer true to it and must be opened anew.
    pub fn is_broken(&self) -> bool {
        self.health.is_broken()
    }

    /// Whether an object that is asked for a task by this id, which its client chose, has to be asked by a new session: this
    /// one has no task, and would begin one of another id.
    pub fn is_unfit_for(&self, chosen: &TaskId) -> bool {
        self.id != *chosen && self.life.facts().is_none()
    }

    /// Whether the session is better opened again when it is needed than kept: it takes much memory, its task
    /// has ended, and nothing about it is left to do.
    pub fn is_dispensable(&self) -> bool {
        self.journal.is_large()
            && self.journal.unsaved_bytes() == 0
            && self.webhooks.is_empty()
            && self.life.is_over()
            && debts::owed(self).iter().all(Option::is_none)
    }

    /// The alarm has fired: does what is due, waits for it, and sets the next one.
    pub async fn wake(&self) {
        alarm::wake(self).await;
    }

    /// Deletes a finished task, and says whether it is gone. What fails is
    /// tried again later; a task that is not finished stays. If there is no task, its row in the index is deleted
    /// all the same.
    pub async fn delete(&self, deletion: Deletion) -> bool {
        self.announce();
        retention::delete(self, deletion).await
    }

    /// Takes what the consumer of the queue reports, and gives it the next notification of its webhook, if there
    /// is one and no other consumer has the lease.
    pub fn next_notification(&self, asked: NextNotification) -> NotificationTurn {
        self.announce();
        notifications::next_notification(self, asked)
    }

    /// Takes what was posted to a callback of this token, which is the permission, for a task of this agent. `key` is
    /// what its sender calls it: what is repeated under it counts once.
    pub fn call_back(&self, agent: &str, token: &str, key: Option<String>, body: Part) -> Posted {
        callbacks::call(self, agent, token, key, body)
    }

    /// What would become of such a post, before its body is there. Writes nothing.
    pub fn takes_call(&self, agent: &str, token: &str, key: Option<&str>) -> Posted {
        callbacks::admit(self, agent, token, key)
            .map_or_else(|refused| refused, |_| Posted::Accepted)
    }
}
