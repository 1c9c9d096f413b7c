//! Statements of SQL with their values.

/// A statement with its values, in the order of their parameter numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    /// An integer that a double represents exactly: up to 2^53.
    Number(i64),
}

impl Statement {
    pub(super) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    /// Adds SQL without a value.
    pub(super) fn add(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    /// The statement as a JSON array: its text and its values.
    pub(super) fn to_json(&self) -> String {
        let values = self.values.iter().map(|value| match value {
            Value::Text(text) => serde_json::Value::from(text.as_str()),
            Value::Number(number) => serde_json::Value::from(*number),
        });
        let all = std::iter::once(serde_json::Value::from(self.sql.as_str())).chain(values);
        serde_json::Value::Array(all.collect()).to_string()
    }

    /// Adds a value, and SQL with `{}` in its place.
    ///
    /// The `+` in front of the parameter has no effect on the value. SQLite takes a bare parameter in `LIMIT`, or beside
    /// `ORDER BY` as the value of a column, for one that the plan may depend on. It then prepares the statement anew
    /// whenever values are bound, which takes longer than reading a page.
    pub(super) fn push(&mut self, sql: &str, value: Value) {
        self.values.push(value);
        self.sql.push_str(&sql.replace("{}", &format!("+?{}", self.values.len())));
    }
}

/// A number as a value; a number above `i64::MAX` becomes `i64::MAX`.
pub(super) fn number(number: u64) -> Value {
    Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
