//! The log of a task: its stored and its unsaved entries, its size, and the interval between rows.

mod logged;
mod mark;
mod passages;
pub(super) mod statuses;
mod times;
mod traced;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::tombstone::Tombstone;
use crate::config::Limits;
use crate::port::{
    Batch, FirstRow, LogRange, LogRow, StoreError, Stored, StoredTask, TaskFacts, TaskStore,
};
use crate::task::LogEntry;
use a2a::model::{Generation, JsonSize, Part, TaskId, UnixMillis, encode_line};
pub use logged::{LoggedBatch, LoggedLine};
pub(super) use mark::{Mark, NO_EVENT};
use passages::{Passage, Passages, contents, contents_of, reference, unfold};
use traced::Traced;

/// The log of one task, with its storage.
pub(super) struct Journal {
    store: Rc<dyn TaskStore>,
    /// The entries that are not stored yet.
    unsaved: RefCell<Batch>,
    passages: RefCell<Passages>,
    /// The row in which the next batch begins.
    next_row: Cell<u64>,
    /// The instant at which the newest entry was appended.
    newest: Cell<Option<UnixMillis>>,
    /// True if the first row, which has the facts, is stored.
    is_opened: Cell<bool>,
    /// The size of the log, including unsaved entries.
    size: Cell<LogSize>,
    /// The part of the size for what steps were given.
    pub(super) traced: Traced,
    max_size: LogSize,
    bucket: Cell<LeakyBucket>,
    interval_ms: Cell<u64>,
}

/// The size of a log, or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogSize {
    /// In bytes of JSON.
    pub(super) bytes: usize,
    /// In JSON values.
    pub(super) values: usize,
}

/// A page of the stored log.
pub(super) struct LogPage {
    /// The batches, oldest first.
    pub(super) batches: Vec<Batch>,
    /// True if there are more batches after the page.
    pub(super) has_more: bool,
}

/// The result of reading a task with its log.
pub(super) enum Loaded {
    /// Storage has no task.
    Nothing,
    /// Storage has a task that the visitor must not see.
    Withheld,
    /// The task, and the entries of its log.
    Task(StoredTask, Vec<LogEntry>),
    /// What remains of a deleted task.
    Deleted(StoredTask, Tombstone),
}

impl Journal {
    /// The log in this storage. This function reads nothing.
    pub(super) fn new(store: Rc<dyn TaskStore>, limits: &Limits) -> Self {
        let max_values = limits.max_json_values.saturating_mul(VALUES_PER_TASK);
        Self {
            store,
            unsaved: RefCell::default(),
            passages: RefCell::default(),
            next_row: Cell::new(1),
            newest: Cell::default(),
            is_opened: Cell::new(false),
            size: Cell::default(),
            traced: Traced::new(limits.max_task_bytes),
            max_size: LogSize { bytes: limits.max_task_bytes, values: max_values },
            bucket: Cell::default(),
            interval_ms: Cell::new(limits.event_interval_ms),
        }
    }

    /// Reads the stored task, if `admits` returns true for its facts.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read.
    pub(super) fn load(
        &self,
        admits: &dyn Fn(&TaskFacts) -> bool,
        id: &TaskId,
    ) -> Result<Loaded, StoreError> {
        Ok(match self.store.load(admits)? {
            Stored::Nothing => Loaded::Nothing,
            Stored::Withheld => Loaded::Withheld,
            Stored::Task(stored) => {
                let first = stored.log.first().map(|row| Tombstone::of_batch(&row.batch));
                if let Some(tombstone) = first.transpose()?.flatten() {
                    return Ok(Loaded::Deleted(stored, tombstone));
                }
                let (stored, log) = self.read(id, stored)?;
                Loaded::Task(stored, log)
            }
        })
    }

    /// The stored entries of the log, read again.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read.
    pub(super) fn reload(&self, id: &TaskId) -> Result<Vec<LogEntry>, StoreError> {
        match self.store.load(&|_| true)? {
            Stored::Nothing | Stored::Withheld => Ok(Vec::new()),
            Stored::Task(stored) => self.read(id, stored).map(|(_, entries)| entries),
        }
    }

