//! The index of tasks in D1: the statements. `STORAGE.md` describes the tables.

use async_trait::async_trait;
use js_sys::Array;
use wasm_bindgen_futures::JsFuture;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::types as platform;
use worker::{D1Database, D1PreparedStatement, Env, Error, Result};

use super::rows::Row;
use crate::edge::bindings;
use crate::edge::development::statements;
use crate::operation::list_tasks::{Found, FoundTask, Position, TaskQuery};
use crate::port::{IndexRow, TaskIndex};
use a2a::model::{TaskId, TaskState, UnixMillis};

/// The tables `tasks` and `task_counts`.
pub(in crate::edge) struct D1Index {
    pub(in crate::edge) env: Env,
}

impl D1Index {
    /// The rows that a query asks for, and how many match in all: one round trip.
    ///
    /// # Errors
    ///
    /// When D1 fails, or has not got the tables.
    pub(in crate::edge) async fn find(&self, query: &TaskQuery) -> Result<Found> {
        let mut results = self.run(&[page_statement(query), total_statement(query)]).await?;
        let (Some(counted), Some(found)) = (results.pop(), results.pop()) else {
            return Err(Error::RustError("D1 gave another number of results".to_owned()));
        };
        let total = counted.first().map_or(Ok(0.0), |row| row.number("total"))? as u64;
        let tasks = found.iter().map(found_task).collect::<Result<_>>()?;
        Ok(Found { tasks, total })
    }

    /// How many unfinished tasks a caller has, over all agents; counted up to `most`, which is also how many
    /// rows are read at most.
    ///
    /// # Errors
    ///
    /// When D1 fails, or has not got the tables.
    pub(in crate::edge) async fn count_unfinished(&self, owner: &str, most: u64) -> Result<u64> {
        self.total(unfinished_statement(owner, most)).await
    }

    /// The oldest finished tasks of an agent beyond the newest `keep`, up to `most` of them. Reads every
    /// entry of the agent in the index once, unless it has no more than `keep` tasks at all.
    ///
    /// # Errors
    ///
    /// When D1 fails, or has not got the tables.
    pub(in crate::edge) async fn finished_beyond(
        &self,
        agent: &str,
        keep: u64,
        most: u64,
    ) -> Result<Vec<TaskId>> {
        if self.total(agent_total_statement(agent)).await? <= keep {
            return Ok(Vec::new());
        }
        let found = self.run(&[excess_statement(agent, keep, most)]).await?;
        found.iter().flatten().map(|row| row.text("id").map(TaskId::new)).collect()
    }

    /// The number that a statement selects as `total`.
    async fn total(&self, statement: Statement) -> Result<u64> {
        let counted = self.run(&[statement]).await?;
        Ok(counted.iter().flatten().next().map_or(Ok(0.0), |row| row.number("total"))? as u64)
    }

    /// Carries statements out, all or none, in one round trip; gives the rows that each one selects.
    async fn run(&self, statements: &[Statement]) -> Result<Vec<Vec<Row>>> {
        let database = bindings::database(&self.env)?;
        let prepared = Array::new();
        for statement in statements {
            prepared.push(statement.prepare(&database)?.inner());
        }
        let database: &platform::D1Database = database.as_ref().unchecked_ref();
        let results = JsFuture::from(database.batch(prepared)?).await?;
        let results = Array::from(&results);
        let results = statements.iter().zip(results.iter());
        results.map(|(statement, result)| self.check(statement, result.unchecked_into())).collect()
    }

    fn check(&self, statement: &Statement, result: platform::D1Result) -> Result<Vec<Row>> {
        if let Some(error) = result.error()? {
            return Err(Error::RustError(error));
        }
        if bindings::settings(&self.env).is_ok_and(|settings| settings.development) {
            statements::note(&statement.sql, &Row(result.meta()?.into()));
        }
        let rows = result.results()?;
        Ok(rows.map(|rows| rows.iter().map(Row).collect()).unwrap_or_default())
    }
}

#[async_trait(?Send)]
impl TaskIndex for D1Index {
    async fn upsert(&self, row: IndexRow) -> std::result::Result<(), String> {
        let written = self.run(&[upsert_statement(row)]).await;
        written.map(|_| ()).map_err(|error| error.to_string())
    }

