//! The storage of one task.

use std::fmt;

use futures_util::future::LocalBoxFuture;

use super::{Counted, Indexed};

/// Where one task keeps its facts and its event log. Writes are synchronous, and nothing leaves the
/// object before they are durable.
pub trait TaskStore {
    /// The facts and the batches of the log, oldest first. Of a task whose facts `admits` does not take nothing else is
    /// read. Writes nothing.
    ///
    /// # Errors
    ///
    /// When the storage fails or holds what this version cannot read.
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError>;

    /// The batches that hold events after the generation `after`, oldest first, as many as fit about
    /// `max_bytes` but at least one; and whether there are more.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn read_after(&self, after: u64, max_bytes: usize) -> Result<(Vec<Batch>, bool), StoreError>;

    /// The batches of the log in one direction from a row, as many as fit about `max_bytes` but at least one, with their
    /// times; and whether there are more.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError>;

    /// The lines that begin in this row, `bytes` of them at least as far as there are so many.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn read_lines(&self, row: u64, bytes: usize) -> Result<String, StoreError>;

    /// Appends a batch; with `opening`, the first one, that is written as well. All or nothing. Gives the number of rows.
    ///
    /// # Errors
    ///
    /// When the storage fails; nothing was written then.
    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError>;

    /// Notes how far the index has followed.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError>;

    /// Notes up to which turn what was used is counted.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn set_counted(&self, counted: Counted) -> Result<(), StoreError>;

    /// Keeps a webhook, in place of one of the same id.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError>;

    /// Deletes a webhook, if it is there.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn delete_webhook(&self, id: &str) -> Result<(), StoreError>;

    /// Keeps the sealed credentials of the turn under way, in place of others; without any, deletes those there are.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError>;

    /// Deletes all that is stored, the alarm included.
    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>>;
}

/// What is known of a task from its first moment on and never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFacts {
    /// The agent that has it.
    pub agent: String,
    /// Whose it is: the id of the caller who began it, or the group of that caller (`Caller::owner`).
    pub owner: String,
    /// What tells the message that began it from others, if the send was idempotent.
    pub fingerprint: Option<String>,
}

/// What is stored with the first batch of a task.
#[derive(Clone, Copy, Debug)]
pub struct FirstRow<'a> {
    /// The facts of the task.
    pub facts: &'a TaskFacts,
    /// How far the index has followed it, or will have when anybody asks.
    pub indexed: Indexed,
}

/// Log entries that became visible together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The generation of the task after these entries.
    pub generation: u64,
    /// What each entry means for those who follow the task, a character each (`session::frame`).
    pub marks: String,
    /// When each entry was appended, in milliseconds: the first since 1970, the others since the one before, with spaces
    /// between them. Empty in logs of older versions, and where nobody asked for the times.
    pub times: String,
    /// The entries as 1.0 JSON, a line each; in storage with places instead of contents that stand in it before.
    pub lines: String,
}

/// Where a reading of the log begins, and its direction. Rows are numbered from 1; a batch has the number of its first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRange {
    /// The batches from this row on, oldest first.
    From(u64),
    /// The batches up to the one of this row, newest first.
    UpTo(u64),
}

/// A batch, and where it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// Its first row.
    pub row: u64,
    /// How many rows it takes.
    pub rows: u64,
    /// What it holds.
    pub batch: Batch,
}

/// What storage gives of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// There is none.
    Nothing,
    /// There is one, which the one who asks may not see.
    Withheld,
    /// The task.
    Task(StoredTask),
}

/// What storage holds of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTask {
    /// Its facts.
    pub facts: TaskFacts,
    /// How far the index has followed it.
    pub indexed: Indexed,
    /// Up to which turn what was used is counted.
    pub counted: Counted,
    /// Its log, oldest first.
    pub log: Vec<LogRow>,
    /// Its webhooks as JSON, in the order of their registration.
    pub webhooks: Vec<String>,
    /// The sealed credentials of the turn under way, as JSON.
    pub credentials: Option<String>,
}

/// Storage did not give what it was asked. The texts are for the log, not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// It did not do what it was asked.
    Failed(String),
    /// It holds what this version cannot read, but another one may.
    Unreadable(String),
}

impl StoreError {
    /// What went wrong.
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
