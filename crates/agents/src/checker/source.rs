//! Reads TOML into types, and finds the lines of its keys.

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, Error};

use crate::Problem;
use crate::table::with_meant_key;

/// Parses the text of a file.
///
/// # Errors
///
/// The first value that does not fit the type, with its line and its key.
pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Problem> {
    toml::from_str(text).map_err(|error| problem(file, text, &error))
}

/// Adds the missing line to a problem: the line of its key, or of the innermost table that contains the key. `files` are the
/// files that were read, with their texts.
pub(super) fn located(problem: Problem, files: &[(String, String)]) -> Problem {
    let text = files.iter().find(|(file, _)| problem.file.as_ref() == Some(file));
    let line = problem.line.or_else(|| line_of(&text?.1, &problem.key));
    Problem { line, ..problem }
}

/// The line of a key, as `executor.tools.names[0]`, or of the innermost table that contains it.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut best: Option<(usize, usize)> = None;
    visit_keys(table.get_ref(), "", &mut |known, at| {
        let rest = key.strip_prefix(known);
        let is_around = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if is_around && best.is_none_or(|(length, _)| known.len() > length) {
            best = Some((known.len(), at));
        }
    });
    best.map(|(_, at)| line_at(text, at))
}

pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// Calls `visit` with each key of a table and its offset.
pub(super) fn visit_keys(table: &DeTable<'_>, prefix: &str, visit: &mut impl FnMut(&str, usize)) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        visit(&key, name.span().start);
        visit_elements(value.get_ref(), &key, visit);
    }
}

fn visit_elements(value: &DeValue<'_>, key: &str, visit: &mut impl FnMut(&str, usize)) {
    match value {
        DeValue::Table(table) => visit_keys(table, &format!("{key}."), visit),
        DeValue::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                let key = format!("{key}[{index}]");
                visit(&key, element.span().start);
                visit_elements(element.get_ref(), &key, visit);
            }
        }
        _ => {}
    }
}

/// Calls `visit` with each text of a table, its key and its offset.
pub(super) fn visit_texts(
    table: &DeTable<'_>,
    prefix: &str,
    visit: &mut impl FnMut(&str, usize, &str),
) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        visit_text(value.get_ref(), &key, value.span().start, visit);
    }
}

fn visit_text(
    value: &DeValue<'_>,
    key: &str,
    at: usize,
    visit: &mut impl FnMut(&str, usize, &str),
) {
    match value {
        DeValue::String(text) => visit(key, at, text),
        DeValue::Table(table) => visit_texts(table, &format!("{key}."), visit),
        DeValue::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                visit_text(
                    element.get_ref(),
                    &format!("{key}[{index}]"),
                    element.span().start,
                    visit,
                );
            }
        }
        _ => {}
    }
}

/// Converts an error of the parser into a problem.
fn problem(file: &str, text: &str, error: &Error) -> Problem {
    let span = error.span().unwrap_or_default();
    let at = span.start;
    let line = line_at(text, at);
    // A text that is not TOML and a missing key at the top of the file have an empty key.
    let table = DeTable::parse(text).ok().filter(|_| !span.is_empty());
    let key = table.and_then(|table| key_in_table(table.get_ref(), at)).unwrap_or_default();
    let fix = with_meant_key(error.message()).replace('\n', " ");
    Problem::at(key, fix).in_file(file).at_line(line)
}

/// The key of the innermost value at this offset of the text, as `executor.script.rules[0].then`.
fn key_in_table(table: &DeTable<'_>, at: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        if key.span().contains(&at) {
            return Some(name.to_string());
        }
        let rest = key_in_value(value.get_ref(), at);
        let rest = rest.or_else(|| value.span().contains(&at).then(String::new))?;
        let separator = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
        Some(format!("{name}{separator}{rest}"))
    })
}

fn key_in_value(value: &DeValue<'_>, at: usize) -> Option<String> {
    match value {
        DeValue::Table(table) => key_in_table(table, at),
        DeValue::Array(elements) => elements.iter().enumerate().find_map(|(index, element)| {
            let rest = key_in_value(element.get_ref(), at);
            let rest = rest.or_else(|| element.span().contains(&at).then(String::new))?;
            let separator = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
            Some(format!("[{index}]{separator}{rest}"))
        }),
        _ => None,
    }
}
