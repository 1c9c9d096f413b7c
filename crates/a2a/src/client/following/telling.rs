//! Decides which events of a task are reported: every change once, the end last. The task that the events describe has
//! the size limits of this project's own tasks.

use std::collections::VecDeque;

use super::super::fold::{is_of_another, newest};
use super::super::{apply, changes};
use super::recent::Recent;
use crate::client::{ClientError, TaskEvent};
use crate::model::{
    Artifact, MAX_FOREIGN_VALUES, Metadata, StreamResponse, Task, TaskId, TaskState, TaskStatus,
    measure,
};

/// The events reported for a task, and the events to report next.
pub(super) struct Telling {
    /// The task after all events that are reported or wait to be reported.
    told: Option<Task>,
    /// The server's version of the task, while it is older than `told`.
    behind: Option<Task>,
    ready: VecDeque<TaskEvent>,
    /// The event that ends the task, held back until `let_go`.
    last: Option<TaskEvent>,
    /// The status before `last`, and the number of messages in the history before `last`.
    before_last: Option<(TaskStatus, usize)>,
    recent: Recent,
    /// The id of the newest event, if the server sends event ids.
    last_id: Option<String>,
    /// The id from which the present stream was requested to continue.
    went_on_from: Option<String>,
    is_first: bool,
    is_doubtful: bool,
    was_looked_at: bool,
    /// The size of the events that were added since the task was last measured.
    added: Size,
    max: Size,
    /// True if the present stream has left out the events before its first event. The task is then fetched after each
    /// further event.
    leaves_out: bool,
    /// True if a stream with a gap has sent an event since the task was last fetched.
    has_heard: bool,
}

/// The number of bytes of JSON, and of the JSON values in them.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: usize,
    values: usize,
}

impl Size {
    fn exceeds(self, max: Self) -> bool {
        self.bytes > max.bytes || self.values > max.values
    }
}

impl Telling {
    pub(super) fn new(known: Option<Task>, last_id: Option<String>) -> Self {
        Self {
            told: known,
            behind: None,
            ready: VecDeque::new(),
            last: None,
            before_last: None,
            recent: Recent::default(),
            went_on_from: last_id.clone(),
            last_id,
            is_first: true,
            is_doubtful: false,
            was_looked_at: false,
            added: Size::default(),
            max: MAX_SIZE,
            leaves_out: false,
            has_heard: false,
        }
    }

    /// Checks the limits for the size of the known task. The task is measured whenever the events added since the last
    /// measurement exceed a quarter of the limits.
    ///
    /// # Errors
    ///
    /// The exceeded limit.
    pub(super) fn check_size(&mut self) -> Result<(), ClientError> {
        let Size { bytes, values } = self.max;
        let quarter = Size { bytes: bytes / 4, values: values / 4 };
        let Some(told) = self.told.as_ref().filter(|_| self.added.exceeds(quarter)) else {
            return Ok(());
        };
        self.added = Size::default();
        let size = measured(measure(told));
        if size.exceeds(self.max) {
            let reason = format!(
                "the task of the agent holds more than {bytes} bytes or {values} JSON values"
            );
            return Err(ClientError::Unexpected(reason));
        }
        // Adding metadata requires reading the existing metadata as a whole, so it has its own limit.
        let of_artifacts = told.artifacts.iter().map(|Artifact { metadata, .. }| metadata);
        let mut all = of_artifacts.chain([&told.metadata]).flatten();
        if all.any(|metadata: &Metadata| measure(metadata).1 > MAX_FOREIGN_VALUES) {
            let reason = format!(
                "the metadata of the agent's task holds more than {MAX_FOREIGN_VALUES} JSON values"
            );
            return Err(ClientError::Unexpected(reason));
        }
        Ok(())
    }

    /// The task after all events that are reported or wait to be reported.
    pub(super) fn told(&self) -> Option<&Task> {
        self.told.as_ref()
    }

    /// The next event to report.
    pub(super) fn next(&mut self) -> Option<TaskEvent> {
        let is_first_kept =
            matches!(&self.last, Some(TaskEvent { event: StreamResponse::Task(_), .. }));
        if is_first_kept { None } else { self.ready.pop_front() }
    }

    /// The id of the event after which a stream can continue.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Stops using event ids; snapshots are used instead. Returns true if there was an id.
    pub(super) fn forget_numbers(&mut self) -> bool {
        self.last_id.take().is_some()
    }

