//! The settings of a client: the server's URL, and how to call the server.

use std::fmt;

use a2a::client::MAX_DEPTH;
use a2a::http::trace::TraceContext;
use serde_json::{Map, Value};

use super::McpError;
use super::open::put;
use crate::model::TASKS_EXTENSION;

/// The URL of a server, and how to call the server. The defaults fit most uses.
#[derive(Clone, PartialEq)]
pub struct Settings {
    /// The URL of the server's endpoint: absolute, http or https. All requests are sent to this URL.
    pub url: String,
    /// The name of the client, which is sent to the server.
    pub name: String,
    /// The version of the client, which is sent with the name.
    pub version: String,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// The time of a request until the head of its answer has arrived, and then between two pieces of the answer, in
    /// milliseconds: 30,000. This limit does not apply to calls of tools, because a server may send nothing until its tool
    /// has run.
    pub timeout_ms: u64,
    /// The total time of a call of a tool, of a list with all its pages, and of any other request, in milliseconds: 300,000.
    pub call_timeout_ms: u64,
    /// The largest answer, and the largest event of a stream, in bytes: 4 MiB. A whole stream may have 16 times this size.
    pub max_bytes: usize,
    /// The largest number of pages of a list that are read: 50.
    pub max_pages: usize,
    /// The largest number of tools in a list: 1,000.
    pub max_tools: usize,
    /// True if the URL comes from an untrusted person: requests are then [guarded](a2a::http::HttpRequest::guarded).
    pub is_guarded: bool,
    /// The depth of this client's calls: the number of agent-to-agent calls before a call. `_meta` contains the depth
    /// ([`DEPTH_KEY`](a2a::client::DEPTH_KEY)), except 0, the depth of a program that is not an agent.
    pub depth: u32,
    /// The largest depth that is sent: 8.
    pub max_depth: u32,
    /// The trace of the calls, which is sent in `_meta`.
    pub trace: Option<TraceContext>,
    /// True (default) if the server may ask questions that are answered by forms. If any questions are allowed, a call
    /// to an older server with sessions needs one more request, for the stream on which many of these servers ask.
    pub takes_forms: bool,
    /// True (default) if the server may request that its user visits a URL.
    pub takes_urls: bool,
    /// True (default) if the server may continue calls as tasks (2026-07-28).
    pub takes_tasks: bool,
}

impl Settings {
    /// The settings for a server at this URL, with the defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            name: "a2a-edge".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            headers: Vec::new(),
            timeout_ms: 30_000,
            call_timeout_ms: 300_000,
            max_bytes: 4 * 1024 * 1024,
            max_pages: 50,
            max_tools: 1_000,
            is_guarded: false,
            depth: 0,
            max_depth: MAX_DEPTH,
            trace: None,
            takes_forms: true,
            takes_urls: true,
            takes_tasks: true,
        }
    }

    /// Checks that calls can be made with these settings.
    ///
    /// # Errors
    ///
    /// [`McpError::Settings`] for a URL that is not absolute, [`McpError::TooDeep`] for a depth over the limit.
    pub(super) fn check(&self) -> Result<(), McpError> {
        let (depth, limit) = (self.depth, self.max_depth);
        if depth > limit {
            return Err(McpError::TooDeep { depth, limit });
        }
        let rest = self.url.strip_prefix("https://").or_else(|| self.url.strip_prefix("http://"));
        let is_plain = self.url.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) {
            let reason = "the URL of the server must be an absolute one of http or https, as https://tools.example/mcp";
            return Err(McpError::Settings(reason.to_owned()));
        }
        Ok(())
    }

    /// True if the server may ask questions of any kind.
    pub(super) fn takes_questions(&self) -> bool {
        self.takes_forms || self.takes_urls
    }

    /// The name and the version of the client, in the form of both eras.
    pub(super) fn client_info(&self) -> Value {
        let mut info = Map::new();
        put(&mut info, "name", self.name.as_str().into());
        put(&mut info, "version", self.version.as_str().into());
        Value::Object(info)
    }

    /// The client's capabilities, in the form for servers of this era.
    pub(super) fn capabilities(&self, is_modern: bool) -> Value {
        let yes = || Value::Object(Map::new());
        let (mut capabilities, mut kinds, mut extensions) = (Map::new(), Map::new(), Map::new());
        for (is_taken, kind) in [(self.takes_forms, "form"), (self.takes_urls, "url")] {
            if is_taken {
                put(&mut kinds, kind, yes());
            }
        }
        if !kinds.is_empty() {
            put(&mut capabilities, "elicitation", Value::Object(kinds));
        }
        if is_modern && self.takes_tasks {
            put(&mut extensions, TASKS_EXTENSION, yes());
            put(&mut capabilities, "extensions", Value::Object(extensions));
        }
        Value::Object(capabilities)
    }
}

impl fmt::Debug for Settings {
    /// The values of headers and the query of the URL are left out: they may be secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        out.debug_struct("Settings")
            .field("url", &super::error::shown(&self.url))
            .field("headers", &names)
            .field("timeout_ms", &self.timeout_ms)
            .field("call_timeout_ms", &self.call_timeout_ms)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_show_no_secrets() {
        let headers = vec![("X-Key".to_owned(), "s3cret".to_owned())];
        let url = "https://me:s3cret@a.example/x?key=s3cret#s3cret";
        let shown = format!("{:?}", Settings { headers, ..Settings::new(url) });
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("https://a.example/x") && shown.contains("X-Key"), "{shown}");
    }

    #[test]
    fn only_absolute_urls_and_depths_within_the_limit_are_called() {
        for (url, is_right) in [
            ("https://a.example/mcp", true),
            ("http://localhost:3000", true),
            ("a.example/mcp", false),
            ("ftp://a.example", false),
            ("https://", false),
            ("https:///mcp", false),
            ("https://a.example/m cp", false),
        ] {
            assert_eq!(Settings::new(url).check().is_ok(), is_right, "{url}");
        }
        let deep = |depth| Settings { depth, ..Settings::new("https://a.example") }.check();
        assert_eq!(deep(8), Ok(()));
        assert_eq!(deep(9), Err(McpError::TooDeep { depth: 9, limit: 8 }));
    }

    #[test]
    fn a_client_declares_what_it_takes() {
        let settings = Settings::new("https://a.example");
        let forms = Settings { takes_urls: false, takes_tasks: false, ..settings.clone() };
        let nothing = Settings { takes_forms: false, ..forms.clone() };
        for (settings, is_modern, declared) in [
            (&settings, false, json!({"elicitation": {"form": {}, "url": {}}})),
            (
                &settings,
                true,
                json!({"elicitation": {"form": {}, "url": {}}, "extensions": {TASKS_EXTENSION: {}}}),
            ),
            (&forms, true, json!({"elicitation": {"form": {}}})),
            (&nothing, true, json!({})),
        ] {
            assert_eq!(settings.capabilities(is_modern), declared);
        }
    }
}
