//! The retention of a finished task: when it is deleted without being asked to, by `deletion`.
//!
//! The cron trigger finds a task in the index when its retention is over. The task's own alarm deletes only a task without
//! a row in the index, or a task whose deletion has failed.

use std::cell::Cell;
use std::rc::Rc;

use super::attempt::retry_delay_ms;
use super::tombstone::Tombstone;
use crate::config::Limits;
use crate::task::TaskMachine;
use a2a::model::UnixMillis;

/// The time at which a task is deleted.
pub(super) struct Retention {
    /// The retention of a finished task, in milliseconds; 0 for ever.
    retention_ms: u64,
    /// That of the agents whose files name one, by slug.
    of_agents: Rc<[(String, u64)]>,
    /// The time of the next attempt, if deleting has failed.
    retry_at: Cell<Option<UnixMillis>>,
    failures: Cell<u32>,
}

impl Retention {
    /// The retentions of the settings and of the agents' files.
    pub(super) fn new(limits: &Limits) -> Self {
        let (retention_ms, of_agents) = (limits.retention_ms, limits.retention_of.clone());
        Self { retention_ms, of_agents, retry_at: Cell::default(), failures: Cell::default() }
    }

    /// The time at which a task of this agent is to be deleted; `None` if the task is unfinished or kept for ever.
    pub(super) fn keep_until(&self, agent: &str, machine: &TaskMachine) -> Option<UnixMillis> {
        let own = self.of_agents.iter().find(|(slug, _)| slug == agent);
        let retention_ms = own.map_or(self.retention_ms, |(_, retention_ms)| *retention_ms);
        if retention_ms == 0 || !machine.state().is_terminal() {
            return None;
        }
        let ended = machine.task().status.instant();
        Some(self.put_off(ended.after(retention_ms)))
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
    pub(super) fn alarm(
        &self,
        agent: &str,
        machine: &TaskMachine,
        is_listed: bool,
    ) -> Option<UnixMillis> {
        self.keep_until(agent, machine).filter(|_| !is_listed || self.retry_at.get().is_some())
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
    use crate::config::Settings;
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

    fn limits(retention_ms: u64) -> Limits {
        Limits { retention_ms, ..Settings::read(|_| None).unwrap().limits }
    }

    #[test]
    fn the_file_of_an_agent_may_name_another_retention() {
        let retention_of = Rc::new([("short".to_owned(), 100), ("kept".to_owned(), 0)]);
        let retention = Retention::new(&Limits { retention_of, ..limits(500) });
        for (agent, expected) in [("a", Some(1_500)), ("short", Some(1_100)), ("kept", None)] {
            let until = retention.keep_until(agent, &machine(true));
            assert_eq!(until, expected.map(UnixMillis), "{agent}");
        }
    }

    #[test]
    fn a_finished_task_is_kept_from_its_end_on() {
        for (retention_ms, is_canceled, expected) in [
            (500, true, Some(UnixMillis(1_500))),
            (500, false, None),
            (0, true, None),
            (u64::MAX, true, Some(UnixMillis(i64::MAX))),
        ] {
            let until =
                Retention::new(&limits(retention_ms)).keep_until("a", &machine(is_canceled));
            assert_eq!(until, expected, "{retention_ms} {is_canceled}");
        }
    }

    #[test]
    fn the_alarm_is_for_tasks_that_the_index_has_not_got_or_that_could_not_be_deleted() {
        let retention = Retention::new(&limits(500));
        assert_eq!(retention.alarm("a", &machine(true), true), None);
        assert_eq!(retention.alarm("a", &machine(true), false), Some(UnixMillis(1_500)));
        assert_eq!(retention.alarm("a", &machine(false), false), None);
        retention.note_failed(UnixMillis(1_600));
        assert_eq!(retention.alarm("a", &machine(true), true), Some(UnixMillis(2_600)));
    }

    #[test]
    fn a_failure_puts_the_deletion_off() {
        let retention = Retention::new(&limits(500));
        assert_eq!(retention.note_failed(UnixMillis(1_600)), (1, 1_000));
        assert_eq!(retention.keep_until("a", &machine(true)), Some(UnixMillis(2_600)));
        assert_eq!(retention.note_failed(UnixMillis(2_600)), (2, 2_000));
        assert_eq!(retention.keep_until("a", &machine(true)), Some(UnixMillis(4_600)));
        let early = Retention::new(&limits(100_000));
        early.note_failed(UnixMillis(0));
        assert_eq!(early.keep_until("a", &machine(true)), Some(UnixMillis(101_000)));
    }
}
