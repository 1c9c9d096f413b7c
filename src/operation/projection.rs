//! What a task owes to the index: a row as new as its status. Paid in the background, never waited for
//! by the task itself; what could not be paid stays owed and is retried.

use std::cell::Cell;
use std::rc::Rc;

use futures_util::future::{Either, select};
use tokio::sync::Notify;

use super::TaskSession;
use crate::executor::TurnHost;
use crate::port::{IndexRow, Indexed, Observation};
use crate::task::TaskMachine;
use a2a::model::{
    HistoryLimit, Message, Task, TaskStatus, TaskView, UnixMillis, doubled, encode, measure,
};

/// How far the index has followed the task, and who is at it.
pub(super) struct Projection {
    indexed: Cell<Indexed>,
    is_paying: Cell<bool>,
    retry_at: Cell<Option<UnixMillis>>,
    /// When deleting the finished task is tried again, and how often it has failed.
    delete_at: Cell<Option<UnixMillis>>,
    delete_failures: Cell<u32>,
    paid: Notify,
}

impl Projection {
    pub(super) fn new(indexed: Indexed) -> Self {
        Self {
            indexed: Cell::new(indexed),
            is_paying: Cell::new(false),
            retry_at: Cell::new(None),
            delete_at: Cell::new(None),
            delete_failures: Cell::new(0),
            paid: Notify::new(),
        }
    }

    /// When writing to the index is tried again, if it has failed.
    pub(super) fn retry_at(&self) -> Option<UnixMillis> {
        self.retry_at.get()
    }
}

impl TaskSession {
    /// Lets the index follow, if it is behind, nobody is at it, and no retry is set for later.
    pub(super) fn project(&self) {
        let projection = self.projection();
        let waits = projection.retry_at.get().is_some_and(|at| at > self.ports().clock.now());
        if waits || self.is_broken() || !self.owes(self.status_generation()) {
            return;
        }
        if let Some(session) = self.me()
            && !projection.is_paying.replace(true)
        {
            self.ports().runtime.spawn(Box::pin(pay(session)));
        }
    }

    /// The alarm has fired: does what is due, waits for it, and sets the next one.
    pub async fn wake(&self) {
        self.deadlines().borrow_mut().disarm();
        let now = self.ports().clock.now();
        let projection = self.projection();
        if projection.retry_at.get().is_some_and(|at| at <= now) {
            projection.retry_at.set(None);
        }
        self.project();
        self.poke();
        while projection.is_paying.get() {
            projection.paid.notified().await;
        }
        if self.keep_until().is_some_and(|until| until <= self.ports().clock.now()) {
            self.delete().await;
        }
        self.arm();
    }

    /// When the task is to be deleted: once it is finished and was kept for as long as it is to be.
    pub(super) fn keep_until(&self) -> Option<UnixMillis> {
        let retention = i64::try_from(self.limits().retention_ms).unwrap_or(i64::MAX);
        let ended = self.with_task(|task| {
            let is_over = task.status.state.is_terminal();
            is_over.then(|| task.status.timestamp.unwrap_or(UnixMillis(0)))
        });
        let until = UnixMillis(ended.flatten()?.0.saturating_add(retention));
        let until = self.projection().delete_at.get().map_or(until, |retry| retry.max(until));
        (retention > 0).then_some(until)
    }

