//! MCP servers by name: the tables `[mcp.<name>]` of `remotes.toml`, and what agents take of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::credentials::{self, OWN_MCP_HEADERS};
#[cfg(any(test, feature = "build"))]
use super::unfilled_problems;
use super::{RemoteCredentials, RemoteMisfit, check_url_as, fill};
#[cfg(any(test, feature = "build"))]
use crate::Problem;
use crate::table::Reader;
use crate::{Need, Table, Values};

/// An MCP server, as its table describes it. Its texts are not filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServer {
    /// Its name, written as a slug is.
    pub name: String,
    /// What its table says.
    pub table: Table,
    /// The secrets and variables in it, for the scripts that name those that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

/// How an MCP server is called: its table with secrets and variables.
#[derive(Clone)]
pub struct McpSettings {
    /// Where it takes requests.
    pub url: String,
    /// Headers of every request. They may hold secrets.
    pub headers: Vec<(String, String)>,
    /// How long one request may take until its answer begins, and each piece of an answer, in milliseconds.
    pub timeout_ms: u64,
    /// How long a whole call of a tool may take, in milliseconds.
    pub call_timeout_ms: u64,
    /// Patterns of the tools that may be called; none allow all.
    pub tools: Vec<String>,
    /// Whether a call may be repeated after a crash if the server says that the tool reads only, or that the same call
    /// again has no further effect.
    pub trusts_hints: bool,
    /// What shows it who calls.
    pub credentials: RemoteCredentials,
}

impl fmt::Debug for McpSettings {
    /// Without URL and headers, which may hold secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("McpSettings").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl McpServer {
    /// How it is called, with the secrets and variables as they are now.
    ///
    /// # Errors
    ///
    /// If one of them is not set, or does not fit where it stands.
    pub fn fill(&self, values: &dyn Values) -> Result<McpSettings, RemoteMisfit> {
        let what = || format!("the MCP server {}", self.name);
        fill(&self.table, values, what, McpSettings::read)
    }

    /// The patterns of the tools that may be called, as far as they need no secret or variable; none allow all.
    pub fn allowed(&self) -> Vec<String> {
        let listed = self.table.members().and_then(|table| table.get("tools"));
        let patterns = listed.and_then(serde_json::Value::as_array).into_iter().flatten();
        patterns.filter_map(|pattern| pattern.as_str().map(str::to_owned)).collect()
    }

    /// What is wrong with it as it is written, each with its key below the table, and the fix.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        unfilled_problems(&self.table, McpSettings::read)
    }
}

impl McpSettings {
    /// Reads a table; what is wrong with it collects in `keys`, and its default stands in its place.
    fn read(keys: &mut Reader<'_>) -> Self {
        keys.only(&KEYS);
        keys.need("url", "");
        let url = keys.checked("url", |url| check_url_as(url, URL_RULE));
        Self {
            url: url.unwrap_or_default(),
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

/// What an agent takes of an MCP server: an element of `[executor.tools] mcp`, as `files` or `github:search_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpChoice<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The tools that are taken: a name in which `*` stands for any text. All, if nothing is said.
    pub pattern: &'a str,
}

impl<'a> McpChoice<'a> {
    /// The one that is written like this.
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

    /// Whether it takes the tool of this name.
    pub fn takes(&self, tool: &str) -> bool {
        matches_pattern(self.pattern, tool)
    }
}

/// Whether a name is one of those that a pattern stands for, in which `*` is any text, also none.
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
        // The first place at which a piece stands leaves the most for those behind it.
        let Some(at) = left.find(piece) else { return false };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    left.ends_with(last)
}

const URL_RULE: &str = "must be the URL of an MCP server, as https://mcp.example.com/mcp";

const KEYS: [&str; 9] = [
    "url",
    "timeout_ms",
    "call_timeout_ms",
    "bearer_token",
    "api_key",
    "oauth2",
    "headers",
    "tools",
    "trust_hints",
];

/// A minute.
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
