//! The kind `http`: an agent in any language, which answers by HTTP.

use super::KindTable;
#[cfg(any(test, feature = "checker"))]
use super::{Kind, KindContext};
use crate::access::check_url;
#[cfg(any(test, feature = "checker"))]
use crate::service::check_service;
use crate::table::{Keys, Reader, keys};
#[cfg(any(test, feature = "checker"))]
use crate::template::{check_header_name, visible};
#[cfg(any(test, feature = "checker"))]
use crate::{Problem, check_path};

/// `[executor.http]`. Every text may contain `${NAME}`, a secret or a variable of the deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTable {
    /// The URL to which turns are posted: https, or http on this machine.
    pub url: Option<String>,
    /// The service binding of another Worker to which turns are posted, in place of `url`.
    pub service: Option<String>,
    /// The path at the other Worker; `/` unless given.
    pub path: Option<String>,
    /// Additional headers of each request.
    pub headers: Vec<(String, String)>,
    /// The secret that signs requests, in the same way as notifications: `whsec_` and base64 of 24 to 64 bytes.
    pub signing_secret: Option<String>,
    /// The maximum time until the agent's response begins, in milliseconds: 100 to 900,000.
    pub timeout_ms: u64,
    /// The maximum time without data in a response that has begun, in milliseconds: 100 to 900,000.
    pub idle_timeout_ms: u64,
    /// The maximum number of requests of a run for one turn: 1 to 10.
    pub attempts: u32,
    /// The time during which an unreachable agent is called again, in milliseconds: up to 900,000. With 0, `attempts` is
    /// the limit, as for other failures.
    pub unreachable_wait_ms: u64,
    /// The minimum interval at which text that is appended to an artifact is stored and shown, in milliseconds: 0 to
    /// 10,000.
    pub event_interval_ms: u64,
    /// The maximum number of earlier tasks of the conversation in a request: 0 to 50.
    pub context_tasks: u8,
    /// The URL that is called when a task is canceled: a URL, or a path at the same server.
    pub cancel_url: Option<String>,
}

impl KindTable for HttpTable {
    const KEYS: &'static Keys = &keys! {
        /// The URL to which turns are posted: https, or http on this machine. It may contain `${NAME}`.
        "url",
        /// The service binding of another Worker to which turns are posted, in place of `url`.
        "service",
        /// The path at the other Worker; `/` unless given.
        "path",
        /// Further headers of each request, as `{ Authorization = "Bearer ${AGENT_TOKEN}" }`.
        "headers",
        /// The secret that signs requests, as `"${NAME}"`.
        "signing_secret",
        /// The maximum time until the response begins, in milliseconds; 120000 unless given.
        "timeout_ms",
        /// The maximum time without data in a response that has begun, in milliseconds; 300000 unless given.
        "idle_timeout_ms",
        /// The maximum number of requests of a run for one turn; 3 unless given.
        "attempts",
        /// The time during which an unreachable program is called again, in milliseconds; 60000 unless given, 0 for not at all.
        "unreachable_wait_ms",
        /// The minimum interval at which appended text is stored and shown, in milliseconds; 100 unless given.
        "event_interval_ms",
        /// The maximum number of earlier tasks of the conversation in `history`; 5 unless given.
        "context_tasks",
        /// The URL, or the path at the same server, that is called when a task is canceled.
        "cancel_url",
    };

    fn read(keys: &mut Reader<'_>) -> Self {
        keys.one_server();
        let attempts = keys.number("attempts", 1, 10);
        let tasks = keys.number("context_tasks", 0, 50);
        Self {
            url: keys.text("url"),
            service: keys.text("service"),
            path: keys.text("path"),
            headers: keys.pairs("headers"),
            signing_secret: keys.text("signing_secret"),
            timeout_ms: keys.number("timeout_ms", 100, LONGEST_MS).unwrap_or(120_000),
            idle_timeout_ms: keys.number("idle_timeout_ms", 100, LONGEST_MS).unwrap_or(300_000),
            attempts: attempts.and_then(|attempts| attempts.try_into().ok()).unwrap_or(3),
            unreachable_wait_ms: keys
                .number("unreachable_wait_ms", 0, LONGEST_MS)
                .unwrap_or(60_000),
            event_interval_ms: keys.number("event_interval_ms", 0, 10_000).unwrap_or(100),
            context_tasks: tasks.and_then(|tasks| tasks.try_into().ok()).unwrap_or(5),
            cancel_url: keys.text("cancel_url"),
        }
    }
}

