//! The row of the index that shows a task.

use crate::port::{IndexRow, TaskFacts};
use crate::task::{FAILED_STEPS, TaskMachine, set_member};
use serde_json::Value;

use a2a::model::{HistoryLimit, Message, Task, TaskStatus, TaskView, encode, measure};

/// The row for the present state of a task, without what the task itself does not know: the instants of the statuses that the index may
/// show, the size of the log, and the place in the quotas of the caller.
pub(super) fn row_of(machine: &TaskMachine, facts: TaskFacts) -> IndexRow {
    let task = machine.task();
    let status_ms = task.status.instant();
    let created = machine.created().unwrap_or(status_ms);
    let duration_ms = u64::try_from(status_ms.0.saturating_sub(created.0)).unwrap_or(0);
    IndexRow {
        id: task.id.clone(),
        agent: facts.agent,
        owner: facts.owner,
        context_id: task.context_id.clone(),
        state: task.status.state,
        status_ms,
        earlier: Vec::new(),
        duration_ms: task.status.state.is_terminal().then_some(duration_ms),
        generation: machine.generation(),
        head: head(task),
        history: newest(&task.history),
        bytes: 0,
        takes_place: false,
    }
}

/// The task without history and artifacts. A head above [`MAX_HEAD_BYTES`] also loses the status message and the metadata, except for
/// the number of failed steps.
fn head(task: &Task) -> String {
    let view = |task| TaskView { artifacts: false, ..Task::view(task, HistoryLimit::Newest(0)) };
    // The model has no map with keys other than strings, so encoding cannot fail.
    let encoded = |task| encode(&view(task)).unwrap_or_default();
    if measure(&view(task)).0 <= MAX_HEAD_BYTES {
        return encoded(task);
    }
    let mut metadata = None;
    let failed = task.metadata.as_ref().and_then(|known| known.member(FAILED_STEPS));
    set_member(&mut metadata, FAILED_STEPS, failed.filter(Value::is_u64));
    encoded(&Task {
        id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: TaskStatus { message: None, ..task.status.clone() },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata,
    })
}

/// The newest messages that fit into [`MAX_HISTORY_BYTES`], a line of JSON each, oldest first.
fn newest(history: &[Message]) -> String {
    let mut size = 0;
    // Measure before encoding, so that no message is encoded that does not fit.
    let fitting = history.iter().rev().take_while(|message| {
        size += measure(message).0 + 1;
        size <= MAX_HISTORY_BYTES
    });
    let mut lines: Vec<String> = fitting.filter_map(|message| encode(message).ok()).collect();
    lines.reverse();
    lines.join("\n")
}

/// The largest head of a row. A page of up to 100 rows is in memory as a whole.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The largest history of a row; GetTask returns all messages.
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
    fn a_head_that_is_too_large_says_how_many_steps_have_failed() {
        for (told, kept) in [
            (json!(2), json!({"urn:a2a-edge:failed-steps": 2})),
            (json!("x".repeat(MAX_HEAD_BYTES)), Value::Null),
        ] {
            let mut task = task(MAX_HEAD_BYTES);
            set_member(&mut task.metadata, FAILED_STEPS, Some(told));
            let head: Value = serde_json::from_str(&head(&task)).unwrap();
            assert_eq!(head["metadata"], kept);
        }
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
}
