//! The stages of a session's task: Empty -> Draft -> Live or Replied; Live -> Deleted.

use std::cell::RefCell;
use std::rc::Rc;

use super::journal::LARGE_BYTES;
use super::tombstone::Tombstone;
use crate::port::TaskFacts;
use crate::task::{Effect, LogEntry, NewTask, TaskMachine};
use a2a::model::{
    Generation, HistoryLimit, Message, Task, TaskState, TaskView, UnixMillis, encode,
};

/// The task of a session, or the stage without a task.
pub(super) struct Life {
    stage: RefCell<Stage>,
    /// The present task as 1.0 JSON; `None` if the JSON is larger than `LARGE_BYTES`. Answers share the text until the
    /// task changes.
    snapshot: RefCell<Option<Rc<String>>>,
}

#[allow(clippy::large_enum_variant, reason = "a session has one of them, and mostly the largest")]
enum Stage {
    /// There is no task.
    Empty,
    /// A run has begun and has not emitted an event; clients cannot see the task.
    Draft(TaskFacts, Box<NewTask>),
    /// The run answered with a message, so there will be no task.
    Replied(TaskFacts, Box<Message>),
    /// The task exists.
    Live(TaskFacts, Box<TaskMachine>),
    /// A caller has deleted the task: for clients it does not exist, and nothing changes any more.
    Deleted(TaskFacts, Box<Tombstone>),
}

impl Life {
    /// A session without a task.
    pub(super) fn empty() -> Self {
        Self::of(Stage::Empty)
    }

    /// A session with a stored task.
    pub(super) fn live(facts: TaskFacts, machine: TaskMachine) -> Self {
        Self::of(Stage::Live(facts, Box::new(machine)))
    }

    /// A session with what remains of a deleted task.
    pub(super) fn deleted(facts: TaskFacts, tombstone: Tombstone) -> Self {
        Self::of(Stage::Deleted(facts, Box::new(tombstone)))
    }

    fn of(stage: Stage) -> Self {
        Self { stage: RefCell::new(stage), snapshot: RefCell::default() }
    }

    /// Begins a draft: a run whose task does not exist yet.
    pub(super) fn draft(&self, facts: TaskFacts, new: NewTask) {
        self.stage.replace(Stage::Draft(facts, Box::new(new)));
    }

    /// Makes a task of the draft. Returns the first entries of the task's log; no entries if there is no draft.
    pub(super) fn create(&self, now: UnixMillis) -> Vec<LogEntry> {
        let mut stage = self.stage.borrow_mut();
        let (facts, new) = match std::mem::replace(&mut *stage, Stage::Empty) {
            Stage::Draft(facts, new) => (facts, new),
            other => {
                *stage = other;
                return Vec::new();
            }
        };
        let (machine, opening) = TaskMachine::create(*new, now);
        *stage = Stage::Live(facts, Box::new(machine));
        opening.into()
    }

    /// Answers the draft with a message instead of a task. Returns false if there is no draft.
    pub(super) fn reply(&self, message: Message) -> bool {
        let mut stage = self.stage.borrow_mut();
        let Stage::Draft(facts, new) = &*stage else { return false };
        let (facts, context_id) = (facts.clone(), Some(new.context_id.clone()));
        *stage = Stage::Replied(facts, Box::new(Message { context_id, ..message }));
        true
    }

    /// Discards the draft, whose run is lost. The remains of a deleted task stay.
    pub(super) fn forget(&self) {
        if !self.is_deleted() {
            self.stage.replace(Stage::Empty);
        }
    }

    /// Replaces the task by its remains.
    pub(super) fn bury(&self, tombstone: Tombstone) {
        if let Some(facts) = self.facts() {
            self.stage.replace(Stage::Deleted(facts, Box::new(tombstone)));
            self.snapshot.replace(None);
        }
    }

    /// Changes the task. Returns the effects to carry out, in order; no effects without a task.
    ///
    /// # Errors
    ///
    /// If the task refuses the change. The task is unchanged after this error.
    pub(super) fn change<E>(
        &self,
        change: impl FnOnce(&mut TaskMachine) -> Result<Vec<Effect>, E>,
    ) -> Result<Vec<Effect>, E> {
        let effects = match &mut *self.stage.borrow_mut() {
            Stage::Live(_, machine) => change(machine)?,
            Stage::Empty | Stage::Draft(..) | Stage::Replied(..) | Stage::Deleted(..) => Vec::new(),
        };
        if !effects.is_empty() {
            self.snapshot.replace(None);
        }
        Ok(effects)
    }

    /// The facts of the task, which never change; `None` in the stage Empty.
    pub(super) fn facts(&self) -> Option<TaskFacts> {
        match &*self.stage.borrow() {
            Stage::Empty => None,
            Stage::Draft(facts, _)
            | Stage::Replied(facts, _)
            | Stage::Live(facts, _)
            | Stage::Deleted(facts, _) => Some(facts.clone()),
        }
    }

