//! Reads the log in one direction, only as far as needed.

use std::collections::VecDeque;

use super::token::{Cursor, Place};
use crate::port::LogRange;
use crate::session::{LoggedBatch, LoggedLine, Owned};
use a2a::error::Error;
use a2a::model::TimelineOrder;

/// The lines of the log from a place on, in one direction.
pub(super) struct LogReader<'a> {
    task: Owned<'a>,
    order: TimelineOrder,
    /// The place at which the next read of storage begins.
    next: Place,
    /// True if storage may contain more lines.
    has_more: bool,
    lines: VecDeque<(Place, LoggedLine)>,
    /// The place after the last taken line.
    behind: Place,
}

impl<'a> LogReader<'a> {
    /// The log from the place of the cursor on. Does not read from storage yet.
    pub(super) fn new(task: Owned<'a>, cursor: &Cursor) -> Self {
        let (order, place) = (cursor.order, cursor.place);
        let has_more = place.row > 0;
        Self { task, order, next: place, has_more, lines: VecDeque::new(), behind: place }
    }

    /// The next line, without removing it.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn peek(&mut self) -> Result<Option<&LoggedLine>, Error> {
        while self.lines.is_empty() && self.has_more {
            self.read()?;
        }
        Ok(self.lines.front().map(|(_, line)| line))
    }

    /// Removes and returns the next line.
    pub(super) fn take(&mut self) -> Option<LoggedLine> {
        let (_, line) = self.lines.pop_front()?;
        self.behind = self.lines.front().map_or(self.next, |(next, _)| *next);
        Some(line)
    }

    /// The place at which the next page begins.
    pub(super) fn place(&self) -> Place {
        self.behind
    }

    fn read(&mut self) -> Result<(), Error> {
        let place = self.next;
        let range = match self.order {
            TimelineOrder::Asc => LogRange::From(place.row),
            TimelineOrder::Desc => LogRange::UpTo(place.row),
        };
        let (batches, has_more) = self.task.log_lines(range)?;
        self.has_more = has_more;
        if let Some(batch) = batches.last() {
            self.next = match self.order {
                TimelineOrder::Asc => Place::first_of(batch.row + batch.rows),
                TimelineOrder::Desc => Place::last_of(batch.row.saturating_sub(1)),
            };
        }
        for LoggedBatch { row, lines, .. } in batches {
            let lines = (0..).zip(lines).map(|(line, logged)| (Place { row, line }, logged));
            // The first batch begins with lines that the previous page has shown.
            let is_shown = |shown: &Place| match self.order {
                TimelineOrder::Asc => *shown < place,
                TimelineOrder::Desc => *shown > place,
            };
            let lines = lines.filter(|(place, _)| !is_shown(place));
            match self.order {
                TimelineOrder::Asc => self.lines.extend(lines),
                TimelineOrder::Desc => {
                    self.lines.extend(lines.collect::<Vec<_>>().into_iter().rev())
                }
            }
        }
        Ok(())
    }
}