#[cfg(any(test, feature = "checker"))]
impl Kind for HttpTable {
    fn problems(&self, _: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |key: &str, fix: String| problems.push(Problem::at(key, fix));
        if let Some(Err(fix)) = self.url.as_deref().map(|url| check_written(url, check_agent_url)) {
            report("url", fix);
        }
        if let Some(Err(fix)) = self.service.as_deref().map(check_service) {
            report("service", fix);
        }
        if let Some(Err(fix)) = self.path.as_deref().map(|path| check_written(path, check_path)) {
            report("path", fix);
        }
        for (name, value) in &self.headers {
            let checked = check_own_header(name).and_then(|()| check_written(value, plain));
            if let Err(fix) = checked {
                report(&format!("headers.{name}"), fix);
            }
        }
        if let Some(Err(fix)) = self.signing_secret.as_deref().map(check_secret) {
            report("signing_secret", fix);
        }
        if let Some(url) = &self.cancel_url {
            let checked = match (url.starts_with('/'), &self.service) {
                (true, _) => check_written(url, check_path),
                (false, None) => check_written(url, check_agent_url),
                (false, Some(_)) => {
                    Err("must be a path at the bound Worker, as /cancel".to_owned())
                }
            };
            if let Err(fix) = checked {
                report("cancel_url", fix);
            }
        }
        problems
    }

    fn filled_in(&self) -> Vec<(String, &str)> {
        let Self { url, path, headers, signing_secret, cancel_url, .. } = self;
        let own = [
            ("url", url),
            ("path", path),
            ("signing_secret", signing_secret),
            ("cancel_url", cancel_url),
        ];
        let own =
            own.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?)));
        let headers =
            headers.iter().map(|(name, value)| (format!("headers.{name}"), value.as_str()));
        own.chain(headers).collect()
    }
}

/// Checks the URL of an agent: https, or this machine. The requests contain messages of callers, which must not be readable
/// on their way.
///
/// # Errors
///
/// The rule for the URL, as a text that continues the key.
pub fn check_agent_url(url: &str) -> Result<(), String> {
    check_url(url).map_err(|fix| match fix.as_str() {
        fix if fix.contains("id.example.com") => {
            "must be an https:// URL, as https://agent.example.com/turn; http:// is for this machine alone".to_owned()
        }
        _ => fix,
    })
}

/// Checks a text of [`Kind::filled_in`], unless it contains `${NAME}`: then it is checked when it is used.
#[cfg(any(test, feature = "checker"))]
fn check_written(text: &str, check: impl Fn(&str) -> Result<(), String>) -> Result<(), String> {
    if text.contains("${") { Ok(()) } else { check(text) }
}

#[cfg(any(test, feature = "checker"))]
fn check_own_header(name: &str) -> Result<(), String> {
    check_header_name(name)?;
    let lower = name.to_ascii_lowercase();
    if OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("webhook-") {
        return Err("is a header that each request has already; remove it".to_owned());
    }
    Ok(())
}

#[cfg(any(test, feature = "checker"))]
fn plain(value: &str) -> Result<(), String> {
    visible(value).map(|_| ()).map_err(str::to_owned)
}

/// Refuses a secret that is written in the file.
#[cfg(any(test, feature = "checker"))]
fn check_secret(secret: &str) -> Result<(), String> {
    check_written(secret, |_| {
        Err("must name a secret of the deployment, as ${AGENT_SIGNING_SECRET}".to_owned())
    })
}

/// The headers that a2a-edge itself sets in each request.
#[cfg(any(test, feature = "checker"))]
const OWN_HEADERS: [&str; 6] =
    ["accept", "content-type", "idempotency-key", "traceparent", "tracestate", "user-agent"];

const LONGEST_MS: u64 = 900_000;

#[cfg(test)]
mod tests {
    use crate::Problem;
    use crate::checker::AgentDefinition;

    fn agent(table: &str) -> AgentDefinition {
        let text = format!(
            "name = 'a'\ndescription = 'a'\nversion = '1'\n[[skills]]\nid = 's'\nname = 's'\ndescription = 's'\ntags = ['s']\n\
             [executor]\nkind = 'http'\n[executor.http]\n{table}"
        );
        toml::from_str(&text).unwrap()
    }

    fn problems(table: &str) -> Vec<String> {
        let agent = agent(table);
        let problems = agent.executor.problems(&agent.context(&[]));
        problems.into_iter().map(|Problem { key, text, .. }| format!("{key} {text}")).collect()
    }

