//! Reads a table key by key. Problems are collected, each with its key, so that all of them are reported at once. This needs less
//! code in WebAssembly than a derived reader. The checker and the Worker read `[executor]`, its tables, and the tables of
//! `remotes.toml` in this way.

#[cfg(any(test, feature = "checker"))]
use serde_json::json;
use serde_json::{Map, Value};

use super::{Keys, Table, Texts, no_such, no_such_key};
#[cfg(any(test, feature = "checker"))]
use super::{
    Record,
    schema::{or_filled, whole_number},
};
use crate::service::ServerKeys;
use crate::{Expandable, Problem};
#[cfg(any(test, feature = "checker"))]
use crate::{NotSet, Values};
use a2a::model::Secret;

/// A table and the problems that were found in it.
pub(crate) struct Reader<'a> {
    table: &'a Map<String, Value>,
    texts: Texts<'a>,
    /// The prefix of keys in problems, as `oauth2.` or `rules[0].`.
    prefix: String,
    problems: Vec<Problem>,
    /// The record of the keys that are read. With a record, the table is empty.
    #[cfg(any(test, feature = "checker"))]
    record: Option<Record>,
}

/// One of several forms of a table.
pub(crate) struct Form<T> {
    /// The name of the form.
    pub(crate) name: &'static str,
    /// The description of the form.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) about: &'static str,
    /// The keys of the form, without the key of its name.
    pub(crate) keys: &'static Keys,
    /// Reads a table of the form.
    pub(crate) read: fn(&mut Reader<'_>) -> Option<T>,
}

impl<'a> Reader<'a> {
    /// Reads a table with `read`. Returns the result and the problems, each with its key relative to the table.
    pub(crate) fn read<T>(
        table: &'a Map<String, Value>,
        texts: Texts<'a>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Problem>) {
        let mut keys = Self::of(table, texts);
        let content = read(&mut keys);
        (content, keys.problems)
    }

    fn of(table: &'a Map<String, Value>, texts: Texts<'a>) -> Self {
        Self {
            table,
            texts,
            prefix: String::new(),
            problems: Vec::new(),
            #[cfg(any(test, feature = "checker"))]
            record: None,
        }
    }

    /// Like [`read`](Self::read), for a table in the checked form.
    ///
    /// # Errors
    ///
    /// The first problem of the table.
    pub(crate) fn read_checked<T>(
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

    /// A reader that records what is read. `empty` is an empty table.
    #[cfg(any(test, feature = "checker"))]
    pub(super) fn recording(
        empty: &'a Map<String, Value>,
        texts: Texts<'a>,
        record: Record,
    ) -> Self {
        Self { record: Some(record), ..Self::of(empty, texts) }
    }

    #[cfg(any(test, feature = "checker"))]
    pub(super) fn into_record(self) -> Record {
        self.record.unwrap_or_default()
    }

    #[cfg(any(test, feature = "checker"))]
    pub(super) fn record(&mut self) -> Option<&mut Record> {
        self.record.as_mut()
    }

    /// Records the schema of a value. Methods below do so; a reader with a rule of its own calls this method itself.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn note(&mut self, key: &str, schema: Value) {
        if let Some(record) = &mut self.record {
            record.read(key, schema);
        }
    }

    pub(crate) fn report(&mut self, key: &str, fix: impl Into<String>) {
        self.problems.push(Problem::at(key, fix).under(&self.prefix));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reports all keys except these.
    pub(crate) fn only(&mut self, known: &'static Keys) {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.known(known);
        }
        self.only_of("this table", known.names);
    }

    /// Reports all keys except these. `table` names the table in the text of the problem.
    fn only_of(&mut self, table: &str, known: &[&str]) {
        for key in self.table.keys() {
            if !known.contains(&key.as_str()) {
                self.report(key, no_such_key(table, key, known));
            }
        }
    }

    /// Reports a missing key. `why` is appended to "is missing".
    pub(crate) fn need(&mut self, key: &str, why: &str) {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.need(key);
        }
        if !self.has(key) {
            self.report(key, format!("is missing{why}"));
        }
    }

