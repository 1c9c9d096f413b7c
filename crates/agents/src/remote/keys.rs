//! The keys of a table, read one by one; what is wrong with them collects.

use std::fmt;

use serde_json::{Map, Value};

use super::RemoteMisfit;
use crate::{Expandable, NotSet, Problem, Values};
use a2a::model::Secret;

/// A table that is read.
pub(super) struct Keys<'a> {
    table: &'a Map<String, Value>,
    written: Written<'a>,
    /// What stands before its keys, as `oauth2.`.
    prefix: &'static str,
    /// What the table describes, as `a remote`.
    what: &'static str,
    faults: Vec<Fault>,
}

/// What texts with `${NAME}` are.
#[derive(Clone, Copy)]
pub(super) enum Written<'a> {
    /// Filled in with these.
    Filled(&'a dyn Values),
    /// Not known yet: the build looks at everything else.
    #[cfg(any(test, feature = "build"))]
    Plain,
}

/// Why a key cannot be used.
enum Fault {
    /// Its value breaks a rule.
    Invalid(Problem),
    /// A secret or a variable in its value is not set. Only what is filled in can lack one.
    NotSet(String, NotSet),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problem) => problem.fmt(out),
            Self::NotSet(key, missing) => write!(out, "`{key}`: {missing}"),
        }
    }
}

impl<'a> Keys<'a> {
    pub(super) fn new(
        table: &'a Map<String, Value>,
        written: Written<'a>,
        what: &'static str,
    ) -> Self {
        Self { table, written, prefix: "", what, faults: Vec::new() }
    }

    /// # Errors
    ///
    /// The first thing that is wrong with the table of this name.
    pub(super) fn checked_by(self, name: &str) -> Result<(), RemoteMisfit> {
        let Some(fault) = self.faults.first() else { return Ok(()) };
        Err(RemoteMisfit(format!("{name}: {fault}")))
    }

    /// What is wrong with the table as it is written, each with its key below the table.
    #[cfg(any(test, feature = "build"))]
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let problems = self.faults.into_iter().filter_map(|fault| match fault {
            Fault::Invalid(problem) => Some(problem),
            Fault::NotSet(..) => None,
        });
        problems.collect()
    }

    pub(super) fn report(&mut self, key: &str, fix: impl Into<String>) {
        self.faults.push(Fault::Invalid(Problem::at(key, fix).under(self.prefix)));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// All other keys than these are wrong.
    pub(super) fn only(&mut self, known: &[&str]) {
        for key in self.table.keys() {
            if !known.contains(&key.as_str()) {
                let known = known.join(", ");
                self.report(key, format!("is no key of {}; there are: {known}", self.what));
            }
        }
    }

    /// A text, filled in. `None` if it is not there, wrong, or not known yet.
    pub(super) fn secret(&mut self, key: &str) -> Option<Secret> {
        match self.table.get(key)? {
            Value::String(text) => self.filled(key, text),
            _ => {
                self.report(key, "must be a text");
                None
            }
        }
    }

    /// As [`secret`](Self::secret), for one that is needed and may not be empty.
    pub(super) fn needed(&mut self, key: &str) -> Option<Secret> {
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

    /// As [`secret`](Self::secret), for one that is checked.
    pub(super) fn checked(
        &mut self,
        key: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        let text = self.secret(key)?;
        match check(text.reveal()) {
            Ok(()) => Some(text.reveal().to_owned()),
            Err(fix) => {
                self.report(key, fix);
                None
            }
        }
    }

    /// A whole number within these bounds.
    pub(super) fn number(&mut self, key: &str, default: u64, least: u64, most: u64) -> u64 {
        let number = match self.table.get(key) {
            None => return default,
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => match self.filled(key, text) {
                Some(text) => text.reveal().trim().parse().ok(),
                None => return default,
            },
            Some(_) => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => number,
            _ => {
                self.report(key, format!("must be a whole number from {least} to {most}"));
                default
            }
        }
    }

    /// Yes or no; unless given, no.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        match self.table.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => self.choice(key, &[("true", true), ("false", false)]).unwrap_or(false),
        }
    }

    /// One of these words.
    pub(super) fn choice<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.secret(key)?;
        let found = words.iter().find(|(word, _)| *word == text.reveal()).map(|(_, what)| *what);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.report(key, format!("must be one of {}", words.join(", ")));
        }
        found
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        let texts = match self.table.get(key) {
            None => return Vec::new(),
            Some(Value::Array(texts)) => texts,
            Some(_) => {
                self.report(key, "must be a list of texts");
                return Vec::new();
            }
        };
        let mut read = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let key = format!("{key}[{index}]");
            match text {
                Value::String(text) if text.trim().is_empty() => {
                    self.report(&key, "must not be empty");
                }
                Value::String(text) => {
                    read.extend(self.filled(&key, text).map(|text| text.reveal().to_owned()));
                }
                _ => self.report(&key, "must be a text"),
            }
        }
        read
    }

    /// A table below this one, read by `read`.
    pub(super) fn table<T>(
        &mut self,
        key: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut Keys<'a>) -> Option<T>,
    ) -> Option<T> {
        let Value::Object(members) = self.table.get(key)? else {
            self.report(key, "must be a table");
            return None;
        };
        let (written, what) = (self.written, self.what);
        let mut keys = Keys { table: members, written, prefix, what, faults: Vec::new() };
        let read = read(&mut keys);
        self.faults.append(&mut keys.faults);
        read
    }

    /// The names in a table.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.table.keys().map(String::as_str).collect()
    }

    fn filled(&mut self, key: &str, text: &str) -> Option<Secret> {
        let expandable = match Expandable::parse(text) {
            Ok(expandable) => expandable,
            Err(fix) => {
                self.report(key, fix);
                return None;
            }
        };
        match self.written {
            Written::Filled(values) => match expandable.expand(values) {
                Ok(filled) => Some(filled),
                Err(missing) => {
                    self.faults.push(Fault::NotSet(format!("{}{key}", self.prefix), missing));
                    None
                }
            },
            #[cfg(any(test, feature = "build"))]
            Written::Plain if expandable.values().next().is_some() => None,
            #[cfg(any(test, feature = "build"))]
            Written::Plain => expandable.expand(&Nothing).ok(),
        }
    }
}

/// Nothing is filled in.
#[cfg(any(test, feature = "build"))]
struct Nothing;

#[cfg(any(test, feature = "build"))]
impl Values for Nothing {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        Err(NotSet::value(name))
    }
}