    #[test]
    fn tables_that_hold_together_are_taken() {
        for table in [
            "url = 'https://agent.example.com/turn?x=1'",
            "url = 'http://localhost:8000'",
            "url = '${AGENT_URL}/turn'\ncancel_url = '${AGENT_URL}/cancel'",
            "url = 'https://a.example'\ncancel_url = '/cancel'\nattempts = 10\ntimeout_ms = 100\nidle_timeout_ms = 900000",
            "url = 'https://a.example'\nunreachable_wait_ms = 0",
            "url = 'https://a.example'\nunreachable_wait_ms = 900000",
            "service = 'WORDS'\npath = '/turn?a=b'\ncancel_url = '/cancel'",
            "service = '_w'\nheaders = { Authorization = 'Bearer ${TOKEN}', X-A = 'b' }\nsigning_secret = '${SECRET}'",
        ] {
            assert_eq!(problems(table), [""; 0], "{table}");
        }
    }

    #[test]
    fn what_does_not_hold_together_is_refused_with_its_key_and_the_fix() {
        for (table, told) in [
            ("", "executor.http.url is missing; a Worker that is bound"),
            (
                "urls = 'x'",
                "executor.http.urls is no key of this table, did you mean `url`?; there are: url",
            ),
            (
                "url = 'https://a.example'\nservice = 'A'",
                "executor.http.service stands beside `url`",
            ),
            (
                "url = 'agent.example'",
                "executor.http.url must be an https:// URL, as https://agent.example.com/turn",
            ),
            (
                "url = 'http://agent.example'",
                "executor.http.url must begin with https://; http:// is for this machine",
            ),
            ("url = 'https://ada:pw@a.example'", "executor.http.url must hold no user name"),
            ("url = '${agent_url}'", "executor.http.url "),
            ("url = 'https://a.example'\npath = '/x'", "executor.http.path belongs to `service`"),
            (
                "service = 'my-worker'",
                "executor.http.service must be the name of a service binding",
            ),
            ("service = 'A'\npath = 'turn'", "executor.http.path must be a path, as /turn"),
            ("service = 'A'\npath = '//b.example'", "executor.http.path must be a path"),
            (
                "service = 'A'\ncancel_url = 'https://b.example'",
                "executor.http.cancel_url must be a path at the bound Worker",
            ),
            (
                "url = 'https://a.example'\ncancel_url = 'cancel'",
                "executor.http.cancel_url must be an https:// URL",
            ),
            (
                "url = 'https://a.example'\nheaders = { Host = 'b' }",
                "executor.http.headers.Host is a header that only",
            ),
            (
                "url = 'https://a.example'\nheaders = { Accept = 'b' }",
                "executor.http.headers.Accept is a header that each request has",
            ),
            (
                "url = 'https://a.example'\nheaders = { Webhook-Id = 'b' }",
                "executor.http.headers.Webhook-Id is a header",
            ),
            (
                "url = 'https://a.example'\nheaders = { X = 'ü' }",
                "executor.http.headers.X may hold only visible ASCII",
            ),
            (
                "url = 'https://a.example'\nsigning_secret = 'whsec_abc'",
                "executor.http.signing_secret must name a secret of the deployment",
            ),
            (
                "url = 'https://a.example'\ntimeout_ms = 99",
                "executor.http.timeout_ms must be a whole number from 100 to 900000, got 99",
            ),
            (
                "url = 'https://a.example'\nidle_timeout_ms = 900001",
                "executor.http.idle_timeout_ms must be a whole number from 100",
            ),
            (
                "url = 'https://a.example'\nattempts = 0",
                "executor.http.attempts must be a whole number from 1 to 10, got 0",
            ),
            (
                "url = 'https://a.example'\nunreachable_wait_ms = 900001",
                "executor.http.unreachable_wait_ms must be a whole number from 0 to 900000, got 900001",
            ),
            (
                "url = 'https://a.example'\ncontext_tasks = 51",
                "executor.http.context_tasks must be a whole number from 0 to 50, got 51",
            ),
            (
                "url = 'https://a.example'\nevent_interval_ms = 10001",
                "executor.http.event_interval_ms must be a whole number from 0 to 10000",
            ),
        ] {
            let problems = problems(table);
            assert!(
                matches!(&problems[..], [problem] if problem.starts_with(told)),
                "{table}: {problems:?}"
            );
        }
    }

    #[test]
    fn secrets_and_variables_are_named_with_who_needs_them() {
        let agent = agent(
            "url = '${AGENT_URL}'\nheaders = { X = 'a ${TOKEN}' }\nsigning_secret = '${SECRET}'",
        );
        let needs = agent.executor.needs(&agent.context(&[]));
        let names: Vec<&str> = needs.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["AGENT_URL", "SECRET", "TOKEN"]);
        assert!(needs.iter().all(|(by, _)| by == "executor http"));
    }
}
