//! Remote agents and MCP servers that agents call by name: the tables `[remote.<name>]` and `[mcp.<name>]` of the file
//! `remotes.toml`, which is next to the folder of the agent files.
//!
//! Any value may contain `${NAME}`, a secret or a variable of the deployment. The checker checks values without placeholders; the
//! others are checked when the remote is used.

mod credentials;
mod mcp;

use std::fmt;

use serde::Serialize;

#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::table::{Keys, Reader, Texts, keys};
use crate::{Need, Slug, Table, Values};
use a2a::binding::Binding;
use a2a::client::{Settings, Streaming, Verify};
use a2a::dialect::Dialect;
use a2a::model::decode::Decode;

pub use credentials::{KeyPlace, RemoteCredentials, RemoteKey, RemoteOAuth2};
pub use mcp::{McpChoice, McpServer, McpSettings, matches_pattern};

/// A remote agent as its table describes it, before secrets and variables are filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct Remote {
    /// The name, a slug.
    pub name: String,
    /// The table.
    pub table: Table,
    /// The secrets and variables in the table. Scripts use them to report the missing ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

/// The settings of a remote agent: its table with secrets and variables filled in.
#[derive(Clone)]
pub struct RemoteSettings {
    /// The settings of the client. The URL is empty for an agent of the same Worker.
    pub client: Settings,
    /// The slug, if the remote is an agent of the same Worker.
    pub agent: Option<Slug>,
    /// The credentials that are sent to the remote agent.
    pub credentials: RemoteCredentials,
}

/// The reason why a remote agent or an MCP server cannot be called: a secret or a variable is missing, or its value does not fit.
/// The text contains the name of the remote, and the key or the variable, but no values of secrets and variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMisfit(String);

impl fmt::Display for RemoteMisfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for RemoteMisfit {}

impl fmt::Debug for RemoteSettings {
    /// Omits the headers, which may contain secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("RemoteSettings");
        shown.field("url", &self.client.url).field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl Remote {
    /// Fills in the current values of secrets and variables.
    ///
    /// # Errors
    ///
    /// If a secret or a variable is not set, or its value does not fit its place.
    pub fn fill(&self, values: &dyn Values) -> Result<RemoteSettings, RemoteMisfit> {
        let what = || format!("the remote {}", self.name);
        fill(&self.table, values, what, RemoteSettings::read)
    }

    /// The problems of the table before secrets and variables are filled in, each with its key in the table and the fix.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        unfilled_problems(&self.table, RemoteSettings::read)
    }
}

impl RemoteSettings {
    /// The default settings for an agent of the same Worker.
    pub fn of_agent(slug: Slug) -> Self {
        Self {
            client: Settings::new(""),
            agent: Some(slug),
            credentials: RemoteCredentials::default(),
        }
    }

    /// Reads a table. Problems are collected in `keys`, and defaults replace invalid values.
    pub(crate) fn read(keys: &mut Reader<'_>) -> Self {
        keys.only(&KEYS);
        let url = keys.checked("url", |url| check_url_as(url, URL_RULE));
        let agent = keys.parsed("agent", Slug::parse);
        match (keys.has("url"), keys.has("agent")) {
            (true, true) => keys.report("agent", "stands beside `url`; keep one of the two"),
            (false, false) => {
                keys.report(
                    "url",
                    "is missing; an agent of this Worker is named by `agent` instead",
                );
            }
            (true, false) => {}
            (false, true) => {
                for key in KEYS_OF_OTHERS {
                    if keys.has(key) {
                        let fix = "is for agents on other servers; an agent of this Worker is called as the caller of the task";
                        keys.report(key, fix);
                    }
                }
            }
        }
        let mut client = Settings::new(url.unwrap_or_default());
        let mut set = |key: &str, value: &mut u64, least: u64, most: u64| {
            *value = keys.number(key, least, most).unwrap_or(*value);
        };
        set("timeout_ms", &mut client.timeout_ms, 1_000, DAY_MS);
        set("request_timeout_ms", &mut client.request_timeout_ms, 100, 600_000);
        set("poll_interval_ms", &mut client.poll_interval_ms, 100, 3_600_000);
        set("retry_delay_ms", &mut client.retry_delay_ms, 1, 30_000);
        let retries = keys.number("max_retries", 0, 10).and_then(|count| count.try_into().ok());
        client.max_retries = retries.unwrap_or(client.max_retries);
        client.headers = credentials::headers(keys, &credentials::OWN_HEADERS);
        client.version = keys.choice("version", &VERSIONS).flatten();
        client.binding = keys.choice("binding", &BINDINGS).flatten();
        client.streaming = keys.choice("streaming", &STREAMING).unwrap_or_default();
        client.allow_other_hosts = keys.flag("allow_other_hosts").unwrap_or_default();
        client.extensions = keys.texts("extensions");
        client.verify = keys.choice("verify", &VERIFY).unwrap_or_default();
        client.jwks_hosts = keys.texts("jwks_hosts");
        Self { client, agent, credentials: RemoteCredentials::read(keys) }
    }
}

