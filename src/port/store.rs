//! The storage of one task.

use a2a::model::Generation;
use std::fmt;

use futures_util::future::LocalBoxFuture;

use super::{Counted, Indexed};

/// The storage of one task: its facts and its log. Writes are synchronous, and no answer and no request leaves the object before
/// the writes are durable.
pub trait TaskStore {
    /// Reads the facts and, if `admits` returns true for them, the batches of the log, oldest first, and all other stored data.
    /// Writes nothing.
    ///
    /// # Errors
    ///
    /// If the storage fails or contains data that this version cannot read.
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError>;

    /// The batches with events after the generation `after`, oldest first, up to about `max_bytes` but at least one; and true if
    /// there are more.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn read_after(
        &self,
        after: Generation,
        max_bytes: usize,
    ) -> Result<(Vec<Batch>, bool), StoreError>;

    /// The batches of the log in one direction from a row, with their times, up to about `max_bytes` but at least one; and true
    /// if there are more.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError>;

    /// The lines from this row on: at least `bytes` bytes, or all lines if they are shorter.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn read_lines(&self, row: u64, bytes: usize) -> Result<String, StoreError>;

    /// Appends a batch in one transaction; the first batch has an `opening`. Returns the number of rows.
    ///
    /// # Errors
    ///
    /// If the storage fails; nothing was written then.
    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError>;

    /// Stores the progress of the index.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError>;

    /// Stores the turn up to which usage is counted.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn set_counted(&self, counted: Counted) -> Result<(), StoreError>;

    /// Stores a webhook; replaces one with the same id.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError>;

    /// Deletes the webhook with this id, if there is one.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn delete_webhook(&self, id: &str) -> Result<(), StoreError>;

    /// Stores the encrypted credentials of the current turn; with `None`, deletes them.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError>;

    /// Replaces all stored data by the remains of a deleted task, in one transaction; the alarm stays.
    ///
    /// # Errors
    ///
    /// If the storage fails; nothing was changed then.
    fn bury(&self, opening: FirstRow<'_>, remains: &Batch) -> Result<(), StoreError>;

    /// Deletes all stored data, and the alarm.
    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>>;
}

/// The facts of a task, which never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFacts {
    /// The agent that has the task.
    pub agent: String,
    /// The owner: the id of the caller who began the task, or that caller's group (`Caller::owner`).
    pub owner: String,
    /// A hash of the message that began the task, if the send had an `Idempotency-Key`.
    pub fingerprint: Option<String>,
}

/// The data in the first row of a log in addition to the batch.
#[derive(Clone, Copy, Debug)]
pub struct FirstRow<'a> {
    /// The facts of the task.
    pub facts: &'a TaskFacts,
    /// The progress of the index, possibly written before the index has the row (`session::unannounced`).
    pub indexed: Indexed,
}

/// Log entries that are stored together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The generation of the task after these entries.
    pub generation: Generation,
    /// The mark of each entry for followers, one character per entry (`session/journal/mark.rs`).
    pub marks: String,
    /// The instants at which the entries were appended, in milliseconds, separated by spaces: the first since 1970, the others
    /// since the previous entry. Empty if the times were not read.
    pub times: String,
    /// The entries as 1.0 JSON, one per line; in storage, repeated contents are replaced by references.
    pub lines: String,
}

/// The first row and the direction of a read of the log. Rows are numbered from 1; a batch has the number of its first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRange {
    /// The batches from this row on, oldest first.
    From(u64),
    /// The batches up to the batch of this row, newest first.
    UpTo(u64),
}

/// A batch with its position in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The number of the batch's first row.
    pub row: u64,
    /// The number of rows of the batch.
    pub rows: u64,
    /// The batch.
    pub batch: Batch,
}

/// The result of reading a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Storage has no task.
    Nothing,
    /// Storage has a task that the visitor must not see.
    Withheld,
    /// The task.
    Task(StoredTask),
}

/// A stored task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTask {
    /// The facts of the task.
    pub facts: TaskFacts,
    /// The progress of the index.
    pub indexed: Indexed,
    /// The turn up to which usage is counted.
    pub counted: Counted,
    /// The log of the task, oldest first.
    pub log: Vec<LogRow>,
    /// The webhooks of the task as JSON, in the order of their registration.
    pub webhooks: Vec<String>,
    /// The encrypted credentials of the current turn, as JSON.
    pub credentials: Option<String>,
}

/// A failure of storage. The text is for the log of the Worker, not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The operation failed.
    Failed(String),
    /// The stored data has a form that this version cannot read; another version may read it.
    Unreadable(String),
}

impl StoreError {
    /// The text.
    pub fn reason(&self) -> &str {
        match self {
            Self::Failed(reason) | Self::Unreadable(reason) => reason,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.reason())
    }
}

impl std::error::Error for StoreError {}
