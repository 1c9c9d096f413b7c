//! What a task asks of the outside: storage for its log, a place in the index, and time, timers,
//! background work and identifiers. `edge` gives it on Cloudflare, [`memory`] in tests.

mod http;
mod index;
pub mod memory;

use std::fmt;

use futures_util::future::LocalBoxFuture;
use serde::Serialize;

pub use http::{HttpAnswer, HttpRequest};
pub use index::{IndexRow, Indexed, TaskIndex};

use crate::format;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Message, TaskId, UnixMillis};
use a2a_agents::tool::Counters;

/// Where one task keeps its facts and its event log. Writes are synchronous, and nothing leaves the
/// object before they are durable.
pub trait TaskStore {
    /// The facts and the batches of the log, oldest first; `None` if there is no task. Writes nothing.
    ///
    /// # Errors
    ///
    /// When the storage fails or holds what this version cannot read.
    fn load(&self) -> Result<Option<StoredTask>, StoreError>;

    /// The batches that hold events after the generation `after`, oldest first, as many as fit about
    /// `max_bytes` but at least one; and whether there are more.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn read_after(&self, after: u64, max_bytes: usize) -> Result<(Vec<Batch>, bool), StoreError>;

    /// Appends a batch; with `opening`, the first one, the facts are written as well. All or nothing.
    ///
    /// # Errors
    ///
    /// When the storage fails; nothing was written then.
    fn append(&self, opening: Option<&TaskFacts>, batch: &Batch) -> Result<(), StoreError>;

    /// Notes how far the index has followed.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError>;

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

    /// Deletes all that is stored, the alarm included.
    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>>;
}

/// What is known of a task from its first moment on and never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFacts {
    /// The agent that has it.
    pub agent: String,
    /// The id of the caller to whom alone it is visible.
    pub owner: String,
    /// What tells the message that began it from others, if the send was idempotent.
    pub fingerprint: Option<String>,
}

/// Log entries that became visible together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The generation of the task after these entries.
    pub generation: u64,
    /// What each entry means for those who follow the task, a character each (`operation::frame`).
    pub marks: String,
    /// The entries as 1.0 JSON, a line each.
    pub lines: String,
}

/// What storage holds of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTask {
    /// Its facts.
    pub facts: TaskFacts,
    /// How far the index has followed it.
    pub indexed: Indexed,
    /// Its log, oldest first.
    pub log: Vec<Batch>,
    /// Its webhooks as JSON, in the order of their registration.
    pub webhooks: Vec<String>,
}

/// What the queue of notifications holds: a webhook that is owed something. Never what it is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookJob {
    /// The agent that has the task.
    pub agent: String,
    /// The task.
    pub task: TaskId,
    /// The webhook.
    pub config_id: String,
}

impl Decode for WebhookJob {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::JOB.check(fields)?;
        let task = TaskId::new(fields.required_string("task")?);
        let agent = fields.required_string("agent")?;
        Some(Self { agent, task, config_id: fields.required_string("configId")? })
    }
}

/// Storage did not give what it was asked. The texts are for the log, not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// It did not do what it was asked.
    Failed(String),
    /// It holds what this version cannot read, but another one may.
    Unreadable(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) | Self::Unreadable(text) => out.write_str(text),
        }
    }
}

impl std::error::Error for StoreError {}

/// Time, timers, background work, identifiers, counters, other servers and the index.
pub trait Platform {
    /// The present instant. On Cloudflare it advances only while waiting.
    fn now(&self) -> UnixMillis;

    /// Wakes the task at this instant or later, even if it is not in memory then. Replaces an
    /// earlier alarm. Takes effect together with the writes around it.
    fn set_alarm(&self, at: UnixMillis);

    /// Completes after `millis` milliseconds; dropping it cancels the timer.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;

    /// Runs a future to its end, whether or not the present request goes on.
    fn spawn(&self, future: LocalBoxFuture<'static, ()>);

    /// A new random id (UUID v4).
    fn new_id(&self) -> String;

    /// Numbers that outlive the task, for tools.
    fn counters(&self) -> &dyn Counters;

    /// Sends a frame, made only if anybody follows the task, to all who do. With `is_over` it is the
    /// last one, and they are let go.
    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool);

    /// Sends a request to another server.
    fn fetch(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, String>>;

    /// Puts a job into the queue of notifications, once what was written before is durable.
    fn enqueue(&self, job: WebhookJob) -> LocalBoxFuture<'static, Result<(), String>>;

    /// Random bytes that nobody can guess, at least 240 bits of them.
    fn secret_bytes(&self) -> [u8; 32];

    /// A random number from 0 to 1.
    fn random(&self) -> f64;

    /// The index of tasks.
    fn index(&self) -> &dyn TaskIndex;

    /// Completes when everything written so far is durable.
    fn sync(&self) -> LocalBoxFuture<'static, ()>;

    /// Notes, for tests and development, that an agent is given a message.
    fn note_message(&self, agent: &str, task: &TaskId, message: &Message);

    /// Writes a line to the log for operators.
    fn log_error(&self, text: &str);
}
