//! The index of tasks. `STORAGE.md` describes the tables.

mod everybody;
mod finished;
mod listing;
mod statements;
mod under_way;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use worker::{Env, Error, Result};

use super::database::Statement;
use super::rows::{read_row, rows};
use super::tables::{Rows, Shard, Tables, Whose};
use crate::auth::Owners;
use crate::forms::address::ObjectId;
use crate::forms::listing::{LINE_END, read_listing};
use crate::forms::queue::RowPlace;
use crate::operation::list_tasks::{Found, TaskQuery};
use crate::port::{IndexPlaces, IndexRow, TaskIndex};
use a2a::model::UnixMillis;
use a2a::sorted::sort_by;
use listing::{listing_statement, total_statement};
use statements::{remove_statement, unfinished_statement, upsert_statement};

pub(in crate::edge) use finished::{End, Old, Place};

/// The tables `tasks` and `task_counts`.
pub(in crate::edge) struct Index {
    pub(in crate::edge) tables: Tables,
}

impl Index {
    /// The index of a deployment.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        Self { tables: Tables::of(env) }
    }

    /// The rows that match a query, and the number of all matching tasks. Usually one round trip.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn find(&self, query: &TaskQuery) -> Result<Found> {
        let groups = self.select(query, &listing_statement(query)).await?;
        let (mut tasks, mut sum) = (Vec::new(), Some(0));
        for rows in groups {
            let rows: Vec<LineRow> = rows.into_iter().map(read_row).collect::<Result<_>>()?;
            let count = rows.first().map(|row| row.total);
            let lines: Vec<String> = rows.into_iter().map(|row| row.line).collect();
            let found = read_listing(query, &lines.join(&LINE_END.to_string()), count);
            let found = found.map_err(Error::RustError)?;
            sum = sum.zip(found.as_ref()).map(|(sum, found)| sum + found.total);
            tasks.extend(found.map(|found| found.tasks).unwrap_or_default());
        }
        sort_by(&mut tasks, |one, other| other.position.cmp(&one.position));
        tasks.truncate(query.limit);
        let total = match sum {
            Some(sum) => sum,
            // A group without rows tells no total.
            None => totals(self.select(query, &total_statement(query)).await?)?,
        };
        Ok(Found { tasks, total })
    }

    async fn select(&self, query: &TaskQuery, statement: &Statement) -> Result<Vec<Rows>> {
        let whose = match &query.owners {
            Owners::One(owner) => Whose::Owner(owner.as_str()),
            Owners::All => Whose::All(Some(&query.agent)),
        };
        self.tables.select(whose, statement).await
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
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn count_unfinished(&self, owner: &str, most: u64) -> Result<u64> {
        let statement = unfinished_statement(owner, most);
        totals(self.tables.select(Whose::Owner(owner), &statement).await?)
    }

    /// Deletes the rows at these places, as far as there are rows: by one statement for each shard.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn remove(&self, rows: &[RowPlace]) -> Result<()> {
        let is_together = |one: &RowPlace, other: &RowPlace| {
            !self.tables.are_in_objects() || (one.owner == other.owner && one.shard == other.shard)
        };
        // The rows of a job come from one shard after the other.
        for rows in rows.chunk_by(is_together) {
            let Some(RowPlace { owner, shard, .. }) = rows.first() else { continue };
            let shard = Shard { owner, number: *shard };
            self.tables.change(shard, &remove_statement(rows)).await?;
        }
        Ok(())
    }
}

/// The index for the object of one task, which writes only its own row.
pub(in crate::edge) struct ObjectIndex {
    pub(in crate::edge) index: Index,
    pub(in crate::edge) object: ObjectId,
    /// The shard of the owner's index that has the row of the task.
    pub(in crate::edge) shard: Rc<Cell<u32>>,
    /// True if finished tasks are counted (`TASK_STATISTICS`).
    pub(in crate::edge) counts: bool,
}

impl ObjectIndex {
    /// Writes rows about the task.
    ///
    /// # Errors
    ///
    /// If it is not known whether the rows were written.
    pub(in crate::edge::service) async fn write(
        &self,
        owner: &str,
        agent: &str,
        statement: &Statement,
    ) -> std::result::Result<(), String> {
        let shard = Shard { owner, number: self.shard.get() };
        let written = self.index.tables.write(agent, shard, statement).await;
        written.map_err(|error| error.to_string())
    }
}

#[async_trait(?Send)]
impl TaskIndex for ObjectIndex {
    async fn upsert(&self, row: IndexRow) -> std::result::Result<(), String> {
        // The row has the id of the object, by which the object is found.
        let row = IndexRow { id: self.object.task_id().clone(), ..row };
        let (owner, agent) = (row.owner.clone(), row.agent.clone());
        self.write(&owner, &agent, &upsert_statement(row, self.counts)).await
    }

    async fn remove(&self, places: IndexPlaces) -> std::result::Result<(), String> {
        let IndexPlaces { agent, owner, instants, .. } = places;
        let (id, shard) = (self.object.task_id(), self.shard.get());
        let row = |UnixMillis(status_ms)| {
            let (owner, agent, id) = (owner.clone(), agent.clone(), id.clone());
            RowPlace { owner, agent, status_ms, id, shard }
        };
        let rows: Vec<RowPlace> = instants.into_iter().map(row).collect();
        self.index.remove(&rows).await.map_err(|error| error.to_string())
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

/// The sum of the counts in the first row of each group.
fn totals(groups: Vec<Rows>) -> Result<u64> {
    let total = |row| read_row(row).map(|TotalRow { total }| total);
    groups.into_iter().filter_map(|rows| rows.into_iter().next()).map(total).sum()
}
