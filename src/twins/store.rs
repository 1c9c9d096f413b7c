//! The storage of a task in memory.

use a2a::model::Generation;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::port::{
    Batch, Counted, FirstRow, Indexed, LogRange, LogRow, StoreError, Stored, StoredTask, TaskFacts,
    TaskStore,
};

/// A store whose contents outlive the sessions that use it. Clones share the contents.
#[derive(Clone, Default)]
pub struct MemoryStore(Rc<StoreState>);

#[derive(Default)]
struct StoreState {
    task: RefCell<Option<StoredTask>>,
    fails: Cell<bool>,
    loads: Cell<usize>,
    pages: Cell<usize>,
}

impl MemoryStore {
    /// The stored task.
    pub fn stored(&self) -> Option<StoredTask> {
        self.0.task.borrow().clone()
    }

    /// Replaces the stored task.
    pub fn restore(&self, stored: Option<StoredTask>) {
        self.0.task.replace(stored);
    }

    /// Makes every write fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.0.fails.set(fails);
    }

    /// The number of reads of the whole task, and of reads of a page of the log.
    pub fn reads(&self) -> (usize, usize) {
        (self.0.loads.get(), self.0.pages.get())
    }
}

impl TaskStore for MemoryStore {
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError> {
        self.0.loads.set(self.0.loads.get() + 1);
        Ok(match self.stored() {
            None => Stored::Nothing,
            Some(task) if !admits(&task.facts) => Stored::Withheld,
            Some(task) => Stored::Task(task),
        })
    }

    fn read_after(
        &self,
        after: Generation,
        max_bytes: usize,
    ) -> Result<(Vec<Batch>, bool), StoreError> {
        self.0.pages.set(self.0.pages.get() + 1);
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let mut size = 0;
        let log = log.into_iter().map(|row| row.batch);
        let mut left = log.filter(|batch| batch.generation > after).peekable();
        let mut page = Vec::new();
        while let Some(batch) = left.next_if(|_| size < max_bytes) {
            size += batch.lines.len();
            page.push(batch);
        }
        Ok((page, left.next().is_some()))
    }

    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError> {
        self.0.pages.set(self.0.pages.get() + 1);
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let rows = log.into_iter();
        let rows: Vec<LogRow> = match range {
            LogRange::From(first) => rows.filter(|row| row.row >= first).collect(),
            LogRange::UpTo(last) => {
                let mut rows: Vec<LogRow> = rows.filter(|row| row.row <= last).collect();
                rows.reverse();
                rows
            }
        };
        let mut size = 0;
        let mut left = rows.into_iter().peekable();
        let mut page = Vec::new();
        while let Some(row) = left.next_if(|_| size < max_bytes) {
            size += row.batch.lines.len();
            page.push(row);
        }
        Ok((page, left.next().is_some()))
    }

    fn read_lines(&self, row: u64, _bytes: usize) -> Result<String, StoreError> {
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let lines = log.into_iter().find(|stored| stored.row == row).map(|row| row.batch.lines);
        Ok(lines.unwrap_or_default())
    }

    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let mut task = self.0.task.borrow_mut();
        if let Some(FirstRow { facts, indexed }) = opening {
            *task = Some(StoredTask {
                facts: facts.clone(),
                indexed,
                counted: Counted::default(),
                log: Vec::new(),
                webhooks: Vec::new(),
                credentials: None,
            });
        }
        let stored =
            task.as_mut().ok_or_else(|| StoreError::Failed("no task was opened".to_owned()))?;
        let row = stored.log.last().map_or(1, |last| last.row + last.rows);
        stored.log.push(LogRow { row, rows: 1, batch: batch.clone() });
        Ok(1)
    }

    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError> {
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.indexed = indexed;
        }
        Ok(())
    }

    fn set_counted(&self, counted: Counted) -> Result<(), StoreError> {
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.counted = counted;
        }
        Ok(())
    }

    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let member = format!(r#""id":"{id}""#);
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            match stored.webhooks.iter_mut().find(|known| known.contains(&member)) {
                Some(known) => *known = json.to_owned(),
                None => stored.webhooks.push(json.to_owned()),
            }
        }
        Ok(())
    }

    fn delete_webhook(&self, id: &str) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let member = format!(r#""id":"{id}""#);
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.webhooks.retain(|json| !json.contains(&member));
        }
        Ok(())
    }

    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.credentials = sealed.map(str::to_owned);
        }
        Ok(())
    }

    fn bury(&self, opening: FirstRow<'_>, remains: &Batch) -> Result<(), StoreError> {
        self.append(Some(opening), remains).map(|_| ())
    }

    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>> {
        self.0.task.replace(None);
        Box::pin(std::future::ready(Ok(())))
    }
}
