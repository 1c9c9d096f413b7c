//! The index of tasks in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::port::{IndexRow, TaskIndex, yield_once};
use a2a::model::TaskId;

/// An index that can fail, or never answer.
#[derive(Default)]
pub struct MemoryIndex {
    rows: RefCell<BTreeMap<TaskId, IndexRow>>,
    statements: Cell<usize>,
    fails: Cell<bool>,
    hangs: Cell<bool>,
}

impl MemoryIndex {
    /// The row of a task.
    pub fn row(&self, id: &TaskId) -> Option<IndexRow> {
        self.rows.borrow().get(id).cloned()
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
        self.statements.set(self.statements.get() + 1);
        // A statement leaves the object only after all earlier writes are durable.
        yield_once().await;
        if self.hangs.get() {
            std::future::pending::<()>().await;
        }
        if self.fails.get() {
            return Err("the index was told to fail".to_owned());
        }
        let mut rows = self.rows.borrow_mut();
        if rows.get(&row.id).is_none_or(|known| row.generation > known.generation) {
            rows.insert(row.id.clone(), row);
        }
        Ok(())
    }

    async fn remove(&self, id: &TaskId) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        yield_once().await;
        if self.fails.get() {
            return Err("the index was told to fail".to_owned());
        }
        self.rows.borrow_mut().remove(id);
        Ok(())
    }
}
