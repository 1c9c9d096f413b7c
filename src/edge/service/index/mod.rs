//! The index of tasks in D1. `STORAGE.md` describes the tables.

mod statements;

use async_trait::async_trait;
use js_sys::Array;
use wasm_bindgen_futures::JsFuture;
use worker::wasm_bindgen::JsCast;
use worker::worker_sys::types as platform;
use worker::{Env, Error, Result};

use super::rows::Row;
use crate::edge::address::{ObjectId, TaskAddress};
use crate::edge::bindings;
use crate::edge::development;
use crate::operation::list_tasks::{Found, FoundTask, Position, TaskQuery};
use crate::port::{IndexRow, TaskIndex};
use a2a::model::{TaskId, UnixMillis};
use statements::{
    Objects, Statement, agent_total_statement, excess_statement, lacks_objects, page_statement,
    remove_statement, total_statement, unfinished_statement, upsert_statement,
};

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
        let statements = |objects| vec![page_statement(query, objects), total_statement(query)];
        let mut results = self.run_with_objects(statements).await?;
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
    ) -> Result<Vec<(TaskId, TaskAddress)>> {
        if self.total(agent_total_statement(agent)).await? <= keep {
            return Ok(Vec::new());
        }
        let statements = |objects| vec![excess_statement(agent, keep, most, objects)];
        let found = self.run_with_objects(statements).await?;
        let addressed = |row: &Row| {
            let id = TaskId::new(row.text("id")?);
            let object = row.text_or_null("object").map(ObjectId::new);
            let address = TaskAddress::stored(object, &id);
            Ok((id, address))
        };
        found.iter().flatten().map(addressed).collect()
    }

    /// Writes the row of a task that this object holds, unless a row of the same or a newer generation is there.
    ///
    /// # Errors
    ///
    /// When D1 fails, or has not got the tables.
    pub(in crate::edge) async fn upsert(&self, row: IndexRow, object: &ObjectId) -> Result<()> {
        let object = object.beside(&row.id).cloned();
        self.run(&[upsert_statement(row, object.as_ref())]).await.map(|_| ())
    }

    /// Takes the row of a task out, if there is one.
    ///
    /// # Errors
    ///
    /// When D1 fails, or has not got the tables.
    pub(in crate::edge) async fn remove(&self, id: &TaskId) -> Result<()> {
        self.run(&[remove_statement(id)]).await.map(|_| ())
    }

    /// Carries statements out that select objects, or where the database was not migrated yet, the same ones
    /// for a table that has none.
    async fn run_with_objects(
        &self,
        statements: impl Fn(Objects) -> Vec<Statement>,
    ) -> Result<Vec<Vec<Row>>> {
        match self.run(&statements(Objects::Stored)).await {
            Err(error) if lacks_objects(&error.to_string()) => {
                self.run(&statements(Objects::NotStored)).await
            }
            result => result,
        }
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
            development::statements::note(&statement.sql, &Row(result.meta()?.into()));
        }
        let rows = result.results()?;
        Ok(rows.map(|rows| rows.iter().map(Row).collect()).unwrap_or_default())
    }
}

/// The index, as the object of one task writes to it.
pub(in crate::edge) struct ObjectIndex {
    pub(in crate::edge) index: D1Index,
    pub(in crate::edge) object: ObjectId,
}

#[async_trait(?Send)]
impl TaskIndex for ObjectIndex {
    async fn upsert(&self, row: IndexRow) -> std::result::Result<(), String> {
        self.index.upsert(row, &self.object).await.map_err(|error| error.to_string())
    }

    async fn remove(&self, id: &TaskId) -> std::result::Result<(), String> {
        self.index.remove(id).await.map_err(|error| error.to_string())
    }
}

fn found_task(row: &Row) -> Result<FoundTask> {
    let status_ms = UnixMillis(row.number("status_ms")? as i64);
    let position = Position { status_ms, id: TaskId::new(row.text("id")?) };
    let (head, history) = (row.text("head")?, row.text("history")?);
    Ok(FoundTask { position, object: row.text_or_null("object"), head, history })
}
