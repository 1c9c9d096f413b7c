//! The data of an overview, read from the index: the table `task_hours`, the index of unfinished tasks, and webhooks in trouble.
//! `STORAGE.md` describes the tables. No object is woken.

use std::cell::Cell;

use futures_util::try_join;
use worker::wasm_bindgen::JsValue;
use worker::{Env, Result, js_sys::Reflect};

use super::clock::now;
use super::database::{Statement, number};
use super::observer::ConsoleObserver;
use super::rows::{read_row, rows};
use super::tables::{Rows, Tables, Whose};
use crate::overview::{
    BOUNDS, BUCKETS_MS, Counted, HOUR_MS, KEPT_MS, Overview, Unfinished, WebhookTrouble,
    first_hour, hour_of, hours_of,
};
use crate::port::{Observation, Observer};
use a2a::model::UnixMillis;

/// The overviews of agents in D1.
pub(in crate::edge) struct OverviewTables {
    env: Env,
    tables: Tables,
}

impl OverviewTables {
    pub(in crate::edge) fn of(env: &Env) -> Self {
        Self { env: env.clone(), tables: Tables::of(env) }
    }

    /// The overview of an agent over this number of hours: three statements at the same time.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn overview(
        &self,
        agent: &str,
        hours: u32,
        counting: bool,
    ) -> Result<Overview> {
        let at = now();
        let (counted, unfinished, webhooks) = try_join!(
            self.counted(agent, first_hour(hours, at)),
            self.unfinished(agent),
            self.webhooks(agent),
        )?;
        Ok(Overview {
            agent: agent.to_owned(),
            now: at.0,
            hours: hours_of(counted, hours, at),
            buckets_ms: BUCKETS_MS,
            unfinished,
            webhooks,
            counting,
        })
    }

    async fn counted(&self, agent: &str, from: i64) -> Result<Vec<Counted>> {
        let rows = self.of_agent(agent, hours_statement(agent, from)).await?;
        rows.into_iter().map(read_counted).collect()
    }

    async fn unfinished(&self, agent: &str) -> Result<Unfinished> {
        let rows = self.of_agent(agent, unfinished_statement(agent)).await?;
        let mut unfinished = Unfinished::default();
        let mut read = 0;
        for row in rows {
            let StateRow { state, is_asked, number } = read_row(row)?;
            read += number;
            if is_asked == 1 {
                unfinished.add(state, number);
            }
        }
        unfinished.is_at_least = read >= MOST_UNFINISHED;
        Ok(unfinished)
    }

    async fn webhooks(&self, agent: &str) -> Result<WebhookTrouble> {
        let rows = self.of_agent(agent, webhooks_statement(agent)).await?;
        let (mut trouble, mut read) = (WebhookTrouble::default(), 0);
        for row in rows {
            let TroubleRow { failing, suspended, dead_letters, number } = read_row(row)?;
            trouble.failing += failing;
            trouble.suspended += suspended;
            trouble.dead_letters += dead_letters;
            read += number;
        }
        trouble.is_at_least = read >= MOST_WEBHOOKS;
        Ok(trouble)
    }

    /// Selects rows of an agent.
    async fn of_agent(&self, agent: &str, statement: Statement) -> Result<Rows> {
        Ok(self.tables.select(Whose::All(Some(agent)), &statement).await?.rows)
    }

    /// Deletes from D1 the hours that are too old for any overview; at most once an hour in one instance.
    pub(in crate::edge) async fn clean_up(&self) {
        let hour = hour_of(now());
        if CLEANED.replace(hour) == hour {
            return;
        }
        if let Err(error) = self.tables.clean_d1(clean_up_sql(now())).await {
            let reason = format!("table task_hours: {error}");
            let observer = ConsoleObserver::of(&self.env);
            observer.observe(&Observation::CleanUpFailed { reason: &reason });
        }
    }
}

rows! {
    /// The tasks of an hour in one state. The counts by duration are columns that are read separately.
    struct HourRow {
        hour: i64,
        state: i64,
        number: u64,
        total_ms: u64,
        with_failed_steps: u64,
    }

    /// The number of unfinished tasks in a state, either of the requested agent or of all others.
    struct StateRow {
        state: i64,
        is_asked: u8,
        number: u64,
    }

    struct TroubleRow {
        failing: u64,
        suspended: u64,
        dead_letters: u64,
        number: u64,
    }
}

