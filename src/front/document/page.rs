//! The page for browsers at the URL of an agent: a description of the agent, and how to call it. The page contains no
//! script and loads nothing; its text comes from the card and is escaped.

use std::rc::Rc;

use a2a::model::read_own;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::PARTIAL_SECONDS;
use crate::executor::{Cards, HostedAgent};
use crate::front::identify::Request;
use crate::front::plan::Plan;
use a2a::binding::discovery::{ORIGIN, as_it_was};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::media_type::{essence, weight};
use a2a::error::Error;

/// Decides about GET and HEAD at the URL of an agent: the answer is a page for browsers and a refusal for programs.
/// `slug` is the agent in the path; `None` if the path is `/`.
#[inline(never)]
pub(in crate::front) fn plan(
    request: Request<'_>,
    agent: &HostedAgent,
    slug: Option<&str>,
) -> Plan {
    let Request { deployment, head, .. } = request;
    let mut response = if is_wanted(head.header("accept")) {
        if let Some(need) = request.unlearned(agent) {
            return Plan::Need(need);
        }
        let (origin, _, _) = split_url(head.url());
        let origin = deployment.settings.place_of(origin).origin;
        let path = slug.map_or_else(String::new, |slug| format!("/{slug}"));
        let all: Vec<_> =
            deployment.hosted().map(|agent| (agent.slug.as_str(), agent.cards())).collect();
        let cards = agent.cards();
        let shown = PageAgent { slug: &agent.slug, card: &cards.card };
        let others = all.iter().map(on_page);
        let page = page(shown, &path, origin, others, deployment.has_console);
        let seconds = if cards.is_partial { PARTIAL_SECONDS } else { PAGE_SECONDS };
        page.with_header("cache-control", format!("public, max-age={seconds}"))
    } else {
        HttpResponse::error(&Error::MethodNotAllowed("POST, OPTIONS"))
    };
    if head.method() == "HEAD" {
        response.body.clear();
    }
    Plan::Answer(response.with_header("vary", "accept"))
}

fn on_page<'a>((slug, cards): &'a (&str, Rc<Cards>)) -> PageAgent<'a> {
    PageAgent { slug, card: &cards.card }
}

/// The lifetime of a page in caches, in seconds.
const PAGE_SECONDS: u32 = 300;

/// The data of an agent for the page.
#[derive(Clone, Copy, Debug)]
struct PageAgent<'a> {
    /// The slug of the agent, which is its path.
    slug: &'a str,
    /// The card of the agent as JSON, with [`ORIGIN`] as the placeholder for the origin.
    card: &'a str,
}

/// True if `Accept` requests a page: it contains `text/html`, and no media type of the protocol before it or with more
/// weight. This is so for browsers, but not for programs that accept anything.
fn is_wanted(accept: Option<&str>) -> bool {
    let mut best = (false, 0);
    for range in accept.unwrap_or_default().split(',') {
        let named = essence(range).to_ascii_lowercase();
        let is_page = named == "text/html";
        if (is_page || PROTOCOL.contains(&named.as_str())) && weight(range) > best.1 {
            best = (is_page, weight(range));
        }
    }
    best.0
}

/// The page of an agent for a request to `origin`. `path` is the path of the agent, without a final slash. The page
/// links to the other agents in `agents`. With `has_console`, the page also links to the agent in the console.
fn page<'a>(
    agent: PageAgent<'_>,
    path: &str,
    origin: &str,
    agents: impl Iterator<Item = PageAgent<'a>>,
    has_console: bool,
) -> HttpResponse {
    let card = read(agent.card);
    let url = card.pointer("/supportedInterfaces/0/url").and_then(Value::as_str).unwrap_or(ORIGIN);
    let url = url.replace(ORIGIN, origin);
    let extensions = required_extensions(&card);
    let skills = elements(&card, "/skills").map(|skill| item(STRONG, &[], skill));
    let others = agents.filter(|other| other.slug != agent.slug);
    let links = others.map(|other| item(LINK, &[&escape(other.slug)], &read(other.card)));

    let console = if has_console { fill(CONSOLE, &[&escape(agent.slug)]) } else { String::new() };

    let name = escape(text(&card, "name"));
    let body = fill(
        PAGE,
        &[
            &name,
            STYLE,
            &name,
            &escape(text(&card, "description")),
            &escape(&url),
            &escape(path),
            &console,
            &section("Skills", skills.collect()),
            &escape(&curl(&url, &extensions)),
            &escape(&javascript(&url, &extensions)),
            &section("Other agents here", links.collect()),
        ],
    );
    let policy = fill(POLICY, &[&STANDARD.encode(Sha256::digest(STYLE))]);
    HttpResponse { body, ..HttpResponse::empty(200) }
        .with_header("content-type", "text/html; charset=utf-8")
        .with_header("content-security-policy", policy)
        .with_header("cross-origin-opener-policy", "same-origin")
        .with_header("cross-origin-resource-policy", "same-origin")
        .with_header("referrer-policy", "no-referrer")
}

