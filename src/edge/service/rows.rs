//! Rows of SQL results as typed values: objects of the platform with a member for each column.

use serde::de::DeserializeOwned;
use worker::wasm_bindgen::JsValue;
use worker::{Error, Result};

/// Reads one row. Numbers are exact up to 2^53; NULL is `None`.
///
/// # Errors
///
/// If a column is missing or has another type.
pub(in crate::edge) fn read_row<T: DeserializeOwned>(row: JsValue) -> Result<T> {
    let read = serde_wasm_bindgen::from_value(row);
    read.map_err(|error| Error::RustError(format!("a row cannot be read: {error}")))
}
