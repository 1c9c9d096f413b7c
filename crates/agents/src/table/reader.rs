//! Reads a table key by key. Problems are collected, each with its key, so that all of them are reported at once. This needs less
//! code in WebAssembly than a derived reader. The build and the Worker read `[executor]`, its tables, and the tables of
//! `remotes.toml` in this way.

use serde_json::{Map, Value};

use super::{Table, no_such_key};
#[cfg(any(test, feature = "build"))]
use crate::NotSet;
use crate::{Expandable, Problem, Values};
use a2a::model::Secret;

/// A table and the problems that were found in it.
pub(crate) struct Reader<'a> {
    table: &'a Map<String, Value>,
    texts: Texts<'a>,
    /// The prefix of keys in problems, as `oauth2.` or `rules[0].`.
    prefix: String,
    problems: Vec<Problem>,
}

/// The treatment of `${NAME}` in the texts of a table.
#[derive(Clone, Copy)]
pub(crate) enum Texts<'a> {
    /// Not filled in: the user of the text does that.
    Literal,
    /// Filled in with these values.
    Filled(&'a dyn Values),
    /// A text with `${NAME}` is skipped: the build checks only the other texts.
    #[cfg(any(test, feature = "build"))]
    Unfilled,
}

impl<'a> Reader<'a> {
    /// Reads a table with `read`. Returns the result and the problems, each with its key relative to the table.
    pub(crate) fn read<T>(
        table: &'a Map<String, Value>,
        texts: Texts<'a>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Problem>) {
        let mut keys = Self { table, texts, prefix: String::new(), problems: Vec::new() };
        let content = read(&mut keys);
        (content, keys.problems)
    }

    /// Like [`read`](Self::read), for an embedded table.
    ///
    /// # Errors
    ///
    /// The first problem of the table.
    pub(crate) fn read_embedded<T>(
        table: &'a Table,
        texts: Texts<'a>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, Problem> {
        let Some(members) = table.members() else {
            return Err(Problem::at("", "must be a table"));
        };
        let (content, problems) = Self::read(members, texts, read);
        problems.into_iter().next().map_or(Ok(content), Err)
    }

    pub(crate) fn report(&mut self, key: &str, fix: impl Into<String>) {
        self.problems.push(Problem::at(key, fix).under(&self.prefix));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reports all keys except these.
    pub(crate) fn only(&mut self, known: &[&str]) {
        self.only_of("this table", known);
    }

    /// Like [`only`](Self::only), with a name of the table for the text of the problem.
    pub(crate) fn only_of(&mut self, table: &str, known: &[&str]) {
        for key in self.table.keys() {
            if !known.contains(&key.as_str()) {
                self.report(key, no_such_key(table, key, known));
            }
        }
    }

    /// Reports a missing key. `why` is appended to "is missing".
    pub(crate) fn need(&mut self, key: &str, why: &str) {
        if !self.has(key) {
            self.report(key, format!("is missing{why}"));
        }
    }

    /// The value as it is written.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.get(key)
    }

