//! What steps were given: how much of it the log has, and what more of it is stored. It has room of its own, beside the limits of the
//! task, so that a trace never fails a task.

use std::cell::Cell;

use super::LogSize;
use crate::task::{LogEntry, StepInput, StepRecord};
use a2a::model::measure;

/// The inputs of steps in a log.
pub(in crate::session) struct Traced {
    size: Cell<LogSize>,
    /// The limit, in bytes of JSON.
    max_bytes: usize,
}

impl Traced {
    /// No inputs of a task with this limit of bytes.
    pub(super) fn new(max_task_bytes: usize) -> Self {
        Self { size: Cell::default(), max_bytes: max_task_bytes / SHARE }
    }

    /// Forgets what was noted.
    pub(super) fn clear(&self) {
        self.size.take();
    }

    /// Notes the input of an entry, if it has one.
    pub(super) fn note(&self, entry: &LogEntry) {
        let LogEntry::Step(StepRecord { input: Some(input), .. }) = entry else { return };
        let (bytes, values) = measure(input);
        let size = self.size.get();
        let bytes = size.bytes + bytes + MEMBER.len();
        self.size.set(LogSize { bytes, values: size.values + values });
    }

    /// The size of the inputs.
    pub(super) fn size(&self) -> LogSize {
        self.size.get()
    }

    /// True if no further input is stored.
    pub(in crate::session) fn is_full(&self) -> bool {
        self.room() < LEAST_BYTES
    }

    fn room(&self) -> usize {
        self.max_bytes.saturating_sub(self.size.get().bytes)
    }

    /// The input of a step, cut to the room that there is; `None` if there is none.
    pub(in crate::session) fn fit(&self, json: &str) -> Option<StepInput> {
        if self.is_full() {
            return None;
        }
        let room = self.room() - MEMBER.len();
        let mut input = StepInput { json: json.to_owned(), is_cut: false };
        // As a text in JSON it may be longer, so it may have to be cut several times.
        loop {
            let (bytes, _) = measure(&input);
            if bytes <= room {
                return Some(input);
            }
            let end = input.json.len() as u64 * room as u64 / bytes as u64;
            let end = usize::try_from(end).unwrap_or_default();
            input.json.truncate(input.json.floor_char_boundary(end));
            input.is_cut = true;
        }
    }
}

/// The limit of all inputs, as a divisor of the limit of a task: a tenth.
const SHARE: usize = 10;

/// The least room in which the beginning of an input is stored, in bytes.
const LEAST_BYTES: usize = 128;

/// What an input adds to the line of a step beside itself.
const MEMBER: &str = r#","input":"#;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::{Json, encode_line};
    use serde_json::json;

    fn step(input: Option<StepInput>) -> LogEntry {
        let outcome = Ok(Json::from(&json!(1)));
        let (name, failed, usage, duration_ms) = ("a".to_owned(), false, None, None);
        LogEntry::Step(StepRecord { name, nth: 1, outcome, failed, usage, duration_ms, input })
    }

    fn size_of(entry: &LogEntry) -> usize {
        encode_line(entry).unwrap().0.len()
    }

    #[test]
    fn inputs_are_whole_then_cut_and_then_left_out() {
        let traced = Traced::new(6_000);
        let json = json!({"text": "\"é\u{1a}".repeat(14)}).to_string();
        let (mut sizes, mut cut) = (0, 0);
        while let Some(input) = traced.fit(&json) {
            assert!(json.starts_with(&input.json));
            assert_eq!(input.is_cut, input.json != json);
            cut += usize::from(input.is_cut);
            let entry = step(Some(input));
            traced.note(&entry);
            sizes += size_of(&entry) - size_of(&step(None));
            assert_eq!(traced.size().bytes, sizes, "exactly what the lines have grown by");
        }
        assert!(sizes <= 600 && sizes > 600 - LEAST_BYTES && cut == 1, "{sizes}, {cut}");
        assert!(traced.is_full());
        let large = Traced::new(32 * 1024 * 1024);
        let quotes = large.fit(&"\"".repeat(5_000_000)).unwrap();
        assert!(quotes.is_cut && quotes.json.len() > 1_600_000, "{}", quotes.json.len());
        traced.note(&step(None));
        traced.clear();
        assert_eq!(traced.fit("[1]"), Some(StepInput { json: "[1]".to_owned(), is_cut: false }));
    }
}