    /// Returns true if the table has exactly one of these keys; otherwise reports a problem, with `hint` at the end of its text.
    pub(crate) fn exactly_one(&mut self, of: &[&str], hint: &str) -> bool {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.one_of(of);
        }
        let is_one = of.iter().filter(|key| self.has(key)).count() == 1;
        if !is_one && let Some((last, others)) = of.split_last() {
            let others = others.join(", ");
            self.report("", format!("needs exactly one of {others} and {last}{hint}"));
        }
        is_one
    }

    /// Reads a table in one of several forms. The text of `key` is the name of the form; `what` names a form in problems.
    pub(crate) fn form<T>(&mut self, key: &str, what: &str, forms: &[Form<T>]) -> Option<T> {
        #[cfg(any(test, feature = "checker"))]
        if self.record.is_some() {
            self.record_forms(key, forms);
            return None;
        }
        self.need(key, &format!(": the name of the {what}"));
        let name = self.text(key)?;
        let Some(form) = forms.iter().find(|form| form.name == name) else {
            self.report(key, no_such(what, &name, forms.iter().map(|form| form.name)));
            return None;
        };
        let known: Vec<&str> = [key].iter().chain(form.keys.names).copied().collect();
        self.only_of(&format!("the {what} `{name}`"), &known);
        (form.read)(self)
    }

    /// Reports keys that name no server, or more than one: `url`, or `service` with `path`. After another problem of the table
    /// nothing is reported: an unknown key may be one of these, misspelled.
    pub(crate) fn one_server(&mut self) {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.one_of(&["url", "service"]);
        }
        let [url, service, path] = ["url", "service", "path"].map(|key| self.has(key));
        if let Some((key, fix)) = (ServerKeys { url, service, path }).problem()
            && self.problems.is_empty()
        {
            self.report(key, fix);
        }
    }

    /// The value as it is written.
    pub(crate) fn value(&mut self, key: &str) -> Option<&'a Value> {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.read_any(key);
        }
        self.table.get(key)
    }

    /// The names of all keys, for a table of texts with any names.
    pub(crate) fn names(&mut self) -> Vec<&'a str> {
        #[cfg(any(test, feature = "checker"))]
        if let Some(record) = &mut self.record {
            record.any_names();
        }
        self.table.keys().map(String::as_str).collect()
    }

    /// A text; `None` if it is absent, invalid or skipped.
    pub(crate) fn secret(&mut self, key: &str) -> Option<Secret> {
        #[cfg(any(test, feature = "checker"))]
        self.note(key, json!({"type": "string"}));
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
        self.not_empty(key)
    }

    /// Like [`secret`](Self::secret), for a text that must not be empty.
    pub(crate) fn not_empty(&mut self, key: &str) -> Option<Secret> {
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

    /// Like [`checked`](Self::checked), for a text in which no placeholder is filled in.
    pub(crate) fn literal(
        &mut self,
        key: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        let texts = std::mem::replace(&mut self.texts, Texts::Literal);
        let text = self.checked(key, check);
        self.texts = texts;
        text
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
        #[cfg(any(test, feature = "checker"))]
        self.note(key, json!({"type": "array", "items": {"type": "string"}}));
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
        let text = self.secret(key);
        #[cfg(any(test, feature = "checker"))]
        {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.note(key, or_filled(self.texts, "", json!({"type": "string", "enum": words})));
        }
        let text = text?;
        let found = words.iter().find(|(word, _)| *word == text.reveal()).map(|(_, what)| *what);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.report(key, format!("must be one of {}", words.join(", ")));
        }
        found
    }

    /// True or false. If placeholders are filled in, also the text `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        #[cfg(any(test, feature = "checker"))]
        self.note(key, or_filled(self.texts, "^(true|false)$|", json!({"type": "boolean"})));
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
        #[cfg(any(test, feature = "checker"))]
        {
            let number = whole_number(least, most);
            self.note(key, or_filled(self.texts, r"^\s*\+?[0-9]+\s*$|", number));
        }
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
        #[cfg(any(test, feature = "checker"))]
        self.note(key, json!({"type": "number", "minimum": 0}));
        let amount = self.table.get(key)?.as_f64().filter(|amount| *amount >= 0.0);
        if amount.is_none() {
            self.report(key, "must be a number from 0 on");
        }
        amount
    }

    /// The members of a table.
    pub(crate) fn members(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        #[cfg(any(test, feature = "checker"))]
        self.note(key, json!({"type": "object"}));
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
        #[cfg(any(test, feature = "checker"))]
        if self.record.is_some() {
            self.record_below(key, read);
            return None;
        }
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
        #[cfg(any(test, feature = "checker"))]
        if self.record.is_some() {
            self.record_tables(key, read);
            return tables;
        }
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
            #[cfg(any(test, feature = "checker"))]
            Texts::Unfilled => expandable.expand(&Nothing).ok(),
        }
    }
}

/// Values without any entry.
#[cfg(any(test, feature = "checker"))]
struct Nothing;

#[cfg(any(test, feature = "checker"))]
impl Values for Nothing {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        Err(NotSet::value(name))
    }
}