    /// True if clients can see the task.
    pub(super) fn exists(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Live(..))
    }

    /// True if a caller has deleted the task.
    pub(super) fn is_deleted(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Deleted(..))
    }

    /// Reads what remains of a deleted task.
    pub(super) fn with_tombstone<T>(&self, read: impl FnOnce(&Tombstone) -> T) -> Option<T> {
        match &*self.stage.borrow() {
            Stage::Deleted(_, tombstone) => Some(read(tombstone)),
            Stage::Empty | Stage::Draft(..) | Stage::Replied(..) | Stage::Live(..) => None,
        }
    }

    /// The message with which the run answered instead of a task.
    pub(super) fn replied(&self) -> Option<Message> {
        match &*self.stage.borrow() {
            Stage::Replied(_, message) => Some(message.as_ref().clone()),
            Stage::Empty | Stage::Draft(..) | Stage::Live(..) | Stage::Deleted(..) => None,
        }
    }

    /// The messages of the task, oldest first.
    pub(super) fn history(&self) -> Vec<Message> {
        match &*self.stage.borrow() {
            Stage::Live(_, machine) => machine.task().history.clone(),
            Stage::Draft(_, new) => vec![new.message.clone()],
            Stage::Empty | Stage::Replied(..) | Stage::Deleted(..) => Vec::new(),
        }
    }

    /// Reads the task, if it exists.
    pub(super) fn with_machine<T>(&self, read: impl FnOnce(&TaskMachine) -> T) -> Option<T> {
        self.with_live(|_, machine| read(machine))
    }

    /// Reads the task and its facts, if the task exists.
    pub(super) fn with_live<T>(
        &self,
        read: impl FnOnce(&TaskFacts, &TaskMachine) -> T,
    ) -> Option<T> {
        match &*self.stage.borrow() {
            Stage::Live(facts, machine) => Some(read(facts, machine)),
            Stage::Empty | Stage::Draft(..) | Stage::Replied(..) | Stage::Deleted(..) => None,
        }
    }

    /// As [`with_machine`](Self::with_machine), with the task as clients see it.
    pub(super) fn with_task<T>(&self, read: impl FnOnce(&Task) -> T) -> Option<T> {
        self.with_machine(|machine| read(machine.task()))
    }

    /// The generation of the newest event; 0 while there is no task.
    pub(super) fn generation(&self) -> Generation {
        self.with_machine(TaskMachine::generation).unwrap_or_default()
    }

    /// The generation that the index has to reach: the lowest of a row that shows the present status, or that of the deletion; 0 while
    /// there is no task.
    pub(super) fn status_generation(&self) -> Generation {
        match &*self.stage.borrow() {
            Stage::Live(_, machine) => machine.status_generation(),
            Stage::Deleted(_, tombstone) => tombstone.generation,
            Stage::Empty | Stage::Draft(..) | Stage::Replied(..) => Generation::NONE,
        }
    }

    /// The state of the task, if it exists.
    pub(super) fn state(&self) -> Option<TaskState> {
        self.with_machine(TaskMachine::state)
    }

    /// True if the task has ended, or is deleted.
    pub(super) fn is_over(&self) -> bool {
        self.state().is_some_and(TaskState::is_terminal) || self.is_deleted()
    }

    /// True if a blocking send can be answered: the task has ended, waits for its client, or is deleted.
    pub(super) fn is_settled(&self) -> bool {
        self.with_machine(TaskMachine::is_settled).unwrap_or(false) || self.is_deleted()
    }

    /// True if the run of the task waits outside of memory.
    pub(super) fn is_parked(&self) -> bool {
        self.with_machine(|machine| machine.parked().is_some()).unwrap_or(false)
    }

    /// True if the task exists and has a run, or a run has to be started for it.
    pub(super) fn is_active(&self) -> bool {
        self.with_machine(TaskMachine::is_active).unwrap_or(false)
    }

    /// The task as 1.0 JSON, if the task exists. If `generation` is given, the metadata has that generation.
    pub(super) fn json(
        &self,
        history: HistoryLimit,
        generation: Option<Generation>,
    ) -> Option<Rc<String>> {
        let is_snapshot = history == HistoryLimit::All && generation.is_none();
        if is_snapshot && let Some(snapshot) = &*self.snapshot.borrow() {
            return Some(snapshot.clone());
        }
        let view = |task: &Task| {
            encode(&TaskView {
                generation: generation.map(|generation| generation.0),
                ..task.view(history)
            })
        };
        let json = Rc::new(self.with_task(view)?.ok()?);
        if is_snapshot && json.len() <= LARGE_BYTES {
            self.snapshot.replace(Some(json.clone()));
        }
        Some(json)
    }
}
