//! What the statements on the index cost, for tests: `GET /_dev/statements`, in development only.
//!
//! Kept in the memory of the instance, the newest; a restart forgets it.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::recent::Recent;
use crate::edge::service::rows::Row;

/// Notes a statement (with placeholders, without values) and how many rows it touched.
pub(in crate::edge) fn note(sql: &str, meta: &Row) {
    let rows = |name: &str| meta.number(name).ok().map(|rows| rows as u64);
    let (rows_read, rows_written) = (rows("rows_read"), rows("rows_written"));
    let entry = json!({"sql": sql, "rowsRead": rows_read, "rowsWritten": rows_written});
    LOG.with_borrow_mut(|log| log.push(entry));
}

/// Everything noted, oldest first.
pub(in crate::edge) fn all() -> Value {
    LOG.with_borrow(|log| json!(log))
}

thread_local! {
    static LOG: RefCell<Recent> = const { RefCell::new(Recent::new()) };
}
