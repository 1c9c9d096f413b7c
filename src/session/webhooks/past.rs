//! A task as it was: the log replayed to an earlier event, for notifications that are the whole task.
//!
//! The position is kept, so that a webhook that is far behind has the log replayed once, however many events it is owed.

use crate::port::StoreError;
use crate::session::TaskSession;
use crate::session::journal::Place;
use crate::task::{LogEntry, TaskMachine};
use a2a::model::Task;

/// A task as it was after an event, and how to go on from there.
#[derive(Default)]
pub(super) struct Past {
    machine: Option<TaskMachine>,
    /// What was read of the log and comes later.
    ahead: std::vec::IntoIter<LogEntry>,
    place: Place,
}

impl Past {
    /// Goes on to the event of a generation, or back to it from the beginning of the log, and gives the task as it was then.
    /// `None` if nothing of this generation is stored.
    ///
    /// # Errors
    ///
    /// When the storage fails or holds what this version cannot read.
    pub(in crate::session) fn at(
        &mut self,
        session: &TaskSession,
        generation: u64,
    ) -> Result<Option<&Task>, StoreError> {
        if self.generation() > generation {
            *self = Self::default();
        }
        while self.generation() < generation {
            match self.ahead.next() {
                Some(entry) => self.follow(entry),
                None => {
                    let (entries, place) =
                        session.journal.entries_from(session.id(), self.place)?;
                    if entries.is_empty() {
                        return Ok(None);
                    }
                    (self.ahead, self.place) = (entries.into_iter(), place);
                }
            }
        }
        Ok(self.machine.as_ref().map(TaskMachine::task))
    }

    fn generation(&self) -> u64 {
        self.machine.as_ref().map_or(0, TaskMachine::generation)
    }

    fn follow(&mut self, entry: LogEntry) {
        match &mut self.machine {
            Some(machine) => machine.follow(entry),
            None => self.machine = TaskMachine::replay([entry]),
        }
    }
}
