//! The storage of one task: SQLite in its object. `STORAGE.md` describes the tables.

mod log;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::*;
use worker::{SqlStorage, SqlStorageValue, State};

use crate::edge::service::rows::{FromRow, read_row, rows};
use crate::edge::service::tables::shard_for;
use crate::format;
use crate::forms::address::ObjectId;
use crate::port::{
    Batch, Counted, FirstRow, Indexed, LogRange, LogRow, StoreError, Stored, StoredTask, TaskFacts,
    TaskStore,
};
use a2a::model::Generation;
use log::{First, Log, is_one_row};

/// The task of one object.
pub(super) struct SqlTaskStore {
    state: Rc<State>,
    sql: SqlStorage,
    object: ObjectId,
    /// The shard of the owner's index that has the row of the task. It is chosen when the task begins, and never changes.
    shard: Rc<Cell<u32>>,
}

impl SqlTaskStore {
    pub(super) fn new(state: Rc<State>, object: ObjectId, shard: Rc<Cell<u32>>) -> Self {
        let sql = state.storage().sql();
        Self { state, sql, object, shard }
    }

    fn log(&self) -> Log<'_> {
        Log::new(&self.sql)
    }

    fn rows<T: FromRow>(&self, query: &str) -> worker::Result<Vec<T>> {
        select(&self.sql, query, Vec::new())
    }

    fn read(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> std::result::Result<Stored, StoreError> {
        // An object without a task must stay empty, or its storage would be billed; the tables may be missing.
        let query = "SELECT name FROM sqlite_master \
                     WHERE name IN ('log', 'usage', 'webhook', 'credentials', 'index_shard')";
        let tables: Vec<TableRow> = self.rows(query)?;
        let has = |table: &str| tables.iter().any(|row| row.name == table);
        if !has("log") {
            return Ok(Stored::Nothing);
        }
        let Some(first) = self.log().first()? else { return Ok(Stored::Nothing) };
        let First { schema, facts, indexed } = first;
        if !u64::try_from(schema).is_ok_and(|schema| format::OBJECT.reads(schema)) {
            let newer = format!("it was stored by a newer version (schema {schema})");
            return Err(StoreError::Unreadable(newer));
        }
        if !admits(&facts) {
            return Ok(Stored::Withheld);
        }
        if has("index_shard") {
            let rows: Vec<ShardRow> = self.rows("SELECT shard FROM index_shard")?;
            self.shard.set(rows.first().map_or(0, |row| row.shard));
        }
        let log = self.log().whole()?;
        let mut webhooks = Vec::new();
        if has("webhook") {
            let rows = self.rows("SELECT body FROM webhook ORDER BY seq")?;
            webhooks.extend(rows.into_iter().map(|row: WebhookRow| row.body));
        }
        let mut credentials = None;
        if has("credentials") {
            let rows = self.rows("SELECT sealed FROM credentials")?;
            credentials = rows.into_iter().next().map(|row: CredentialsRow| row.sealed);
        }
        let mut counted = Counted::default();
        if has("usage") {
            let rows = self.rows("SELECT counted, failures FROM usage")?;
            let rows = rows.into_iter().next();
            counted = rows.map_or(counted, |UsageRow { counted, failures }| Counted {
                turn: counted,
                failures,
            });
        }
        Ok(Stored::Task(StoredTask { facts, indexed, counted, log, webhooks, credentials }))
    }

    /// Carries out `change`, which returns the number of rows it has written, in one transaction: if it fails, nothing is
    /// changed.
    fn in_transaction(
        &self,
        change: &dyn Fn(&SqlStorage) -> worker::Result<u64>,
    ) -> Result<u64, StoreError> {
        let storage = self.state.storage();
        let storage = storage.as_raw().unchecked_ref::<TransactionalStorage>();
        let sql = &self.sql;
        // The closure may not borrow values that a panic would leave half changed: no `&mut`, no `Cell`.
        let rows = AtomicU64::new(0);
        let mut write = || {
            let count = change(sql).map_err(JsValue::from)?;
            rows.store(count, Ordering::Relaxed);
            Ok(JsValue::NULL)
        };
        let written = storage.transaction_sync(&mut write);
        written.map_err(|error| StoreError::Failed(worker::Error::from(error).to_string()))?;
        Ok(rows.into_inner())
    }

    fn write_credentials(&self, sealed: Option<&str>) -> worker::Result<()> {
        let sql = &self.sql;
        match sealed {
            Some(sealed) => {
                sql.exec(CREDENTIALS_SCHEMA, None)?;
                let insert = "INSERT OR REPLACE INTO credentials (id, sealed) VALUES (1, ?)";
                sql.exec(insert, vec![text(sealed)])?;
            }
            None => {
                sql.exec("DELETE FROM credentials", None)?;
            }
        }
        Ok(())
    }

    fn write_counted(&self, counted: Counted) -> worker::Result<()> {
        let sql = &self.sql;
        sql.exec(USAGE_SCHEMA, None)?;
        let turn = i64::try_from(counted.turn).unwrap_or(i64::MAX);
        let insert = "INSERT OR REPLACE INTO usage (id, counted, failures) VALUES (1, ?, ?)";
        sql.exec(insert, vec![turn.into(), i64::from(counted.failures).into()]).map(|_| ())
    }

    fn write_webhook(&self, id: &str, json: &str) -> worker::Result<()> {
        let sql = &self.sql;
        sql.exec(WEBHOOK_SCHEMA, None)?;
        let update = "UPDATE webhook SET body = ? WHERE id = ?";
        if sql.exec(update, vec![text(json), text(id)])?.rows_written() == 0 {
            sql.exec("INSERT INTO webhook (id, body) VALUES (?, ?)", vec![text(id), text(json)])?;
        }
        Ok(())
    }

    fn remove_webhook(&self, id: &str) -> worker::Result<()> {
        let sql = &self.sql;
        sql.exec(WEBHOOK_SCHEMA, None)?;
        sql.exec("DELETE FROM webhook WHERE id = ?", vec![text(id)]).map(|_| ())
    }
}

