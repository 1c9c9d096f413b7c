//! The overview of an agent for operators: ended tasks by hour and state with their durations, unfinished tasks, and webhooks in
//! trouble. Pure; `edge/service/overview.rs` reads the data from D1.

use serde::Serialize;

use a2a::model::{TaskState, UnixMillis};
use a2a::sorted::SortedMap;

/// The overview of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The slug of the agent.
    pub agent: String,
    /// The time of the overview, in milliseconds since 1970.
    pub now: i64,
    /// The hours of the overview, oldest first; the last hour is not over yet.
    pub hours: Vec<Hour>,
    /// [`BUCKETS_MS`], for clients that read the answer.
    pub buckets_ms: [u64; BOUNDS],
    /// The tasks that are not finished now.
    pub unfinished: Unfinished,
    /// The webhooks in trouble now.
    pub webhooks: WebhookTrouble,
    /// True if tasks are counted (`TASK_STATISTICS`). If not, hours from before the change may still have numbers.
    pub counting: bool,
}

/// The tasks that ended within an hour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hour {
    /// The beginning of the hour, in milliseconds since 1970.
    pub from: i64,
    /// The number of tasks that ended in each state.
    pub states: Ended,
    /// How many of them had steps that failed.
    pub with_failed_steps: u64,
    /// The durations of the tasks, by the state in which they ended; only states with at least one task.
    pub durations: SortedMap<&'static str, Durations>,
}

/// The number of tasks that ended in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    completed: u64,
    failed: u64,
    canceled: u64,
    rejected: u64,
}

/// The durations of tasks, from their beginning to their end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Durations {
    /// The sum of the durations.
    pub total_ms: u64,
    /// The number of tasks shorter than each bound of [`BUCKETS_MS`] and not shorter than the previous bound; the last number
    /// counts the rest.
    pub buckets: Vec<u64>,
}

/// The number of unfinished tasks by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unfinished {
    submitted: u64,
    working: u64,
    input_required: u64,
    auth_required: u64,
    /// True if the numbers are lower bounds, because counting stopped at a limit.
    pub is_at_least: bool,
}

/// The number of webhooks in trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTrouble {
    /// The number of webhooks whose last attempt has failed.
    pub failing: u64,
    /// The number of suspended webhooks.
    pub suspended: u64,
    /// The number of notifications that were given up.
    pub dead_letters: u64,
    /// True if the numbers are lower bounds, because counting stopped at a limit.
    pub is_at_least: bool,
}

/// The counted tasks that ended within an hour in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The beginning of the hour, in milliseconds since 1970.
    pub hour: i64,
    /// The number of the state in the protocol.
    pub state: i64,
    /// The number of tasks.
    pub number: u64,
    /// How many of them had steps that failed.
    pub with_failed_steps: u64,
    /// The sum of their durations, in milliseconds.
    pub total_ms: u64,
    /// The number of tasks shorter than each bound of [`BUCKETS_MS`].
    pub under: [u64; BOUNDS],
}

/// The beginning of the hour that contains an instant.
pub fn hour_of(at: UnixMillis) -> i64 {
    at.0.saturating_sub(at.0.rem_euclid(HOUR_MS))
}

/// The beginning of the first of this number of hours. The last of them is the current hour.
pub fn first_hour(hours: u32, now: UnixMillis) -> i64 {
    let before = i64::from(hours.saturating_sub(1)).saturating_mul(HOUR_MS);
    hour_of(now).saturating_sub(before)
}

/// The tasks that ended in this number of hours up to now. Counts of other hours are left out; several counts of one hour and state are
/// added.
pub fn hours_of(counted: Vec<Counted>, hours: u32, now: UnixMillis) -> Vec<Hour> {
    let first = first_hour(hours, now);
    let empty = |nth: u32| Hour {
        from: first.saturating_add(i64::from(nth).saturating_mul(HOUR_MS)),
        ..Hour::default()
    };
    let mut all: Vec<Hour> = (0..hours).map(empty).collect();
    for row in counted {
        if let Some(hour) = all.iter_mut().find(|hour| hour.from == row.hour) {
            hour.add(&row);
        }
    }
    all
}

