//! What the agents received, for tests: `GET` and `DELETE /_dev/received`, in development only.
//!
//! Kept in the memory of the instance, the newest of each; a restart forgets it.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::recent::Recent;
use crate::port::Observation;

/// Notes a message that an agent is given, or a task that was canceled; this list leaves out any other observation. A
/// message has the headers of the request that brought it.
pub(in crate::edge) fn note(observation: &Observation<'_>) {
    if let Observation::MessageReceived { agent, task, message } = observation {
        let text = message.text();
        LOG.with_borrow_mut(|log| {
            let brought = log.requests.newest(|request| {
                let is = |name, text: &str| request.get(name).is_some_and(|it| it == text);
                is("agent", agent) && is("messageId", &message.message_id)
            });
            let headers = brought.and_then(|request| request.get("headers"));
            log.messages
                .push(json!({"agent": agent, "taskId": task, "text": text, "headers": headers,
                "message": message}));
        });
    }
    if let Observation::TaskCanceled { agent, task } = observation {
        let entry = json!({"agent": agent, "taskId": task});
        LOG.with_borrow_mut(|log| log.canceled.push(entry));
    }
}

/// Notes a request as it came in, with the slug of its `agent`, its `headers` and the `messageId`, if it brings one.
pub(in crate::edge) fn note_request(entry: Value) {
    LOG.with_borrow_mut(|log| log.requests.push(entry));
}

/// Everything noted, oldest first: `{"messages": [...], "canceled": [...], "requests": [...]}`.
pub(in crate::edge) fn all() -> Value {
    LOG.with_borrow(
        |log| json!({"messages": log.messages, "canceled": log.canceled, "requests": log.requests}),
    )
}

/// Forgets everything.
pub(in crate::edge) fn clear() {
    LOG.with_borrow_mut(|log| *log = Log::default());
}

#[derive(Default)]
struct Log {
    messages: Recent,
    canceled: Recent,
    requests: Recent,
}

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}
