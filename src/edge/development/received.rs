//! What the agents received, for tests: `GET` and `DELETE /_dev/received`, in development only.
//!
//! Kept in the memory of the instance, the newest of each; a restart forgets it.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::recent::Recent;
use a2a::model::{Message, TaskId};

/// Notes a message that an agent is about to handle.
pub(in crate::edge) fn note_message(agent: &str, task: &TaskId, message: &Message) {
    let entry = json!({"agent": agent, "taskId": task, "text": message.text(), "message": message});
    LOG.with_borrow_mut(|log| log.messages.push(entry));
}

/// Notes a task that was canceled.
pub(in crate::edge) fn note_canceled(agent: &str, id: &TaskId) {
    let entry = json!({"agent": agent, "taskId": id});
    LOG.with_borrow_mut(|log| log.canceled.push(entry));
}

/// Everything noted, oldest first: `{"messages": [...], "canceled": [...]}`.
pub(in crate::edge) fn all() -> Value {
    LOG.with_borrow(|log| json!({"messages": log.messages, "canceled": log.canceled}))
}

/// Forgets everything.
pub(in crate::edge) fn clear() {
    LOG.with_borrow_mut(|log| *log = Log::default());
}

#[derive(Default)]
struct Log {
    messages: Recent,
    canceled: Recent,
}

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}