fn read_counted(row: JsValue) -> Result<Counted> {
    let mut under = [0; BOUNDS];
    for (count, bound) in under.iter_mut().zip(BUCKETS_MS) {
        let column = Reflect::get(&row, &JsValue::from_str(&format!("under_{bound}")))?;
        *count = column.as_f64().unwrap_or(0.0) as u64;
    }
    let HourRow { hour, state, number, total_ms, with_failed_steps } = read_row(row)?;
    Ok(Counted { hour, state, number, with_failed_steps, total_ms, under })
}

/// The hours of an agent from this hour on: a range of the table, with up to four rows per hour.
fn hours_statement(agent: &str, from: i64) -> Statement {
    let mut statement = Statement::new("SELECT * FROM task_hours");
    statement.push(" WHERE agent = {}", agent.into());
    statement.push(" AND hour >= {}", from.into());
    statement
}

/// The number of unfinished tasks by state, separately for the agent and for all others. The index is not ordered by agent,
/// so it is read from its beginning, up to [`MOST_UNFINISHED`] tasks of all agents.
fn unfinished_statement(agent: &str) -> Statement {
    let mut statement = Statement::new("SELECT state, agent = ");
    statement.push("{} AS is_asked, count(*) AS number FROM ", agent.into());
    statement.add("(SELECT agent, state FROM tasks INDEXED BY tasks_unfinished");
    statement.push(" WHERE state NOT IN (3, 4, 5, 7) LIMIT {})", number(MOST_UNFINISHED));
    statement.add(" GROUP BY 1, 2");
    statement
}

/// The webhooks in trouble of an agent, by their health, up to [`MOST_WEBHOOKS`].
fn webhooks_statement(agent: &str) -> Statement {
    let mut statement = Statement::new(
        "SELECT coalesce(sum(health = 1), 0) AS failing, coalesce(sum(health = 2), 0) AS suspended, \
         coalesce(sum(given_up), 0) AS dead_letters, count(*) AS number FROM \
         (SELECT health, given_up FROM webhooks",
    );
    statement.push(" WHERE agent = {}", agent.into());
    statement.push(" LIMIT {})", number(MOST_WEBHOOKS));
    statement
}

/// Deletes the hours that are too old for any overview.
pub(in crate::edge) fn clean_up_sql(now: UnixMillis) -> String {
    let before = hour_of(now).saturating_sub(KEPT_MS);
    // The hour 0 has what was deleted before (0005_metrics.sql).
    format!("DELETE FROM task_hours WHERE hour > 0 AND hour < {before}")
}

thread_local! {
    /// The hour of the last clean-up by this instance.
    static CLEANED: Cell<i64> = const { Cell::new(-HOUR_MS) };
}

/// The largest number of unfinished tasks of all agents that an overview counts, and so the largest number of rows read for
/// it.
const MOST_UNFINISHED: u64 = 10_000;

/// The largest number of webhooks of the agent that an overview counts.
const MOST_WEBHOOKS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_a_range_of_the_table() {
        let statement = hours_statement("demo", 3 * HOUR_MS);
        assert_eq!(statement.sql, "SELECT * FROM task_hours WHERE agent = +?1 AND hour >= +?2");
        assert_eq!(statement.values, ["demo".into(), (3 * HOUR_MS).into()]);
    }

    #[test]
    fn unfinished_tasks_are_counted_up_to_a_limit() {
        let statement = unfinished_statement("demo");
        assert_eq!(
            statement.sql,
            "SELECT state, agent = +?1 AS is_asked, count(*) AS number FROM \
             (SELECT agent, state FROM tasks INDEXED BY tasks_unfinished \
             WHERE state NOT IN (3, 4, 5, 7) LIMIT +?2) GROUP BY 1, 2"
        );
        assert_eq!(statement.values, ["demo".into(), number(MOST_UNFINISHED)]);
    }

    #[test]
    fn webhooks_of_the_agent_alone_are_summed() {
        let statement = webhooks_statement("demo");
        let rows = "(SELECT health, given_up FROM webhooks WHERE agent = +?1 LIMIT +?2)";
        assert!(statement.sql.ends_with(rows), "{}", statement.sql);
        assert_eq!(statement.values, ["demo".into(), number(MOST_WEBHOOKS)]);
    }

    #[test]
    fn whole_hours_are_deleted_after_eight_days() {
        let noon = 1_767_614_400_000;
        let before = noon - 8 * 24 * HOUR_MS;
        let sql = clean_up_sql(UnixMillis(noon + 5));
        assert_eq!(sql, format!("DELETE FROM task_hours WHERE hour > 0 AND hour < {before}"));
    }
}
