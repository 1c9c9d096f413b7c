//! The work of the cron trigger. It finds the finished tasks that have expired in the index and puts them into the queue of
//! deletions, in batches. It also deletes the rows of D1 that are out of date: remembered values of other servers, sums of usage,
//! hours of the overview, webhooks, and places in quotas.
//!
//! Nothing is remembered from one trigger to the next. A task that is still in the index is found again, so it does no harm if a
//! queue or a consumer loses a batch. A batch that waits for longer than until the next trigger is out of date.

use worker::{Env, Result};

use crate::config::Settings;
use crate::edge::agents;
use crate::edge::bindings;
use crate::edge::service::clock::now;
use crate::edge::service::index::{self, End, Index, Of, Old, Place};
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::overview::{self, OverviewTables};
use crate::edge::service::remembered;
use crate::edge::service::tables::Entry;
use crate::edge::service::usage::{self, UsageTable};
use crate::edge::service::webhook_list::{self, TroubleList};
use crate::executor::Agents;
use crate::forms::queue::{Deletion, DeletionJob, RowPlace};
use crate::operation::list_tasks::Position;
use crate::port::{Observation, Observer};
use a2a::model::{UnixMillis, to_json};
use a2a_agents::RetentionTable;

/// Deletes the rows of D1 that are out of date: remembered values of other servers, sums of usage, hours of the overview,
/// webhooks, and places in quotas. Then enqueues for deletion the finished tasks older than `RETENTION_MS`, and, for each agent with more than
/// `MAX_FINISHED_TASKS`, the oldest ones; where the file of an agent has a table `[retention]`, by that. Then copies rows of the index, while it
/// moves (`INDEX_COPY`). The object of each task checks that the task is finished. Failed work is repeated by
/// the next trigger.
pub(in crate::edge) async fn expire(env: &Env) {
    remembered::clean_up(env).await;
    UsageTable::of(env).clean_up().await;
    OverviewTables::of(env).clean_up().await;
    TroubleList::of(env).clean_up().await;
    let observer = ConsoleObserver::of(env);
    let misconfigured = |reason: String| {
        observer.observe(&Observation::Misconfigured { reason: &reason });
    };
    let settings = match bindings::settings(env) {
        Ok(settings) => settings,
        Err(error) => return misconfigured(error.to_string()),
    };
    let agents = match agents::agents(env, &settings) {
        Ok(agents) => agents,
        Err(error) => return misconfigured(error.to_string()),
    };
    let mut walk = Walk { env, index: Index::of(env), steps: MAX_STEPS, found: 0 };
    let failed = |error: worker::Error| {
        let reason = error.to_string();
        observer.observe(&Observation::CleanUpFailed { reason: &reason });
    };
    if let Err(error) = walk.index.clean_up().await {
        failed(error);
    }
    let mut walked = walk.expired(&settings, &agents).await;
    if walked.is_ok() && settings.index.also.is_some() {
        walked = walk.copied(&mut agents.slugs()).await;
    }
    if walk.found > 0 {
        observer.observe(&Observation::DeletionsQueued { count: walk.found });
    }
    if let Err(error) = walked {
        failed(error);
    }
}

/// The walk of one trigger over the index.
struct Walk<'a> {
    env: &'a Env,
    index: Index,
    /// The number of pages that may still be read.
    steps: usize,
    /// The number of tasks that were put into the queue.
    found: usize,
}

