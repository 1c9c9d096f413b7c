//! The quotas of a caller, which are asked before a task begins. One statement counts what the caller has and reserves a place for the new
//! task, so that of several sends at the same time only as many pass as the quotas allow.
//!
//! A place counts as an unfinished task until the first row of its task is there: a trigger of the table then deletes the place. The places
//! of an owner are in the first shard of its index. Rows in other shards take their places by a statement of their own.

use worker::Result;

use super::statements::IS_UNFINISHED;
use super::{Index, totals};
use crate::edge::service::clock::now;
use crate::edge::service::database::{Statement, number};
use crate::edge::service::rows::{read_row, rows};
use crate::edge::service::tables::{Selected, Shard, Whose, shards_of};
use crate::forms::address::ObjectId;
use a2a::Quota;
use a2a::model::UnixMillis;

/// A task that is about to begin, as the quotas of its caller see it.
#[derive(Clone, Copy, Debug)]
pub(in crate::edge) struct NewTask<'a> {
    pub(in crate::edge) owner: &'a str,
    pub(in crate::edge) agent: &'a str,
    pub(in crate::edge) object: &'a ObjectId,
    pub(in crate::edge) now: UnixMillis,
}

impl Index {
    /// Reserves a place for a task, unless its caller has reached one of these quotas, which is returned then.
    ///
    /// # Errors
    ///
    /// If it is not known whether a place was reserved; or if the tables are missing.
    pub(in crate::edge) async fn reserve(
        &self,
        task: NewTask<'_>,
        quotas: &[Quota],
    ) -> Result<Option<Quota>> {
        let mut shards = shards_of(task.owner);
        loop {
            let elsewhere = self.count_elsewhere(task, quotas, shards).await?;
            let limits: Vec<(Quota, u64)> = quotas.iter().copied().zip(elsewhere).collect();
            let statement = reserve_statement(task, &limits);
            let Selected { rows, shards: known } =
                self.tables.reserve(task.agent, task.owner, &statement).await?;
            match (rows.is_empty(), quotas) {
                (true, [quota]) => return Ok(Some(*quota)),
                (true, quotas) => {
                    let shard = Shard { owner: task.owner, number: 0 };
                    let statement = reached_statement(task, &limits);
                    let nth = totals(self.tables.select_in(shard, &statement).await?)?;
                    let nth = usize::try_from(nth).unwrap_or_default();
                    return Ok(quotas.get(nth).copied());
                }
                (false, _) if known <= shards => return Ok(None),
                // The owner has more shards than this instance knew, and what is in them was not counted.
                (false, _) => self.release(task.agent, task.owner, task.object).await?,
            }
            shards = known;
        }
    }

    /// What counts for each quota in the shards of the owner after the first.
    async fn count_elsewhere(
        &self,
        task: NewTask<'_>,
        quotas: &[Quota],
        shards: u32,
    ) -> Result<Vec<u64>> {
        let mut counts = vec![0; quotas.len()];
        if shards > 1 {
            for (quota, count) in quotas.iter().zip(&mut counts) {
                let mut statement = Statement::new("SELECT ");
                push_count(&mut statement, task, *quota);
                statement.add(" AS total");
                let found = self.tables.select(Whose::Owner(task.owner), &statement).await?;
                for row in found.rows {
                    let CountRow { shard, total } = read_row(row)?;
                    *count += if shard == 0 { 0 } else { total };
                }
            }
        }
        Ok(counts)
    }

    /// Deletes from D1 the places that have ended.
    ///
    /// # Errors
    ///
    /// If D1 fails.
    pub(in crate::edge) async fn clean_up(&self) -> Result<()> {
        self.tables.clean_d1(clean_up_sql(now())).await
    }

    /// Gives back a place.
    ///
    /// # Errors
    ///
    /// If it is not known whether the place was given back.
    pub(super) async fn release(&self, agent: &str, owner: &str, object: &ObjectId) -> Result<()> {
        let sql = "DELETE FROM reservations WHERE owner = ?1 AND agent = ?2 AND id = ?3".to_owned();
        let values = vec![owner.into(), agent.into(), object.as_str().into()];
        self.tables.change(Shard { owner, number: 0 }, &Statement { sql, values }).await
    }
}

rows! {
    /// What counts for a quota in a shard.
    struct CountRow {
        shard: u32,
        total: u64,
    }
}

/// Reserves a place if no quota is reached, and returns a row then. With each quota comes what counts for it in other shards.
fn reserve_statement(task: NewTask<'_>, limits: &[(Quota, u64)]) -> Statement {
    let NewTask { owner, agent, object, now } = task;
    let mut statement = Statement::new("INSERT INTO reservations (owner, agent, id, until_ms)");
    statement.push(" SELECT {}, ", owner.into());
    statement.push("{}, ", agent.into());
    statement.push("{}, ", object.as_str().into());
    statement.push("{} WHERE 1", now.after(RESERVED_MS).0.into());
    for (quota, elsewhere) in limits {
        statement.add(" AND ");
        push_condition(&mut statement, task, *quota, *elsewhere);
    }
    // A send that is repeated under its key has the same object.
    statement.add(
        " ON CONFLICT (owner, agent, id) DO UPDATE SET until_ms = excluded.until_ms RETURNING 1",
    );
    statement
}

