//! Reads agent files and the files of shared tools, and checks that no value that is copied to the card refers to a secret.

use toml::de::DeTable;

use super::definition::AgentDefinition;
use super::source::{line_at, read, visit_keys, visit_texts};
use crate::{Expandable, HttpToolDefinition, Problem};
use a2a::sorted::SortedMap;

/// Parses an agent file, which is `agents/<slug>.toml` or in another folder.
///
/// # Errors
///
/// The first invalid value of the file, with its line and its key.
pub(super) fn parse(file: &str, slug: &str, text: &str) -> Result<AgentDefinition, Problem> {
    let parsed: AgentDefinition = read(file, text)?;
    if let Some(problem) = parsed.executor.unreadable.first() {
        return Err(problem.clone().in_file(file));
    }
    check_public(file, text, |key| {
        !key.starts_with("executor.") && !is_private_of_tool(key) && !is_filled_in_access(key)
    })?;
    Ok(AgentDefinition { slug: slug.to_owned(), file: file.to_owned(), ..parsed })
}

/// Parses the file of a shared HTTP tool, `tools/<name>.toml`.
///
/// # Errors
///
/// The same as [`parse`].
pub(super) fn parse_tool(
    file: &str,
    name: &str,
    text: &str,
) -> Result<HttpToolDefinition, Problem> {
    let parsed: HttpToolDefinition = read(file, text)?;
    check_public(file, text, |key| !is_private_of_tool(&format!("tools[0].{key}")))?;
    if !parsed.name.is_empty() && parsed.name != name {
        let fix =
            format!("is {:?}, but the file is named {name}.toml; remove the line", parsed.name);
        return Err(Problem::at("name", fix).in_file(file));
    }
    Ok(HttpToolDefinition { name: name.to_owned(), file: file.to_owned(), ..parsed })
}

/// True if a key of an HTTP tool stays within the Worker. All other keys are copied to the card.
fn is_private_of_tool(key: &str) -> bool {
    let Some((_, key)) = key.strip_prefix("tools[").and_then(|key| key.split_once("].")) else {
        return false;
    };
    !["name", "description", "arguments.", "schema."].iter().any(|public| key.starts_with(public))
}

/// True if the Worker fills in variables at a key of `[access]`. The values of all other keys are compared literally.
fn is_filled_in_access(key: &str) -> bool {
    let Some((_, member)) = key.strip_prefix("access.schemes.").and_then(|key| key.split_once('.'))
    else {
        return false;
    };
    let is_of_flow = member.starts_with("flows.");
    is_of_flow || FILLED_IN_ACCESS.contains(&member.split('[').next().unwrap_or_default())
}

/// The keys of schemes in which variables are filled in, apart from the keys of flows.
const FILLED_IN_ACCESS: [&str; 6] =
    ["audience", "description", "issuer", "jwks_url", "oauth2_metadata_url", "team"];

/// Checks that no value that is copied to the card refers to a secret or a variable.
fn check_public(file: &str, text: &str, is_public: impl Fn(&str) -> bool) -> Result<(), Problem> {
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    let mut found = None;
    visit_texts(table.get_ref(), "", &mut |key, at, value| {
        let names = Expandable::parse(value);
        let name = names.iter().flat_map(Expandable::values).next().map(str::to_owned);
        if let (None, true, Some(name)) = (&found, is_public(key), name) {
            let fix = if key.starts_with("access.") {
                format!(
                    "holds ${{{name}}}, which is not filled in here; in [access] variables stand in `issuer`, `audience`, \
                     `jwks_url`, `team`, `flows` and `description`"
                )
            } else {
                format!(
                    "holds ${{{name}}}, but goes to the card, which everybody may read; secrets and variables stand in \
                     [executor.<kind>] and in the requests of [[tools]]"
                )
            };
            found = Some(Problem::at(key, fix).in_file(file).at_line(line_at(text, at)));
        }
    });
    found.map_or(Ok(()), Err)
}