    fn read(
        &self,
        id: &TaskId,
        mut stored: StoredTask,
    ) -> Result<(StoredTask, Vec<LogEntry>), StoreError> {
        let mut size = LogSize::default();
        let mut entries = Vec::new();
        self.passages.take();
        self.traced.clear();
        // To save memory, one line at a time is parsed to JSON, and each batch is dropped after it was read.
        for LogRow { row, rows, batch } in std::mem::take(&mut stored.log) {
            size.bytes += batch.lines.len();
            size.values += JsonSize::of(batch.lines.as_bytes()).values;
            self.parse_lines(id, &batch, &mut entries, Some(row))?;
            self.next_row.set(row + rows);
        }
        self.is_opened.set(true);
        self.size.set(size);
        Ok((stored, entries))
    }

    /// The stored entries after a place, up to one page, and the place after them. Returns no entries at the end of the log.
    ///
    /// # Errors
    ///
    /// If storage fails or has a form that this version cannot read.
    pub(super) fn entries_from(
        &self,
        id: &TaskId,
        place: Place,
    ) -> Result<(Vec<LogEntry>, Place), StoreError> {
        let Place { generation, batches, bytes } = place;
        // A batch without events has the generation of the batch before it.
        let from = generation.before(1);
        let (page, _) = self.store.read_after(from, bytes.saturating_add(PAGE_BYTES))?;
        let (mut entries, mut place, mut read) = (Vec::new(), place, 0);
        for batch in page.into_iter().skip(batches) {
            if read > PAGE_BYTES {
                break;
            }
            if batch.generation != place.generation {
                place = Place { generation: batch.generation, batches: 0, bytes: 0 };
            }
            place.batches += 1;
            place.bytes += batch.lines.len();
            read += self.parse_lines(id, &batch, &mut entries, None)?;
        }
        Ok((entries, place))
    }

    /// Adds the entries of a batch to `entries` and returns their size in bytes. With `row`, the row in which the batch begins, the places of
    /// callback bodies in the batch are recorded.
    fn parse_lines(
        &self,
        id: &TaskId,
        batch: &Batch,
        entries: &mut Vec<LogEntry>,
        row: Option<u64>,
    ) -> Result<usize, StoreError> {
        let unreadable = |error| StoreError::Unreadable(format!("log of {id}: {error}"));
        let (mut start, mut size) = (0, 0);
        for line in batch.lines.lines() {
            let whole = unfold(line, &|passage| self.passage(passage))?;
            let entry = LogEntry::parse(&whole).map_err(unreadable)?;
            if row.is_some() {
                self.traced.note(&entry);
            }
            if let (Some(row), LogEntry::Called(_)) = (row, &entry) {
                let mut passages = self.passages.borrow_mut();
                for body in contents(&entry) {
                    if let Some(at) = line.find(&body) {
                        passages.note(&body, row, start + at);
                    }
                }
            }
            entries.push(entry);
            start += line.len() + 1;
            size += whole.len() + 1;
        }
        Ok(size)
    }

    /// Reads a passage of the stored log.
    fn passage(&self, passage: Passage) -> Result<String, StoreError> {
        let Passage { row, start, bytes } = passage;
        let end = start.saturating_add(bytes);
        let mut lines = self.store.read_lines(row, end)?;
        if lines.get(start..end).is_none() {
            return Err(StoreError::Unreadable(format!("the log has nothing at {passage:?}")));
        }
        lines.truncate(end);
        Ok(lines.split_off(start))
    }

    /// The passage of the stored log with this content, if there is one.
    fn find(&self, content: &str) -> Option<Passage> {
        let passage = self.passages.borrow().find(content)?;
        self.passage(passage).is_ok_and(|found| found == content).then_some(passage)
    }

    /// The stored form of a line: each content that the log has already is replaced by a reference. `None` if the line has no
    /// such content.
    fn fold(&self, line: &str, contents: &[String]) -> Option<String> {
        let found = contents.iter().filter_map(|content| Some((content, self.find(content)?)));
        found.fold(None, |folded: Option<String>, (content, passage)| {
            let line = folded.as_deref().unwrap_or(line);
            Some(line.replacen(content.as_str(), &reference(passage), 1))
        })
    }

    /// The size of the contents of `parts` that the log has already. This size is not counted again.
    pub(super) fn known_of(&self, parts: &[Part]) -> LogSize {
        let mut known = LogSize::default();
        if self.passages.borrow().is_empty() {
            return known;
        }
        for content in contents_of(parts) {
            if let Some(passage) = self.find(&content) {
                known.bytes += content.len().saturating_sub(reference(passage).len());
                known.values += JsonSize::of(content.as_bytes()).values.saturating_sub(4);
            }
        }
        known
    }

