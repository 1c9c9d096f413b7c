//! The log for timelines: unparsed lines with their places, generations and times.

use super::times;
use crate::port::{LogRow, StoreError};
use crate::task::LogEntry;
use a2a::model::{Generation, UnixMillis};

/// Lines that were stored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedBatch {
    /// The row in which the lines begin, from 1.
    pub row: u64,
    /// The number of rows in which the lines are stored.
    pub rows: u64,
    /// The lines, oldest first.
    pub lines: Vec<LoggedLine>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedLine {
    /// The generation of the task after the line.
    pub generation: Generation,
    /// True if the line is an event. For such a line, `generation` is the generation of the event.
    pub is_event: bool,
    /// The instant at which the line was appended.
    pub at: UnixMillis,
    /// The line as JSON.
    pub json: String,
}

impl LoggedLine {
    /// The parsed line.
    ///
    /// # Errors
    ///
    /// If this version cannot read the line.
    pub fn entry(&self) -> Result<LogEntry, StoreError> {
        LogEntry::parse(&self.json)
            .map_err(|error| StoreError::Unreadable(format!("line of the log: {error}")))
    }
}

impl LoggedBatch {
    /// The lines of a stored batch.
    ///
    /// # Errors
    ///
    /// If the row does not have one time for each line.
    pub(super) fn read(LogRow { row, rows, batch }: LogRow) -> Result<Self, StoreError> {
        let is_event = |mark: char| mark != '-';
        let events = batch.marks.chars().filter(|mark| is_event(*mark)).count();
        let mut generation = batch.generation.before(events);
        let times = times::read(&batch.times, batch.marks.len());
        let times = times.ok_or_else(|| {
            StoreError::Unreadable(format!("log: the times of row {row}: {:?}", batch.times))
        })?;
        let marks = batch.marks.chars().zip(times);
        let lines = batch.lines.lines().zip(marks).map(|(json, (mark, at))| {
            let is_event = is_event(mark);
            if is_event {
                generation = generation.next();
            }
            LoggedLine { generation, is_event, at, json: json.to_owned() }
        });
        Ok(Self { row, rows, lines: lines.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Batch;

    #[test]
    fn lines_have_their_generations_and_times() {
        let batch = Batch {
            generation: Generation(7),
            marks: "-.-.".to_owned(),
            times: "100 0 5 1".to_owned(),
            lines: "a\nb\nc\nd\n".to_owned(),
        };
        let LoggedBatch { row, rows, lines } =
            LoggedBatch::read(LogRow { row: 3, rows: 2, batch }).unwrap();
        let lines: Vec<_> = lines
            .iter()
            .map(|line| (line.json.as_str(), line.generation.0, line.is_event, line.at.0))
            .collect();
        assert_eq!((row, rows), (3, 2));
        assert_eq!(
            lines,
            [("a", 5, false, 100), ("b", 6, true, 100), ("c", 6, false, 105), ("d", 7, true, 106),]
        );
    }
}
