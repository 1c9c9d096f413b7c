//! MCP servers with names: the tables `[mcp.<name>]` of `remotes.toml`, and the choices of agents among their tools.

use std::fmt;

use serde::Serialize;

use super::credentials::{self, OWN_MCP_HEADERS};
#[cfg(any(test, feature = "checker"))]
use super::unfilled_problems;
use super::{RemoteCredentials, RemoteMisfit, check_url_as, fill};
#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::service::{check_path, check_service, service_url};
use crate::table::{Keys, Reader, keys};
use crate::{Need, Table, Values};
use a2a::model::decode::Decode;

/// An MCP server as its table describes it, before secrets and variables are filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct McpServer {
    /// The name, in the form of a slug.
    pub name: String,
    /// The table.
    pub table: Table,
    /// The secrets and variables in the table. Scripts use them to report the missing ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

/// The settings of an MCP server: its table with secrets and variables filled in.
#[derive(Clone)]
pub struct McpSettings {
    /// The URL to which requests are sent.
    pub url: String,
    /// The service binding of another Worker that receives the requests. With `None`, they go to the server of the URL.
    pub service: Option<String>,
    /// Headers of every request. They may contain secrets.
    pub headers: Vec<(String, String)>,
    /// The maximum time until a response begins, and between two pieces of it, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum duration of a call of a tool, in milliseconds.
    pub call_timeout_ms: u64,
    /// Patterns of the tools that may be called; if empty, all may be called.
    pub tools: Vec<String>,
    /// True if the server's hints decide about calls after a crash: a call is repeated if the tool only reads, or if
    /// the same call has no second effect.
    pub trusts_hints: bool,
    /// The credentials that are sent to the server.
    pub credentials: RemoteCredentials,
}

impl fmt::Debug for McpSettings {
    /// Omits the URL and the headers, which may contain secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("McpSettings").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl McpServer {
    /// Fills in the current values of secrets and variables.
    ///
    /// # Errors
    ///
    /// If a secret or a variable is not set, or its value does not fit its place.
    pub fn fill(&self, values: &dyn Values) -> Result<McpSettings, RemoteMisfit> {
        let what = || format!("the MCP server {}", self.name);
        fill(&self.table, values, what, McpSettings::read)
    }

    /// The patterns of the tools that may be called, as they are written in the table; if empty, all may be called.
    pub fn allowed(&self) -> Vec<String> {
        let listed = self.table.members().and_then(|table| table.get("tools"));
        let patterns = listed.and_then(serde_json::Value::as_array).into_iter().flatten();
        patterns.filter_map(|pattern| pattern.as_str().map(str::to_owned)).collect()
    }

    /// The problems of the table before secrets and variables are filled in, each with its key in the table and the
    /// fix.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        unfilled_problems(&self.table, McpSettings::read)
    }
}

impl McpSettings {
    /// Reads a table. Problems are collected in `keys`, and defaults replace invalid values.
    pub(crate) fn read(keys: &mut Reader<'_>) -> Self {
        keys.only(&KEYS);
        keys.one_server();
        let url = keys.checked("url", |url| check_url_as(url, URL_RULE));
        let service = keys.literal("service", check_service);
        let path = keys.checked("path", check_path);
        let bound = service.as_ref().map(|_| service_url(path.as_deref().unwrap_or("/")));
        Self {
            url: bound.or(url).unwrap_or_default(),
            service,
            headers: credentials::headers(keys, &OWN_MCP_HEADERS),
            timeout_ms: keys.number("timeout_ms", 100, 600_000).unwrap_or(TIMEOUT_MS),
            call_timeout_ms: keys
                .number("call_timeout_ms", 1_000, DAY_MS)
                .unwrap_or(CALL_TIMEOUT_MS),
            tools: keys.texts("tools"),
            trusts_hints: keys.flag("trust_hints").unwrap_or_default(),
            credentials: RemoteCredentials::read(keys),
        }
    }
}

/// A choice of tools of an MCP server: an element of `[executor.tools] mcp`, as `files` or `github:search_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpChoice<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The pattern of the chosen tools, in which `*` matches any text. `*` if the element contains none.
    pub pattern: &'a str,
}

impl<'a> McpChoice<'a> {
    /// Parses an element.
    ///
    /// ```
    /// use a2a_agents::McpChoice;
    ///
    /// assert_eq!(McpChoice::of("github:search_*"), McpChoice { server: "github", pattern: "search_*" });
    /// assert_eq!(McpChoice::of("files"), McpChoice { server: "files", pattern: "*" });
    /// ```
    pub fn of(written: &'a str) -> Self {
        let (server, pattern) = written.split_once(':').unwrap_or((written, "*"));
        Self { server, pattern }
    }

    /// True if the choice contains the tool with this name.
    pub fn takes(&self, tool: &str) -> bool {
        matches_pattern(self.pattern, tool)
    }
}

/// True if a name matches a pattern, in which `*` matches any text, also an empty one.
///
/// ```
/// use a2a_agents::matches_pattern;
///
/// assert!(matches_pattern("read_*", "read_file"));
/// assert!(matches_pattern("*", ""));
/// assert!(!matches_pattern("read_*", "unread_file"));
/// ```
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        // The first occurrence of a piece leaves the longest rest for the pieces after it.
        let Some(at) = left.find(piece) else { return false };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    left.ends_with(last)
}

const URL_RULE: &str = "must be the URL of an MCP server, as https://mcp.example.com/mcp";

const KEYS: Keys = keys! {
    /// The URL at which the server takes requests (streamable HTTP).
    "url",
    /// The service binding of another Worker that is the server, in place of `url`.
    "service",
    /// The path at the other Worker; `/` unless given.
    "path",
    /// The time of a request until its response begins, and between two pieces of it, in milliseconds; 60000 unless given.
    "timeout_ms",
    /// The time of a whole call of a tool, in milliseconds; 300000 unless given.
    "call_timeout_ms",
    /// The token, sent as `Authorization: Bearer`.
    "bearer_token",
    /// An API key.
    "api_key",
    /// Tokens from an authorization server, by client credentials (RFC 6749 §4.4).
    "oauth2",
    /// Headers of every request.
    "headers",
    /// The tools that may be called: names, or patterns with `*`; all unless given.
    "tools",
    /// True if the server's hints decide whether a call is repeated after a crash; false unless given.
    "trust_hints",
};

/// One minute.
const TIMEOUT_MS: u64 = 60_000;

/// Five minutes.
const CALL_TIMEOUT_MS: u64 = 300_000;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "anything at all", true),
            ("a*", "a", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("*c", "abcd", false),
            ("a*c", "abc", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("**", "x", true),
            ("*ab", "aab", true),
            ("*ä*", "xäy", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
