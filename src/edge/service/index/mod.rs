//! The index of tasks in D1. `STORAGE.md` describes the tables.

mod everybody;
mod finished;
mod listing;
mod statements;
mod under_way;

use async_trait::async_trait;
use worker::wasm_bindgen::JsValue;
use worker::{Env, Error, Result};

use super::database::{Statement, run_one};
use super::rows::{read_row, rows};
use crate::forms::address::ObjectId;
use crate::forms::listing::{LINE_END, read_listing};
use crate::forms::queue::RowPlace;
use crate::operation::list_tasks::{Found, TaskQuery};
use crate::port::{IndexPlaces, IndexRow, TaskIndex};
use a2a::model::{TaskId, UnixMillis};
use listing::{listing_statement, total_statement};
use statements::{forget_statement, remove_statement, unfinished_statement, upsert_statement};

pub(in crate::edge) use finished::{End, Of, Old, Place};

/// The tables `tasks` and `task_counts`.
pub(in crate::edge) struct D1Index {
    pub(in crate::edge) env: Env,
}

impl D1Index {
    /// The rows that match a query, and the number of all matching tasks. Usually one round trip.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn find(&self, query: &TaskQuery) -> Result<Found> {
        let rows = self.run_one(listing_statement(query)).await?;
        let rows: Vec<LineRow> = rows.into_iter().map(read_row).collect::<Result<_>>()?;
        let count = rows.first().map(|row| row.total);
        let lines: Vec<String> = rows.into_iter().map(|row| row.line).collect();
        let found = read_listing(query, &lines.join(&LINE_END.to_string()), count);
        if let Some(found) = found.map_err(Error::RustError)? {
            return Ok(found);
        }
        let total = total(self.run_one(total_statement(query)).await?)?;
        Ok(Found { tasks: Vec::new(), total })
    }

    /// The statement of [`find`](Self::find), as a JSON array of its text and its values.
    #[inline(never)]
    pub(in crate::edge) fn listing(query: &TaskQuery) -> String {
        listing_statement(query).to_json()
    }

    /// The number of unfinished tasks of a caller over all agents; counted up to `most`, which also limits the rows
    /// that are read.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn count_unfinished(&self, owner: &str, most: u64) -> Result<u64> {
        total(self.run_one(unfinished_statement(owner, most)).await?)
    }

    /// Writes the row of a task under the id of its object, unless a row of the same or a newer generation exists. With
    /// `counts`, a finished task is counted when its first row is written.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn upsert(
        &self,
        row: IndexRow,
        object: &ObjectId,
        counts: bool,
    ) -> Result<()> {
        let row = IndexRow { id: object.task_id().clone(), ..row };
        self.run_one(upsert_statement(row, counts)).await.map(|_| ())
    }

    /// Deletes the rows at these places, as far as there are rows, by one statement. With `is_deleted`, no row of these tasks is
    /// taken from then on.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn remove(&self, rows: &[RowPlace], is_deleted: bool) -> Result<()> {
        self.run_one(remove_statement(rows, is_deleted)).await.map(|_| ())
    }

    /// Runs one statement; returns the rows that it selects.
    async fn run_one(&self, statement: Statement) -> Result<Vec<JsValue>> {
        run_one(&self.env, &statement).await
    }
}

/// The index for the object of one task, which writes only its own row.
pub(in crate::edge) struct ObjectIndex {
    pub(in crate::edge) index: D1Index,
    pub(in crate::edge) object: ObjectId,
    /// True if finished tasks are counted (`TASK_STATISTICS`).
    pub(in crate::edge) counts: bool,
}

#[async_trait(?Send)]
impl TaskIndex for ObjectIndex {
    async fn upsert(&self, row: IndexRow) -> std::result::Result<(), String> {
        let written = self.index.upsert(row, &self.object, self.counts).await;
        written.map_err(|error| error.to_string())
    }

    async fn remove(&self, places: IndexPlaces) -> std::result::Result<(), String> {
        let IndexPlaces { agent, owner, instants, is_deleted, .. } = places;
        let id = self.object.task_id();
        let row = |UnixMillis(status_ms)| {
            let (owner, agent, id) = (owner.clone(), agent.clone(), id.clone());
            RowPlace { owner, agent, status_ms, id }
        };
        let rows: Vec<RowPlace> = instants.into_iter().map(row).collect();
        self.index.remove(&rows, is_deleted).await.map_err(|error| error.to_string())
    }

    async fn forget(&self, _: &TaskId) -> std::result::Result<(), String> {
        let forgotten = self.index.run_one(forget_statement(&self.object)).await;
        forgotten.map(|_| ()).map_err(|error| error.to_string())
    }
}

rows! {
    /// A row of a listing.
    struct LineRow {
        line: String,
        total: u64,
    }

    /// A count.
    struct TotalRow {
        total: u64,
    }
}

/// The count in the first row, or 0 without one.
fn total(rows: Vec<JsValue>) -> Result<u64> {
    let Some(row) = rows.into_iter().next() else { return Ok(0) };
    read_row(row).map(|TotalRow { total }| total)
}
