//! Reads the table of a kind key by key; what is wrong collects, each with its key. It is less code in WebAssembly than a derived
//! reader, and tells all problems at once.

use serde_json::{Map, Value};

use super::closest;
use crate::Problem;

/// A table that is read.
pub(super) struct Reader<'a> {
    table: &'a Map<String, Value>,
    /// What stands before its keys, as `limits.`.
    prefix: &'static str,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(table: &'a Map<String, Value>) -> Self {
        Self { table, prefix: "", problems: Vec::new() }
    }

    /// What is wrong, each with its key below the table.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    pub(super) fn report(&mut self, key: &str, fix: impl Into<String>) {
        self.problems.push(Problem::at(key, fix).under(self.prefix));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// All other keys than these are wrong.
    pub(super) fn only(&mut self, known: &[&str]) {
        for key in self.table.keys() {
            if !known.contains(&key.as_str()) {
                let meant = closest(key, known.iter().copied());
                let meant = meant.map(|meant| format!(", did you mean `{meant}`?"));
                let (meant, known) = (meant.unwrap_or_default(), known.join(", "));
                self.report(key, format!("is no key of this table{meant}; there are: {known}"));
            }
        }
    }

    /// A text.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.table.get(key)? {
            Value::String(text) => Some(text.clone()),
            _ => {
                self.report(key, "must be a text");
                None
            }
        }
    }

    /// A list of texts, none of them empty or twice.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        let elements = match self.table.get(key) {
            None => return Vec::new(),
            Some(Value::Array(elements)) => elements,
            Some(_) => {
                self.report(key, "must be a list of texts");
                return Vec::new();
            }
        };
        let mut texts: Vec<String> = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            match element {
                Value::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
                _ => self.report(&format!("{key}[{index}]"), "must be a text that is not empty"),
            }
        }
        texts
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        match self.table.get(key)? {
            Value::Bool(flag) => Some(*flag),
            _ => {
                self.report(key, "must be true or false");
                None
            }
        }
    }

    /// A whole number within these bounds.
    pub(super) fn number(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let number = self.table.get(key)?.as_u64();
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.report(key, format!("must be a whole number from {least} to {most}"));
        }
        number
    }

    /// A number from zero on.
    pub(super) fn amount(&mut self, key: &str) -> Option<f64> {
        let amount = self.table.get(key)?.as_f64().filter(|amount| *amount >= 0.0);
        if amount.is_none() {
            self.report(key, "must be a number from 0 on");
        }
        amount
    }

    /// The members of a table.
    pub(super) fn members(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        match self.table.get(key)? {
            Value::Object(members) => Some(members),
            _ => {
                self.report(key, "must be a table");
                None
            }
        }
    }

    /// A table below this one, read by `read`. `prefix` is its key with a dot.
    pub(super) fn below<T>(
        &mut self,
        key: &str,
        prefix: &'static str,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> Option<T> {
        let table = self.members(key)?;
        let mut reader = Reader { table, prefix, problems: Vec::new() };
        let read = read(&mut reader);
        self.problems.append(&mut reader.problems);
        Some(read)
    }
}
