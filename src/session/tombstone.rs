//! The remains of a deleted task: what keeps it deleted, and nothing of its content.

use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{Generation, TaskId, UnixMillis, to_json};
use serde::Serialize;

use crate::port::{Batch, StoreError};

/// The remains of a task that a caller has deleted. They stay in the object for [`TOMBSTONE_MS`]: a send that repeats the
/// task's `Idempotency-Key`, a queued notification and a repeated deletion find them. Until the index has removed the row of
/// the task, they are also that debt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tombstone {
    /// The id of the task for clients.
    pub(super) task: TaskId,
    /// The generation of the deletion: one more than that of the newest event.
    pub(super) generation: Generation,
    /// When the task was deleted.
    pub(super) at: UnixMillis,
    /// The instants of the statuses that the row of the index may show.
    pub(super) instants: Vec<UnixMillis>,
}

impl Tombstone {
    /// The instant from which on nothing of the task is kept.
    pub(super) fn until(&self) -> UnixMillis {
        self.at.after(TOMBSTONE_MS)
    }

    /// The stored form: the only batch of the log.
    pub(super) fn to_batch(&self) -> Batch {
        let Self { task, generation, at, instants } = self;
        let statuses_ms = instants.iter().map(|at| at.0).collect();
        let line = Line { deleted: Remains { task_id: task.clone(), at_ms: at.0, statuses_ms } };
        // The line contains only texts and numbers, so encoding cannot fail.
        let lines = to_json(&line).unwrap_or_default();
        Batch { generation: *generation, marks: "-".to_owned(), times: at.0.to_string(), lines }
    }

    /// Reads the first batch of a log; `None` if the log begins with a task.
    ///
    /// # Errors
    ///
    /// If this version cannot read the tombstone.
    pub(super) fn of_batch(batch: &Batch) -> Result<Option<Self>, StoreError> {
        if !batch.lines.starts_with(OPENING) {
            return Ok(None);
        }
        let unreadable = |error| StoreError::Unreadable(format!("tombstone: {error}"));
        let Line { deleted } = read_json(&batch.lines).map_err(unreadable)?;
        let Remains { task_id, at_ms, statuses_ms } = deleted;
        let instants = statuses_ms.into_iter().map(UnixMillis).collect();
        let generation = batch.generation;
        Ok(Some(Self { task: task_id, generation, at: UnixMillis(at_ms), instants }))
    }
}

/// The only line of the log of a deleted task.
#[derive(Serialize)]
struct Line {
    deleted: Remains,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Remains {
    task_id: TaskId,
    at_ms: i64,
    statuses_ms: Vec<i64>,
}

impl Decode for Line {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { deleted: fields.required_object("deleted")? })
    }
}

impl Decode for Remains {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let task_id = fields.required_id("taskId")?;
        let (at_ms, statuses_ms) = (fields.required("atMs")?, fields.required("statusesMs")?);
        Some(Self { task_id, at_ms, statuses_ms })
    }
}

/// The beginning of the line, with which no other line begins.
const OPENING: &str = r#"{"deleted":"#;

/// How long the remains of a deleted task stay in its object: a day, in milliseconds. Statements to D1 that are late, and messages
/// of the queue, arrive within hours.
const TOMBSTONE_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tombstone_is_read_as_it_was_written_and_lasts_for_a_day() {
        let tombstone = Tombstone {
            task: TaskId::new("t\"1").unwrap(),
            generation: Generation(5),
            at: UnixMillis(1_000),
            instants: vec![UnixMillis(7), UnixMillis(9)],
        };
        let batch = tombstone.to_batch();
        let line = r#"{"deleted":{"taskId":"t\"1","atMs":1000,"statusesMs":[7,9]}}"#;
        assert_eq!(batch.lines, line);
        assert_eq!(Tombstone::of_batch(&batch), Ok(Some(tombstone.clone())));
        assert_eq!(tombstone.until(), UnixMillis(86_401_000));
    }

    #[test]
    fn a_log_that_begins_with_a_task_is_none() {
        let of = |lines: &str| {
            Tombstone::of_batch(&Batch { lines: lines.to_owned(), ..Batch::default() })
        };
        assert_eq!(of(r#"{"task":{"id":"t"}}"#), Ok(None));
        assert_eq!(of(""), Ok(None));
        assert!(matches!(
            of(r#"{"deleted":{"by":"a newer version"}}"#),
            Err(StoreError::Unreadable(_))
        ));
    }
}
