//! Rows of SQL results as typed values: objects of the platform with a member for each column.

use std::cell::RefCell;

use a2a::model::{Generation, TaskId};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{Error, Result};

#[wasm_bindgen]
extern "C" {
    /// A row.
    pub(in crate::edge) type Row;

    #[wasm_bindgen(method, structural, indexing_getter)]
    fn get(this: &Row, column: &JsValue) -> JsValue;
}

impl Row {
    /// The value in a column.
    ///
    /// # Errors
    ///
    /// If the column is missing or has another type.
    pub(in crate::edge) fn column<T: Column>(&self, name: &'static str) -> Result<T> {
        let value = T::read(&self.value(name));
        value.ok_or_else(|| Error::RustError(format!("a row cannot be read: its column {name}")))
    }

    fn value(&self, name: &'static str) -> JsValue {
        NAMES.with(|names| {
            let known = names
                .borrow()
                .iter()
                .find(|(known, _)| std::ptr::eq(*known, name))
                .map(|(_, name)| self.get(name));
            known.unwrap_or_else(|| {
                let text = JsValue::from_str(name);
                let value = self.get(&text);
                names.borrow_mut().push((name, text));
                value
            })
        })
    }
}

/// A type of the values in a column. Numbers are exact up to 2^53; NULL and a missing column are `None`.
pub(in crate::edge) trait Column: Sized {
    /// The value, if it has this type.
    fn read(value: &JsValue) -> Option<Self>;
}

impl Column for String {
    fn read(value: &JsValue) -> Option<Self> {
        value.as_string()
    }
}

impl Column for TaskId {
    fn read(value: &JsValue) -> Option<Self> {
        value.as_string().and_then(Self::new)
    }
}

impl Column for f64 {
    fn read(value: &JsValue) -> Option<Self> {
        value.as_f64()
    }
}

impl Column for i64 {
    fn read(value: &JsValue) -> Option<Self> {
        let number = value.as_f64()?;
        // A larger float saturates, and is not equal to the number any more.
        (number as Self as f64 == number).then_some(number as Self)
    }
}

impl Column for Generation {
    fn read(value: &JsValue) -> Option<Self> {
        u64::read(value).map(Self)
    }
}

impl<T: Column> Column for Option<T> {
    fn read(value: &JsValue) -> Option<Self> {
        if value.is_null() || value.is_undefined() { Some(None) } else { T::read(value).map(Some) }
    }
}

macro_rules! unsigned {
    ($($number:ty),+) => {$(
        impl Column for $number {
            fn read(value: &JsValue) -> Option<Self> {
                i64::read(value).and_then(|number| Self::try_from(number).ok())
            }
        }
    )+};
}

unsigned!(u8, u32, u64, usize);

/// A type whose fields are the columns of a row.
pub(in crate::edge) trait FromRow: Sized {
    /// Reads a row.
    ///
    /// # Errors
    ///
    /// If a column is missing or has another type.
    fn from_row(row: &Row) -> Result<Self>;
}

/// Declares structs that are read from rows. The names of the fields are those of the columns.
macro_rules! rows {
    ($($(#[$about:meta])* $visible:vis struct $name:ident { $($column:ident: $kind:ty,)+ })+) => {$(
        $(#[$about])*
        $visible struct $name {
            $($column: $kind,)+
        }

        impl $crate::edge::service::rows::FromRow for $name {
            fn from_row(row: &$crate::edge::service::rows::Row) -> worker::Result<Self> {
                Ok(Self { $($column: row.column(stringify!($column))?,)+ })
            }
        }
    )+};
}
pub(in crate::edge) use rows;

/// Reads one row.
///
/// # Errors
///
/// If a column is missing or has another type.
pub(in crate::edge) fn read_row<T: FromRow>(row: JsValue) -> Result<T> {
    T::from_row(row.unchecked_ref())
}

thread_local! {
    /// The names of columns as texts of the platform, which are made once.
    static NAMES: RefCell<Vec<(&'static str, JsValue)>> = const { RefCell::new(Vec::new()) };
}
