//! Checks an HTTP tool. Only the checker uses this module.

use serde_json::Value;

use super::arguments::schema_of;
use super::definition::{MAX_ATTEMPTS, MAX_BYTES, MAX_TIMEOUT_MS};
use super::{HttpToolDefinition, body_of, header_of, url_of};
use crate::Problem;
use crate::template::{BodyTemplate, HeaderTemplate, Template, UrlTemplate, is_argument_name};
use crate::tool::check_schema;

/// All problems of a tool, each with its key within the tool and the fix.
pub(crate) fn problems_of(tool: &HttpToolDefinition) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |key: &str, fix: &str| problems.push(Problem::at(key, fix));
    if !is_tool_name(&tool.name) {
        report(
            "name",
            "must be lower-case letters, digits and _, beginning with a letter, at most 64",
        );
    }
    if tool.description.trim().is_empty() {
        report("description", "must say what the tool does");
    }
    for (key, value, most) in [
        ("timeout_ms", tool.timeout_ms, MAX_TIMEOUT_MS),
        ("max_bytes", tool.max_bytes as u64, MAX_BYTES),
        ("retry", tool.retry.into(), MAX_ATTEMPTS),
    ] {
        if !(1..=most).contains(&value) {
            report(key, &format!("must be from 1 to {most}, got {value}"));
        }
    }
    let may_repeat = tool.method.is_idempotent() || tool.idempotency.is_some() || tool.repeatable;
    if tool.retry > 1 && !may_repeat {
        let method = tool.method.name();
        report(
            "retry",
            &format!(
                "would send a {method} again that may have been carried out; add idempotency = \"Idempotency-Key\" if the \
             server knows such a header, or repeatable = true if doing it twice does no harm"
            ),
        );
    }
    if let Some(pointer) = &tool.result
        && let Err(fix) = check_pointer(pointer)
    {
        report("result", fix);
    }
    problems.extend(check_header_names(tool));
    let parts = Parts::read(tool, &mut problems);
    problems.extend(parts.problems(tool));
    problems
}

/// The parts of a tool that could be parsed.
struct Parts {
    schema: Option<Value>,
    url: Option<UrlTemplate>,
    headers: Vec<(String, HeaderTemplate)>,
    body: Option<BodyTemplate>,
    /// True if all parts could be parsed.
    is_whole: bool,
}

impl Parts {
    fn read(tool: &HttpToolDefinition, problems: &mut Vec<Problem>) -> Self {
        let before = problems.len();
        let mut kept = |problem| problems.push(problem);
        let schema = schema_of(tool).map_err(&mut kept).ok();
        let url = url_of(tool).map_err(&mut kept).ok();
        let body = body_of(tool).map_err(&mut kept).ok().flatten();
        let mut headers = Vec::new();
        for (name, value) in &tool.headers {
            if let Ok(header) = header_of((name, value)).map_err(&mut kept) {
                headers.push((format!("headers.{name}"), header));
            }
        }
        let is_whole = problems.len() == before;
        Self { schema, url, headers, body, is_whole }
    }

    fn problems(&self, tool: &HttpToolDefinition) -> Vec<Problem> {
        let mut problems = self.check_arguments(tool);
        let key = if tool.schema.is_some() { "schema" } else { "arguments" };
        let unheeded = self.schema.as_ref().map(check_schema).unwrap_or_default();
        problems.extend(unheeded.into_iter().map(|unheeded| Problem::at(key, unheeded)));
        let has_body = tool.body.is_some() || tool.form.is_some();
        if has_body && tool.method == super::Method::Get {
            let key = if tool.body.is_some() { "body" } else { "form" };
            let fix =
                "cannot go with a GET; add method = \"POST\", or put the arguments into the URL";
            problems.push(Problem::at(key, fix));
        }
        let content_type =
            tool.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let (Some(BodyTemplate::Text(_)), Some((_, media_type))) = (&self.body, content_type)
            && media_type.contains("json")
        {
            let fix = "is text, in which an argument could end a string of JSON; write the JSON as a table";
            problems.push(Problem::at("body", fix));
        }
        problems.extend(self.check_host());
        problems
    }

    /// Each template of the headers and of the body, with its key.
    fn templates(&self) -> Vec<(String, &Template)> {
        let headers = self.headers.iter().map(|(key, header)| (key.clone(), header.value()));
        let key = if matches!(self.body, Some(BodyTemplate::Form(_))) { "form" } else { "body" };
        let body = self.body.iter().flat_map(BodyTemplate::templates);
        headers.chain(body.map(|template| (key.to_owned(), template))).collect()
    }