impl Hour {
    fn add(&mut self, counted: &Counted) {
        let states = &mut self.states;
        let (name, number) = match state_of(counted.state) {
            Some(TaskState::Completed) => ("completed", &mut states.completed),
            Some(TaskState::Failed) => ("failed", &mut states.failed),
            Some(TaskState::Canceled) => ("canceled", &mut states.canceled),
            Some(TaskState::Rejected) => ("rejected", &mut states.rejected),
            Some(
                TaskState::Submitted
                | TaskState::Working
                | TaskState::InputRequired
                | TaskState::AuthRequired,
            )
            | None => return,
        };
        *number += counted.number;
        self.with_failed_steps += counted.with_failed_steps;
        let durations = counted.durations();
        match self.durations.get_mut(name) {
            Some(known) => known.add(&durations),
            None => {
                self.durations.insert(name, durations);
            }
        }
    }
}

impl Durations {
    fn add(&mut self, other: &Self) {
        self.total_ms += other.total_ms;
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket += more;
        }
    }
}

impl Counted {
    fn durations(&self) -> Durations {
        let all = self.under.iter().copied().chain([self.number]);
        let mut less = 0;
        let bucket = |under: u64| {
            let bucket = under.saturating_sub(less);
            less = under;
            bucket
        };
        Durations { total_ms: self.total_ms, buckets: all.map(bucket).collect() }
    }
}

impl Unfinished {
    /// Adds tasks in a state, which is the number of the protocol. Finished tasks are left out.
    pub fn add(&mut self, state: i64, number: u64) {
        let count = match state_of(state) {
            Some(TaskState::Submitted) => &mut self.submitted,
            Some(TaskState::Working) => &mut self.working,
            Some(TaskState::InputRequired) => &mut self.input_required,
            Some(TaskState::AuthRequired) => &mut self.auth_required,
            Some(
                TaskState::Completed
                | TaskState::Failed
                | TaskState::Canceled
                | TaskState::Rejected,
            )
            | None => return,
        };
        *count = count.saturating_add(number);
    }
}

fn state_of(number: i64) -> Option<TaskState> {
    TaskState::ALL.into_iter().find(|state| state.number() == number)
}

/// The number of bounds between buckets of durations.
pub const BOUNDS: usize = 19;

/// The bounds between buckets of durations, in milliseconds. `migrations/0001_schema.sql` has a column for each.
pub const BUCKETS_MS: [u64; BOUNDS] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000,
    300_000, 600_000, 1_800_000, 3_600_000, 21_600_000,
];

/// The largest number of hours in an overview: a week.
pub const MAX_HOURS: u32 = 168;

/// The time after which the counts of an hour are deleted: a day more than [`MAX_HOURS`].
pub const KEPT_MS: i64 = 192 * HOUR_MS;

