//! The table `log` of a task. A row is a batch, or a piece of a batch that is too large for one row.

use a2a::model::Generation;
use worker::{SqlStorage, SqlStorageValue};

use super::{select, text};
use crate::edge::service::rows::rows;
use crate::format;
use crate::port::{Batch, FirstRow, Indexed, LogRange, LogRow, TaskFacts};

/// The log of one task.
pub(super) struct Log<'s> {
    sql: &'s SqlStorage,
}

impl<'s> Log<'s> {
    pub(super) fn new(sql: &'s SqlStorage) -> Self {
        Self { sql }
    }

    /// The beginning of the first row; `None` if the table has no row.
    pub(super) fn first(&self) -> worker::Result<Option<First>> {
        let query = "SELECT schema, agent, owner, fingerprint, indexed, index_failures FROM log \
                     WHERE seq = 1";
        let rows: Vec<FirstColumns> = select(self.sql, query, Vec::new())?;
        Ok(rows.into_iter().next().map(|row| {
            let FirstColumns { schema, agent, owner, fingerprint, indexed, index_failures } = row;
            let facts = TaskFacts { agent, owner, fingerprint };
            let indexed = Indexed { generation: indexed, failures: index_failures };
            First { schema, facts, indexed }
        }))
    }

    /// All rows; the table must exist.
    pub(super) fn whole(&self) -> worker::Result<Vec<LogRow>> {
        let query = "SELECT generation, more, marks, lines FROM log ORDER BY seq";
        Ok(batches(select(self.sql, query, Vec::new())?))
    }

    /// The batches after a generation, up to about `max_bytes`, and true if more follow.
    pub(super) fn after(
        &self,
        after: Generation,
        max_bytes: usize,
    ) -> worker::Result<(Vec<Batch>, bool)> {
        let found = self.page("generation > ?", after.as_i64(), max_bytes)?;
        let Some(page) = found else { return Ok((Vec::new(), false)) };
        let rows = self.rows_of(&page, "generation, more, marks, lines")?;
        Ok((rows.into_iter().map(|row| row.batch).collect(), page.has_more))
    }

    /// The rows of a range, up to about `max_bytes`, and true if more follow.
    pub(super) fn range(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> worker::Result<(Vec<LogRow>, bool)> {
        let number = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
        let found = match range {
            LogRange::From(row) => self.page("seq >= ?", number(row), max_bytes)?,
            LogRange::UpTo(row) => self.page_back(number(row), max_bytes)?,
        };
        let Some(page) = found else { return Ok((Vec::new(), false)) };
        let mut rows = self.rows_of(&page, "seq, generation, more, marks, times, lines")?;
        if let LogRange::UpTo(_) = range {
            rows.reverse();
        }
        Ok((rows, page.has_more))
    }

    fn rows_of(&self, page: &Page, columns: &str) -> worker::Result<Vec<LogRow>> {
        let query = format!("SELECT {columns} FROM log WHERE seq BETWEEN ? AND ? ORDER BY seq");
        let values = vec![page.first.into(), page.last.into()];
        Ok(batches(select(self.sql, &query, values)?))
    }

    /// The log text from the start of a row, from enough rows to contain this number of bytes.
    pub(super) fn lines_from(&self, row: u64, bytes: usize) -> worker::Result<String> {
        let first = i64::try_from(row).unwrap_or(i64::MAX);
        // A piece is at most three bytes shorter than the row limit, because it is cut between characters.
        let pieces = i64::try_from(bytes / (MAX_ROW_BYTES - 3) + 1).unwrap_or(i64::MAX);
        let query = "SELECT lines FROM log WHERE seq >= ? ORDER BY seq LIMIT ?";
        let rows: Vec<LinesRow> = select(self.sql, query, vec![first.into(), pieces.into()])?;
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
        let rows: Vec<PieceRow> = select(self.sql, &query, vec![row.into()])?;
        Ok(last_batches(&rows, max_bytes))
    }

    /// The first rows that meet the condition, up to about `max_bytes`: whole batches, at least one.
    fn page(&self, condition: &str, bound: i64, max_bytes: usize) -> worker::Result<Option<Page>> {
        let query = format!(
            "SELECT seq, more, octet_length(lines) AS size FROM log \
             WHERE {condition} ORDER BY seq LIMIT {MAX_PAGE_ROWS}"
        );
        let rows: Vec<PieceRow> = select(self.sql, &query, vec![bound.into()])?;
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

    /// Writes a batch; with `opening`, for the first batch, also creates the table. Returns the number of rows; if there may be
    /// several, the caller has begun a transaction.
    #[inline(never)]
    pub(super) fn write(
        &self,
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
                    FIRST_ROW
                }
            };
            self.sql.exec(insert, values)?;
        }
        Ok(rows)
    }

    /// Stores how far the index is; the table must have a row.
    pub(super) fn set_indexed(&self, indexed: Indexed) -> worker::Result<()> {
        let generation = indexed.generation.as_i64();
        let values = vec![generation.into(), i64::from(indexed.failures).into()];
        let update = "UPDATE log SET indexed = ?, index_failures = ? WHERE seq = 1";
        self.sql.exec(update, values).map(|_| ())
    }
}

/// What the first row of the log alone has.
pub(super) struct First {
    /// The version of the tables that wrote it.
    pub(super) schema: i64,
    pub(super) facts: TaskFacts,
    pub(super) indexed: Indexed,
}

/// A range of log rows, and true if more rows follow.
struct Page {
    first: i64,
    last: i64,
    has_more: bool,
}

rows! {
    /// The columns that the first row of the log alone has.
    struct FirstColumns {
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
}

/// True if a batch is stored as one row.
pub(super) fn is_one_row(batch: &Batch) -> bool {
    batch.lines.len() <= MAX_ROW_BYTES
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
const FIRST_ROW: &str = "
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