    /// The names of all keys.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.table.keys().map(String::as_str).collect()
    }

    /// A text; `None` if it is absent, invalid or skipped.
    pub(crate) fn secret(&mut self, key: &str) -> Option<Secret> {
        match self.table.get(key)? {
            Value::String(text) => self.filled(key, text),
            _ => {
                self.report(key, "must be a text");
                None
            }
        }
    }

    /// Like [`secret`](Self::secret), for a text that may be shown.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        self.secret(key).map(|text| text.reveal().to_owned())
    }

    /// Like [`secret`](Self::secret), for a text that is required and must not be empty.
    pub(crate) fn needed(&mut self, key: &str) -> Option<Secret> {
        self.need(key, "");
        let text = self.secret(key)?;
        if text.reveal().trim().is_empty() {
            self.report(key, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// Like [`text`](Self::text), for a text that is parsed.
    pub(crate) fn parsed<T>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.text(key)?;
        parse(&text).map_err(|fix| self.report(key, fix)).ok()
    }

    /// Like [`text`](Self::text), for a text that is checked.
    pub(crate) fn checked(
        &mut self,
        key: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        self.parsed(key, |text| check(text).map(|()| text.to_owned()))
    }

    /// A list of texts; empty texts are reported.
    pub(crate) fn texts(&mut self, key: &str) -> Vec<String> {
        self.all_texts(key, false)
    }

    /// A list of texts, which may be empty texts.
    pub(crate) fn pieces(&mut self, key: &str) -> Vec<String> {
        self.all_texts(key, true)
    }

    fn all_texts(&mut self, key: &str, may_be_empty: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for (index, element) in self.list(key, "texts").iter().enumerate() {
            let key = format!("{key}[{index}]");
            match element {
                Value::String(text) if text.trim().is_empty() && !may_be_empty => {
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

    fn list(&mut self, key: &str, of: &str) -> &'a [Value] {
        match self.table.get(key) {
            None => &[],
            Some(Value::Array(elements)) => elements,
            Some(_) => {
                self.report(key, format!("must be a list of {of}"));
                &[]
            }
        }
    }

    /// A table of texts.
    pub(crate) fn pairs(&mut self, key: &str) -> Vec<(String, String)> {
        let read = |keys: &mut Self| {
            let names = keys.names().into_iter();
            Some(names.filter_map(|name| Some((name.to_owned(), keys.text(name)?))).collect())
        };
        self.below(key, read).unwrap_or_default()
    }

    /// The value of one of these words.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.secret(key)?;
        let found = words.iter().find(|(word, _)| *word == text.reveal()).map(|(_, what)| *what);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.report(key, format!("must be one of {}", words.join(", ")));
        }
        found
    }

    /// True or false. If placeholders are filled in, also the text `true` or `false`.
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

    /// A whole number within these bounds. If placeholders are filled in, also a text with such a number.
    pub(crate) fn number(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let number = match (self.table.get(key)?, self.texts) {
            (Value::Number(number), _) => number.as_u64(),
            (_, Texts::Literal) => None,
            (Value::String(text), _) => self.filled(key, text)?.reveal().trim().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let got = match (self.table.get(key), self.texts) {
                // A value that was filled in may be a secret, so it is not shown.
                (Some(Value::String(_)), Texts::Filled(_)) | (None, _) => String::new(),
                (Some(given), _) => format!(", got {given}"),
            };
            self.report(key, format!("must be a whole number from {least} to {most}{got}"));
        }
        number
    }

    /// A number that is 0 or more.
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

    /// A nested table, read by `read`.
    pub(crate) fn below<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let table = self.members(key)?;
        self.within(table, key, read)
    }

    /// A list of tables, each read by `read`. `example` is shown in problems.
    pub(crate) fn tables<T>(
        &mut self,
        key: &str,
        example: &str,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Vec<T> {
        let mut tables = Vec::new();
        for (index, element) in self.list(key, "tables").iter().enumerate() {
            let key = format!("{key}[{index}]");
            match element {
                Value::Object(table) => tables.extend(self.within(table, &key, &read)),
                _ => self.report(&key, format!("must be a table such as {example}")),
            }
        }
        tables
    }

    fn within<T>(
        &mut self,
        table: &'a Map<String, Value>,
        key: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let outer = std::mem::replace(&mut self.table, table);
        let length = self.prefix.len();
        self.prefix.push_str(key);
        self.prefix.push('.');
        let content = read(self);
        self.table = outer;
        self.prefix.truncate(length);
        content
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
                    // The key is part of the text, without the file: `Remote::fill` prints only this text.
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

/// Values without any entry.
#[cfg(any(test, feature = "build"))]
struct Nothing;

#[cfg(any(test, feature = "build"))]
impl Values for Nothing {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        Err(NotSet::value(name))
    }
}
