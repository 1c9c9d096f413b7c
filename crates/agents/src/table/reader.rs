//! Reads a table key by key. Problems collect, each with its key, so that all of them are reported at once; it is also
//! less code in WebAssembly than a derived reader. The tables of `remotes.toml` and `[executor.model]` are read by it, in the build and in the
//! Worker.

use serde_json::{Map, Value};

use super::no_such_key;
#[cfg(any(test, feature = "build"))]
use crate::NotSet;
use crate::{Expandable, Problem, Values};
use a2a::model::Secret;

/// A table that is read.
pub(crate) struct Reader<'a> {
    table: &'a Map<String, Value>,
    texts: Texts<'a>,
    /// What is put before its keys, as `oauth2.`.
    prefix: &'static str,
    problems: Vec<Problem>,
}

/// How `${NAME}` in the texts of a table is read.
#[derive(Clone, Copy)]
pub(crate) enum Texts<'a> {
    /// As any other text: whoever uses the text fills it in.
    Literal,
    /// It is filled in with these values.
    Filled(&'a dyn Values),
    /// A text that holds it is skipped: the build checks the others.
    #[cfg(any(test, feature = "build"))]
    Unfilled,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(table: &'a Map<String, Value>, texts: Texts<'a>) -> Self {
        Self { table, texts, prefix: "", problems: Vec::new() }
    }

    /// The problems, each with its key below the table.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    pub(crate) fn report(&mut self, key: &str, fix: impl Into<String>) {
        self.problems.push(Problem::at(key, fix).under(self.prefix));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// All other keys than these are problems.
    pub(crate) fn only(&mut self, known: &[&str]) {
        for key in self.table.keys() {
            if !known.contains(&key.as_str()) {
                self.report(key, no_such_key(key, known));
            }
        }
    }

    /// The names of all keys.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.table.keys().map(String::as_str).collect()
    }

    /// A text. `None` if it is absent, wrong or skipped.
    pub(crate) fn secret(&mut self, key: &str) -> Option<Secret> {
        match self.table.get(key)? {
            Value::String(text) => self.filled(key, text),
            _ => {
                self.report(key, "must be a text");
                None
            }
        }
    }

    /// As [`secret`](Self::secret), for a text that may be shown.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        self.secret(key).map(|text| text.reveal().to_owned())
    }

    /// As [`secret`](Self::secret), for one that is needed and may not be empty.
    pub(crate) fn needed(&mut self, key: &str) -> Option<Secret> {
        if !self.has(key) {
            self.report(key, "is missing");
        }
        let text = self.secret(key)?;
        if text.reveal().trim().is_empty() {
            self.report(key, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// As [`text`](Self::text), for one that is checked.
    pub(crate) fn checked(
        &mut self,
        key: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        let text = self.text(key)?;
        let checked = check(&text);
        checked.map_err(|fix| self.report(key, fix)).ok().map(|()| text)
    }

    /// A list of texts, none of them empty.
    pub(crate) fn texts(&mut self, key: &str) -> Vec<String> {
        let elements = match self.table.get(key) {
            None => return Vec::new(),
            Some(Value::Array(elements)) => elements,
            Some(_) => {
                self.report(key, "must be a list of texts");
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            let key = format!("{key}[{index}]");
            match element {
                Value::String(text) if text.trim().is_empty() => {
                    self.report(&key, "must not be empty");
                }
                Value::String(text) => {
                    texts.extend(self.filled(&key, text).map(|text| text.reveal().to_owned()));
                }
                _ => self.report(&key, "must be a text"),
            }
        }
        texts
    }

    /// One of these words.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.secret(key)?;
        let found = words.iter().find(|(word, _)| *word == text.reveal()).map(|(_, what)| *what);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.report(key, format!("must be one of {}", words.join(", ")));
        }
        found
    }

    /// Yes or no. Where texts are filled in, also one that is `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let flag = match (self.table.get(key)?, self.texts) {
            (Value::Bool(flag), _) => Some(*flag),
            (_, Texts::Literal) => None,
            (Value::String(text), _) => self.filled(key, text)?.reveal().parse().ok(),
            _ => None,
        };
        if flag.is_none() {
            self.report(key, "must be true or false");
        }
        flag
    }

    /// A whole number within these bounds. Where texts are filled in, also one in a text.
    pub(crate) fn number(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let number = match (self.table.get(key)?, self.texts) {
            (Value::Number(number), _) => number.as_u64(),
            (_, Texts::Literal) => None,
            (Value::String(text), _) => self.filled(key, text)?.reveal().trim().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.report(key, format!("must be a whole number from {least} to {most}"));
        }
        number
    }

    /// A number from zero on.
    pub(crate) fn amount(&mut self, key: &str) -> Option<f64> {
        let amount = self.table.get(key)?.as_f64().filter(|amount| *amount >= 0.0);
        if amount.is_none() {
            self.report(key, "must be a number from 0 on");
        }
        amount
    }

    /// The members of a table.
    pub(crate) fn members(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        match self.table.get(key)? {
            Value::Object(members) => Some(members),
            _ => {
                self.report(key, "must be a table");
                None
            }
        }
    }

    /// A table below this one, read by `read`. `prefix` is its key with a dot.
    pub(crate) fn below<T>(
        &mut self,
        key: &str,
        prefix: &'static str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let table = self.members(key)?;
        let outer = (self.table, self.prefix);
        (self.table, self.prefix) = (table, prefix);
        let read = read(self);
        (self.table, self.prefix) = outer;
        read
    }

    fn filled(&mut self, key: &str, text: &str) -> Option<Secret> {
        if matches!(self.texts, Texts::Literal) {
            return Some(Secret::new(text));
        }
        let expandable = match Expandable::parse(text) {
            Ok(expandable) => expandable,
            Err(fix) => {
                self.report(key, fix);
                return None;
            }
        };
        match self.texts {
            Texts::Literal => None,
            Texts::Filled(values) => match expandable.expand(values) {
                Ok(filled) => Some(filled),
                Err(missing) => {
                    // Only the text is printed: see `Remote::fill`.
                    let text = format!("`{}{key}`: {missing}", self.prefix);
                    self.problems.push(Problem::at("", text));
                    None
                }
            },
            #[cfg(any(test, feature = "build"))]
            Texts::Unfilled => expandable.expand(&Nothing).ok(),
        }
    }
}

/// No value is set.
#[cfg(any(test, feature = "build"))]
struct Nothing;

#[cfg(any(test, feature = "build"))]
impl Values for Nothing {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        Err(NotSet::value(name))
    }
}