    async fn remove(&self, id: &TaskId) -> std::result::Result<(), String> {
        let mut statement = Statement::new("DELETE FROM tasks");
        statement.push(" WHERE id = {}", id.as_str().into());
        self.run(&[statement]).await.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn found_task(row: &Row) -> Result<FoundTask> {
    let status_ms = UnixMillis(row.number("status_ms")? as i64);
    let position = Position { status_ms, id: TaskId::new(row.text("id")?) };
    Ok(FoundTask { position, head: row.text("head")?, history: row.text("history")? })
}

/// A statement with its values, in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
struct Statement {
    sql: String,
    values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    /// Up to 2^53, exactly.
    Number(i64),
}

impl Statement {
    fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    /// Adds a value, and SQL in which `{}` stands for it.
    fn push(&mut self, sql: &str, value: Value) {
        self.values.push(value);
        self.sql.push_str(&sql.replace("{}", &format!("?{}", self.values.len())));
    }

    fn prepare(&self, database: &D1Database) -> Result<D1PreparedStatement> {
        // Numbers as f64: D1 does not take the BigInt that an i64 becomes.
        let values = self.values.iter().map(|value| match value {
            Value::Text(text) => JsValue::from_str(text),
            Value::Number(number) => JsValue::from_f64(*number as f64),
        });
        database.prepare(&self.sql).bind(&values.collect::<Vec<_>>())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

fn page_statement(query: &TaskQuery) -> Statement {
    let history = if query.with_history { "history" } else { "'' AS history" };
    let index = match (&query.context_id, query.state) {
        (Some(_), _) => " INDEXED BY tasks_by_context",
        (None, Some(state)) if !state.is_terminal() => " INDEXED BY tasks_unfinished",
        (None, _) => "",
    };
    let mut statement =
        Statement::new(format!("SELECT id, status_ms, head, {history} FROM tasks{index}"));
    push_filters(&mut statement, query);
    if let Some(from) = &query.from {
        statement.push(" AND (status_ms, id) <= ({}, ", Value::Number(from.status_ms.0));
        statement.push("{})", from.id.as_str().into());
    }
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    statement.push(" ORDER BY status_ms DESC, id DESC LIMIT {}", Value::Number(limit));
    statement
}

fn total_statement(query: &TaskQuery) -> Statement {
    if query.is_unfiltered() {
        let mut statement = Statement::new("SELECT total FROM task_counts");
        push_scope(&mut statement, query);
        return statement;
    }
    // Where the rows themselves would have to be read, the smallest index that has all is named.
    let index = match (&query.context_id, query.state, query.since) {
        (Some(_), _, _) => " INDEXED BY tasks_by_context",
        (None, Some(state), _) if !state.is_terminal() => " INDEXED BY tasks_unfinished",
        (None, Some(_), None) => " INDEXED BY tasks_by_context",
        (None, _, _) => "",
    };
    let mut statement = Statement::new(format!("SELECT count(*) AS total FROM tasks{index}"));
    push_filters(&mut statement, query);
    statement
}

fn unfinished_statement(owner: &str, most: u64) -> Statement {
    let mut statement = Statement::new(
        "SELECT count(*) AS total FROM (SELECT 1 FROM tasks INDEXED BY tasks_unfinished",
    );
    statement.push(" WHERE owner = {}", owner.into());
    statement.sql.push_str(IS_UNFINISHED);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    statement.push(" LIMIT {})", Value::Number(most));
    statement
}

fn agent_total_statement(agent: &str) -> Statement {
    let mut statement = Statement::new("SELECT coalesce(sum(total), 0) AS total FROM task_counts");
    statement.push(" WHERE agent = {}", agent.into());
    statement
}

fn excess_statement(agent: &str, keep: u64, most: u64) -> Statement {
    let mut statement = Statement::new(
        "WITH finished AS (SELECT id, status_ms FROM tasks INDEXED BY tasks_by_context",
    );
    statement.push(" WHERE agent = {}", agent.into());
    statement.sql.push_str(" AND state IN (3, 4, 5, 7)) SELECT id FROM finished");
    let number = |number| Value::Number(i64::try_from(number).unwrap_or(i64::MAX));
    statement.push(" ORDER BY status_ms, id LIMIT min({}, max(0,", number(most));
    statement.push(" (SELECT count(*) FROM finished) - {}))", number(keep));
    statement
}

fn push_scope(statement: &mut Statement, query: &TaskQuery) {
    statement.push(" WHERE owner = {}", query.owner.as_str().into());
    statement.push(" AND agent = {}", query.agent.as_str().into());
}

fn push_filters(statement: &mut Statement, query: &TaskQuery) {
    push_scope(statement, query);
    if let Some(context_id) = &query.context_id {
        statement.push(" AND context_id = {}", context_id.as_str().into());
    }
    if let Some(state) = query.state {
        statement.push(" AND state = {}", Value::Number(state.number()));
        if !state.is_terminal() {
            statement.sql.push_str(IS_UNFINISHED);
        }
    }
    if let Some(since) = query.since {
        statement.push(" AND status_ms >= {}", Value::Number(since.0));
    }
}

fn upsert_statement(row: IndexRow) -> Statement {
    let IndexRow { id, agent, owner, context_id, state, status_ms, generation, head, history } =
        row;
    let generation = i64::try_from(generation).unwrap_or(i64::MAX);
    let values = vec![
        Value::Text(owner),
        Value::Text(agent),
        Value::Number(status_ms.0),
        id.as_str().into(),
        context_id.as_str().into(),
        Value::Number(TaskState::number(state)),
        Value::Number(generation),
        Value::Text(head),
        Value::Text(history),
    ];
    Statement { sql: UPSERT.to_owned(), values }
}

/// What the index `tasks_unfinished` is limited to, word by word: SQLite takes that index only for
/// statements that say it, too.
const IS_UNFINISHED: &str = " AND state NOT IN (3, 4, 5, 7)";

/// A late retry never replaces a newer row.
const UPSERT: &str = "INSERT INTO tasks \
    (owner, agent, status_ms, id, context_id, state, generation, head, history) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
    ON CONFLICT (id) DO UPDATE SET status_ms = excluded.status_ms, state = excluded.state, \
    generation = excluded.generation, head = excluded.head, history = excluded.history \
    WHERE excluded.generation > tasks.generation";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::ContextId;

    fn query() -> TaskQuery {
        TaskQuery {
            owner: "o".to_owned(),
            agent: "a".to_owned(),
            context_id: None,
            state: None,
            since: None,
            from: None,
            limit: 51,
            with_history: true,
        }
    }

    #[test]
    fn an_unfiltered_page_is_a_range_of_the_table_and_its_total_one_row() {
        let page = page_statement(&query());
        assert_eq!(
            page.sql,
            "SELECT id, status_ms, head, history FROM tasks WHERE owner = ?1 AND agent = ?2 \
             ORDER BY status_ms DESC, id DESC LIMIT ?3"
        );
        assert_eq!(page.values, ["o".into(), "a".into(), Value::Number(51)]);
        let total = total_statement(&query());
        assert_eq!(total.sql, "SELECT total FROM task_counts WHERE owner = ?1 AND agent = ?2");
    }

    #[test]
    fn filters_and_places_become_conditions_with_values() {
        let position = Position { status_ms: UnixMillis(7), id: TaskId::new("t") };
        let query = TaskQuery {
            context_id: Some(ContextId::new("c' OR 1")),
            state: Some(TaskState::Completed),
            since: Some(UnixMillis(5)),
            from: Some(position),
            with_history: false,
            ..query()
        };
        let page = page_statement(&query);
        assert_eq!(
            page.sql,
            "SELECT id, status_ms, head, '' AS history FROM tasks INDEXED BY tasks_by_context \
             WHERE owner = ?1 AND agent = ?2 AND context_id = ?3 AND state = ?4 \
             AND status_ms >= ?5 AND (status_ms, id) <= (?6, ?7) \
             ORDER BY status_ms DESC, id DESC LIMIT ?8"
        );
        assert_eq!(page.values.len(), 8);
        assert_eq!(page.values.get(2), Some(&"c' OR 1".into()));
        assert!(
            !total_statement(&query).sql.contains("(status_ms, id)"),
            "the total is of all pages"
        );
    }

    #[test]
    fn unfinished_tasks_are_counted_over_all_agents_and_up_to_a_limit() {
        let statement = unfinished_statement("o", 5);
        assert_eq!(
            statement.sql,
            "SELECT count(*) AS total FROM (SELECT 1 FROM tasks INDEXED BY tasks_unfinished \
             WHERE owner = ?1 AND state NOT IN (3, 4, 5, 7) LIMIT ?2)"
        );
        assert_eq!(statement.values, ["o".into(), Value::Number(5)]);
    }

    #[test]
    fn the_condition_on_unfinished_tasks_is_the_states_that_are_not_terminal() {
        let terminal = TaskState::ALL.into_iter().filter(|state| state.is_terminal());
        let numbers: Vec<String> = terminal.map(|state| state.number().to_string()).collect();
        assert_eq!(IS_UNFINISHED, format!(" AND state NOT IN ({})", numbers.join(", ")));
        for state in TaskState::ALL {
            let query = TaskQuery { state: Some(state), ..query() };
            let is_narrow = page_statement(&query).sql.contains("tasks_unfinished");
            assert_eq!(is_narrow, !state.is_terminal(), "{state:?}");
        }
    }
}
