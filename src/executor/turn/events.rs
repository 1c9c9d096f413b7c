//! The [`Events`] through which an executor answers.

use std::rc::Rc;

use super::{Emission, RunOutside, RunTask};
use crate::executor::ExecutorError;
use a2a::model::{Artifact, Message, Part, Role, TaskState};

/// The events that an executor can emit: one method for each.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///     if turn.message.text().is_empty() {
///         return events.require_input("What is it about?");
///     }
///     events.working(Some("writing"))?;
///     events.begin(Artifact::new("poem", Part::text("Roses are red,\n")))?;
///     events.append(Artifact::new("poem", Part::text("violets are blue.\n")), true)?;
///     events.complete(None)
/// }
/// ```
///
/// Each secret that the run has read by [`Turn::secret`](super::Turn::secret) is replaced by its name in all events, also if
/// the text is emitted in pieces: the end of a chunk that may be the beginning of a secret is held back until the next
/// chunk.
///
/// Each event is refused if the task has ended, for example because the client has canceled it; an executor should then
/// return.
#[derive(Clone)]
pub struct Events {
    pub(crate) run_task: Rc<dyn RunTask>,
    pub(crate) run_outside: Rc<dyn RunOutside>,
}

impl Events {
    /// Sets the state `working`; with a text, this is a progress note. Repeating it without a text changes nothing.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn working(&self, text: Option<&str>) -> Result<(), ExecutorError> {
        self.status(TaskState::Working, text)
    }

    /// Begins an artifact, or replaces the artifact with the same id.
    ///
    /// # Errors
    ///
    /// If the task has ended, or the artifact has no parts or is too large.
    pub fn artifact(&self, artifact: Artifact) -> Result<(), ExecutorError> {
        self.emit(Emission::artifact(artifact, false, true))
    }

    /// Begins an artifact that [`append`](Self::append) will continue.
    ///
    /// # Errors
    ///
    /// The errors of [`artifact`](Self::artifact).
    pub fn begin(&self, artifact: Artifact) -> Result<(), ExecutorError> {
        self.emit(Emission::artifact(artifact, false, false))
    }

    /// Adds the parts of `chunk` to the artifact of the same id.
    ///
    /// # Errors
    ///
    /// The errors of [`artifact`](Self::artifact), or if the task has no such artifact.
    pub fn append(&self, chunk: Artifact, last_chunk: bool) -> Result<(), ExecutorError> {
        self.emit(Emission::artifact(chunk, true, last_chunk))
    }

    /// Completes the task. Results belong in artifacts; the text is a closing message.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn complete(&self, text: Option<&str>) -> Result<(), ExecutorError> {
        self.status(TaskState::Completed, text)
    }

    /// Fails the task, with this reason.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn fail(&self, reason: &str) -> Result<(), ExecutorError> {
        self.status(TaskState::Failed, Some(reason))
    }

    /// Rejects the task, with this reason.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn reject(&self, reason: &str) -> Result<(), ExecutorError> {
        self.status(TaskState::Rejected, Some(reason))
    }

    /// Asks the client this question. The client's next message begins a new run.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn require_input(&self, question: &str) -> Result<(), ExecutorError> {
        self.status(TaskState::InputRequired, Some(question))
    }

    /// Asks the client for credentials.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn require_auth(&self, text: &str) -> Result<(), ExecutorError> {
        self.status(TaskState::AuthRequired, Some(text))
    }

    /// Answers with a message instead of a task. If the task exists already, because events were emitted before or the
    /// run took long, the message completes the task.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub fn reply(&self, parts: Vec<Part>) -> Result<(), ExecutorError> {
        let message = self.message(parts);
        self.emit(Emission::Reply(message))
    }

    /// Enters a state with a message of any content.
    ///
    /// # Errors
    ///
    /// If the task has ended, or an agent must not enter this state from the current state.
    pub fn status_with(&self, state: TaskState, parts: Vec<Part>) -> Result<(), ExecutorError> {
        let message = Some(self.message(parts));
        self.emit(Emission::Status { state, message, metadata: None })
    }

    pub(in crate::executor) fn status(
        &self,
        state: TaskState,
        text: Option<&str>,
    ) -> Result<(), ExecutorError> {
        let message = text.map(|text| self.message(vec![Part::text(text)]));
        self.emit(Emission::Status { state, message, metadata: None })
    }

    pub(in crate::executor) fn emit(&self, emission: Emission) -> Result<(), ExecutorError> {
        self.run_task.emit(emission)
    }

    pub(in crate::executor) fn message(&self, parts: Vec<Part>) -> Message {
        Message {
            message_id: self.run_outside.random().new_id().into(),
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts,
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }
}