/// Reads a table, with these values for secrets and variables.
fn fill<T>(
    table: &Table,
    values: &dyn Values,
    what: impl Fn() -> String,
    read: impl Fn(&mut Reader<'_>) -> T,
) -> Result<T, RemoteMisfit> {
    Reader::read_checked(table, Texts::Filled(values), read)
        .map_err(|problem| RemoteMisfit(format!("{}: {problem}", what())))
}

/// The problems of a table before secrets and variables are filled in.
#[cfg(any(test, feature = "checker"))]
fn unfilled_problems<T>(table: &Table, read: impl Fn(&mut Reader<'_>) -> T) -> Vec<Problem> {
    table.members().map_or_else(Vec::new, |table| Reader::read(table, Texts::Unfilled, read).1)
}

/// Checks the URL of another server. `rule` is the text of the problem.
fn check_url_as(url: &str, rule: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or(rule)?;
    let is_plain =
        url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !is_plain || host.is_empty() {
        return Err(rule.to_owned());
    }
    if host.contains('@') {
        return Err(
            "must hold no user name and no password; they have keys of their own".to_owned()
        );
    }
    if rest.contains('#') {
        return Err("must hold no #".to_owned());
    }
    Ok(())
}

const URL_RULE: &str = "must be the URL of an agent or of its card, as https://agent.example.com";

const KEYS: Keys = keys! {
    /// The URL of the agent, below which its card is found, or the URL of its card.
    "url",
    /// The slug of an agent of this Worker, in place of `url`.
    "agent",
    /// The total time of a call with its retries, in milliseconds; 300000 unless given.
    "timeout_ms",
    /// The time of a request until its response begins, and between two pieces of it, in milliseconds; 30000 unless given.
    "request_timeout_ms",
    /// The time between two GetTask calls to an agent that does not stream, in milliseconds; 1000 unless given.
    "poll_interval_ms",
    /// The maximum number of retries of a request whose failure may pass; 3 unless given.
    "max_retries",
    /// The time before the first retry, in milliseconds; 1000 unless given. It doubles, up to 30 s.
    "retry_delay_ms",
    /// The token, sent as `Authorization: Bearer`.
    "bearer_token",
    /// An API key.
    "api_key",
    /// Tokens from an authorization server, by client credentials (RFC 6749 §4.4).
    "oauth2",
    /// Headers of every request.
    "headers",
    /// The version of A2A, where the card is wrong about it; `auto` unless given.
    "version",
    /// The binding, where the card is wrong about it; `auto` unless given.
    "binding",
    /// `never` to poll an agent that streams; `auto` unless given.
    "streaming",
    /// True if an interface on another host than that of `url` may be called, without credentials; false unless given.
    "allow_other_hosts",
    /// Whether the card must have a valid signature; `never` unless given.
    "verify",
    /// Further hosts from which keys for signatures may come.
    "jwks_hosts",
    /// The URIs of extensions to use.
    "extensions",
};

/// The keys that are not allowed for an agent of this Worker.
const KEYS_OF_OTHERS: [&str; 9] = [
    "bearer_token",
    "api_key",
    "oauth2",
    "headers",
    "version",
    "binding",
    "allow_other_hosts",
    "verify",
    "jwks_hosts",
];

const VERSIONS: [(&str, Option<Dialect>); 4] = [
    ("auto", None),
    ("1.0", Some(Dialect::V1)),
    ("0.3", Some(Dialect::V0_3)),
    ("legacy", Some(Dialect::Legacy)),
];

const BINDINGS: [(&str, Option<Binding>); 3] =
    [("auto", None), ("JSONRPC", Some(Binding::JsonRpc)), ("HTTP+JSON", Some(Binding::Rest))];

const STREAMING: [(&str, Streaming); 2] = [("auto", Streaming::Auto), ("never", Streaming::Never)];

const VERIFY: [(&str, Verify); 3] =
    [("never", Verify::Never), ("if-signed", Verify::IfSigned), ("required", Verify::Required)];

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