    /// True if the task has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.told.as_ref().is_some_and(|task| task.status.state.is_terminal())
    }

    /// Called when a stream is open.
    pub(super) fn connected(&mut self) {
        self.is_first = true;
        self.went_on_from.clone_from(&self.last_id);
        self.behind = None;
        (self.leaves_out, self.has_heard) = (false, false);
    }

    /// Records that events may have been missed.
    pub(super) fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    /// Queues a message that the agent returned in place of a task.
    pub(super) fn message(&mut self, message: StreamResponse, id: Option<String>) {
        self.ready.push_back(TaskEvent { event: message, id });
    }

    /// Handles an event of a stream; `data` is a hash of its data. Returns true if the event contains a change.
    pub(super) fn event(&mut self, event: StreamResponse, id: Option<String>, data: u64) -> bool {
        let is_first = std::mem::take(&mut self.is_first);
        if self.told.as_ref().is_some_and(|told| is_of_another(told, &event)) {
            return false;
        }
        if let StreamResponse::Task(task) = event {
            // The event ids may start from the beginning again.
            self.recent.clear();
            self.leaves_out = false;
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
            // The server has left out the events before this event.
            (self.is_doubtful, self.leaves_out) = (true, true);
        }
        if self.leaves_out && !is_end(&event) {
            self.has_heard = true;
            return false;
        }
        if self.behind.is_none() {
            self.tell(event, id);
            return true;
        }
        apply(&mut self.behind, &event);
        let Some(seen) = self.behind.take() else { return false };
        self.catch_up(seen, id)
    }

    /// The task to fetch because a stream with a gap has sent an event; `None` if there is no such event.
    pub(super) fn heard(&mut self) -> Option<TaskId> {
        let told = self.told.as_ref().filter(|_| self.has_heard)?;
        self.has_heard = false;
        Some(told.id.clone())
    }

    /// Handles a fetched snapshot of the task. Returns true if the snapshot contains a change.
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
            let end = self.take_back_end();
            let is_new = self.explain(&task, id);
            self.end_as(end);
            return is_new;
        }
        if may_be_behind {
            return self.catch_up(task, id);
        }
        let (task, _) = newest(told, task);
        self.explain(&task, id)
    }

    /// Removes an end that was not reported yet from the task, and returns the end's event. The additional content of a
    /// snapshot was created before the end, so it is reported first.
    fn take_back_end(&mut self) -> Option<TaskEvent> {
        let (told, (status, count)) = (self.told.as_mut()?, self.before_last.take()?);
        // The event of the end has moved the message of the status before it into the history.
        let id = status.message.as_ref().map(|said| &said.message_id);
        if told.history.get(count).is_some_and(|moved| Some(&moved.message_id) == id) {
            told.history.remove(count);
        }
        told.status = status;
        self.last.take()
    }

    /// Copies the id and metadata of the removed end to the end that the snapshot has added.
    fn end_as(&mut self, before: Option<TaskEvent>) {
        let (Some(last), Some(before)) = (&mut self.last, before) else { return };
        last.id = last.id.take().or(before.id);
        let (StreamResponse::StatusUpdate(last), StreamResponse::StatusUpdate(before)) =
            (&mut last.event, before.event)
        else {
            return;
        };
        let mut members = before.metadata.map(|known| known.members()).unwrap_or_default();
        members.extend(last.metadata.take().map(|added| added.members()).unwrap_or_default());
        last.metadata = (!members.is_empty()).then(|| members.into());
    }

    /// Reports the changes in the server's version of the task, which may be older than the known task.
    fn catch_up(&mut self, seen: Task, id: Option<String>) -> bool {
        let Some(told) = &self.told else { return false };
        let (ahead, is_behind) = newest(told, seen.clone());
        // If an event is contained in the snapshot and also sent after it, the client cannot distinguish it from a
        // repetition.
        self.is_doubtful = true;
        self.behind = is_behind.then_some(seen);
        self.explain(&ahead, id)
    }

    /// Reports the changes between the known task and this version.
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

    /// Queues an event, or holds it back if it ends the task.
    fn tell(&mut self, event: StreamResponse, id: Option<String>) {
        let had_ended = self.has_ended();
        // The stream cannot continue from an event without an id.
        self.last_id.clone_from(&id);
        if had_ended && matches!(event, StreamResponse::StatusUpdate(_)) {
            return;
        }
        let Size { bytes, values } = measured(measure(&event));
        self.added.bytes = self.added.bytes.saturating_add(bytes);
        self.added.values = self.added.values.saturating_add(values);
        let known = self.told.as_ref().filter(|_| is_end(&event));
        let before = known.map(|told| (told.status.clone(), told.history.len()));
        apply(&mut self.told, &event);
        let event = TaskEvent { event, id };
        if !had_ended && self.has_ended() {
            (self.last, self.before_last) = (Some(event), before);
            return;
        }
        self.ready.push_back(event);
    }

    /// The task to fetch before the end is reported: events may have been missed, or the task is completed without any
    /// content, as on servers that stream only the states.
    pub(super) fn wants_a_look(&self) -> Option<TaskId> {
        let told = self.told.as_ref().filter(|_| !self.was_looked_at)?;
        let is_empty = told.status.state == TaskState::Completed
            && told.artifacts.is_empty()
            && told.status.message.is_none();
        (self.is_doubtful || is_empty).then(|| told.id.clone())
    }

    /// Queues the event that ends the task.
    pub(super) fn let_go(&mut self) {
        let Some(mut last) = self.last.take() else { return };
        if let (StreamResponse::Task(task), Some(told)) = (&mut last.event, &self.told) {
            // The event is the first one, so it must contain the whole task.
            task.clone_from(told);
            self.ready.clear();
        }
        self.ready.push_back(last);
    }
}