    /// True if the first row is stored.
    pub(super) fn is_opened(&self) -> bool {
        self.is_opened.get()
    }

    /// Appends an entry, which is stored with the next row.
    pub(super) fn append(&self, entry: &LogEntry, now: UnixMillis) {
        // The model has no map with keys other than strings, so encoding cannot fail.
        let (line, values) = encode_line(entry).unwrap_or_default();
        let is_body = matches!(entry, LogEntry::Called(_));
        let may_repeat = is_body || !self.passages.borrow().is_empty();
        let contents = if may_repeat { contents(entry) } else { Vec::new() };
        let folded = self.fold(&line, &contents);
        let (more, values) = match &folded {
            Some(folded) => (folded.len(), JsonSize::of(folded.as_bytes()).values),
            None => (line.len(), values),
        };
        let LogSize { bytes, values: known } = self.size.get();
        self.size.set(LogSize { bytes: bytes + more + 1, values: known + values });
        self.traced.note(entry);
        let mut unsaved = self.unsaved.borrow_mut();
        let bodies = if is_body && folded.is_none() { contents.as_slice() } else { &[] };
        self.passages.borrow_mut().push(&unsaved.lines, &line, folded.as_deref(), bodies);
        unsaved.marks.push(Mark::of_entry(entry));
        let last = self.newest.replace(Some(now)).filter(|_| !unsaved.times.is_empty());
        times::push(&mut unsaved.times, last, now);
        let lines = &mut unsaved.lines;
        if lines.is_empty() {
            *lines = line;
        } else {
            // Limit the growth: while the capacity of a large text is doubled, its old and new memory exist at the same time.
            let slack = lines.len().min(LINES_SLACK_BYTES);
            if lines.capacity() - lines.len() <= line.len() {
                lines.reserve_exact(line.len() + 1 + slack);
            }
            lines.push_str(&line);
        }
        lines.push('\n');
    }

    /// The size that counts for the limits of the task.
    fn counted(&self) -> LogSize {
        let (LogSize { bytes, values }, traced) = (self.size.get(), self.traced.size());
        LogSize {
            bytes: bytes.saturating_sub(traced.bytes),
            values: values.saturating_sub(traced.values),
        }
    }

    /// The size of the entries that are not stored yet, in bytes.
    pub(super) fn unsaved_bytes(&self) -> usize {
        self.unsaved.borrow().lines.len()
    }

    /// Stores the unsaved entries as one row, with the generation of the task after these entries. The first row also has
    /// `opening`. Returns the stored batch.
    ///
    /// # Errors
    ///
    /// If storage fails. After this error, the log in memory has entries that storage does not have, and must not be used any
    /// more.
    pub(super) fn store(
        &self,
        generation: Generation,
        opening: Option<FirstRow<'_>>,
        now: UnixMillis,
    ) -> Result<Batch, StoreError> {
        let batch = Batch { generation, ..self.unsaved.take() };
        let opening = opening.filter(|_| !self.is_opened.get());
        let mut passages = self.passages.borrow_mut();
        let rows = match passages.take_folded() {
            None => self.store.append(opening, &batch)?,
            Some(lines) => {
                let (marks, times) = (batch.marks.clone(), batch.times.clone());
                self.store.append(opening, &Batch { generation, marks, times, lines })?
            }
        };
        passages.stored_in(self.next_row.get());
        self.next_row.set(self.next_row.get() + rows);
        self.is_opened.set(true);
        let mut bucket = self.bucket.get();
        bucket.take(self.interval_ms.get(), now);
        self.bucket.set(bucket);
        Ok(batch)
    }

    /// Sets the interval between rows of events, which applies after a burst.
    pub(super) fn set_interval(&self, interval_ms: u64) {
        self.interval_ms.set(interval_ms);
    }

    /// The delay before storing, in milliseconds; 0 to store now.
    pub(super) fn postpone_ms(&self, now: UnixMillis) -> u64 {
        if self.unsaved_bytes() == 0 {
            return 0;
        }
        self.bucket.get().wait_ms(self.interval_ms.get(), now)
    }

