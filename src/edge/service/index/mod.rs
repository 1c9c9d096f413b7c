//! The index of tasks. `STORAGE.md` describes the tables.

mod everybody;
mod finished;
mod listing;
mod quota;
mod search;
mod statements;
mod under_way;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use worker::{Env, Error, Result};

use super::database::Statement;
use super::rows::{read_row, rows};
use super::tables::{Rows, Selected, Shard, Tables, Whose};
use crate::auth::Owners;
use crate::forms::address::ObjectId;
use crate::forms::listing::{LINE_END, read_listing};
use crate::forms::queue::RowPlace;
use crate::operation::list_tasks::{Found, FoundTask, TaskQuery};
use crate::port::{IndexPlaces, IndexRow, TaskIndex};
use a2a::model::{TaskId, UnixMillis};
use a2a::sorted::sort_by;
use everybody::newest_statement;
use listing::{listing_statement, total_statement};
use statements::{forget_statement, remove_statement, upsert_statement};

pub(in crate::edge) use finished::{End, Of, Old, Place};
pub(in crate::edge) use quota::{NewTask, clean_up_sql};

/// The tables `tasks` and `task_counts`.
pub(in crate::edge) struct Index {
    pub(in crate::edge) tables: Tables,
}

impl Index {
    /// The index of a deployment.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        Self { tables: Tables::of(env) }
    }

    /// The rows that match a query, whose texts are parts of `lines`, and the number of all matching tasks. Usually one round
    /// trip.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn find<'l>(
        &self,
        query: &TaskQuery,
        lines: &'l mut String,
    ) -> Result<Found<'l>> {
        if let Some(text) = &query.text {
            return self.search(query, text, lines).await;
        }
        let whose = match &query.owners {
            Owners::All if self.tables.are_in_objects() => {
                return self.find_of_all(query, lines).await;
            }
            Owners::All => Whose::All(Some(&query.agent)),
            Owners::One(owner) => Whose::Owner(owner.as_str()),
        };
        let Selected { rows, shards } =
            self.tables.select(whose, &listing_statement(query)).await?;
        let (tasks, total) = read_lines(query, rows, lines)?;
        let total = match total.filter(|_| shards == 1) {
            Some(total) => total,
            None => totals(self.tables.select(whose, &total_statement(query)).await?.rows)?,
        };
        Ok(Found { tasks: page(query, tasks), total, searched: None })
    }

    /// Like [`find`](Self::find), for all owners, whose rows are in objects: first the newest task and the total of each shard, then a
    /// page of the shards that can have tasks on the page.
    async fn find_of_all<'l>(&self, query: &TaskQuery, lines: &'l mut String) -> Result<Found<'l>> {
        let whose = Whose::All(Some(&query.agent));
        let newest = self.tables.select(whose, &newest_statement(query)).await?;
        let mut total = 0;
        let mut shards: Vec<NewestRow> = Vec::new();
        for row in newest.rows {
            let row: NewestRow = read_row(row)?;
            total += row.total;
            if row.place.is_some() {
                shards.push(row);
            }
        }
        sort_by(&mut shards, |one, other| other.place.cmp(&one.place));
        shards.truncate(query.limit);
        let shards: Vec<_> = shards.into_iter().map(|row| (row.owner, row.shard)).collect();
        let whose = Whose::Shards(&shards);
        let found = self.tables.select(whose, &listing_statement(query)).await?;
        let (tasks, _) = read_lines(query, found.rows, lines)?;
        Ok(Found { tasks: page(query, tasks), total, searched: None })
    }

    /// The statement of [`find`](Self::find), as a JSON array of its text and its values.
    #[inline(never)]
    pub(in crate::edge) fn listing(query: &TaskQuery) -> String {
        listing_statement(query).to_json()
    }

    /// Deletes the rows at these places, as far as there are rows: by one statement for each shard. With `is_deleted`, no row of these
    /// tasks is taken from then on.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn remove(&self, rows: &[RowPlace], is_deleted: bool) -> Result<()> {
        let is_together = |one: &RowPlace, other: &RowPlace| {
            !self.tables.are_in_objects() || (one.owner == other.owner && one.shard == other.shard)
        };
        // The rows of a job come from one shard after the other.
        for rows in rows.chunk_by(is_together) {
            let Some(RowPlace { owner, shard, .. }) = rows.first() else { continue };
            let shard = Shard { owner, number: *shard };
            self.tables.change(shard, &remove_statement(rows, is_deleted)).await?;
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
        // In the first shard, a trigger has the row take its place.
        let takes_place = row.takes_place && self.shard.get() > 0;
        self.write(&owner, &agent, &upsert_statement(row, self.counts)).await?;
        if takes_place {
            return self.release(&agent, &owner).await;
        }
        Ok(())
    }

    async fn remove(&self, places: IndexPlaces) -> std::result::Result<(), String> {
        let IndexPlaces { agent, owner, instants, is_deleted, .. } = places;
        let (id, shard) = (self.object.task_id(), self.shard.get());
        let row = |UnixMillis(status_ms)| {
            let (owner, agent, id) = (owner.clone(), agent.clone(), id.clone());
            RowPlace { owner, agent, status_ms, id, shard }
        };
        let rows: Vec<RowPlace> = instants.into_iter().map(row).collect();
        self.index.remove(&rows, is_deleted).await.map_err(|error| error.to_string())
    }

    async fn forget(&self, _: &TaskId, owner: &str) -> std::result::Result<(), String> {
        let shard = Shard { owner, number: self.shard.get() };
        let forgotten = self.index.tables.change(shard, &forget_statement(&self.object)).await;
        forgotten.map_err(|error| error.to_string())
    }

    async fn release(&self, agent: &str, owner: &str) -> std::result::Result<(), String> {
        let released = self.index.release(agent, owner, &self.object).await;
        released.map_err(|error| error.to_string())
    }
}

rows! {
    /// A row of a listing.
    struct LineRow {
        line: String,
        total: u64,
    }

    /// The newest task of a shard that matches a query, and the number of all that do.
    struct NewestRow {
        owner: String,
        shard: u32,
        place: Option<String>,
        total: u64,
    }

    /// A count.
    struct TotalRow {
        total: u64,
    }
}

/// The tasks of the rows of a listing, which become `lines`, and the total in the first row; `None` if it is not known.
fn read_lines<'l>(
    query: &TaskQuery,
    rows: Rows,
    lines: &'l mut String,
) -> Result<(Vec<FoundTask<'l>>, Option<u64>)> {
    let rows: Vec<LineRow> = rows.into_iter().map(read_row).collect::<Result<_>>()?;
    let total = rows.first().map(|row| row.total);
    let read: Vec<String> = rows.into_iter().map(|row| row.line).collect();
    *lines = read.join(&LINE_END.to_string());
    let found = read_listing(query, lines, total);
    let found = found.map_err(Error::RustError)?;
    Ok(found.map_or((Vec::new(), None), |found| (found.tasks, Some(found.total))))
}

/// The page of a query among tasks of several shards.
fn page<'l>(query: &TaskQuery, mut tasks: Vec<FoundTask<'l>>) -> Vec<FoundTask<'l>> {
    sort_by(&mut tasks, |one, other| other.position.cmp(&one.position));
    tasks.truncate(query.limit);
    tasks
}

/// The sum of counts.
fn totals(rows: Rows) -> Result<u64> {
    rows.into_iter().map(|row| read_row(row).map(|TotalRow { total }| total)).sum()
}