    /// Checks that the request uses every argument, and that every placeholder names an argument.
    fn check_arguments(&self, tool: &HttpToolDefinition) -> Vec<Problem> {
        let Some(schema) = &self.schema else { return Vec::new() };
        let properties = schema.get("properties").and_then(Value::as_object);
        let known: Vec<&str> =
            properties.into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
        let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let mut problems = Vec::new();
        let place = if tool.service.is_some() { "path" } else { "url" };
        let in_url =
            self.url.iter().flat_map(|url| url.arguments()).map(|name| (place.to_owned(), name));
        let templates = self.templates();
        let elsewhere = templates
            .iter()
            .flat_map(|(key, template)| template.arguments().map(move |name| (key.clone(), name)));
        let used: Vec<(String, &str)> = in_url.chain(elsewhere).collect();
        for (key, name) in &used {
            if !known.contains(name) {
                problems.push(Problem::at(
                    key.clone(),
                    format!("there is no argument {name:?}; there are: {listed}"),
                ));
            }
        }
        let source = if tool.schema.is_some() { "schema.properties" } else { "arguments" };
        for name in &known {
            let key = format!("{source}.{name}");
            if !is_argument_name(name) {
                problems
                    .push(Problem::at(key, "is no name of an argument: letters, digits, _ and -"));
            } else if self.is_whole && !used.iter().any(|(_, used)| used == name) {
                let fix = format!(
                    "stands nowhere in the request; write {{{name}}} where it belongs, or remove it"
                );
                problems.push(Problem::at(key, fix));
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_given = |name: &str| {
            let default = properties
                .and_then(|map| map.get(name))
                .and_then(|property| property.get("default"));
            default.is_some()
                || required.is_some_and(|names| names.iter().any(|known| known == name))
        };
        if let Some(url) = &self.url {
            for name in url.host_arguments().chain(url.path_arguments()) {
                if known.contains(&name) && !is_given(name) {
                    let fix = format!(
                        "the argument {name:?} is optional, but the URL needs it; give it a default, or put it into the query"
                    );
                    problems.push(Problem::at(place, fix));
                }
            }
        }
        problems
    }

    /// Refuses secrets in a request whose server the caller chooses: the caller could choose a server of its own to
    /// obtain them.
    fn check_host(&self) -> Option<Problem> {
        let url = self.url.as_ref().filter(|url| url.is_host_of_caller())?;
        let templates = self.templates();
        let mut sent = url
            .path_and_query_values()
            .chain(templates.iter().flat_map(|(_, template)| template.values()));
        let name = sent.next()?;
        let fix = format!(
            "lets the caller choose the server, which would get {name}; end the host with a domain of your own, as \
             {{region}}.example.com"
        );
        Some(Problem::at("url", fix))
    }
}

fn check_header_names(tool: &HttpToolDefinition) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names: Vec<&String> = tool.headers.keys().collect();
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|earlier| earlier.eq_ignore_ascii_case(name)) {
            problems.push(Problem::at(format!("headers.{name}"), "stands twice"));
        }
    }
    if let Some(name) = &tool.idempotency {
        if let Err(fix) = HeaderTemplate::parse(name, "") {
            problems.push(Problem::at("idempotency", fix));
        } else if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            let fix = format!("is {name:?}, which stands in `headers`, too; keep one of the two");
            problems.push(Problem::at("idempotency", fix));
        }
    }
    problems
}

fn check_pointer(pointer: &str) -> Result<(), &'static str> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err("must be a JSON pointer, which begins with /, as /items/0/name");
    }
    let is_escape = |rest: &str| rest.starts_with(['0', '1']);
    if pointer.split('~').skip(1).all(is_escape) {
        Ok(())
    } else {
        Err("must be a JSON pointer, in which ~0 stands for ~ and ~1 for /")
    }
}