impl TaskStore for SqlTaskStore {
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError> {
        self.read(admits)
    }

    fn read_after(
        &self,
        after: Generation,
        max_bytes: usize,
    ) -> Result<(Vec<Batch>, bool), StoreError> {
        Ok(self.log().after(after, max_bytes)?)
    }

    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError> {
        Ok(self.log().range(range, max_bytes)?)
    }

    fn read_lines(&self, row: u64, bytes: usize) -> Result<String, StoreError> {
        Ok(self.log().lines_from(row, bytes)?)
    }

    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError> {
        let shard = opening.map_or(0, |FirstRow { facts, .. }| {
            let shard = shard_for(&facts.owner, self.object.task_id());
            self.shard.set(shard);
            shard
        });
        if shard == 0 && is_one_row(batch) {
            // One row: without a transaction, which costs more than the row. The platform stores together what is written
            // without waiting, so a crash leaves no table without its row.
            return Ok(self.log().write(opening, batch)?);
        }
        self.in_transaction(&|sql| {
            let rows = Log::new(sql).write(opening, batch)?;
            if shard > 0 {
                write_shard(sql, shard)?;
            }
            Ok(rows)
        })
    }

    fn bury(&self, opening: FirstRow<'_>, remains: &Batch) -> Result<(), StoreError> {
        self.in_transaction(&|sql| {
            for table in ["log", "webhook", "usage", "credentials"] {
                sql.exec(&format!("DROP TABLE IF EXISTS {table}"), None)?;
            }
            Log::new(sql).write(Some(opening), remains)
        })
        .map(|_| ())
    }

    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError> {
        Ok(self.log().set_indexed(indexed)?)
    }

    fn set_counted(&self, counted: Counted) -> Result<(), StoreError> {
        Ok(self.write_counted(counted)?)
    }

    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError> {
        Ok(self.write_webhook(id, json)?)
    }

    fn delete_webhook(&self, id: &str) -> Result<(), StoreError> {
        Ok(self.remove_webhook(id)?)
    }

    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError> {
        Ok(self.write_credentials(sealed)?)
    }

    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { Ok(self.state.storage().delete_all().await?) })
    }
}

impl From<worker::Error> for StoreError {
    fn from(error: worker::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

rows! {
    /// A table of the object.
    struct TableRow {
        name: String,
    }

    /// The last turn whose usage is counted.
    struct UsageRow {
        counted: u64,
        failures: u32,
    }

    /// The shard of the owner's index.
    struct ShardRow {
        shard: u32,
    }

    /// The sealed credentials of a turn.
    struct CredentialsRow {
        sealed: String,
    }

    /// A webhook.
    struct WebhookRow {
        body: String,
    }
}

#[wasm_bindgen]
extern "C" {
    type TransactionalStorage;

    /// Runs the closure in a transaction: if it fails, all its writes are rolled back.
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &TransactionalStorage,
        closure: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;
}

/// Stores in which shard of the owner's index the row of the task is, if it is not the first.
fn write_shard(sql: &SqlStorage, shard: u32) -> worker::Result<()> {
    sql.exec(SHARD_SCHEMA, None)?;
    let insert = "INSERT INTO index_shard (id, shard) VALUES (1, ?)";
    sql.exec(insert, vec![i64::from(shard).into()]).map(|_| ())
}

/// The rows that a query returns.
fn select<T: FromRow>(
    sql: &SqlStorage,
    query: &str,
    values: Vec<SqlStorageValue>,
) -> worker::Result<Vec<T>> {
    let mut rows = Vec::new();
    for row in sql.exec(query, values)? {
        rows.push(read_row(row?)?);
    }
    Ok(rows)
}

fn text(text: &str) -> SqlStorageValue {
    SqlStorageValue::String(text.to_owned())
}

/// Created with the first webhook of a task: few tasks have webhooks.
const WEBHOOK_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS webhook (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
";

/// Created when the first turn that used a model is counted: most tasks use no model.
const USAGE_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS usage (
        id INTEGER PRIMARY KEY,
        counted INTEGER NOT NULL,
        failures INTEGER NOT NULL
    ) STRICT;
";

/// Created with the first credentials that a client sends for the task: hardly any task has credentials.
const CREDENTIALS_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS credentials (
        id INTEGER PRIMARY KEY,
        sealed TEXT NOT NULL
    ) STRICT;
";

/// Created with the task, if the index is in objects and its owner has several shards.
const SHARD_SCHEMA: &str = "
    CREATE TABLE index_shard (
        id INTEGER PRIMARY KEY,
        shard INTEGER NOT NULL
    ) STRICT;
";