    /// Deletes a finished task from the index and from storage, and says whether it is gone. What fails is
    /// tried again later; a task that is not finished stays. Of one that is gone already, the row goes.
    pub async fn delete(&self) -> bool {
        if (self.exists() && !self.is_over()) || self.is_broken() {
            return false;
        }
        let removed = select(self.ports().index.remove(self.id()), self.sleep(STATEMENT_LIMIT_MS));
        let removed = match removed.await {
            Either::Left((removed, _)) => removed,
            Either::Right(_) => Err(no_answer()),
        };
        let deleted = match removed {
            Ok(()) if !self.exists() => return true,
            Ok(()) => self.store().clear().await.map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        match deleted {
            Ok(()) => self.close(),
            Err(reason) => self.delete_later(&reason),
        }
        self.is_broken()
    }

    fn delete_later(&self, reason: &str) {
        let projection = self.projection();
        let failures = projection.delete_failures.get().saturating_add(1);
        projection.delete_failures.set(failures);
        let retry_ms = retry_delay_ms(failures);
        projection.delete_at.set(Some(self.ports().clock.now().after(retry_ms)));
        let task = self.id();
        self.observe(&Observation::DeletionPostponed { task, failures, retry_ms, reason });
    }

    /// Whether the index is behind the task's status.
    pub(super) fn owes_index(&self) -> bool {
        self.owes(self.status_generation())
    }

    /// Waits until listing shows the task as it stands now: for [`index_wait_ms`] at most, and not at
    /// all for an index that is known to be down.
    ///
    /// [`index_wait_ms`]: crate::config::Limits::index_wait_ms
    pub async fn until_indexed(&self) {
        let wanted = self.status_generation();
        let mut limit = self.sleep(self.limits().index_wait_ms);
        while self.owes(wanted) && self.projection().is_paying.get() {
            match select(Box::pin(self.projection().paid.notified()), limit).await {
                Either::Left(((), rest)) => limit = rest,
                Either::Right(_) => return,
            }
        }
    }

    /// The generation that a row must have to show the present status.
    fn status_generation(&self) -> u64 {
        self.with_machine(TaskMachine::status_generation).unwrap_or(0)
    }

    fn owes(&self, generation: u64) -> bool {
        self.projection().indexed.get().generation < generation
    }

    /// Waits for more to put into the same row, unless the task has come to rest.
    async fn gather(&self) {
        let mut limit = self.sleep(GATHER_MS);
        while !self.is_settled() {
            match select(self.changed(), limit).await {
                Either::Left(((), rest)) => limit = rest,
                Either::Right(_) => return,
            }
        }
    }

    async fn write_row(&self, row: IndexRow) -> Result<(), String> {
        let generation = row.generation;
        match select(self.ports().index.upsert(row), self.sleep(STATEMENT_LIMIT_MS)).await {
            Either::Left((written, _)) => written?,
            Either::Right(_) => return Err(no_answer()),
        }
        // If this is lost the row is written once more, which does no harm.
        self.note(Indexed { generation, failures: 0 });
        self.arm();
        Ok(())
    }

    fn retry_later(&self, reason: &str) {
        let indexed = self.projection().indexed.get();
        let failures = indexed.failures.saturating_add(1);
        let retry_ms = retry_delay_ms(failures);
        let at = self.ports().clock.now().after(retry_ms);
        let task = self.id();
        self.observe(&Observation::IndexBehind { task, failures, retry_ms, reason });
        self.note(Indexed { failures, ..indexed });
        self.projection().retry_at.set(Some(at));
        self.arm();
    }

    fn note(&self, indexed: Indexed) {
        self.projection().indexed.set(indexed);
        if let Err(error) = self.store().set_indexed(indexed) {
            let (task, reason) = (self.id(), error.reason());
            self.observe(&Observation::StoringFailed { task, reason });
        }
    }

    /// The row of the task as it stands.
    fn index_row(&self) -> Option<IndexRow> {
        let facts = self.facts()?;
        let generation = self.generation();
        self.with_task(|task| IndexRow {
            id: task.id.clone(),
            agent: facts.agent,
            owner: facts.owner,
            context_id: task.context_id.clone(),
            state: task.status.state,
            status_ms: task.status.timestamp.unwrap_or(UnixMillis(0)),
            generation,
            head: head(task),
            history: newest(&task.history),
        })
    }
}

/// Writes rows until nothing is owed, or a row cannot be written now.
async fn pay(session: Rc<TaskSession>) {
    while session.owes(session.status_generation()) {
        session.gather().await;
        // A session that storage failed is ahead of its rows; the one opened next knows the debt.
        if session.is_broken() || session.flush().is_err() {
            break;
        }
        let Some(row) = session.index_row() else { break };
        if let Err(reason) = session.write_row(row).await {
            session.retry_later(&reason);
            break;
        }
        session.projection().paid.notify_waiters();
    }
    session.projection().is_paying.set(false);
    session.projection().paid.notify_waiters();
}

fn no_answer() -> String {
    format!("no answer within {STATEMENT_LIMIT_MS} ms")
}

/// The task without history and artifacts; of one too large, without metadata and status message.
fn head(task: &Task) -> String {
    let view = |task| TaskView { artifacts: false, ..Task::view(task, HistoryLimit::Newest(0)) };
    // The model has no map with keys other than strings, so encoding cannot fail.
    let encoded = |task| encode(&view(task)).unwrap_or_default();
    if measure(&view(task)).0 <= MAX_HEAD_BYTES {
        return encoded(task);
    }
    encoded(&Task {
        id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: TaskStatus { message: None, ..task.status.clone() },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    })
}

/// As many of the newest messages as fit, a line of JSON each, oldest first.
fn newest(history: &[Message]) -> String {
    let mut size = 0;
    // Measured first: the text of a large message is not made for nothing.
    let fitting = history.iter().rev().take_while(|message| {
        size += measure(message).0 + 1;
        size <= MAX_HISTORY_BYTES
    });
    let mut lines: Vec<String> = fitting.filter_map(|message| encode(message).ok()).collect();
    lines.reverse();
    lines.join("\n")
}

/// How long to wait before the next attempt after this many have failed, in milliseconds.
fn retry_delay_ms(failures: u32) -> u64 {
    doubled(1_000, failures, MAX_RETRY_DELAY_MS)
}

/// How long changes of a task at work are gathered into one row, in milliseconds.
const GATHER_MS: u64 = 300;

/// How long a statement may go unanswered before it counts as failed, in milliseconds. It may still
/// take effect: rows are guarded by generation.
const STATEMENT_LIMIT_MS: u64 = 10_000;

/// The longest time between two attempts: 5 minutes, in milliseconds.
const MAX_RETRY_DELAY_MS: u64 = 300_000;

/// The largest head of a row. A page holds up to 100 rows and is in memory as a whole.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The largest history of a row; messages beyond it are found with GetTask.
const MAX_HISTORY_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task(message_bytes: usize) -> Task {
        let text = "x".repeat(message_bytes);
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
        serde_json::from_value(json!({
            "id": "t", "contextId": "c",
            "status": {"state": "TASK_STATE_WORKING", "message": message},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "x"}]}],
            "history": [message, message],
            "metadata": {"key": "value"},
        }))
        .unwrap()
    }

    #[test]
    fn a_head_has_neither_history_nor_artifacts() {
        let head: Value = serde_json::from_str(&head(&task(5))).unwrap();
        let members: Vec<&String> = head.as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "contextId", "status", "metadata"]);
        assert_eq!(head["status"]["message"]["parts"][0]["text"], "xxxxx");
    }

    #[test]
    fn a_head_that_is_too_large_keeps_what_identifies_the_task() {
        let head: Value = serde_json::from_str(&head(&task(MAX_HEAD_BYTES))).unwrap();
        let state = json!({"state": "TASK_STATE_WORKING"});
        assert_eq!(head, json!({"id": "t", "contextId": "c", "status": state}));
    }

    #[test]
    fn the_newest_messages_that_fit_are_kept_in_their_order() {
        let message = |id: usize, bytes: usize| Message {
            message_id: id.to_string(),
            ..serde_json::from_value(json!({
                "messageId": "m", "role": 1, "parts": [{"text": "\n".repeat(bytes)}],
            }))
            .unwrap()
        };
        let ids = |history: &[Message]| {
            let lines = newest(history);
            let read = lines.lines().map(|line| serde_json::from_str::<Message>(line).unwrap());
            read.map(|message| message.message_id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&[]), Vec::<String>::new());
        assert_eq!(ids(&[message(1, 10), message(2, 10)]), ["1", "2"]);
        // A line break is two bytes in JSON.
        let quarter = MAX_HISTORY_BYTES / 8;
        let long: Vec<Message> = (1..=5).map(|id| message(id, quarter)).collect();
        assert_eq!(ids(&long), ["3", "4", "5"]);
        assert_eq!(ids(&[message(1, 1), message(2, MAX_HISTORY_BYTES)]), Vec::<String>::new());
    }

    #[test]
    fn retries_come_less_and_less_often() {
        let delays: Vec<u64> = [1, 2, 3, 9, 10, 100, u32::MAX].map(retry_delay_ms).into();
        assert_eq!(delays, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000, 300_000]);
    }
}
