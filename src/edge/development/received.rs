//! What the agents received, for tests: `GET` and `DELETE /_dev/received`, in development only.
//!
//! Kept in the memory of the instance, the newest of each; a restart forgets it.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::recent::Recent;
use crate::port::Observation;

/// Notes a message that an agent is given, or a task that was canceled; this list leaves out any other observation.
pub(in crate::edge) fn note(observation: &Observation<'_>) {
    if let Observation::MessageReceived { agent, task, message } = observation {
        let text = message.text();
        let entry = json!({"agent": agent, "taskId": task, "text": text, "message": message});
        LOG.with_borrow_mut(|log| log.messages.push(entry));
    }
    if let Observation::TaskCanceled { agent, task } = observation {
        let entry = json!({"agent": agent, "taskId": task});
        LOG.with_borrow_mut(|log| log.canceled.push(entry));
    }
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