/// The lines of the keys in `[executor]` that configure the executor: the line of `kind`, and the line of each key in the table
/// of this kind. The keys of the map are relative to `executor`.
pub(super) fn executor_lines(text: &str, kind: &str) -> SortedMap<String, usize> {
    let mut lines = SortedMap::new();
    let Ok(table) = DeTable::parse(text) else { return lines };
    visit_keys(table.get_ref(), "", &mut |key, at| {
        let Some(key) = key.strip_prefix("executor.") else { return };
        let below = key.strip_prefix(kind);
        let is_of_table =
            below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']));
        if key == "kind" || is_of_table {
            lines.insert(key.to_owned(), line_at(text, at));
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::{AgentDefinition, Problem, parse, parse_tool};
    use crate::checker::source::located;

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

    /// The problems of an agent file and of its executor.
    fn problems(text: &str) -> Vec<String> {
        let found = match parse("f.toml", "f", text) {
            Ok(agent) => {
                let found = agent.executor.problems(&agent.context(&[])).into_iter();
                found.map(|problem| problem.in_file("f.toml")).collect()
            }
            Err(problem) => vec![problem],
        };
        let files = [("f.toml".to_owned(), text.to_owned())];
        found.into_iter().map(|problem| located(problem, &files).to_string()).collect()
    }

    #[test]
    fn what_a_file_cannot_say_is_named_with_line_and_key() {
        let AgentDefinition { file, .. } = parse("f.toml", "f", GOOD).unwrap();
        assert_eq!((file.as_str(), problems(GOOD)), ("f.toml", Vec::new()));
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
                "f.toml:5: `executor.knid` is no key of this table, did you mean `kind`?; there are: kind, run, and the table",
            ),
            ("kind = 'script'", "", "f.toml:4: `executor.kind` is missing"),
            (
                "kind = 'script'",
                "kind = 'scirpt'",
                "f.toml:5: `executor.kind` there is no kind of executor \"scirpt\", did you mean \"script\"?; there are: tools, script, \
                 remote, http, model",
            ),
            (
                "kind = 'script'",
                "kind = 'htpp'\n[executor.http]\nurl = 'http://localhost:8000'",
                "f.toml:5: `executor.kind` there is no kind of executor \"htpp\", did you mean \"http\"?; there are: tools,",
            ),
            (
                "kind = 'script'",
                "kind = 'Script'",
                "f.toml:5: `executor.kind` there is no kind of executor \"Script\", did you mean \"script\"?; there are: tools,",
            ),
            (
                "kind = 'script'",
                "kind = 'oracle'",
                "f.toml:6: `executor.script` stands beside `kind = \"oracle\"`; keep one of the two",
            ),
            (
                "kind = 'script'",
                "kind = 'rust'",
                "f.toml:5: `executor.kind` must be the name under which the Worker registers the executor",
            ),
            (
                "kind = 'script'",
                "kind = 'tools'",
                "f.toml:6: `executor.script` stands beside `kind = \"tools\"`; keep one of the two",
            ),
            (
                "kind = 'script'",
                "kind = 'script'\n[executor.seats]\nrows = 2",
                "f.toml:6: `executor.seats` stands beside `kind = \"script\"`; keep one of the two",
            ),
            (
                "kind = 'script'",
                "kind = 'script'\n[[executor.rules]]\nthen = []",
                "f.toml:6: `executor.rules` is no key of this table; there are: kind, run, and the table [executor.<kind>] with the keys of the kind",
            ),
            (
                "kind = 'script'",
                "kind = 'tools'\ntools = ['echo']",
                "f.toml:6: `executor.tools` must be a table, [executor.tools], with the keys of the kind: names, ask_missing, mcp",
            ),
            ("'1'", "1", "f.toml:3: `version` invalid type: integer `1`, expected a string"),
            (
                "version = '1'",
                "version = '1'\naccepts = 'some'",
                "f.toml:4: `accepts` unknown variant `some`, expected `any` or `declared`",
            ),
            ("version = '1'", "version = '1'\naccepts = true", "f.toml:4: `accepts`"),
            ("version = '1'\n", "", "f.toml:1: missing field `version`"),
            (
                "then = [{ do = 'complete' }]\n",
                "",
                "f.toml:6: `executor.script.rules[0].then` is missing: the steps, as [{ do = \"complete\" }]",
            ),
            (
                "ms = 5",
                "ms = '1s'",
                "f.toml:11: `executor.script.rules[1].then[0].ms` must be a number from 0 to 600000, or a text that captures make one",
            ),
            ("'?'", "5", "f.toml:12: `executor.script.rules[1].then[1].text` must be a text"),
            (
                "text = 'a'",
                "texts = 'a'",
                "f.toml:9: `executor.script.rules[1].when.texts` is no key of this table, did you mean `text`?; there are: text",
            ),
            (
                "{ text = 'a' }",
                "{}",
                "f.toml:9: `executor.script.rules[1].when` needs exactly one of",
            ),
            (
                "[{ do = 'fail', text = 'x' }]",
                "'x'",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then` must be a list of tables",
            ),
            (
                "do = 'fail'",
                "od = 'fail'",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then[0].do` is missing",
            ),
            (
                "text = 'x'",
                "count = 1",
                "f.toml:15: `executor.script.rules[1].follow_up[0].then[0].",
            ),
            ("[executor]", "[executor", "f.toml:4: "),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let found = problems(&text);
            assert!(found[0].starts_with(problem), "{problem}: {found:?}");
        }
    }

    #[test]
    fn what_goes_to_the_card_holds_no_secret() {
        const TOOLS: &str = "name = 'A'\ndescription = 'B'\nversion = '1'\n[executor]\nkind = 'tools'\n\
            [[tools]]\nname = 'a'\ndescription = 'b'\nurl = 'https://c.example/${KEY}'\nheaders = { D = '${KEY}' }\n\
            [[skills]]\nid = 'a'\nexamples = ['x']\n";
        assert!(parse("f.toml", "f", TOOLS).is_ok());
        for (from, to, place) in [
            ("'A'", "'${KEY}'", "f.toml:1: `name` holds ${KEY}, but goes to the card"),
            (
                "'b'",
                "'x ${KEY}'",
                "f.toml:8: `tools[0].description` holds ${KEY}, but goes to the card",
            ),
            (
                "url",
                "arguments = { k = '${KEY}' }\nurl",
                "f.toml:9: `tools[0].arguments.k` holds ${KEY}",
            ),
            ("['x']", "['x', '${KEY}']", "f.toml:13: `skills[0].examples[1]` holds ${KEY}"),
            (
                "[executor]",
                "provider = { organization = '${KEY}', url = 'x' }\n[executor]",
                "f.toml:4: `provider.organization`",
            ),
        ] {
            let found = parse("f.toml", "f", &TOOLS.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(found.starts_with(place), "{found}");
        }
        let jwt = "[access.schemes.jwt]\nkind = 'jwt'\nissuer = '${A}'\naudience = ['x', '${B}']\njwks_url = '${C}/keys'\n";
        let file = |access: &str| TOOLS.replacen("[executor]", &format!("{access}[executor]"), 1);
        assert!(parse("f.toml", "f", &file(jwt)).is_ok());
        for (more, place) in [
            (
                "cookie = '${KEY}'\n",
                "f.toml:9: `access.schemes.jwt.cookie` holds ${KEY}, which is not filled",
            ),
            (
                "claims = { id = '${KEY}' }\n",
                "f.toml:9: `access.schemes.jwt.claims.id` holds ${KEY}",
            ),
        ] {
            let text = file(&format!("{jwt}{more}"));
            let found = parse("f.toml", "f", &text).unwrap_err().to_string();
            assert!(found.starts_with(place), "{found}");
        }
        let origins = file("[access]\nallowed_origins = ['${KEY}']\n");
        let found = parse("f.toml", "f", &origins).unwrap_err().to_string();
        assert!(found.starts_with("f.toml:5: `access.allowed_origins[0]` holds ${KEY}"), "{found}");
        let shared = "description = '${KEY}'\nurl = 'https://c.example/'";
        let found = parse_tool("t/a.toml", "a", shared).unwrap_err().to_string();
        assert!(found.starts_with("t/a.toml:1: `description` holds ${KEY}"), "{found}");
    }

    #[test]
    fn a_shared_tool_is_named_after_its_file() {
        let text = "name = 'a'\ndescription = 'b'\nurl = 'https://c.example/'";
        assert_eq!(parse_tool("t/a.toml", "a", text).unwrap().name, "a");
        assert_eq!(
            parse_tool("t/a.toml", "a", text.trim_start_matches("name = 'a'\n")).unwrap().name,
            "a"
        );
        let found = parse_tool("t/b.toml", "b", text).unwrap_err().to_string();
        assert_eq!(
            found,
            "t/b.toml: `name` is \"a\", but the file is named b.toml; remove the line"
        );
        let found = parse_tool("t/a.toml", "a", "url = 5").unwrap_err().to_string();
        assert!(found.starts_with("t/a.toml:1: `url` invalid type"), "{found}");
    }

    #[test]
    fn a_problem_gets_the_line_of_its_key_or_of_what_is_around_it() {
        let files = [("f.toml".to_owned(), GOOD.to_owned())];
        for (key, line) in [
            ("version", Some(3)),
            ("executor.script.rules", Some(6)),
            ("executor.script.rules[1].then[1].text", Some(12)),
            ("executor.script.rules[1].then[1].texts", Some(12)),
            ("executor.run.timeout_ms", Some(4)),
            ("skills[0].id", None),
        ] {
            let problem = Problem::at(key, "x").in_file("f.toml");
            let at = line.map_or(String::new(), |line| format!(":{line}"));
            assert_eq!(located(problem, &files).to_string(), format!("f.toml{at}: `{key}` x"));
        }
    }
}