    /// Checks that the log has room for an addition of this size.
    ///
    /// # Errors
    ///
    /// A reason that the client may read.
    pub(super) fn check_addition(&self, more: LogSize) -> Result<(), String> {
        let (size, max) = (self.counted(), self.max_size);
        if size.bytes.saturating_add(more.bytes) > max.bytes {
            return Err(format!("a task holds at most {} bytes", max.bytes));
        }
        if size.values.saturating_add(more.values) > max.values {
            let limit = max.values;
            return Err(format!("a task holds at most {limit} JSON values (MAX_JSON_VALUES)"));
        }
        Ok(())
    }

    /// Checks that the log has room for a post of this size to a callback, and for later entries of the run.
    ///
    /// # Errors
    ///
    /// A reason that the sender may read.
    pub(super) fn check_post(&self, more: LogSize) -> Result<(), String> {
        let (size, max) = (self.counted(), self.max_size);
        let for_posts = |max: usize| max - max / SHARE_OF_RUN;
        let (max_bytes, max_values) = (for_posts(max.bytes), for_posts(max.values));
        if size.bytes.saturating_add(more.bytes) > max_bytes {
            let (held, more) = (size.bytes, more.bytes);
            return Err(format!(
                "the task of this callback has no room for {more} bytes more: it holds {held} of the {max_bytes} that \
                 posts may fill; post a smaller body, such as a link to the content"
            ));
        }
        if size.values.saturating_add(more.values) > max_values {
            let (held, more) = (size.values, more.values);
            return Err(format!(
                "the task of this callback has no room for {more} JSON values more: it holds {held} of the {max_values} \
                 that posts may fill; post a smaller body, or one that is not JSON"
            ));
        }
        Ok(())
    }

    /// The limit that the log has reached, as text, if it is full.
    pub(super) fn fullness(&self) -> Option<String> {
        let (size, max) = (self.counted(), self.max_size);
        if size.bytes >= max.bytes {
            return Some(format!("{} bytes", max.bytes));
        }
        let is_full = size.values >= max.values;
        is_full.then(|| format!("{} JSON values (MAX_JSON_VALUES)", max.values))
    }

    /// The stored batches in one direction from a row, up to one page. The second value is true if there are more batches.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn lines(&self, range: LogRange) -> Result<(Vec<LoggedBatch>, bool), StoreError> {
        let (rows, mut has_more) = self.store.read_log(range, PAGE_BYTES)?;
        let (mut read, mut size) = (Vec::new(), 0);
        for LogRow { row, rows, batch } in rows {
            if size > PAGE_BYTES {
                has_more = true;
                break;
            }
            let batch = self.unfolded(batch)?;
            size += batch.lines.len();
            read.push(LoggedBatch::read(LogRow { row, rows, batch })?);
        }
        Ok((read, has_more))
    }

    /// The size of the log in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.size.get().bytes as u64
    }

    /// True if the log is larger than [`LARGE_BYTES`]. A session with such a log is dropped from memory after its task has ended.
    pub(super) fn is_large(&self) -> bool {
        self.size.get().bytes > LARGE_BYTES
    }

    /// The stored batches with events after a generation, up to one page.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn page_after(&self, generation: Generation) -> Result<LogPage, StoreError> {
        let (page, mut has_more) = self.store.read_after(generation, PAGE_BYTES)?;
        let (mut batches, mut size) = (Vec::new(), 0);
        for batch in page {
            if size > PAGE_BYTES {
                has_more = true;
                break;
            }
            let batch = self.unfolded(batch)?;
            size += batch.lines.len();
            batches.push(batch);
        }
        Ok(LogPage { batches, has_more })
    }

    /// A stored batch with its references replaced by their contents.
    fn unfolded(&self, batch: Batch) -> Result<Batch, StoreError> {
        match unfold(&batch.lines, &|passage| self.passage(passage))? {
            Cow::Borrowed(_) => Ok(batch),
            Cow::Owned(lines) => Ok(Batch { lines, ..batch }),
        }
    }
}

/// A position in the stored log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The generation of the last batch that was read; 0 before any.
    generation: Generation,
    /// The number of batches of that generation that were read, and their bytes.
    batches: usize,
    bytes: usize,
}

/// Limits the rate of rows: one per interval, and a burst of [`BURST`] rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeakyBucket {
    /// The instant at which the bucket is empty again.
    empty_at: UnixMillis,
}

impl Default for LeakyBucket {
    fn default() -> Self {
        Self { empty_at: UnixMillis(0) }
    }
}

impl LeakyBucket {
    /// The time until the next row may be written, in milliseconds.
    fn wait_ms(self, interval_ms: u64, now: UnixMillis) -> u64 {
        let burst = i64::try_from(interval_ms.saturating_mul(BURST - 1)).unwrap_or(i64::MAX);
        UnixMillis(self.empty_at.0.saturating_sub(burst)).millis_since(now)
    }

