//! The retention of a finished task: when it is deleted without being asked to, by `deletion`.
//!
//! The cron trigger finds a task in the index when its retention is over. The task's own alarm deletes only a task without
//! a row in the index, or a task whose deletion has failed.

use std::cell::Cell;

use super::attempt::retry_delay_ms;
use super::tombstone::Tombstone;
use crate::task::TaskMachine;
use a2a::model::UnixMillis;

/// The time at which a task is deleted.
pub(super) struct Retention {
    /// The retention of a finished task, in milliseconds; 0 for ever.
    retention_ms: u64,
    /// The time of the next attempt, if deleting has failed.
    retry_at: Cell<Option<UnixMillis>>,
    failures: Cell<u32>,
}

impl Retention {
    /// A retention of this number of milliseconds; 0 for ever.
    pub(super) fn new(retention_ms: u64) -> Self {
        Self { retention_ms, retry_at: Cell::default(), failures: Cell::default() }
    }

    /// The time at which the task is to be deleted; `None` if the task is unfinished or kept for ever.
    pub(super) fn keep_until(&self, machine: &TaskMachine) -> Option<UnixMillis> {
        if self.retention_ms == 0 || !machine.state().is_terminal() {
            return None;
        }
        let ended = machine.task().status.instant();
        Some(self.put_off(ended.after(self.retention_ms)))
    }

    /// The time at which the object of a deleted task is emptied.
    pub(super) fn remains_until(&self, tombstone: &Tombstone) -> UnixMillis {
        self.put_off(tombstone.until())
    }

    /// The instant, or that of the next attempt if deleting has failed.
    fn put_off(&self, until: UnixMillis) -> UnixMillis {
        self.retry_at.get().map_or(until, |retry_at| retry_at.max(until))
    }

    /// The time at which the alarm has to delete the task: if the index has no row (`is_listed` is false), so that the cron trigger does not
    /// find the task, or if deleting has failed.
    pub(super) fn alarm(&self, machine: &TaskMachine, is_listed: bool) -> Option<UnixMillis> {
        self.keep_until(machine).filter(|_| !is_listed || self.retry_at.get().is_some())
    }

    /// Records that deleting failed; returns the number of failures, and the time before the next attempt in
    /// milliseconds.
    pub(super) fn note_failed(&self, now: UnixMillis) -> (u32, u64) {
        let failures = self.failures.get().saturating_add(1);
        let retry_ms = retry_delay_ms(failures);
        self.failures.set(failures);
        self.retry_at.set(Some(now.after(retry_ms)));
        (failures, retry_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{NewTask, RunRequest};
    use a2a::model::{ContextId, TaskId};

    fn machine(is_canceled: bool) -> TaskMachine {
        let message = r#"{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}"#;
        let request = RunRequest::anonymous();
        let new = NewTask {
            id: TaskId::new("t").unwrap(),
            context_id: ContextId::new("c").unwrap(),
            message: serde_json::from_str(message).unwrap(),
            metadata: None,
            request,
            begun: UnixMillis(0),
        };
        let (mut machine, _) = TaskMachine::create(new, UnixMillis(0));
        if is_canceled {
            machine.cancel(UnixMillis(1_000)).unwrap();
        }
        machine
    }

    #[test]
    fn a_finished_task_is_kept_from_its_end_on() {
        for (retention_ms, is_canceled, expected) in [
            (500, true, Some(UnixMillis(1_500))),
            (500, false, None),
            (0, true, None),
            (u64::MAX, true, Some(UnixMillis(i64::MAX))),
        ] {
            let until = Retention::new(retention_ms).keep_until(&machine(is_canceled));
            assert_eq!(until, expected, "{retention_ms} {is_canceled}");
        }
    }

    #[test]
    fn the_alarm_is_for_tasks_that_the_index_has_not_got_or_that_could_not_be_deleted() {
        let retention = Retention::new(500);
        assert_eq!(retention.alarm(&machine(true), true), None);
        assert_eq!(retention.alarm(&machine(true), false), Some(UnixMillis(1_500)));
        assert_eq!(retention.alarm(&machine(false), false), None);
        retention.note_failed(UnixMillis(1_600));
        assert_eq!(retention.alarm(&machine(true), true), Some(UnixMillis(2_600)));
    }

    #[test]
    fn a_failure_puts_the_deletion_off() {
        let retention = Retention::new(500);
        assert_eq!(retention.note_failed(UnixMillis(1_600)), (1, 1_000));
        assert_eq!(retention.keep_until(&machine(true)), Some(UnixMillis(2_600)));
        assert_eq!(retention.note_failed(UnixMillis(2_600)), (2, 2_000));
        assert_eq!(retention.keep_until(&machine(true)), Some(UnixMillis(4_600)));
        let early = Retention::new(100_000);
        early.note_failed(UnixMillis(0));
        assert_eq!(early.keep_until(&machine(true)), Some(UnixMillis(101_000)));
    }
}