/// An hour, in milliseconds.
pub const HOUR_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOON: i64 = 1_767_614_400_000;

    fn counted(hour: i64, state: TaskState, number: u64) -> Counted {
        let mut under = [number; BOUNDS];
        under[..6].fill(0);
        under[6] = 1;
        let (total_ms, with_failed_steps) = (10 * number, number / 2);
        Counted { hour, state: state.number(), number, with_failed_steps, total_ms, under }
    }

    #[test]
    fn a_period_ends_with_the_hour_that_is_under_way() {
        for (hours, now, first) in [
            (1, NOON, NOON),
            (1, NOON + HOUR_MS - 1, NOON),
            (1, NOON + HOUR_MS, NOON + HOUR_MS),
            (24, NOON + 1, NOON - 23 * HOUR_MS),
            (MAX_HOURS, NOON, NOON - 167 * HOUR_MS),
        ] {
            let now = UnixMillis(now);
            assert_eq!(first_hour(hours, now), first, "{hours} {now:?}");
            let shown = hours_of(Vec::new(), hours, now);
            assert_eq!(shown.len(), hours as usize);
            assert_eq!(shown.first().map(|hour| hour.from), Some(first));
            assert_eq!(shown.last().map(|hour| hour.from), Some(hour_of(now)));
            assert!(first > now.0 - KEPT_MS, "an hour that is shown is not deleted yet");
        }
    }

    #[test]
    fn counts_stand_in_their_hours_and_other_hours_are_left_out() {
        let rows = vec![
            counted(NOON - 2 * HOUR_MS, TaskState::Completed, 9),
            counted(NOON - HOUR_MS, TaskState::Completed, 3),
            counted(NOON - HOUR_MS, TaskState::Failed, 2),
            counted(NOON, TaskState::Rejected, 1),
            counted(NOON + HOUR_MS, TaskState::Canceled, 5),
            Counted { state: 99, ..counted(NOON, TaskState::Canceled, 5) },
        ];
        let hours = hours_of(rows, 2, UnixMillis(NOON + 5));
        let shown = serde_json::to_value(&hours).unwrap();
        let states = |completed, failed, canceled, rejected| json!({"completed": completed, "failed": failed, "canceled": canceled, "rejected": rejected});
        assert_eq!(shown[0]["from"], json!(NOON - HOUR_MS));
        assert_eq!(shown[0]["states"], states(3, 2, 0, 0));
        assert_eq!(
            (&shown[0]["withFailedSteps"], &shown[1]["withFailedSteps"]),
            (&json!(2), &json!(0))
        );
        assert_eq!(shown[1]["states"], states(0, 0, 0, 1));
        let durations = shown[0]["durations"].as_object().unwrap();
        assert_eq!(durations.keys().collect::<Vec<_>>(), ["completed", "failed"]);
        assert_eq!(durations["completed"]["totalMs"], json!(30));
    }

    #[test]
    fn buckets_hold_each_task_once() {
        let Durations { buckets, .. } = counted(NOON, TaskState::Completed, 4).durations();
        assert_eq!(buckets.len(), BOUNDS + 1);
        assert_eq!(buckets.iter().sum::<u64>(), 4);
        // One task below a second, three below two seconds, none above.
        assert_eq!((buckets[6], buckets[7], buckets[19]), (1, 3, 0));
        let slow = Counted { under: [0; BOUNDS], ..counted(NOON, TaskState::Completed, 4) };
        assert_eq!(slow.durations().buckets[19], 4);
    }

    #[test]
    fn the_migration_has_a_column_for_each_bound() {
        let migration = include_str!("../migrations/0001_schema.sql");
        let columns = migration.lines().filter_map(|line| line.strip_prefix("  under_"));
        let bounds: Vec<u64> =
            columns.filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
        assert_eq!(bounds, BUCKETS_MS);
        let is_part_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        for bound in BUCKETS_MS {
            let counts = format!("new.duration_ms < {bound}");
            let adds = format!("under_{bound} = under_{bound} + excluded.under_{bound}");
            for part in [counts, adds] {
                let behind = migration.split(part.as_str()).skip(1);
                let whole = behind.filter(|rest| !rest.starts_with(is_part_of_name)).count();
                assert_eq!(whole, 2, "{part}, once in each trigger");
            }
        }
    }

    #[test]
    fn tasks_that_are_not_finished_are_told_by_state() {
        let mut unfinished = Unfinished::default();
        for state in TaskState::ALL {
            unfinished.add(state.number(), 2);
        }
        unfinished.add(99, 7);
        let shown = serde_json::to_value(unfinished).unwrap();
        let expected = json!({"submitted": 2, "working": 2, "inputRequired": 2, "authRequired": 2, "isAtLeast": false});
        assert_eq!(shown, expected);
    }
}
