//! Reads an agent file. Only the build does: the Worker has no parser for TOML.

use crate::{AgentDefinition, Problem};
use toml::de::{DeTable, DeValue, Error};

/// The agent that the text of `agents/<slug>.toml` (or of a file elsewhere) describes.
///
/// # Errors
///
/// The first thing that an agent file cannot say, with its line and its key.
pub fn parse(file: &str, slug: &str, text: &str) -> Result<AgentDefinition, Problem> {
    let parsed: AgentDefinition =
        toml::from_str(text).map_err(|error| problem(file, text, &error))?;
    Ok(AgentDefinition { slug: slug.to_owned(), file: file.to_owned(), ..parsed })
}

fn problem(file: &str, text: &str, error: &Error) -> Problem {
    let span = error.span().unwrap_or_default();
    let at = span.start;
    let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    // What is no TOML, and a key that the file as a whole lacks, have no key.
    let table = DeTable::parse(text).ok().filter(|_| !span.is_empty());
    let key = table.and_then(|table| key_in_table(table.get_ref(), at)).unwrap_or_default();
    let fix = match key.as_str() {
        // How it was written until every kind had a table of its own.
        "executor.tools[0]" => "is written names = […] in a table [executor.tools]".to_owned(),
        "executor.rules" | "executor.rules[0]" => "is written [[executor.script.rules]]".to_owned(),
        _ => error.message().replace('\n', " "),
    };
    Problem { file: format!("{file}:{line}"), key, fix }
}

/// The key of the innermost value at this place of the text, as `executor.script.rules[0].then`.
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

#[cfg(test)]
mod tests {
    use super::parse;

    const GOOD: &str = "name = 'A'\n\
        description = 'B'\n\
        version = '1'\n\
        [executor]\n\
        kind = 'script'\n\
        [[executor.script.rules]]\n\
        then = [{ do = 'complete' }]\n\
        [[executor.script.rules]]\n\
        when = { text = 'a' }\n\
        then = [\n  { do = 'wait', ms = 5 },\n  { do = 'input_required', text = '?' },\n]\n\
        [[executor.script.rules.follow_up]]\n\
        then = [{ do = 'fail', text = 'x' }]\n";

    #[test]
    fn what_a_file_cannot_say_is_named_with_line_and_key() {
        assert_eq!(parse("f.toml", "f", GOOD).unwrap().file, "f.toml");
        for (from, to, problem) in [
            (
                "kind = 'script'",
                "kind = 'Oracle'",
                "f.toml:5: `executor.kind` must be 1 to 64 lower-case letters, digits, `-` and `_`, and begin with \
                 a letter; or tools or script",
            ),
            (
                "kind =",
                "knid =",
                "f.toml:5: `executor.knid` invalid type: string \"script\", expected `kind`, `run` or",
            ),
            ("kind = 'script'", "", "f.toml:4: `executor` missing field `kind`"),
            (
                "kind = 'script'",
                "kind = 'scirpt'",
                "f.toml:4: `executor` has a table [executor.script], but its kind is scirpt; keep one of",
            ),
            (
                "kind = 'script'",
                "kind = 'rust'",
                "f.toml:5: `executor.kind` must be the name under which the Worker registers the executor",
            ),
            (
                "kind = 'script'",
                "kind = 'tools'",
                "f.toml:4: `executor` has a table [executor.script], but its kind is tools; keep one of",
            ),
            (
                "kind = 'script'",
                "kind = 'script'\n[executor.seats]\nrows = 2",
                "f.toml:4: `executor` has a table [executor.seats], but its kind is script",
            ),
            (
                "kind = 'script'",
                "kind = 'script'\n[[executor.rules]]\nthen = []",
                "f.toml:6: `executor.rules[0]` is written [[executor.script.rules]]",
            ),
            (
                "kind = 'script'",
                "kind = 'tools'\ntools = ['echo']",
                "f.toml:6: `executor.tools[0]` is written names = […] in a table [executor.tools]",
            ),
            ("'1'", "1", "f.toml:3: `version` invalid type: integer `1`, expected a string"),
            ("version = '1'\n", "", "f.toml:1: missing field `version`"),
            (
                "then = [{ do = 'complete' }]\n",
                "",
                "f.toml:6: `executor.script.rules[0]` missing field `then`",
            ),
            (
                "ms = 5",
                "ms = '1s'",
                "f.toml:10: `executor.script.rules[1].then` `ms` must be a number from 0",
            ),
            (
                "'?'",
                "5",
                "f.toml:12: `executor.script.rules[1].then[1].text` invalid type: integer `5`",
            ),
            (
                "text = 'a'",
                "texts = 'a'",
                "f.toml:9: `executor.script.rules[1].when.texts` unknown field",
            ),
            (
                "{ text = 'a' }",
                "{}",
                "f.toml:9: `executor.script.rules[1].when` `when` needs exactly one of",
            ),
            (
                "[{ do = 'fail', text = 'x' }]",
                "'x'",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then` invalid",
            ),
            (
                "do = 'fail'",
                "od = 'fail'",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then[0].od` unknown",
            ),
            (
                "text = 'x'",
                "count = 1",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then` `fail` needs",
            ),
            ("[executor]", "[executor", "f.toml:4: "),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let found = parse("f.toml", "f", &text).unwrap_err().to_string();
            assert!(found.starts_with(problem), "{found}");
        }
    }
}