/// Selects the position of the first quota that is reached.
fn reached_statement(task: NewTask<'_>, limits: &[(Quota, u64)]) -> Statement {
    let mut statement = Statement::new("SELECT CASE");
    for (nth, (quota, elsewhere)) in limits.iter().enumerate() {
        statement.add(" WHEN NOT ");
        push_condition(&mut statement, task, *quota, *elsewhere);
        statement.add(&format!(" THEN {nth}"));
    }
    // Room was made meanwhile; the send is refused all the same.
    statement.add(" ELSE 0 END AS total");
    statement
}

/// Adds the condition that a quota is not reached.
fn push_condition(statement: &mut Statement, task: NewTask<'_>, quota: Quota, elsewhere: u64) {
    let (Quota::Tasks(limit) | Quota::AgentTasks(limit) | Quota::StoredBytes(limit)) = quota;
    push_count(statement, task, quota);
    statement.push(" < {}", number(limit.saturating_sub(elsewhere)));
}

/// Adds what counts for a quota in a shard. Tasks are counted up to the limit, which also bounds the rows that are read.
fn push_count(statement: &mut Statement, task: NewTask<'_>, quota: Quota) {
    let NewTask { owner, agent, object, now } = task;
    let push_whose = |statement: &mut Statement, of_agent: bool| {
        statement.push(" WHERE owner = {}", owner.into());
        if of_agent {
            statement.push(" AND agent = {}", agent.into());
        }
    };
    match quota {
        Quota::Tasks(limit) | Quota::AgentTasks(limit) => {
            let of_agent = matches!(quota, Quota::AgentTasks(_));
            statement.add("(SELECT count(*) FROM (SELECT 1 FROM tasks INDEXED BY tasks_unfinished");
            push_whose(statement, of_agent);
            statement.add(IS_UNFINISHED);
            statement.push(" LIMIT {})) + (SELECT count(*) FROM reservations", number(limit));
            push_whose(statement, of_agent);
            statement.push(" AND until_ms > {}", now.0.into());
            statement.push(" AND id <> {})", object.as_str().into());
        }
        Quota::StoredBytes(_) => {
            statement.add(
                "coalesce((SELECT c.bytes + (SELECT coalesce(sum(n.bytes), 0) FROM tasks AS n \
                 WHERE n.owner = c.owner AND n.agent = c.agent AND n.status_ms > c.counted_ms) \
                 FROM task_counts AS c",
            );
            push_whose(statement, true);
            statement.add("), 0)");
        }
    }
}

/// Deletes the places that have ended.
pub(in crate::edge) fn clean_up_sql(now: UnixMillis) -> String {
    format!("DELETE FROM reservations WHERE until_ms <= {}", now.0)
}

/// The time after which a place ends that no task has taken, in milliseconds. The first row of a task follows its send within a second, unless
/// the index is down.
const RESERVED_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::service::database::Value;

    fn statement(make: impl Fn(NewTask<'_>) -> Statement) -> Statement {
        let object = ObjectId::new("0a").unwrap();
        make(NewTask { owner: "o", agent: "a", object: &object, now: UnixMillis(1_000) })
    }

    #[test]
    fn a_place_is_reserved_by_one_statement_if_no_quota_is_reached() {
        let limits = [(Quota::Tasks(5), 2), (Quota::AgentTasks(3), 0)];
        let Statement { sql, values } = statement(|task| reserve_statement(task, &limits));
        assert_eq!(
            sql,
            "INSERT INTO reservations (owner, agent, id, until_ms) SELECT +?1, +?2, +?3, +?4 WHERE 1 \
             AND (SELECT count(*) FROM (SELECT 1 FROM tasks INDEXED BY tasks_unfinished WHERE owner = +?5 \
             AND state NOT IN (3, 4, 5, 7) LIMIT +?6)) \
             + (SELECT count(*) FROM reservations WHERE owner = +?7 AND until_ms > +?8 AND id <> +?9) < +?10 \
             AND (SELECT count(*) FROM (SELECT 1 FROM tasks INDEXED BY tasks_unfinished WHERE owner = +?11 AND agent = +?12 \
             AND state NOT IN (3, 4, 5, 7) LIMIT +?13)) \
             + (SELECT count(*) FROM reservations WHERE owner = +?14 AND agent = +?15 AND until_ms > +?16 AND id <> +?17) < +?18 \
             ON CONFLICT (owner, agent, id) DO UPDATE SET until_ms = excluded.until_ms RETURNING 1"
        );
        assert_eq!(values[..4], ["o".into(), "a".into(), "0a".into(), Value::Number(61_000)]);
        assert_eq!(values[5], Value::Number(5));
        assert_eq!(values[9], Value::Number(3), "what is in other shards counts");
    }

    #[test]
    fn the_first_quota_that_is_reached_is_named() {
        let limits = [(Quota::AgentTasks(3), 0), (Quota::StoredBytes(900), 0)];
        let Statement { sql, .. } = statement(|task| reached_statement(task, &limits));
        assert!(sql.starts_with("SELECT CASE WHEN NOT (SELECT count(*)"), "{sql}");
        let bytes = "THEN 0 WHEN NOT coalesce((SELECT c.bytes + (SELECT coalesce(sum(n.bytes), 0) FROM tasks AS n \
             WHERE n.owner = c.owner AND n.agent = c.agent AND n.status_ms > c.counted_ms) \
             FROM task_counts AS c WHERE owner = +?9 AND agent = +?10), 0) < +?11 THEN 1 ELSE 0 END AS total";
        assert!(sql.ends_with(bytes), "{sql}");
    }
}