    /// Counts a row. After rows that could not wait, such as those of steps, the next one waits for one interval at most.
    fn take(&mut self, interval_ms: u64, now: UnixMillis) {
        let full = now.after(interval_ms.saturating_mul(BURST));
        self.empty_at = self.empty_at.max(now).after(interval_ms).min(full);
    }
}

/// The number of rows of events that may be written without a pause.
const BURST: u64 = 4;

/// The share of a task's size limit that is reserved for the run of the task, as a divisor: an eighth. Posts to callbacks cannot
/// use that share.
const SHARE_OF_RUN: usize = 8;

/// The limit of JSON values of a task, as a multiple of the limit of one request body.
const VALUES_PER_TASK: usize = 10;

/// Above this size, in bytes, the encoded task is not cached, and an ended task is dropped from memory.
pub(super) const LARGE_BYTES: usize = 256 * 1024;

/// The largest spare capacity of the text of unsaved entries, in bytes.
const LINES_SLACK_BYTES: usize = 64 * 1024;

/// The size of a page of the log, in bytes.
const PAGE_BYTES: usize = 512 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::port::{Indexed, TaskFacts};
    use crate::task::{CallbackCall, CallbackName};
    use crate::twins::MemoryStore;
    use serde_json::json;

    fn facts() -> TaskFacts {
        TaskFacts { agent: "a".to_owned(), owner: "o".to_owned(), fingerprint: None }
    }

    fn loaded(journal: &Journal, id: &TaskId) -> Vec<LogEntry> {
        match journal.load(&|_| true, id) {
            Ok(Loaded::Task(_, log)) => log,
            Ok(Loaded::Nothing | Loaded::Withheld | Loaded::Deleted(..)) | Err(_) => {
                panic!("the task is stored")
            }
        }
    }

    fn limits() -> Limits {
        Settings::read(|_| None).unwrap().limits
    }

    #[test]
    fn four_rows_may_follow_each_other_and_then_one_per_interval() {
        let mut bucket = LeakyBucket::default();
        let mut at = UnixMillis(1_000_000);
        for _ in 0..4 {
            assert_eq!(bucket.wait_ms(200, at), 0);
            bucket.take(200, at);
        }
        for _ in 0..3 {
            assert_eq!(bucket.wait_ms(200, at), 200);
            at = at.after(200);
            assert_eq!(bucket.wait_ms(200, at), 0);
            bucket.take(200, at);
        }
        for _ in 0..10 {
            bucket.take(200, at);
            assert_eq!(bucket.wait_ms(200, at), 200, "rows that do not wait are no debt");
        }
        let later = at.after(100_000);
        bucket.take(200, later);
        assert_eq!(bucket.wait_ms(200, later), 0, "a pause makes room for another burst");
        let mut bucket = LeakyBucket::default();
        for _ in 0..10 {
            bucket.take(0, later);
            assert_eq!(bucket.wait_ms(0, later), 0, "without an interval nothing is postponed");
        }
    }

    #[test]
    fn only_the_first_row_holds_the_facts_and_what_is_stored_is_loaded_with_its_size() {
        let store = MemoryStore::default();
        let journal = Journal::new(Rc::new(store.clone()), &limits());
        let id = TaskId::new("t").unwrap();
        assert!(matches!(journal.load(&|_| true, &id), Ok(Loaded::Nothing)));
        let now = UnixMillis(0);
        assert_eq!((journal.unsaved_bytes(), journal.postpone_ms(now)), (0, 0));
        for generation in [1, 2] {
            journal.append(&LogEntry::Taken, now);
            assert!(journal.unsaved_bytes() > 0);
            let facts = facts();
            let opening = FirstRow { facts: &facts, indexed: Indexed::default() };
            let batch = journal.store(Generation(generation), Some(opening), now).unwrap();
            assert_eq!(
                (batch.generation, batch.lines.as_str()),
                (Generation(generation), "\"taken\"\n")
            );
            assert_eq!(journal.unsaved_bytes(), 0);
        }
        assert_eq!(store.stored().unwrap().log.len(), 2, "another opening would begin a new log");

        let reopened = Journal::new(Rc::new(store), &limits());
        assert!(matches!(reopened.load(&|_| false, &id), Ok(Loaded::Withheld)));
        let entries = loaded(&reopened, &id);
        assert_eq!(entries, [LogEntry::Taken, LogEntry::Taken]);
        assert_eq!(reopened.size.get(), journal.size.get());
        assert_eq!(reopened.size.get(), LogSize { bytes: 16, values: 2 });
        assert_eq!(reopened.page_after(Generation(1)).unwrap().batches.len(), 1);
    }

    #[test]
    fn a_log_takes_so_many_bytes_and_values_and_names_the_limit() {
        let limits = Limits { max_task_bytes: 20, max_json_values: 1, ..limits() };
        let journal = Journal::new(Rc::new(MemoryStore::default()), &limits);
        let more = |bytes, values| journal.check_addition(LogSize { bytes, values });
        assert_eq!(more(20, 10), Ok(()));
        assert_eq!(more(21, 0), Err("a task holds at most 20 bytes".to_owned()));
        let values = "a task holds at most 10 JSON values (MAX_JSON_VALUES)";
        assert_eq!(more(0, 11), Err(values.to_owned()));
        for (bytes, expected) in [(8, None), (16, None), (24, Some("20 bytes"))] {
            journal.append(&LogEntry::Taken, UnixMillis(0));
            assert_eq!(journal.size.get().bytes, bytes);
            assert_eq!(journal.fullness().as_deref(), expected);
        }
    }
    #[test]
    fn a_body_that_an_event_gives_on_is_a_place_in_storage_and_counts_once() {
        let store = MemoryStore::default();
        let journal = Journal::new(Rc::new(store.clone()), &limits());
        let (id, now, facts) = (TaskId::new("t").unwrap(), UnixMillis(0), facts());
        let body = Part::text("é\u{1a}".repeat(150_000));
        let name = CallbackName { name: "text".to_owned(), nth: 1 };
        let call = CallbackCall { name, number: 1, key: Some("\"body\"".to_owned()), body };
        let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}, call.body, call.body]});
        let event = json!({"taskId": "t", "contextId": "c", "artifact": artifact});
        let event = LogEntry::ArtifactUpdate(serde_json::from_value(event).unwrap());
        let entries = [LogEntry::Taken, LogEntry::Called(call), LogEntry::Taken, event.clone()];
        let mut lines = Vec::new();
        for (generation, entry) in (1..).zip(entries.iter().chain([&event, &event])) {
            journal.append(&LogEntry::Taken, now);
            journal.append(entry, now);
            let opening = FirstRow { facts: &facts, indexed: Indexed::default() };
            lines.push(journal.store(Generation(generation), Some(opening), now).unwrap().lines);
        }
        let stored = store.stored().unwrap().log;
        let sizes: Vec<usize> = stored.iter().map(|row| row.batch.lines.len()).collect();
        assert!(sizes[1] > 1_000_000 && sizes[3..].iter().all(|size| *size < 200), "{sizes:?}");
        assert_eq!(journal.size.get().bytes, sizes.iter().sum::<usize>());

        let reopened = Journal::new(Rc::new(store), &limits());
        let read = loaded(&reopened, &id);
        let wanted = entries.iter().chain([&event, &event]).flat_map(|e| [&LogEntry::Taken, e]);
        assert!(read.iter().eq(wanted));
        assert_eq!(reopened.size.get(), journal.size.get());
        assert_eq!(reopened.next_row.get(), journal.next_row.get());
        let LogEntry::ArtifactUpdate(given) = &event else { panic!("{event:?}") };
        let known = reopened.known_of(&given.artifact.parts);
        assert!(known.bytes > 2_000_000, "{known:?}");

        // A page is measured by unfolded batches: the stored batches, with references, would all fit into one page.
        let (mut after, mut pages, mut followed) = (0, Vec::new(), Vec::new());
        loop {
            let LogPage { batches, has_more } = reopened.page_after(Generation(after)).unwrap();
            after = batches.last().unwrap().generation.0;
            pages.push(batches.len());
            followed.extend(batches.into_iter().map(|batch| batch.lines));
            if !has_more {
                break;
            }
        }
        assert_eq!(pages, [2, 2, 1, 1]);
        assert!(followed == lines);
        let mut place = Place::default();
        let mut all = Vec::new();
        loop {
            let (page, next) = reopened.entries_from(&id, place).unwrap();
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= 4);
            all.extend(page);
            place = next;
        }
        assert!(all == read);
    }
}