fn is_tool_name(name: &str) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(goes_on)
        && name.len() <= 64
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        name = "weather"
        description = "Tells the weather."
        method = "POST"
        url = "https://api.example.com/v1/{city}?units={units}"
        headers = { X-Key = "${KEY}" }
        body = { days = "{days}" }

        [arguments]
        city = "A city."
        units = { enum = ["metric", "imperial"], default = "metric" }
        days = { type = "integer", optional = true }
    "#;

    fn problems(text: &str) -> Vec<String> {
        let tool: HttpToolDefinition = toml::from_str(text).unwrap();
        problems_of(&tool)
            .into_iter()
            .map(|Problem { key, text, .. }| format!("{key}: {text}"))
            .collect()
    }

    #[test]
    fn a_good_tool_has_no_problems() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
        let bare = "name = 'a'\ndescription = 'b'\nurl = '${BASE}/c'";
        assert_eq!(problems(bare), Vec::<String>::new());
        let full = "name = 'a'\ndescription = 'b'\nurl = '${BASE}/{c}'\n[schema]\ntype = 'object'\n\
                    required = ['c']\n[schema.properties.c]\ntype = 'string'";
        assert_eq!(problems(full), Vec::<String>::new());
    }

    #[test]
    fn a_tool_may_call_another_worker() {
        let of = |lines: &str| {
            format!(
                "name = 'a'\ndescription = 'b'\n{lines}\n[arguments]\nc = {{ optional = true }}"
            )
        };
        let path = "path = '/v1/list?c={c}&key=${KEY}'";
        assert_eq!(problems(&of(&format!("service = 'SHOP'\n{path}"))), Vec::<String>::new());
        for (lines, told) in [
            (
                "",
                "url: is missing; a Worker that is bound to this one is named by `service` instead",
            ),
            ("url = 'https://a.example/?c={c}'\nservice = 'SHOP'", "service: stands beside `url`"),
            ("url = 'https://a.example/?c={c}'\npath = '/'", "path: belongs to `service`"),
            ("service = 'my-shop'\npath = '/?c={c}'", "service: must be the name of a service"),
            ("service = '${SHOP}'\npath = '/?c={c}'", "service: must be the name of a service"),
            ("service = 'SHOP'\npath = 'list?c={c}'", "path: must be a path, as /turn"),
            ("service = 'SHOP'\npath = '//b.example/?c={c}'", "path: must be a path, as /turn"),
            ("service = 'SHOP'\npath = '${PATH}?c={c}'", "path: must be a path, as /turn"),
            ("service = 'SHOP'\npath = '/{c}'", "path: the argument \"c\" is optional, but"),
            ("service = 'SHOP'\npath = '/{d}?c={c}'", "path: there is no argument \"d\""),
            ("service = 'SHOP'\npath = '/../a?c={c}'", "path: must have no segment . or .."),
            ("service = 'SHOP'", "arguments.c: stands nowhere in the request"),
        ] {
            let found = problems(&of(lines));
            assert!(
                matches!(&found[..], [problem] if problem.starts_with(told)),
                "{lines}: {found:?}"
            );
        }
    }

    #[test]
    fn every_mistake_is_named_with_its_key_and_the_fix() {
        for (from, to, told) in [
            ("\"weather\"", "\"Weather\"", "name: must be lower-case letters"),
            ("\"Tells the weather.\"", "\" \"", "description: must say what the tool does"),
            (
                "{city}?",
                "{ctiy}?",
                "url: there is no argument \"ctiy\"; there are: city, units, days",
            ),
            ("{city}?", "?", "arguments.city: stands nowhere in the request; write {city}"),
            (
                "city = \"A city.\"",
                "city = { optional = true }",
                "url: the argument \"city\" is optional, but",
            ),
            ("\"A city.\"", "5", "arguments.city: must be a description, or a table"),
            ("optional = true", "optional = 1", "arguments.days: `optional` must be true or false"),
            ("optional = true", "if = {}", "arguments: unknown keyword `if` at"),
            ("days = {", "\"a b\" = {", "arguments.a b: is no name of an argument"),
            (
                "[arguments]",
                "schema = { type = \"object\" }\n[arguments]",
                "schema: is given beside `arguments`",
            ),
            ("https:", "ftp:", "url: must begin with https:// or http://"),
            ("${KEY}", "${key}", "headers.X-Key: holds ${key}, but secrets and variables"),
            ("X-Key", "Host", "headers.Host: is a header that only the connection itself"),
            ("{ X-Key = \"${KEY}\" }", "{ a = \"1\", A = \"2\" }", "headers.a: stands twice"),
            ("\"{days}\"", "[\"{day}\"]", "body: there is no argument \"day\""),
            ("\"{days}\"", "[\"{days\"]", "body.days[0]: holds"),
            ("method = \"POST\"", "", "body: cannot go with a GET"),
            ("body =", "form =", ""),
            ("body =", "form = {}\nbody =", "form: is given beside `body`"),
            (
                "{ days = \"{days}\" }",
                "\"{{{days}}}\"\nretry = 2",
                "retry: would send a POST again",
            ),
            ("method", "retry = 0\nmethod", "retry: must be from 1 to 10, got 0"),
            ("method", "timeout_ms = 600001\nmethod", "timeout_ms: must be from 1 to 600000"),
            ("method", "max_bytes = 0\nmethod", "max_bytes: must be from 1 to 16777216"),
            (
                "method",
                "result = \"a\"\nmethod",
                "result: must be a JSON pointer, which begins with /",
            ),
            ("method", "result = \"/a~2\"\nmethod", "result: must be a JSON pointer, in which ~0"),
            (
                "method",
                "idempotency = \"x-key\"\nmethod",
                "idempotency: is \"x-key\", which stands in `headers`",
            ),
            (
                "method",
                "idempotency = \"a b\"\nmethod",
                "idempotency: \"a b\" is no name of a header",
            ),
            (
                "api.example.com",
                "{city}",
                "url: lets the caller choose the server, which would get KEY",
            ),
            ("api.example.com", "{city}example.com", "url: lets the caller choose the server"),
            ("api.example.com", "{city}.com", "url: lets the caller choose the server"),
            ("api.example.com", "{city}.example.com", ""),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let found = problems(&text);
            match told {
                "" => assert_eq!(found, Vec::<String>::new(), "{to}"),
                told => assert!(
                    found.iter().any(|problem| problem.starts_with(told)),
                    "{told}: {found:?}"
                ),
            }
        }
        let json_as_text =
            GOOD.replace("body = { days = \"{days}\" }", "body = '{{\"days\": {days}}}'");
        let json_as_text =
            json_as_text.replace("X-Key =", "Content-Type = \"application/json\", X-Key =");
        assert!(
            problems(&json_as_text)[0].starts_with("body: is text, in which an argument could end")
        );
    }
}