/// Parses a card that the checker made, perhaps with learned skills. Such a card can always be parsed.
fn read(card: &str) -> Value {
    read_own(&as_it_was(card.to_owned())).unwrap_or_default()
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn elements<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// The value that `A2A-Extensions` must have, because the agent refuses requests without these extensions; may be
/// empty.
fn required_extensions(card: &Value) -> String {
    let required = elements(card, "/capabilities/extensions")
        .filter(|extension| extension.get("required") == Some(&Value::Bool(true)));
    required.map(|extension| text(extension, "uri")).collect::<Vec<_>>().join(", ")
}

/// An entry of a list: the template with `first`, then the name and the description of `named`.
fn item(template: &str, first: &[&str], named: &Value) -> String {
    let (name, description) = (escape(text(named, "name")), escape(text(named, "description")));
    fill(template, &[first, &[&name, &description]].concat())
}

fn section(title: &str, items: String) -> String {
    if items.is_empty() { items } else { fill("<h2>{}</h2><ul>{}</ul>", &[title, &items]) }
}

fn curl(url: &str, extensions: &str) -> String {
    let quote = |text: &str| text.replace('\'', r"'\''");
    let more = match extensions {
        "" => String::new(),
        _ => fill(" \\\n  -H 'A2A-Extensions: {}'", &[&quote(extensions)]),
    };
    fill(CURL, &[&quote(url), &more])
}

fn javascript(url: &str, extensions: &str) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    let more = match extensions {
        "" => String::new(),
        _ => fill(", \"A2A-Extensions\": {}", &[&quote(extensions)]),
    };
    fill(JAVASCRIPT, &[&quote(url), &more])
}

/// The template, in which each `{}` is replaced by the next value.
fn fill(template: &str, values: &[&str]) -> String {
    let values = values.iter().copied().chain(std::iter::repeat(""));
    template.split("{}").zip(values).flat_map(|(text, value)| [text, value]).collect()
}

/// Escapes text for HTML, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The media types of the protocol. A program that uses the protocol accepts at least one of them.
const PROTOCOL: [&str; 3] = ["application/json", "application/a2a+json", "text/event-stream"];

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <title>{}, an A2A agent</title><style>{}</style></head><body><main>\
    <h1>{}</h1><p>{}</p>\
    <p>This is an agent for programs. They call it by <a href=\"https://a2a-protocol.org\">A2A</a>, \
    the Agent2Agent protocol, at <code>{}</code>, and read \
    <a href=\"{}/.well-known/agent-card.json\">its card</a>.</p>{}{}\
    <h2>Try it</h2><h3>With curl</h3><pre tabindex=\"0\"><code>{}</code></pre>\
    <h3>With JavaScript, in Node 20 or newer</h3><pre tabindex=\"0\"><code>{}</code></pre>\
    {}</main></body></html>\n";

const CONSOLE: &str = "<p>People talk to it and see its tasks in <a href=\"/console/#/agents/{}\">the console</a>.</p>";

const STRONG: &str = "<li><strong>{}</strong>: {}</li>";

const LINK: &str = "<li><a href=\"/{}\">{}</a>: {}</li>";

const CURL: &str = r#"curl -s '{}' \
  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'{} \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message":
       {"messageId": "hello-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}}}'"#;

const JAVASCRIPT: &str = r#"const parts = [{ text: "hello" }];
const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts };
const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
const response = await fetch({}, {
  method: "POST",
  headers: { "Content-Type": "application/json", "A2A-Version": "1.0"{} },
  body: JSON.stringify(call),
});
console.log(JSON.stringify(await response.json(), null, 2));"#;