/// True if this event ends the task.
fn is_end(event: &StreamResponse) -> bool {
    matches!(event, StreamResponse::StatusUpdate(event) if event.status.state.is_terminal())
}

fn measured((bytes, values): (usize, usize)) -> Size {
    Size { bytes, values }
}

/// The size limit of a followed task: the default limit of this project's own tasks.
const MAX_SIZE: Size = Size { bytes: 32 * 1024 * 1024, values: 10 * MAX_FOREIGN_VALUES };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decode::read_json;

    const STARTED: &str =
        r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#;

    fn artifact(members: &str) -> String {
        format!(
            r#"{{"artifactUpdate":{{"taskId":"t","contextId":"c",{members},"artifact":{{"artifactId":"a","parts":[{{"text":"{}"}}]}}}}}}"#,
            "x".repeat(50)
        )
    }

    /// The number of these events, out of 1,000, that are accepted before a limit is exceeded.
    fn told(event: &str, max: Size) -> Result<usize, String> {
        let mut telling = Telling { max, ..Telling::new(None, None) };
        let read = |text: &str| read_json::<StreamResponse>(text).expect("an event");
        telling.event(read(STARTED), None, 0);
        for count in 1..=1_000 {
            telling.event(read(event), None, count);
            telling.check_size().map_err(|error| format!("{count}: {error}"))?;
            while telling.next().is_some() {}
        }
        Ok(1_000)
    }

    #[test]
    fn what_events_add_up_to_has_a_bound() {
        let many = usize::MAX;
        let appended = artifact("\"append\":true");
        let by_bytes = told(&appended, Size { bytes: 10_000, values: many }).unwrap_err();
        assert!(
            by_bytes.ends_with("holds more than 10000 bytes or 18446744073709551615 JSON values")
        );
        let by_values = told(&appended, Size { bytes: many, values: 1_000 }).unwrap_err();
        let count: usize = by_values.split_once(':').expect("a count").0.parse().expect("a number");
        // A part consists of three values: an object, a name and a text.
        assert!((333..333 + 1_000 / 4).contains(&count), "{by_values}");
    }

    #[test]
    fn what_events_replace_does_not_add_up() {
        let tight = Size { bytes: 1_000, values: 100 };
        assert_eq!(told(&artifact("\"append\":false"), tight), Ok(1_000));
        let status = r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#;
        assert_eq!(told(status, tight), Ok(1_000));
        let said = |number: usize| {
            format!(
                r#"{{"statusUpdate":{{"taskId":"t","contextId":"c","status":{{"state":"TASK_STATE_WORKING","message":{{"messageId":"m{number}","role":"ROLE_AGENT","parts":[{{"text":"hm"}}]}}}}}}}}"#
            )
        };
        assert_eq!(told(&said(1), tight), Ok(1_000));
    }
}
