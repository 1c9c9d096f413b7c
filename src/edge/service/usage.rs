//! The use of models by callers, in the tables `usage` and `usage_turns`. `STORAGE.md` describes them.

use std::cell::RefCell;

use async_trait::async_trait;
use worker::{Env, Result};

use super::clock::now;
use super::database::{Statement, Value, number};
use super::index::ObjectIndex;
use super::observer::ConsoleObserver;
use super::rows::{read_row, rows};
use super::tables::{Shard, Tables};
use crate::port::{CountedTurn, Observation, Observer, UsageSums};
use crate::usage::{TurnUsage, Usage, day_of};
use a2a::model::UnixMillis;

/// The usage sums of a deployment. Those of an owner are in its first shard.
pub(in crate::edge) struct UsageTable {
    env: Env,
    tables: Tables,
}

impl UsageTable {
    pub(in crate::edge) fn of(env: &Env) -> Self {
        Self { env: env.clone(), tables: Tables::of(env) }
    }

    /// The usage of a caller with an agent on the day of an instant: one row is read.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the table is missing.
    pub(in crate::edge) async fn used(
        &self,
        owner: &str,
        agent: &str,
        at: UnixMillis,
    ) -> Result<Usage> {
        let shard = Shard { owner, number: 0 };
        let rows = self.tables.select_in(shard, &sum_statement(owner, agent, at)).await?;
        let Some(row) = rows.into_iter().next() else { return Ok(Usage::NOTHING) };
        let SumRow { requests, input_tokens, output_tokens, cost_micros } = read_row(row)?;
        Ok(Usage { requests, input_tokens, output_tokens, cost_micros })
    }

    /// Deletes from D1 the turns that no task will count again, and the sums that are too old; at most once a day in one instance.
    pub(in crate::edge) async fn clean_up(&self) {
        let today = day_of(now());
        if CLEANED.with_borrow(|cleaned| *cleaned == today) {
            return;
        }
        CLEANED.set(today);
        for sql in clean_up_sql(now()) {
            if let Err(error) = self.tables.clean_d1(sql).await {
                let reason = format!("tables of usage: {error}");
                let observer = ConsoleObserver::of(&self.env);
                observer.observe(&Observation::CleanUpFailed { reason: &reason });
            }
        }
    }
}

#[async_trait(?Send)]
impl UsageSums for ObjectIndex {
    async fn count(&self, turn: CountedTurn) -> std::result::Result<(), String> {
        let (owner, agent) = (turn.owner.clone(), turn.agent.clone());
        let shard = Shard { owner: &owner, number: 0 };
        let counted = self.index.tables.write(&agent, shard, &count_statement(turn)).await;
        counted.map_err(|error| error.to_string())
    }
}

rows! {
    /// A row of the sums.
    struct SumRow {
        requests: u64,
        input_tokens: u64,
        output_tokens: u64,
        cost_micros: u64,
    }
}

/// Adds a turn, unless it is counted already. A trigger of the table adds the turn to the sum.
fn count_statement(counted: CountedTurn) -> Statement {
    let CountedTurn { task, owner, agent, turn } = counted;
    let day = turn.day();
    let TurnUsage { turn: nth, usage, models, .. } = turn;
    let values = vec![
        Value::Text(day),
        task.as_str().into(),
        number(nth),
        Value::Text(owner),
        Value::Text(agent),
        number(usage.requests),
        number(usage.input_tokens),
        number(usage.output_tokens),
        number(usage.cost_micros),
        Value::Text(models.into_json()),
    ];
    Statement { sql: COUNT.to_owned(), values }
}

fn sum_statement(owner: &str, agent: &str, at: UnixMillis) -> Statement {
    let values = vec![Value::Text(day_of(at)), owner.into(), agent.into()];
    Statement { sql: SUM.to_owned(), values }
}

/// Deletes the turns that no task will count again, and the sums that are too old: a statement for each of the tables.
pub(in crate::edge) fn clean_up_sql(now: UnixMillis) -> [String; 2] {
    [("usage_turns", TURN_DAYS), ("usage", SUM_DAYS)].map(|(table, days)| {
        let before = day_of(UnixMillis(now.0.saturating_sub(days * DAY_MS)));
        format!("DELETE FROM {table} WHERE day < '{before}'")
    })
}

thread_local! {
    /// The day of the last clean-up by this instance.
    static CLEANED: RefCell<String> = const { RefCell::new(String::new()) };
}

const COUNT: &str = "INSERT INTO usage_turns \
    (day, task, turn, owner, agent, requests, input_tokens, output_tokens, cost_micros, models) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (day, task, turn) DO NOTHING";

const SUM: &str = "SELECT requests, input_tokens, output_tokens, cost_micros FROM usage \
    WHERE day = ?1 AND owner = ?2 AND agent = ?3";

/// The number of days for which turns are kept. D1 may be down for this time between a statement that took effect and its
/// repetition.
const TURN_DAYS: i64 = 7;

/// The number of days for which sums are kept.
const SUM_DAYS: i64 = 400;

const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::models::NamedUsage;
    use a2a::model::TaskId;

    const NOON: &str = "2026-03-05T12:00:00Z";

    #[test]
    fn a_turn_is_counted_for_its_day_by_one_statement() {
        let at = UnixMillis::parse(NOON).unwrap();
        let usage = Usage { requests: 2, input_tokens: 30, output_tokens: 4, cost_micros: 5 };
        let mut used = NamedUsage::default();
        used.add("m", usage);
        let statement = count_statement(CountedTurn {
            task: TaskId::new("t").unwrap(),
            owner: "o".to_owned(),
            agent: "a".to_owned(),
            turn: TurnUsage { turn: 3, at_ms: at.0, usage, models: used.models },
        });
        let expected: [Value; 10] = [
            "2026-03-05".into(),
            "t".into(),
            number(3),
            "o".into(),
            "a".into(),
            number(2),
            number(30),
            number(4),
            number(5),
            r#"{"m":[2,30,4,5]}"#.into(),
        ];
        assert_eq!(statement.values, expected);
        assert!(statement.sql.ends_with("ON CONFLICT (day, task, turn) DO NOTHING"));
    }

    #[test]
    fn what_is_older_than_its_days_is_deleted() {
        let [turns, sums] = clean_up_sql(UnixMillis::parse(NOON).unwrap());
        assert_eq!(turns, "DELETE FROM usage_turns WHERE day < '2026-02-26'");
        assert_eq!(sums, "DELETE FROM usage WHERE day < '2025-01-29'");
    }
}
