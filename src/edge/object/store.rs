//! The storage of one task: SQLite in its object. `STORAGE.md` describes the tables.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use worker::{SqlStorage, SqlStorageValue, State};

use crate::edge::service::rows::read_row;
use crate::format;
use crate::port::{
    Batch, Counted, FirstRow, Indexed, StoreError, Stored, StoredTask, TaskFacts, TaskStore,
};

/// The task of one object.
pub(super) struct SqlTaskStore {
    state: Rc<State>,
}

impl SqlTaskStore {
    pub(super) fn new(state: Rc<State>) -> Self {
        Self { state }
    }

    fn sql(&self) -> SqlStorage {
        self.state.storage().sql()
    }

    fn rows<T: DeserializeOwned>(
        &self,
        query: &str,
        values: Vec<SqlStorageValue>,
    ) -> worker::Result<Vec<T>> {
        self.sql().exec(query, values)?.map(|row| read_row(row?)).collect()
    }

    fn read(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> std::result::Result<Stored, StoreError> {
        // An object without a task must stay empty, or its storage would be billed: there may be no tables.
        let query = "SELECT name FROM sqlite_master WHERE name IN ('log', 'usage', 'webhook', 'credentials')";
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
        let query = "SELECT generation, more, marks, lines FROM log ORDER BY seq";
        let log = batches(self.rows(query, Vec::new())?);
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

    fn write_credentials(&self, sealed: Option<&str>) -> worker::Result<()> {
        let sql = self.sql();
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
        let sql = self.sql();
        sql.exec(USAGE_SCHEMA, None)?;
        let turn = i64::try_from(counted.turn).unwrap_or(i64::MAX);
        let insert = "INSERT OR REPLACE INTO usage (id, counted, failures) VALUES (1, ?, ?)";
        sql.exec(insert, vec![turn.into(), i64::from(counted.failures).into()]).map(|_| ())
    }

    fn write_webhook(&self, id: &str, json: &str) -> worker::Result<()> {
        let sql = self.sql();
        sql.exec(WEBHOOK_SCHEMA, None)?;
        let update = "UPDATE webhook SET body = ? WHERE id = ?";
        if sql.exec(update, vec![text(json), text(id)])?.rows_written() == 0 {
            sql.exec("INSERT INTO webhook (id, body) VALUES (?, ?)", vec![text(id), text(json)])?;
        }
        Ok(())
    }

    fn remove_webhook(&self, id: &str) -> worker::Result<()> {
        let sql = self.sql();
        sql.exec(WEBHOOK_SCHEMA, None)?;
        sql.exec("DELETE FROM webhook WHERE id = ?", vec![text(id)]).map(|_| ())
    }

    fn read_page(&self, after: u64, max_bytes: usize) -> worker::Result<(Vec<Batch>, bool)> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let Some(Page { first, last, has_more }) = self.page_after(after, max_bytes)? else {
            return Ok((Vec::new(), false));
        };
        let query = "SELECT generation, more, marks, lines FROM log \
                     WHERE seq BETWEEN ? AND ? ORDER BY seq";
        let rows = self.rows(query, vec![first.into(), last.into()])?;
        Ok((batches(rows), has_more))
    }

    /// The rows with the events after a generation, up to about `max_bytes` of them: whole batches, at least one.
    fn page_after(&self, after: i64, max_bytes: usize) -> worker::Result<Option<Page>> {
        let query = format!(
            "SELECT seq, more, octet_length(lines) AS size FROM log \
             WHERE generation > ? ORDER BY seq LIMIT {MAX_PAGE_ROWS}"
        );
        let rows: Vec<PieceRow> = self.rows(&query, vec![after.into()])?;
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

    fn write(&self, mut opening: Option<FirstRow<'_>>, batch: &Batch) -> worker::Result<()> {
        let sql = self.sql();
        if opening.is_some() {
            sql.exec(SCHEMA, None)?;
        }
        let generation = i64::try_from(batch.generation).unwrap_or(i64::MAX);
        let mut marks = batch.marks.as_str();
        let mut pieces = split(&batch.lines, MAX_ROW_BYTES).peekable();
        while let Some(piece) = pieces.next() {
            let more = i64::from(pieces.peek().is_some());
            // The marks go with the first piece of a batch, the facts with the first row of the log.
            let marks = std::mem::take(&mut marks);
            let mut values = vec![generation.into(), more.into(), text(marks), text(piece)];
            let insert = match opening.take() {
                None => "INSERT INTO log (generation, more, marks, lines) VALUES (?, ?, ?, ?)",
                Some(FirstRow { facts, indexed }) => {
                    let TaskFacts { agent, owner, fingerprint } = facts;
                    let fingerprint = fingerprint.as_deref().map_or(SqlStorageValue::Null, text);
                    values.extend([
                        i64::from(format::OBJECT_WRITES).into(),
                        text(agent),
                        text(owner),
                        fingerprint,
                        i64::try_from(indexed.generation).unwrap_or(i64::MAX).into(),
                        i64::from(indexed.failures).into(),
                    ]);
                    "INSERT INTO log (seq, generation, more, marks, lines, schema, agent, owner, \
                     fingerprint, indexed, index_failures) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                }
            };
            sql.exec(insert, values)?;
        }
        Ok(())
    }
}

impl TaskStore for SqlTaskStore {
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError> {
        self.read(admits)
    }

    fn read_after(&self, after: u64, max_bytes: usize) -> Result<(Vec<Batch>, bool), StoreError> {
        self.read_page(after, max_bytes).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<(), StoreError> {
        let storage = self.state.storage();
        let storage = storage.as_raw().unchecked_ref::<TransactionalStorage>();
        let mut write =
            || self.write(opening, batch).map(|()| JsValue::NULL).map_err(JsValue::from);
        let written = storage.transaction_sync(&mut write);
        written
            .map(|_| ())
            .map_err(|error| StoreError::Failed(worker::Error::from(error).to_string()))
    }

    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError> {
        let generation = i64::try_from(indexed.generation).unwrap_or(i64::MAX);
        let values = vec![generation.into(), i64::from(indexed.failures).into()];
        let update =
            self.sql().exec("UPDATE log SET indexed = ?, index_failures = ? WHERE seq = 1", values);
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

/// A range of log rows, and whether there are more after it.
struct Page {
    first: i64,
    last: i64,
    has_more: bool,
}

/// A table of the object.
#[derive(Deserialize)]
struct TableRow {
    name: String,
}

/// What the first row of the log holds besides its entries.
#[derive(Deserialize)]
struct FactsRow {
    schema: i64,
    agent: String,
    owner: String,
    fingerprint: Option<String>,
    indexed: u64,
    index_failures: u32,
}

/// A row of the log: a batch, or a piece of one that goes on in the next row if there is `more`.
#[derive(Deserialize)]
struct LogRow {
    generation: u64,
    more: u8,
    marks: String,
    lines: String,
}

/// A row of the log without its entries, and their size in bytes.
#[derive(Clone, Copy, Deserialize)]
struct PieceRow {
    seq: i64,
    more: u8,
    size: usize,
}

/// Up to which turn the usage is counted.
#[derive(Deserialize)]
struct UsageRow {
    counted: u64,
    failures: u32,
}

/// The credentials of a turn.
#[derive(Deserialize)]
struct CredentialsRow {
    sealed: String,
}

/// A webhook.
#[derive(Deserialize)]
struct WebhookRow {
    body: String,
}

#[wasm_bindgen]
extern "C" {
    type TransactionalStorage;

    /// Runs the closure in a transaction: if it fails, all that it wrote is rolled back.
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &TransactionalStorage,
        closure: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;
}

/// Puts the pieces of each batch together.
fn batches(rows: Vec<LogRow>) -> Vec<Batch> {
    let mut log: Vec<Batch> = Vec::new();
    let mut is_continued = false;
    for LogRow { generation, more, marks, lines } in rows {
        match log.last_mut() {
            Some(batch) if is_continued => batch.lines.push_str(&lines),
            _ => log.push(Batch { generation, marks, lines }),
        }
        is_continued = more != 0;
    }
    log
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

const SCHEMA: &str = "
    CREATE TABLE log (
        seq INTEGER PRIMARY KEY,
        generation INTEGER NOT NULL,
        more INTEGER NOT NULL,
        marks TEXT NOT NULL,
        lines TEXT NOT NULL,
        schema INTEGER,
        agent TEXT,
        owner TEXT,
        fingerprint TEXT,
        indexed INTEGER,
        index_failures INTEGER
    ) STRICT;
";

/// Made with the first webhook of a task: few tasks have any.
const WEBHOOK_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS webhook (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
";

/// Made when a turn that has used something of models was to be counted first: most tasks have none.
const USAGE_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS usage (
        id INTEGER PRIMARY KEY,
        counted INTEGER NOT NULL,
        failures INTEGER NOT NULL
    ) STRICT;
";

/// Made with the first credentials that a client gives the task: hardly any task has some.
const CREDENTIALS_SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS credentials (
        id INTEGER PRIMARY KEY,
        sealed TEXT NOT NULL
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
        let row = |generation, more, marks: &str, lines: &str| LogRow {
            generation,
            more,
            marks: marks.to_owned(),
            lines: lines.to_owned(),
        };
        let log = batches(vec![
            row(1, 0, "o", "a"),
            row(3, 1, "oo", "b"),
            row(3, 1, "", "c"),
            row(3, 0, "", "d"),
            row(4, 0, "e", "e"),
        ]);
        let log: Vec<(u64, &str, &str)> = log
            .iter()
            .map(|batch| (batch.generation, batch.marks.as_str(), batch.lines.as_str()))
            .collect();
        assert_eq!(log, [(1, "o", "a"), (3, "oo", "bcd"), (4, "e", "e")]);
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
