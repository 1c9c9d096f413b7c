//! What was told of a task, and what is to be told next: every change once, the end last.

use std::collections::VecDeque;

use super::super::fold::{is_of_another, newest};
use super::super::stream::Recent;
use super::super::{apply, changes};
use crate::client::TaskEvent;
use crate::model::{StreamResponse, Task, TaskId, TaskState};

/// What was told of a task, and what is to be told next.
pub(super) struct Telling {
    /// The task as the events give it that were told, or wait to be.
    told: Option<Task>,
    /// The task as the server tells it, while that is behind what was told.
    behind: Option<Task>,
    ready: VecDeque<TaskEvent>,
    /// The event that ends the task.
    last: Option<TaskEvent>,
    recent: Recent,
    /// The id of the newest event, if the server numbers them.
    last_id: Option<String>,
    /// The id from which the present stream was asked to go on.
    went_on_from: Option<String>,
    is_first: bool,
    is_doubtful: bool,
    was_looked_at: bool,
}

impl Telling {
    pub(super) fn new(known: Option<Task>, last_id: Option<String>) -> Self {
        Self {
            told: known,
            behind: None,
            ready: VecDeque::new(),
            last: None,
            recent: Recent::default(),
            went_on_from: last_id.clone(),
            last_id,
            is_first: true,
            is_doubtful: false,
            was_looked_at: false,
        }
    }

    /// The task as the events give it that were told, or wait to be.
    pub(super) fn told(&self) -> Option<&Task> {
        self.told.as_ref()
    }

    /// The next event to tell.
    pub(super) fn next(&mut self) -> Option<TaskEvent> {
        let is_first_kept =
            matches!(&self.last, Some(TaskEvent { event: StreamResponse::Task(_), .. }));
        if is_first_kept { None } else { self.ready.pop_front() }
    }

    /// From which event a stream can go on.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Goes on by looks instead of numbers. Gives whether there were numbers.
    pub(super) fn forget_numbers(&mut self) -> bool {
        self.last_id.take().is_some()
    }

    /// Whether the task has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.told.as_ref().is_some_and(|task| task.status.state.is_terminal())
    }

    /// A stream has begun.
    pub(super) fn connected(&mut self) {
        self.is_first = true;
        self.went_on_from.clone_from(&self.last_id);
        self.behind = None;
    }

    /// Something may have been missed.
    pub(super) fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    /// A message instead of a task.
    pub(super) fn message(&mut self, message: StreamResponse, id: Option<String>) {
        self.ready.push_back(TaskEvent { event: message, id });
    }

    /// Takes an event of a stream, `data` as a hash. Gives whether there is anything new in it.
    pub(super) fn event(&mut self, event: StreamResponse, id: Option<String>, data: u64) -> bool {
        let is_first = std::mem::take(&mut self.is_first);
        if self.told.as_ref().is_some_and(|told| is_of_another(told, &event)) {
            return false;
        }
        if let StreamResponse::Task(task) = event {
            // Numbers may begin anew with it.
            self.recent.clear();
            if let Some(id) = &id {
                self.recent.is_new(id, data);
            }
            return self.snapshot(task, id, is_first);
        }
        if let Some(id) = &id
            && !self.recent.is_new(id, data)
        {
            return false;
        }
        let goes_on = self.went_on_from.is_some() && id.is_some();
        if is_first && self.told.is_some() && !goes_on {
            // The server has left out what happened before this event.
            self.is_doubtful = true;
        }
        if self.behind.is_none() {
            self.tell(event, id);
            return true;
        }
        apply(&mut self.behind, &event);
        let Some(seen) = self.behind.take() else { return false };
        self.catch_up(seen, id)
    }

    /// A look at the task, by the way. Gives whether there is anything new.
    pub(super) fn look(&mut self, task: Task) -> bool {
        if self.told.as_ref().is_some_and(|told| told.id != task.id) {
            return false;
        }
        self.snapshot(task, None, false)
    }

    fn snapshot(&mut self, task: Task, id: Option<String>, may_be_behind: bool) -> bool {
        let is_end = task.status.state.is_terminal();
        self.was_looked_at |= is_end;
        let Some(told) = &self.told else {
            self.tell(StreamResponse::Task(task), id);
            return true;
        };
        if is_end {
            return self.explain(&task, id);
        }
        if may_be_behind {
            return self.catch_up(task, id);
        }
        let (task, _) = newest(told, task);
        self.explain(&task, id)
    }

    /// Tells what is new in the task as the server tells it now, which may still be behind what was told.
    fn catch_up(&mut self, seen: Task, id: Option<String>) -> bool {
        let Some(told) = &self.told else { return false };
        let (ahead, is_behind) = newest(told, seen.clone());
        // An event that stands both in the look and behind it cannot be told from one that came twice.
        self.is_doubtful = true;
        self.behind = is_behind.then_some(seen);
        self.explain(&ahead, id)
    }

    /// Tells what leads from what was told to this.
    fn explain(&mut self, task: &Task, id: Option<String>) -> bool {
        let events = changes(self.told.as_ref(), task);
        let count = events.len();
        for (place, event) in events.into_iter().enumerate() {
            let id = id.clone().filter(|_| place + 1 == count);
            self.tell(event, id);
        }
        if id.is_some() {
            self.last_id = id;
        }
        count > 0
    }

    /// Tells an event, or keeps it if it ends the task.
    fn tell(&mut self, event: StreamResponse, id: Option<String>) {
        let had_ended = self.has_ended();
        // One without an id cannot be gone on from.
        self.last_id.clone_from(&id);
        if had_ended && matches!(event, StreamResponse::StatusUpdate(_)) {
            return;
        }
        apply(&mut self.told, &event);
        let event = TaskEvent { event, id };
        if !had_ended && self.has_ended() {
            self.last = Some(event);
            return;
        }
        self.ready.push_back(event);
    }

    /// The task to look at before the end is told: where something may have been missed, and where a task is done without
    /// anything to show, as on servers that stream the states alone.
    pub(super) fn wants_a_look(&self) -> Option<TaskId> {
        let told = self.told.as_ref().filter(|_| !self.was_looked_at)?;
        let is_empty = told.status.state == TaskState::Completed
            && told.artifacts.is_empty()
            && told.status.message.is_none();
        (self.is_doubtful || is_empty).then(|| told.id.clone())
    }

    /// Tells the event that ends the task.
    pub(super) fn let_go(&mut self) {
        let Some(mut last) = self.last.take() else { return };
        if let (StreamResponse::Task(task), Some(told)) = (&mut last.event, &self.told) {
            // It is the first one, and so brings everything.
            task.clone_from(told);
            self.ready.clear();
        }
        self.ready.push_back(last);
    }
}
