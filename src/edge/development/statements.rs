//! What the statements on the index cost, for tests: `GET /_dev/statements`, in development only.
//!
//! Kept in the memory of the instance, the newest; a restart forgets it.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::recent::Recent;
use crate::port::Observation;

/// Notes a statement and how many rows it touched; this list leaves out any other observation.
pub(in crate::edge) fn note(observation: &Observation<'_>) {
    if let Observation::StatementRun { sql, rows_read, rows_written } = observation {
        let entry = json!({"sql": sql, "rowsRead": rows_read, "rowsWritten": rows_written});
        LOG.with_borrow_mut(|log| log.push(entry));
    }
}

/// Everything noted, oldest first.
pub(in crate::edge) fn all() -> Value {
    LOG.with_borrow(|log| json!(log))
}

thread_local! {
    static LOG: RefCell<Recent> = const { RefCell::new(Recent::new()) };
}
