//! The storage of one task: SQLite in its object. `STORAGE.md` describes the tables.

use a2a::model::Generation;
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

    fn rows<T: FromRow>(
        &self,
        query: &str,
        values: Vec<SqlStorageValue>,
    ) -> worker::Result<Vec<T>> {
        let mut rows = Vec::new();
        for row in self.sql.exec(query, values)? {
            rows.push(read_row(row?)?);
        }
        Ok(rows)
    }

    fn read(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> std::result::Result<Stored, StoreError> {
        // An object without a task must stay empty, or its storage would be billed; the tables may be missing.
        let query = "SELECT name FROM sqlite_master \
                     WHERE name IN ('log', 'usage', 'webhook', 'credentials', 'index_shard')";
        let tables: Vec<TableRow> = self.rows(query, Vec::new())?;
        let has = |table: &str| tables.iter().any(|row| row.name == table);
        if !has("log") {
            return Ok(Stored::Nothing);
        }
        let query = "SELECT schema, agent, owner, fingerprint, indexed, index_failures FROM log \
                     WHERE seq = 1";
        let first: Vec<FactsRow> = self.rows(query, Vec::new())?;
        let Some(first) = first.into_iter().next() else { return Ok(Stored::Nothing) };
        let FactsRow { schema, agent, owner, fingerprint, indexed, index_failures } = first;
        if !u64::try_from(schema).is_ok_and(|schema| format::OBJECT.reads(schema)) {
            let newer = format!("it was stored by a newer version (schema {schema})");
            return Err(StoreError::Unreadable(newer));
        }
        let facts = TaskFacts { agent, owner, fingerprint };
        if !admits(&facts) {
            return Ok(Stored::Withheld);
        }
        let indexed = Indexed { generation: indexed, failures: index_failures };
        if has("index_shard") {
            let rows: Vec<ShardRow> = self.rows("SELECT shard FROM index_shard", Vec::new())?;
            self.shard.set(rows.first().map_or(0, |row| row.shard));
        }
        let query = "SELECT generation, more, marks, lines FROM log ORDER BY seq";
        let rows: Vec<PieceOfLog> = self.rows(query, Vec::new())?;
        let log = batches(rows);
        let mut webhooks = Vec::new();
        if has("webhook") {
            let rows = self.rows("SELECT body FROM webhook ORDER BY seq", Vec::new())?;
            webhooks.extend(rows.into_iter().map(|row: WebhookRow| row.body));
        }
        let mut credentials = None;
        if has("credentials") {
            let rows = self.rows("SELECT sealed FROM credentials", Vec::new())?;
            credentials = rows.into_iter().next().map(|row: CredentialsRow| row.sealed);
        }
        let mut counted = Counted::default();
        if has("usage") {
            let rows = self.rows("SELECT counted, failures FROM usage", Vec::new())?;
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

    fn read_page(&self, after: Generation, max_bytes: usize) -> worker::Result<(Vec<Batch>, bool)> {
        let after = after.as_i64();
        let Some(Page { first, last, has_more }) = self.page_after(after, max_bytes)? else {
            return Ok((Vec::new(), false));
        };
        let query = "SELECT generation, more, marks, lines FROM log \
                     WHERE seq BETWEEN ? AND ? ORDER BY seq";
        let rows: Vec<PieceOfLog> = self.rows(query, vec![first.into(), last.into()])?;
        Ok((batches(rows).into_iter().map(|row| row.batch).collect(), has_more))
    }

    fn read_range(&self, range: LogRange, max_bytes: usize) -> worker::Result<(Vec<LogRow>, bool)> {
        let number = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
        let found = match range {
            LogRange::From(row) => self.page("seq >= ?", number(row), max_bytes)?,
            LogRange::UpTo(row) => self.page_back(number(row), max_bytes)?,
        };
        let Some(Page { first, last, has_more }) = found else { return Ok((Vec::new(), false)) };
        let query = "SELECT seq, generation, more, marks, times, lines FROM log \
                     WHERE seq BETWEEN ? AND ? ORDER BY seq";
        let rows: Vec<PieceOfLog> = self.rows(query, vec![first.into(), last.into()])?;
        let mut rows = batches(rows);
        if let LogRange::UpTo(_) = range {
            rows.reverse();
        }
        Ok((rows, has_more))
    }

    /// The log text from the start of a row, from enough rows to contain this number of bytes.
    fn lines_from(&self, row: u64, bytes: usize) -> worker::Result<String> {
        let first = i64::try_from(row).unwrap_or(i64::MAX);
        // A piece is at most three bytes shorter than the row limit, because it is cut between characters.
        let pieces = i64::try_from(bytes / (MAX_ROW_BYTES - 3) + 1).unwrap_or(i64::MAX);
        let query = "SELECT lines FROM log WHERE seq >= ? ORDER BY seq LIMIT ?";
        let rows: Vec<LinesRow> = self.rows(query, vec![first.into(), pieces.into()])?;
        Ok(rows.into_iter().map(|row| row.lines).collect())
    }

    /// The rows of the batch that contains `row`, and of earlier batches, up to about `max_bytes`: whole batches, at least one.
    fn page_back(&self, row: i64, max_bytes: usize) -> worker::Result<Option<Page>> {
        // The batch may continue in further rows.
        let query = format!(
            "SELECT seq, more, octet_length(lines) AS size FROM log WHERE seq <= coalesce(\
             (SELECT seq FROM log WHERE seq >= ? AND more = 0 ORDER BY seq LIMIT 1), {}) \
             ORDER BY seq DESC LIMIT {MAX_PAGE_ROWS}",
            i64::MAX
        );
        let rows: Vec<PieceRow> = self.rows(&query, vec![row.into()])?;
        Ok(last_batches(&rows, max_bytes))
    }

    /// The rows with the events after a generation, up to about `max_bytes`: whole batches, at least one.
    fn page_after(&self, after: i64, max_bytes: usize) -> worker::Result<Option<Page>> {
        self.page("generation > ?", after, max_bytes)
    }

    fn page(&self, condition: &str, bound: i64, max_bytes: usize) -> worker::Result<Option<Page>> {
        let query = format!(
            "SELECT seq, more, octet_length(lines) AS size FROM log \
             WHERE {condition} ORDER BY seq LIMIT {MAX_PAGE_ROWS}"
        );
        let rows: Vec<PieceRow> = self.rows(&query, vec![bound.into()])?;
        let Some(PieceRow { seq: first, .. }) = rows.first().copied() else { return Ok(None) };
        let mut size = 0;
        let mut last = first;
        let mut taken = 0;
        let mut is_continued = true;
        for row in &rows {
            if !is_continued && size + row.size > max_bytes {
                break;
            }
            size += row.size;
            last = row.seq;
            taken += 1;
            is_continued = row.more != 0;
        }
        Ok(Some(Page { first, last, has_more: taken < rows.len() || taken == MAX_PAGE_ROWS }))
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
        self.read_page(after, max_bytes).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError> {
        self.read_range(range, max_bytes).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn read_lines(&self, row: u64, bytes: usize) -> Result<String, StoreError> {
        self.lines_from(row, bytes).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError> {
        let shard = opening.map_or(0, |FirstRow { facts, .. }| {
            let shard = shard_for(&facts.owner, self.object.task_id());
            self.shard.set(shard);
            shard
        });
        if shard == 0 && batch.lines.len() <= MAX_ROW_BYTES {
            // One row: without a transaction, which costs more than the row. The platform stores together what is written
            // without waiting, so a crash leaves no table without its row.
            return Ok(write(&self.sql, opening, batch)?);
        }
        self.in_transaction(&|sql| {
            let rows = write(sql, opening, batch)?;
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
            write(sql, Some(opening), remains)
        })
        .map(|_| ())
    }

    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError> {
        let generation = indexed.generation.as_i64();
        let values = vec![generation.into(), i64::from(indexed.failures).into()];
        let update =
            self.sql.exec("UPDATE log SET indexed = ?, index_failures = ? WHERE seq = 1", values);
        update.map(|_| ()).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn set_counted(&self, counted: Counted) -> Result<(), StoreError> {
        self.write_counted(counted).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError> {
        self.write_webhook(id, json).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn delete_webhook(&self, id: &str) -> Result<(), StoreError> {
        self.remove_webhook(id).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError> {
        self.write_credentials(sealed).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let cleared = self.state.storage().delete_all().await;
            cleared.map_err(|error| StoreError::Failed(error.to_string()))
        })
    }
}

impl From<worker::Error> for StoreError {
    fn from(error: worker::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A range of log rows, and true if more rows follow.
struct Page {
    first: i64,
    last: i64,
    has_more: bool,
}

rows! {
    /// A table of the object.
    struct TableRow {
        name: String,
    }

    /// The facts in the first row of the log.
    struct FactsRow {
        schema: i64,
        agent: String,
        owner: String,
        fingerprint: Option<String>,
        indexed: Generation,
        index_failures: u32,
    }

    /// A row of the log: a batch, or a piece of a batch that continues in the next row (`more`). Each column costs a crossing, so
    /// queries that need neither the number of a row nor its times do not select these.
    struct PieceOfLog {
        seq: Option<u64>,
        generation: Generation,
        more: u8,
        marks: String,
        times: Option<String>,
        lines: String,
    }

    /// The entries of a row of the log.
    struct LinesRow {
        lines: String,
    }

    /// A row of the log with the size of its entries in bytes, without the entries.
    #[derive(Clone, Copy)]
    struct PieceRow {
        seq: i64,
        more: u8,
        size: usize,
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

/// Writes a batch inside the caller's transaction; with `opening`, for the first batch, also creates the table. Returns the
/// number of rows.
#[inline(never)]
fn write(
    sql: &SqlStorage,
    mut opening: Option<FirstRow<'_>>,
    batch: &Batch,
) -> worker::Result<u64> {
    let generation = batch.generation.as_i64();
    let mut marks = batch.marks.as_str();
    let mut times = batch.times.as_str();
    let mut pieces = split(&batch.lines, MAX_ROW_BYTES).peekable();
    let mut rows = 0;
    while let Some(piece) = pieces.next() {
        rows += 1;
        let more = i64::from(pieces.peek().is_some());
        // Only the first piece of a batch is stored with the marks and times; further pieces have empty ones. Only the first row
        // of the log has the facts of the task.
        let (marks, times) = (std::mem::take(&mut marks), std::mem::take(&mut times));
        let mut values =
            vec![generation.into(), more.into(), text(marks), text(times), text(piece)];
        let insert = match opening.take() {
            None => {
                "INSERT INTO log (generation, more, marks, times, lines) \
                 VALUES (?, ?, ?, ?, ?)"
            }
            Some(FirstRow { facts, indexed }) => {
                let TaskFacts { agent, owner, fingerprint } = facts;
                let fingerprint = fingerprint.as_deref().map_or(SqlStorageValue::Null, text);
                values.extend([
                    i64::from(format::OBJECT_WRITES).into(),
                    text(agent),
                    text(owner),
                    fingerprint,
                    indexed.generation.as_i64().into(),
                    i64::from(indexed.failures).into(),
                ]);
                FIRST
            }
        };
        sql.exec(insert, values)?;
    }
    Ok(rows)
}

/// Stores in which shard of the owner's index the row of the task is, if it is not the first.
fn write_shard(sql: &SqlStorage, shard: u32) -> worker::Result<()> {
    sql.exec(SHARD_SCHEMA, None)?;
    let insert = "INSERT INTO index_shard (id, shard) VALUES (1, ?)";
    sql.exec(insert, vec![i64::from(shard).into()]).map(|_| ())
}

/// Joins the pieces of each batch. If the numbers of the rows were not selected, the rows are the whole log: rows are never
/// deleted, so they are numbered from 1.
fn batches(rows: Vec<PieceOfLog>) -> Vec<LogRow> {
    let mut log: Vec<LogRow> = Vec::new();
    let mut is_continued = false;
    for PieceOfLog { seq, generation, more, marks, times, lines } in rows {
        match log.last_mut() {
            Some(row) if is_continued => {
                row.rows += 1;
                row.batch.lines.push_str(&lines);
            }
            _ => {
                let times = times.unwrap_or_default();
                let batch = Batch { generation, marks, times, lines };
                let counted = || log.last().map_or(1, |last| last.row + last.rows);
                let row = seq.unwrap_or_else(counted);
                log.push(LogRow { row, rows: 1, batch });
            }
        }
        is_continued = more != 0;
    }
    log
}

/// The last whole batches among rows in the order newest first, up to about `max_bytes`, but at least one batch.
fn last_batches(rows: &[PieceRow], max_bytes: usize) -> Option<Page> {
    let last = rows.first()?.seq;
    let (mut size, mut first, mut begins) = (0, None, 0);
    for (index, row) in rows.iter().enumerate() {
        size += row.size;
        // A batch begins where the row before it has no `more`.
        let before = rows.get(index + 1);
        let is_beginning = before.map_or(row.seq == 1, |before| before.more == 0);
        if !is_beginning {
            continue;
        }
        if first.is_some() && size > max_bytes {
            break;
        }
        (first, begins) = (Some(row.seq), index);
    }
    let has_more = rows.get(begins + 1).is_some() || rows.get(begins)?.seq > 1;
    Some(Page { first: first?, last, has_more })
}

fn text(text: &str) -> SqlStorageValue {
    SqlStorageValue::String(text.to_owned())
}

/// Cuts a text into pieces of at most `limit` bytes, between characters.
fn split(text: &str, limit: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(limit));
        rest = after;
        Some(piece)
    })
}

/// Makes the table and writes its first row, by one call. The table may be there without a row, if the row could not be written.
const FIRST: &str = "
    CREATE TABLE IF NOT EXISTS log (
        seq INTEGER PRIMARY KEY,
        generation INTEGER NOT NULL,
        more INTEGER NOT NULL,
        marks TEXT NOT NULL,
        times TEXT NOT NULL,
        lines TEXT NOT NULL,
        schema INTEGER,
        agent TEXT,
        owner TEXT,
        fingerprint TEXT,
        indexed INTEGER,
        index_failures INTEGER
    ) STRICT;
    INSERT INTO log (seq, generation, more, marks, times, lines, schema, agent, owner, fingerprint,
        indexed, index_failures)
    VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

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

/// The largest piece of a batch in one row, in bytes. The platform's limit for a row is 2 MB.
const MAX_ROW_BYTES: usize = 1_000_000;

/// The largest number of rows in one page of the log.
const MAX_PAGE_ROWS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_was_cut_over_rows_is_put_together() {
        let row = |seq, generation, more, marks: &str, lines: &str| PieceOfLog {
            seq: Some(seq),
            generation,
            more,
            marks: marks.to_owned(),
            times: Some(marks.replace('o', "1 ")),
            lines: lines.to_owned(),
        };
        let log = batches(vec![
            row(1, Generation(1), 0, "o", "a"),
            row(2, Generation(3), 1, "oo", "b"),
            row(3, Generation(3), 1, "", "c"),
            row(4, Generation(3), 0, "", "d"),
            row(5, Generation(4), 0, "e", "e"),
        ]);
        let log: Vec<(u64, u64, &str, &str, &str)> = log
            .iter()
            .map(|LogRow { row, rows, batch }| {
                assert_eq!(*rows, if *row == 2 { 3 } else { 1 });
                let Batch { generation, marks, times, lines } = batch;
                (*row, generation.0, marks.as_str(), times.as_str(), lines.as_str())
            })
            .collect();
        let expected = [(1, 1, "o", "1 ", "a"), (2, 3, "oo", "1 1 ", "bcd"), (5, 4, "e", "e", "e")];
        assert_eq!(log, expected);
    }

    #[test]
    fn backwards_whole_batches_are_taken_up_to_a_size() {
        // Rows 1, 2 to 4, and 5 are a batch each.
        let more = [0, 1, 1, 0, 0];
        let rows = |from: usize, size| -> Vec<PieceRow> {
            let row = |seq: usize| PieceRow { seq: seq as i64, more: more[seq - 1], size };
            (1..=from).rev().map(row).collect()
        };
        for (from, max, expected) in [
            (5, 0, Some((5, 5, true))),
            (5, 39, Some((5, 5, true))),
            (5, 40, Some((2, 5, true))),
            (5, 50, Some((1, 5, false))),
            (4, 0, Some((2, 4, true))),
            (4, 40, Some((1, 4, false))),
            (1, 0, Some((1, 1, false))),
            (0, 0, None),
        ] {
            let page = last_batches(&rows(from, 10), max);
            let page = page.map(|page| (page.first, page.last, page.has_more));
            assert_eq!(page, expected, "{from} {max}");
        }
        // A batch that is cut in the middle is left for the next page.
        let page = last_batches(&rows(5, 10)[..3], 1_000).unwrap();
        assert_eq!((page.first, page.last, page.has_more), (5, 5, true));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let cut = |text, limit| split(text, limit).collect::<Vec<_>>();
        assert_eq!(cut("", 4), Vec::<&str>::new());
        assert_eq!(cut("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(cut("aäöü", 4), ["aä", "öü"]);
        assert_eq!(cut("€€", 4), ["€", "€"]);
    }
}
