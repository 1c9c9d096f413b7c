//! Replays the log up to an earlier event, for notifications that contain the whole task.
//!
//! The position is stored in memory, so the log is replayed once for a webhook that is far behind, not once for each owed event.

use crate::port::StoreError;
use crate::session::journal::{Journal, Place};
use crate::task::{LogEntry, TaskMachine};
use a2a::model::{Generation, Task, TaskId};

/// The task after an earlier event, and the position from which to continue the replay.
#[derive(Default)]
pub(super) struct Past {
    machine: Option<TaskMachine>,
    /// The entries that were read and not replayed yet.
    ahead: std::vec::IntoIter<LogEntry>,
    place: Place,
}

impl Past {
    /// Returns the task after the event of a generation: continues the replay, or begins again if the generation is older. `None` if the
    /// log does not reach this generation.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read.
    pub(in crate::session) fn at(
        &mut self,
        journal: &Journal,
        id: &TaskId,
        generation: Generation,
    ) -> Result<Option<&Task>, StoreError> {
        if self.generation() > generation {
            *self = Self::default();
        }
        while self.generation() < generation {
            match self.ahead.next() {
                Some(entry) => self.follow(entry),
                None => {
                    let (entries, place) = journal.entries_from(id, self.place)?;
                    if entries.is_empty() {
                        return Ok(None);
                    }
                    (self.ahead, self.place) = (entries.into_iter(), place);
                }
            }
        }
        Ok(self.machine.as_ref().map(TaskMachine::task))
    }

    fn generation(&self) -> Generation {
        self.machine.as_ref().map_or(Generation::NONE, TaskMachine::generation)
    }

    fn follow(&mut self, entry: LogEntry) {
        match &mut self.machine {
            Some(machine) => machine.follow(entry),
            None => self.machine = TaskMachine::replay([entry]),
        }
    }
}
