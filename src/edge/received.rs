//! What the agents received, for tests: `GET` and `DELETE /_dev/received`, in development only.
//!
//! Kept in the memory of the instance, the newest [`CAPACITY`] of each; a restart forgets it.

use std::cell::RefCell;
use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::model::{Message, TaskId};

/// Notes a message that an agent is about to handle.
pub(super) fn note_message(agent: &str, task: &TaskId, message: &Message) {
    note(
        |log| &mut log.messages,
        json!({"agent": agent, "taskId": task, "text": message.text(), "message": message}),
    );
}

/// Notes a task that was canceled.
pub(super) fn note_canceled(agent: &str, id: &TaskId) {
    note(|log| &mut log.canceled, json!({"agent": agent, "taskId": id}));
}

/// Everything noted, oldest first: `{"messages": [...], "canceled": [...]}`.
pub(super) fn all() -> Value {
    LOG.with_borrow(|log| json!({"messages": log.messages, "canceled": log.canceled}))
}

/// Forgets everything.
pub(super) fn clear() {
    LOG.with_borrow_mut(|log| *log = Log::default());
}

#[derive(Default)]
struct Log {
    messages: VecDeque<Value>,
    canceled: VecDeque<Value>,
}

fn note(list: impl FnOnce(&mut Log) -> &mut VecDeque<Value>, entry: Value) {
    LOG.with_borrow_mut(|log| {
        let list = list(log);
        list.push_back(entry);
        if list.len() > CAPACITY {
            list.pop_front();
        }
    });
}

/// How many messages and how many canceled tasks are remembered.
const CAPACITY: usize = 1_000;

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}
