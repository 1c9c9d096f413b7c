//! The remembered data of an MCP server: its tools, and the protocol version that it speaks.

use a2a::model::{UnixMillis, read_own};
use futures_util::future::{Either, select};
use mcp::client::{Client, McpError, ToolList, Verdict};
use mcp::model::Tool;
use serde_json::{Value, json};

use a2a_agents::matches_pattern;

/// The tools of a server, and the protocol version that it speaks.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownTools {
    /// The era of the server, and its description of itself; `None` if the client has to request it.
    pub verdict: Option<Verdict>,
    /// The tools that may be called, in the order in which the server lists them.
    pub tools: Vec<Tool>,
    /// The instant at which the tools were fetched.
    pub listed: UnixMillis,
}

/// The result of a request for the tools, and how long it may be used.
pub struct ListedTools {
    /// The tools and the protocol version.
    pub known: KnownTools,
    /// How long the list is fresh according to the server, in milliseconds.
    pub fresh_ms: u64,
    /// The reason why tools are missing from the list, if any are.
    pub left_out: Option<String>,
}

impl KnownTools {
    /// Requests the tools of a server that these patterns allow; without patterns, all are allowed.
    ///
    /// # Errors
    ///
    /// If the server returns no list.
    pub async fn ask(client: &Client, allowed: &[String]) -> Result<ListedTools, McpError> {
        let clock = client.ports().clock.clone();
        let list = match select(Box::pin(client.list_tools()), clock.sleep(LIST_MS)).await {
            Either::Left((list, _)) => list?,
            Either::Right(_) => return Err(McpError::Timeout { timeout_ms: LIST_MS }),
        };
        let left_out = left_out(&list);
        let is_allowed = |tool: &Tool| {
            allowed.is_empty() || allowed.iter().any(|pattern| matches_pattern(pattern, &tool.name))
        };
        // The output schema is removed: results are not checked here.
        let tools = list.tools.into_iter().filter(is_allowed);
        let tools = tools.map(|tool| Tool { output_schema: None, ..tool }).collect();
        let verdict = client.verdict().filter(|verdict| verdict.is_settled);
        let listed = clock.now();
        let fresh_ms = list.ttl_ms.unwrap_or_default().clamp(LEAST_FRESH_MS, MOST_FRESH_MS);
        Ok(ListedTools { known: Self { verdict, tools, listed }, fresh_ms, left_out })
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The client with this verdict, so that it does not request what is known already.
    #[must_use]
    pub fn tell(&self, client: Client) -> Client {
        client.with_verdict(self.verdict.clone())
    }

    /// The stored form, in at most `most_bytes`. If it would be longer, large schemas are left out, since servers check
    /// arguments themselves; then the last tools.
    pub fn to_text(&self, most_bytes: usize) -> String {
        let verdict = self.verdict.as_ref().map(Verdict::to_json);
        let text = |tools: &[Value]| json!({"verdict": verdict, "tools": tools}).to_string();
        let whole: Vec<Value> = self.tools.iter().map(Tool::to_json).collect();
        let written = text(&whole);
        if written.len() <= most_bytes {
            return written;
        }
        let short = self.tools.iter().map(|tool| shortened(tool).to_json());
        let mut left = most_bytes.saturating_sub(text(&[]).len());
        let fits = |tool: &Value| {
            let room = left.checked_sub(tool.to_string().len() + 1);
            left = room.unwrap_or(left);
            room.is_some()
        };
        let kept: Vec<Value> = short
            .filter({
                let mut fits = fits;
                move |tool| fits(tool)
            })
            .collect();
        text(&kept)
    }

    /// Reads the stored form of tools that were fetched at this instant; `None` if this version cannot read it.
    pub fn read(text: &str, listed: UnixMillis) -> Option<Self> {
        let json: Value = read_own(text).ok()?;
        let tools = json.get("tools")?.as_array()?.iter().filter_map(Tool::read).collect();
        let verdict = json.get("verdict").and_then(Verdict::read);
        Some(Self { verdict, tools, listed })
    }
}

/// A tool without its schema if that is large. The schema stays if calls need it: it defines that arguments are sent in
/// headers.
fn shortened(tool: &Tool) -> Tool {
    let schema = tool.input_schema.to_string();
    if schema.len() > LARGE_SCHEMA_BYTES && !schema.contains("x-mcp-header") {
        Tool { input_schema: json!({"type": "object"}), ..tool.clone() }
    } else {
        tool.clone()
    }
}

/// The reason why tools of the server are missing from a list, if any are.
fn left_out(list: &ToolList) -> Option<String> {
    let dropped = list.dropped.first().map(|first| {
        let count = list.dropped.len();
        format!("{count} of them cannot be called; the first, {:?}: {}", first.name, first.reason)
    });
    dropped.or_else(|| list.cut.clone())
}

/// The time limit for a server to list its tools, in milliseconds.
const LIST_MS: u64 = 12_000;

/// The shortest time for which a list is fresh, regardless of its server: 5 minutes. Many servers send 0.
const LEAST_FRESH_MS: u64 = 5 * 60_000;

/// The longest time for which a list is fresh: a day.
const MOST_FRESH_MS: u64 = 24 * 60 * 60_000;

/// The size above which the input schema of a tool counts as large. Large schemas are left out of a stored list of tools that
/// would be too long.
const LARGE_SCHEMA_BYTES: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool::read(&json!({"name": name, "inputSchema": schema})).unwrap()
    }

    fn known(tools: Vec<Tool>) -> KnownTools {
        KnownTools { verdict: None, tools, listed: UnixMillis(7) }
    }

    #[test]
    fn what_is_remembered_is_read_again() {
        let verdict = json!({"revision": "2025-06-18", "at": 5});
        let known = KnownTools {
            verdict: Verdict::read(&verdict),
            ..known(vec![tool("a", json!({"type": "object", "x": 1})), tool("b.c/ü", json!({}))])
        };
        assert!(known.verdict.is_some());
        assert_eq!(KnownTools::read(&known.to_text(10_000), UnixMillis(7)).as_ref(), Some(&known));
        for other in ["", "{}", r#"{"tools": 5}"#] {
            assert_eq!(KnownTools::read(other, UnixMillis(7)), None, "{other}");
        }
    }

    #[test]
    fn a_list_without_room_loses_large_schemas_first_and_then_its_last_tools() {
        let large =
            |more: &str| json!({"type": "object", "description": "x".repeat(9_000), "note": more});
        let tools = vec![
            tool("large", large("")),
            tool("headers", large("x-mcp-header")),
            tool("small", json!({"a": 1})),
        ];
        let shown = |most: usize| {
            let text = known(tools.clone()).to_text(most);
            assert!(text.len() <= most, "{} {most}", text.len());
            let read = KnownTools::read(&text, UnixMillis(7)).unwrap();
            read.tools
                .iter()
                .map(|tool| (tool.name.clone(), tool.input_schema.to_string().len()))
                .collect::<Vec<_>>()
        };
        let names = |most: usize| shown(most).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(100_000), ["large", "headers", "small"]);
        assert!(shown(100_000)[0].1 > 9_000);
        assert_eq!(names(12_000), ["large", "headers", "small"]);
        assert_eq!(shown(12_000)[0].1, json!({"type": "object"}).to_string().len());
        assert!(shown(12_000)[1].1 > 9_000, "what a call needs is kept");
        assert_eq!(names(500), ["large", "small"]);
        assert_eq!(names(110), ["large"]);
    }
}
