//! The statuses that a task has had, read from its log.

use std::collections::VecDeque;

use super::Journal;
use crate::port::StoreError;
use crate::task::LogEntry;
use a2a::model::{Generation, HistoryLimit, TaskStatus};

/// The newest stored statuses of a task, oldest first. `length` limits the number of statuses. The log is read a page at
/// a time.
///
/// # Errors
///
/// If storage fails or has a form that this version cannot read.
pub(in crate::session) fn read(
    journal: &Journal,
    length: HistoryLimit,
) -> Result<Vec<TaskStatus>, StoreError> {
    let most = match length {
        HistoryLimit::All => usize::MAX,
        HistoryLimit::Newest(length) => length,
    };
    let mut newest = VecDeque::new();
    let mut generation = Generation::NONE;
    loop {
        let page = journal.page_after(generation)?;
        for line in page.batches.iter().flat_map(|batch| batch.lines.lines()) {
            newest.extend(status_in(line)?);
            if newest.len() > most {
                newest.pop_front();
            }
        }
        match page.batches.last() {
            Some(batch) if page.has_more => generation = batch.generation,
            Some(_) | None => return Ok(newest.into()),
        }
    }
}

/// The status in a line of the log, if the line has a status.
fn status_in(line: &str) -> Result<Option<TaskStatus>, StoreError> {
    if !OPENINGS.iter().any(|opening| line.starts_with(opening)) {
        return Ok(None);
    }
    let unreadable =
        |error: serde_json::Error| StoreError::Unreadable(format!("status in the log: {error}"));
    Ok(LogEntry::parse(line).map_err(unreadable)?.status().cloned())
}

/// The beginnings of the lines that have a status. Other lines need not be parsed.
const OPENINGS: [&str; 2] = [r#"{"task""#, r#"{"statusUpdate""#];

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::*;
    use crate::config::Settings;
    use crate::port::{FirstRow, Indexed, TaskFacts};
    use crate::twins::MemoryStore;
    use a2a::model::{TaskState, UnixMillis};

    #[test]
    fn statuses_are_read_page_by_page() {
        let limits = Settings::read(|_| None).unwrap().limits;
        let journal = Journal::new(Rc::new(MemoryStore::default()), &limits);
        let facts = TaskFacts { agent: "a".to_owned(), owner: "o".to_owned(), fingerprint: None };
        let said = |state: &str, text: &str| {
            json!({"state": state, "message":
                {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}})
        };
        let opening = json!({"id": "t", "status": said("TASK_STATE_SUBMITTED", "-")});
        let mut lines = vec![json!({"task": opening})];
        // Two statuses with this text fill a page.
        let long = "x".repeat(300_000);
        for at in 0..4 {
            let status = said("TASK_STATE_WORKING", &format!("{at}{long}"));
            let event = json!({"taskId": "t", "contextId": "c", "status": status});
            lines.push(json!({"statusUpdate": event}));
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
            lines.push(json!({"message": message}));
        }
        for (generation, line) in (1..).zip(&lines) {
            journal.append(&LogEntry::parse(&line.to_string()).unwrap(), UnixMillis(0));
            let opening = FirstRow { facts: &facts, indexed: Indexed::default() };
            journal.store(Generation(generation), Some(opening), UnixMillis(0)).unwrap();
        }
        assert!(journal.page_after(Generation::NONE).unwrap().has_more);
        for (length, expected) in [
            (HistoryLimit::All, "-0123"),
            (HistoryLimit::Newest(9), "-0123"),
            (HistoryLimit::Newest(2), "23"),
            (HistoryLimit::Newest(0), ""),
        ] {
            let found = read(&journal, length).unwrap();
            let texts = found.iter().filter_map(|status| Some(status.message.as_ref()?.text()));
            let first: String = texts.filter_map(|text| text.chars().next()).collect();
            assert_eq!(first, expected);
        }
        let all = read(&journal, HistoryLimit::All).unwrap();
        assert_eq!(all[0].state, TaskState::Submitted);
    }
}
