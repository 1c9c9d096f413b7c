//! The index of tasks in memory. As the tables of D1, it finds a row by its place and by the context of its task, never by the id.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::port::{IndexPlaces, IndexRow, TaskIndex, yield_once};
use a2a::model::{TaskId, UnixMillis};
use a2a::sorted::sort_by;

/// An index that can fail, never answer, or fail and carry out the statement all the same.
#[derive(Default)]
pub struct MemoryIndex {
    rows: RefCell<BTreeMap<Place, IndexRow>>,
    statements: Cell<usize>,
    fails: Cell<bool>,
    hangs: Cell<bool>,
    is_lossy: Cell<bool>,
    is_late: Cell<bool>,
    /// Rows whose statements have failed and are carried out later.
    late: RefCell<Vec<IndexRow>>,
    /// The deleted tasks, of which no row is taken.
    deleted: RefCell<BTreeSet<TaskId>>,
    /// The agents and owners whose places were given back.
    released: RefCell<Vec<(String, String)>>,
}

/// The place of a row: owner, agent, instant of the status, id.
type Place = (String, String, UnixMillis, TaskId);

impl MemoryIndex {
    /// The row of a task: the newest one, if there are several by mistake.
    pub fn row(&self, id: &TaskId) -> Option<IndexRow> {
        self.rows(id).pop()
    }

    /// The rows of a task in the order of their statuses. Each task has one at most.
    pub fn rows(&self, id: &TaskId) -> Vec<IndexRow> {
        let rows = self.rows.borrow();
        let mut found: Vec<IndexRow> = rows.values().filter(|row| row.id == *id).cloned().collect();
        sort_by(&mut found, |one, other| one.status_ms.cmp(&other.status_ms));
        found
    }

    /// Carries out every row from now on and reports a failure, or reports the truth again.
    pub fn set_lossy(&self, is_lossy: bool) {
        self.is_lossy.set(is_lossy);
    }

    /// Lets every row fail from now on, and carries it out after the next one that succeeds.
    pub fn set_late(&self, is_late: bool) {
        self.is_late.set(is_late);
    }

    /// Writes a row, unless the index has a row of the same or a newer generation.
    fn write(&self, row: IndexRow) {
        if self.deleted.borrow().contains(&row.id) {
            return;
        }
        let replaced = self.place_for(&row);
        let mut rows = self.rows.borrow_mut();
        if let Some(place) = replaced {
            if rows.get(&place).is_some_and(|known| known.generation >= row.generation) {
                return;
            }
            rows.remove(&place);
        }
        let place = (row.owner.clone(), row.agent.clone(), row.status_ms, row.id.clone());
        rows.insert(place, row);
    }

    /// The place of the row that a row replaces, or that keeps it out.
    fn place_for(&self, row: &IndexRow) -> Option<Place> {
        let rows = self.rows.borrow();
        let at = |instant: &UnixMillis| {
            let place = (row.owner.clone(), row.agent.clone(), *instant, row.id.clone());
            rows.contains_key(&place).then_some(place)
        };
        let is_newer = |(place, known): &(&Place, &IndexRow)| {
            let (owner, agent, status_ms, id) = place;
            (owner, agent, id) == (&row.owner, &row.agent, &row.id)
                && *status_ms >= row.status_ms
                && known.context_id == row.context_id
        };
        let newer = || rows.iter().find(is_newer).map(|(place, _)| place.clone());
        row.earlier.iter().find_map(at).or_else(newer)
    }

    /// Begins a statement: counts it, and lets it fail or hang as told.
    async fn begin(&self) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        // A statement leaves the object only after all earlier writes are durable.
        yield_once().await;
        if self.hangs.get() {
            std::future::pending::<()>().await;
        }
        if self.fails.get() {
            return Err("the index was told to fail".to_owned());
        }
        Ok(())
    }

    /// True if no row of the task is taken, because a caller has deleted it.
    pub fn keeps_out(&self, id: &TaskId) -> bool {
        self.deleted.borrow().contains(id)
    }

    /// The agents and owners whose places were given back, in order.
    pub fn released(&self) -> Vec<(String, String)> {
        self.released.borrow().clone()
    }

    /// The number of statements so far, including failed ones.
    pub fn statements(&self) -> usize {
        self.statements.get()
    }

    /// Makes every statement fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.fails.set(fails);
    }

    /// Leaves every statement unanswered from now on, or answers again.
    pub fn set_hanging(&self, hangs: bool) {
        self.hangs.set(hangs);
    }
}

#[async_trait(?Send)]
impl TaskIndex for MemoryIndex {
    async fn upsert(&self, row: IndexRow) -> Result<(), String> {
        self.begin().await?;
        if self.is_late.get() {
            self.late.borrow_mut().push(row);
            return Err("the index was told to be late".to_owned());
        }
        self.write(row);
        if self.is_lossy.get() {
            return Err("the index was told to lose its answers".to_owned());
        }
        for late in self.late.take() {
            self.write(late);
        }
        Ok(())
    }

    async fn remove(&self, places: IndexPlaces) -> Result<(), String> {
        self.begin().await?;
        let IndexPlaces { id, agent, owner, instants, is_deleted } = places;
        if is_deleted {
            self.deleted.borrow_mut().insert(id.clone());
        }
        for instant in instants {
            let place = (owner.clone(), agent.clone(), instant, id.clone());
            self.rows.borrow_mut().remove(&place);
        }
        if self.is_lossy.get() {
            return Err("the index was told to lose its answers".to_owned());
        }
        for late in self.late.take() {
            self.write(late);
        }
        Ok(())
    }

    async fn forget(&self, id: &TaskId, _: &str) -> Result<(), String> {
        self.begin().await?;
        self.deleted.borrow_mut().remove(id);
        Ok(())
    }

    async fn release(&self, agent: &str, owner: &str) -> Result<(), String> {
        self.begin().await?;
        self.released.borrow_mut().push((agent.to_owned(), owner.to_owned()));
        Ok(())
    }
}