impl Walk<'_> {
    async fn expired(&mut self, settings: &Settings, agents: &Agents) -> Result<()> {
        let all = self.old_tasks(settings, agents).await?;
        if self.index.tables.are_in_objects() {
            return self.shards(&all).await;
        }
        for old in &all {
            self.all(old).await?;
        }
        Ok(())
    }

    /// The tasks whose time is over, and those beyond the numbers that are kept.
    async fn old_tasks(&self, settings: &Settings, agents: &Agents) -> Result<Vec<Old>> {
        let own: Vec<(&str, RetentionTable)> = agents.retentions().collect();
        let with_own = own.iter().filter(|(_, own)| own.retention_ms.is_some());
        let others = with_own.clone().map(|(agent, _)| (*agent).to_owned()).collect();
        let mut all = Vec::new();
        if let Some(before) = expired_before(settings.limits.retention_ms, now()) {
            all.push(Old { agents: Of::AllBut(others), before });
        }
        for (agent, own) in with_own {
            let retention_ms = own.retention_ms.unwrap_or_default();
            if let Some(before) = expired_before(retention_ms, now()) {
                all.push(Old { agents: Of::One((*agent).to_owned()), before });
            }
        }
        for agent in agents.slugs() {
            let own = own.iter().find(|(slug, _)| *slug == agent);
            let most = own.and_then(|(_, own)| own.max_finished);
            let most = most.unwrap_or(settings.max_finished_tasks);
            if let Some(before) = self.index.oldest_kept(agent, most).await? {
                all.push(Old { agents: Of::One(agent.to_owned()), before });
            }
        }
        Ok(all)
    }

    /// Copies rows to the second place of the index.
    async fn copied(&mut self, agents: &mut dyn Iterator<Item = &str>) -> Result<()> {
        let mut calls = MAX_COPIES;
        for agent in agents {
            while calls > 0 && !self.index.tables.copy(agent, false).await?.done {
                calls -= 1;
            }
        }
        Ok(())
    }

    /// Walks over D1.
    async fn all(&mut self, old: &Old) -> Result<()> {
        let mut place = Some(Place::start());
        while let Some(here) = place.take_if(|_| self.steps > 0) {
            let (tasks, next) = self.index.old_tasks(old, &here, PAGE).await?;
            self.delete(tasks).await?;
            place = next;
        }
        Ok(())
    }

    /// Walks over the shards, from the entry of the directory at which the walk before has stopped. A shard that does not answer is
    /// left to the next walk.
    async fn shards(&mut self, all: &[Old]) -> Result<()> {
        let mut behind = self.index.tables.noted().await?;
        loop {
            let entries = self.index.tables.entries(&behind, ENTRIES).await?;
            if entries.is_empty() {
                return self.index.tables.note(&Entry::default()).await;
            }
            for entry in entries {
                if self.steps == 0 {
                    return self.index.tables.note(&behind).await;
                }
                let of_agent = all.iter().filter(|old| old.agents.has(entry.agent()));
                let before = of_agent.map(|old| &old.before).max();
                if let Err(error) = self.shard(&entry, before).await {
                    let reason = format!("a shard of {}: {error}", entry.agent());
                    let observer = ConsoleObserver::of(self.env);
                    observer.observe(&Observation::CleanUpFailed { reason: &reason });
                }
                behind = entry;
            }
        }
    }

    /// Deletes what is too old in a shard.
    async fn shard(&mut self, entry: &Entry, before: Option<&End>) -> Result<()> {
        let mut after: Option<Position> = None;
        while let Some(before) = before.filter(|_| self.steps > 0) {
            let (tasks, next) =
                self.index.old_tasks_of(entry, before, after.as_ref(), PAGE).await?;
            self.delete(tasks).await?;
            after = next;
            if after.is_none() {
                break;
            }
        }
        let [turns, sums] = usage::clean_up_sql(now());
        let (hours, troubles) = (overview::clean_up_sql(now()), webhook_list::clean_up_sql(now()));
        let places = index::clean_up_sql(now());
        self.index.tables.clean_up(entry, &[turns, sums, hours, troubles, places]).await
    }

    /// Puts a page of tasks into the queue of deletions.
    async fn delete(&mut self, tasks: Vec<RowPlace>) -> Result<()> {
        self.found += tasks.len();
        let tasks: Vec<Deletion> = tasks.into_iter().map(Deletion::of).collect();
        let calls = calls(jobs(tasks, now()));
        self.steps = self.steps.saturating_sub(calls.len().max(1));
        for jobs in calls {
            bindings::enqueue(self.env, bindings::DELETIONS, &jobs).await?;
        }
        Ok(())
    }
}

/// The end of the expired tasks; `None` if tasks are kept for ever.
fn expired_before(retention_ms: u64, now: UnixMillis) -> Option<End> {
    let retention_ms = i64::try_from(retention_ms).ok().filter(|millis| *millis > 0)?;
    let status_ms = UnixMillis(now.0.saturating_sub(retention_ms).saturating_add(1));
    Some(End { status_ms, id: None })
}

