//! Tables of executors and of `remotes.toml`: reading them, and reporting their problems.
//!
//! A [`Table`] is in the checked form as it is written, and `Reader` reads it key by key, in the checker and in the Worker. This applies to
//! all built-in kinds of executors, remotes and MCP servers. The reader reports all problems at once, each with its key, fills in
//! secrets, and needs less code in WebAssembly than derived readers.
//!
//! The other parts of an agent file (`checker/definition.rs`) are types that are in the checked form, too: the checker reads them by
//! serde, the Worker by `Decode`, and both readers are derived from the same attributes. The JSON Schemas of all files follow from
//! the readers: `recording.rs` records the calls of a `Reader`, and types that serde reads derive `JsonSchema`.
//!
//! [`Table::read`] reads the settings of an executor that a Worker registers into a type of that Worker.

mod keys;
mod nearest;
mod reader;
#[cfg(any(test, feature = "checker"))]
mod record;
#[cfg(any(test, feature = "checker"))]
mod recording;
#[cfg(any(test, feature = "checker"))]
pub(crate) mod schema;
mod texts;

use std::fmt;

use crate::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use a2a::model::decode::Decode;

pub(crate) use keys::{Keys, forms, keys};
pub use nearest::no_such;
pub(crate) use nearest::{closest, no_such_key, with_meant_key};
pub(crate) use reader::{Form, Reader};
#[cfg(any(test, feature = "checker"))]
pub(crate) use record::Record;
pub(crate) use texts::Texts;

/// The table of an executor, as `[executor.script]`. Only the code of the executor interprets it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Decode)]
#[serde(transparent)]
pub struct Table(Value);

impl Table {
    /// Converts `content` into a table.
    ///
    /// # Errors
    ///
    /// If `content` does not serialize to a JSON object.
    pub fn of(content: &impl Serialize) -> Result<Self, Misfit> {
        match serde_json::to_value(content)? {
            object @ Value::Object(_) => Ok(Self(without_nulls(object))),
            _ => Err(Misfit("must be a table".to_owned())),
        }
    }

    /// The table as JSON.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// The members; `None` if the JSON of a deployment's agents contains another value than a table.
    pub(crate) fn members(&self) -> Option<&Map<String, Value>> {
        self.0.as_object()
    }

    /// Reads the table as the type of the executor's settings.
    ///
    /// ```
    /// use a2a_agents::{Misfit, Table};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// #[serde(deny_unknown_fields)]
    /// struct Hall {
    ///     rows: u32,
    /// }
    ///
    /// let table = Table::of(&serde_json::json!({"rows": 12}))?;
    /// assert_eq!(table.read::<Hall>()?.rows, 12);
    /// let table = Table::of(&serde_json::json!({"row": 12}))?;
    /// assert!(table.read::<Hall>().is_err());
    /// # Ok::<(), Misfit>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first value that does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Misfit> {
        Ok(T::deserialize(&self.0)?)
    }
}

impl From<Value> for Table {
    fn from(json: Value) -> Self {
        Self(json)
    }
}

/// The reason why an executor cannot be made from its table. The text contains the key and the rule for its value. It is for the
/// log, not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit(pub String);

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

impl From<serde_json::Error> for Misfit {
    fn from(error: serde_json::Error) -> Self {
        Self(with_meant_key(&error.to_string()))
    }
}

impl From<Problem> for Misfit {
    fn from(problem: Problem) -> Self {
        Self(problem.to_string())
    }
}

/// Removes keys whose value is null, because TOML has no null.
fn without_nulls(json: Value) -> Value {
    match json {
        Value::Object(members) => {
            let given = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json,
    }
}
