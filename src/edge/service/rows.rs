//! Rows of SQL results, column by column.
//!
//! `worker` reads rows through serde, which takes 1 to 3 KB of code for each kind of row.

use js_sys::Reflect;
use worker::wasm_bindgen::JsValue;
use worker::{Error, Result};

/// One row: an object of the platform with a member for each column.
pub(in crate::edge) struct Row(pub(in crate::edge) JsValue);

impl Row {
    /// The text in a column; `None` if it holds something else, or NULL.
    pub(in crate::edge) fn text_or_null(&self, column: &str) -> Option<String> {
        self.column(column).as_string()
    }

    /// The text in a column.
    ///
    /// # Errors
    ///
    /// If it holds something else.
    pub(in crate::edge) fn text(&self, column: &str) -> Result<String> {
        self.text_or_null(column).ok_or_else(|| unfit(column, "text"))
    }

    /// The number in a column, exact up to 2^53.
    ///
    /// # Errors
    ///
    /// If it holds something else.
    pub(in crate::edge) fn number(&self, column: &str) -> Result<f64> {
        self.column(column).as_f64().ok_or_else(|| unfit(column, "number"))
    }

    fn column(&self, name: &str) -> JsValue {
        // Reading a member fails only where there is no object at all.
        Reflect::get(&self.0, &JsValue::from_str(name)).unwrap_or_default()
    }
}

fn unfit(column: &str, wanted: &str) -> Error {
    Error::RustError(format!("the column {column} holds no {wanted}"))
}