/// The bodies of the messages for a page of tasks.
fn jobs(tasks: Vec<Deletion>, now: UnixMillis) -> Vec<String> {
    let job = |tasks: &[Deletion]| DeletionJob {
        delete: tasks.to_vec(),
        until: now.after(JOB_LIFE_MS).0,
    };
    // A job contains only texts and numbers, so encoding cannot fail.
    let encoded = |tasks| to_json(&job(tasks)).unwrap_or_default();
    tasks.chunks(TASKS_PER_JOB).map(encoded).collect()
}

/// The messages of a page in as few calls of the queue as their bytes allow.
fn calls(jobs: Vec<String>) -> Vec<Vec<String>> {
    let mut calls: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for job in jobs {
        bytes += job.len();
        match calls.last_mut().filter(|_| bytes <= CALL_BYTES) {
            Some(call) => call.push(job),
            None => {
                bytes = job.len();
                calls.push(vec![job]);
            }
        }
    }
    calls
}

/// The number of tasks in a page: ten messages, of which a queue accepts up to a hundred in one call.
const PAGE: usize = 1_000;

/// The largest number of calls of one trigger that copy rows of the index: of 2,000 tasks each, and some 60 subrequests.
const MAX_COPIES: usize = 100;

/// The number of entries in a page of the directory.
const ENTRIES: u32 = 100;

/// The number of tasks in a message of the queue.
const TASKS_PER_JOB: usize = 100;

/// The largest number of bytes in a call of the queue; the platform allows 256,000. Only callers with long ids need more than a call
/// for a page.
const CALL_BYTES: usize = 200_000;

/// The largest number of pages that one trigger reads. A page costs up to three subrequests, and each further call of the queue counts
/// as a page; the platform allows 10,000.
const MAX_STEPS: usize = 2_000;