const POLICY: &str = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The colours are those of the browser, light or dark.
const STYLE: &str = ":root{color-scheme:light dark}\
    body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}\
    code{font:.875rem/1.5 ui-monospace,monospace}\
    pre{overflow:auto;overflow-wrap:normal;padding:.75rem;border:1px solid;border-radius:.25rem}";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
        let found = response.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn card(name: &str, description: &str) -> String {
        json!({
            "name": name,
            "description": description,
            "supportedInterfaces": [{"url": "{origin}/a"}],
            "skills": [{"name": name, "description": description}],
            "capabilities": {"extensions": [{"uri": description, "required": true}, {"uri": "urn:not-needed"}]},
        })
        .to_string()
    }

    #[test]
    fn a_page_is_for_those_who_ask_for_one() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
        for accept in [browser, "text/html", "TEXT/HTML;q=0.1", "text/html, application/json"] {
            assert!(is_wanted(Some(accept)), "{accept}");
        }
        for accept in [
            "*/*",
            "",
            "text/*",
            "text/html;q=0",
            "text/plain",
            "application/json",
            "application/json, text/html",
            "text/html;q=0.5, application/json",
            "application/a2a+json, text/html;q=0.9",
            "text/event-stream, text/html",
        ] {
            assert!(!is_wanted(Some(accept)), "{accept}");
        }
        assert!(!is_wanted(None));
    }

    #[test]
    fn what_agent_files_and_hosts_say_stays_text() {
        let evil = r#"</title><script>alert('1')</script><a href="javascript:x">&amp;"#;
        let card = card(evil, evil);
        let agent = PageAgent { slug: "a", card: &card };
        let other = PageAgent { slug: "\"><script>", card: &card };
        let body =
            page(agent, "/\"><script>", "http://\"'<script>", [other].into_iter(), true).body;
        let known =
            ["html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p"];
        for tag in body.split('<').skip(1) {
            let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap();
            let known = known.contains(&name)
                || ["a", "code", "pre", "ul", "li", "strong", "!doctype"].contains(&name);
            assert!(known, "<{tag}");
        }
        assert!(!body.contains("href=\"javascript:"), "{body}");
        assert!(!body.contains("<a href=\"\""), "{body}");
        assert!(body.contains("&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
        assert!(body.contains("&amp;amp;"));
    }

    #[test]
    fn examples_quote_what_they_hold() {
        let extension = "urn:it's-\"x\"";
        assert!(curl("http://h/it's", "").starts_with(r"curl -s 'http://h/it'\''s' \"));
        assert!(!curl("http://h/", "").contains("A2A-Extensions"));
        assert!(curl("", extension).contains(r#"-H 'A2A-Extensions: urn:it'\''s-"x"'"#));
        assert!(javascript("http://h/\"", "").contains(r#"fetch("http://h/\"", {"#));
        assert!(javascript("", extension).contains(r#""A2A-Extensions": "urn:it's-\"x\"""#));
        assert_eq!(required_extensions(&read(&card("n", "urn:a"))), "urn:a");
    }

    #[test]
    fn only_its_own_style_is_allowed() {
        let card = card("n", "d");
        let response =
            page(PageAgent { slug: "a", card: &card }, "/a", "http://h", [].into_iter(), false);
        let (_, rest) = response.body.split_once("<style>").unwrap();
        let (style, _) = rest.split_once("</style>").unwrap();
        let hash = STANDARD.encode(Sha256::digest(style));
        let policy = header(&response, "content-security-policy").unwrap();
        assert!(
            policy.starts_with(&format!("default-src 'none'; style-src 'sha256-{hash}';")),
            "{policy}"
        );
        assert!(!response.body.contains(" style="), "no style that the policy would refuse");
        assert_eq!(header(&response, "content-type"), Some("text/html; charset=utf-8"));
        assert!(response.body.contains("href=\"/a/.well-known/agent-card.json\""));
        assert!(!response.body.contains("Other agents"));
        assert!(!response.body.contains("/console"), "no link to a console that is not served");
        assert!(response.body.len() < 3000, "{}", response.body.len());
    }

    #[test]
    fn an_agent_is_not_among_the_others() {
        let (one, two) = (card("One", "first"), card("Two", "second"));
        let all = [PageAgent { slug: "one", card: &one }, PageAgent { slug: "two", card: &two }];
        let body = page(all[0], "", "http://h", all.into_iter(), true).body;
        assert!(body.contains("<a href=\"/two\">Two</a>: second"));
        assert!(!body.contains("href=\"/one\""));
        assert!(body.contains("href=\"/console/#/agents/one\""));
        assert!(body.contains("href=\"/.well-known/agent-card.json\""));
    }
}