/// How long a job may wait, in milliseconds. After an hour, the next trigger has found its tasks again.
const JOB_LIFE_MS: u64 = 3_600_000;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::edge::bindings::ANSWERS_AT_ONCE;
    use a2a::model::TaskId;

    #[test]
    fn a_task_is_expired_from_the_end_of_its_time_on() {
        assert_eq!(expired_before(0, UnixMillis(5)), None);
        // All tasks of 4,000 ms, and none of the next millisecond.
        let end = End { status_ms: UnixMillis(4_001), id: None };
        assert_eq!(expired_before(1_000, UnixMillis(5_000)), Some(end));
    }

    #[test]
    fn a_page_becomes_as_few_messages_as_a_queue_takes_at_once() {
        let page = |owner: &str| {
            let task = |nth: usize| {
                let id = TaskId::new(format!("{nth:064}")).unwrap();
                let (owner, agent) = (owner.to_owned(), "assistant".to_owned());
                Deletion::of(RowPlace { owner, agent, status_ms: 1_767_614_400_000, id, shard: 0 })
            };
            let calls = calls(jobs((0..PAGE).map(task).collect(), UnixMillis(0)));
            assert_eq!(calls.iter().map(Vec::len).sum::<usize>(), PAGE / TASKS_PER_JOB);
            for jobs in &calls {
                assert!(jobs.len() <= 100, "messages of one call");
                assert!(jobs.iter().map(String::len).sum::<usize>() < 256_000, "bytes of one call");
            }
            calls.len()
        };
        assert_eq!(page("key:billing"), 1);
        assert_eq!(page(&"\"".repeat(256)), 4);
        assert!(calls(Vec::new()).is_empty());
    }

    /// A simulated deployment in which tasks expire steadily: the trigger every hour, the queue, and consumers that each have
    /// requests for several messages open at once. Tasks are counted in messages.
    struct World {
        /// The number of messages full of tasks that expire per second.
        per_second: usize,
        now_s: usize,
        /// For each expired message, true if its tasks are deleted.
        deleted: Vec<bool>,
        /// The first entry that is not deleted.
        oldest: usize,
        /// The queued entries, each with the second at which it is out of date.
        queue: VecDeque<(usize, usize)>,
        /// For each consumer, the second until which it is busy.
        consumers: Vec<usize>,
        is_d1_up: bool,
    }

    impl World {
        fn new(tasks_per_second: usize, consumers: usize) -> Self {
            Self {
                per_second: tasks_per_second / TASKS_PER_JOB,
                now_s: 0,
                deleted: Vec::new(),
                oldest: 0,
                queue: VecDeque::new(),
                consumers: vec![0; consumers],
                is_d1_up: true,
            }
        }

        /// Simulates this number of hours; returns the number of tasks that have expired and are not deleted.
        fn hours(&mut self, hours: usize) -> usize {
            for _ in 0..hours * HOUR_S {
                if self.now_s.is_multiple_of(HOUR_S) && self.is_d1_up {
                    self.trigger();
                }
                self.deleted.extend(vec![false; self.per_second]);
                for nth in 0..self.consumers.len() {
                    if self.consumers[nth] <= self.now_s {
                        self.consumers[nth] = self.now_s + self.consume();
                    }
                }
                self.now_s += 1;
            }
            self.left().len() * TASKS_PER_JOB
        }

        fn left(&self) -> Vec<usize> {
            let behind = self.deleted.iter().enumerate().skip(self.oldest);
            behind.filter(|(_, is_deleted)| !**is_deleted).map(|(nth, _)| nth).collect()
        }

        fn trigger(&mut self) {
            let mut found = self.left();
            self.oldest = found.first().copied().unwrap_or(self.deleted.len());
            let per_page = PAGE / TASKS_PER_JOB;
            found.truncate(MAX_STEPS * per_page);
            let subrequests = found.len().div_ceil(per_page) * SUBREQUESTS_PER_PAGE;
            assert!(subrequests < 10_000, "{subrequests} subrequests of a trigger");
            assert!(subrequests * ANSWER_MS < QUARTER_MS, "{subrequests} one after the other");
            let until = self.now_s + usize::try_from(JOB_LIFE_MS).unwrap() / 1_000;
            self.queue.extend(found.into_iter().map(|nth| (nth, until)));
        }

        /// Consumes a batch; returns the time that this takes, in seconds.
        fn consume(&mut self) -> usize {
            let batch = self.queue.len().min(ANSWERS_AT_ONCE);
            let batch: Vec<usize> = self
                .queue
                .drain(..batch)
                .filter_map(|(nth, until)| (until > self.now_s).then_some(nth))
                .collect();
            if batch.is_empty() || !self.is_d1_up {
                return 0;
            }
            assert!(batch.len() * (TASKS_PER_JOB + 1) < 10_000, "subrequests of a batch");
            for nth in batch {
                self.deleted[nth] = true;
            }
            // The messages of a batch are handled at the same time, the tasks of each message one after the other.
            let millis = (TASKS_PER_JOB + 1) * ANSWER_MS;
            assert!(millis < QUARTER_MS, "{millis} ms for a batch");
            millis.div_ceil(1_000)
        }
    }

    const HOUR_S: usize = 3_600;

    /// How long an object takes to delete its task, or D1 or a queue to answer, in milliseconds; a high estimate.
    const ANSWER_MS: usize = 100;

    /// Two statements and one call of the queue.
    const SUBREQUESTS_PER_PAGE: usize = 3;

    /// The time limit of a trigger or a batch: 15 minutes, in milliseconds.
    const QUARTER_MS: usize = 900_000;

    #[test]
    fn the_backlog_does_not_grow_at_a_hundred_tasks_a_second() {
        // Queues run up to 250 consumers at the same time.
        let mut world = World::new(100, 3);
        for _ in 0..48 {
            let left = world.hours(1);
            assert!(left <= 100 * HOUR_S, "more than has expired since the trigger: {left}");
            assert!(world.queue.is_empty(), "the consumers are done before the next trigger");
        }
    }

    #[test]
    fn what_a_day_without_d1_has_left_behind_is_caught_up_with() {
        let mut world = World::new(100, 10);
        world.hours(1);
        world.is_d1_up = false;
        assert!(world.hours(24) >= 24 * 100 * HOUR_S);
        world.is_d1_up = true;
        let mut least = usize::MAX;
        for _ in 0..24 {
            least = least.min(world.hours(1));
            let most = 2 * MAX_STEPS * PAGE / TASKS_PER_JOB;
            assert!(world.queue.len() <= most, "what is found again does not heap up");
        }
        assert!(least <= 100 * HOUR_S, "{least}");
    }
}
