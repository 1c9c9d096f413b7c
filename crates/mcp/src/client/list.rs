//! The tools of a server.

use a2a::model::{MAX_FOREIGN_VALUES, measure};
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use super::error::excerpt;
use super::params::param_headers;
use super::{Client, McpError};
use crate::model::{Tool, code};

/// The tools of a server, in the server's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolList {
    /// The tools that can be called.
    pub tools: Vec<Tool>,
    /// The time for which the list is fresh from now on, in milliseconds: the shortest time in its pages. `None` if no page
    /// contains a time. 0 means that the list is stale at once, but many servers send 0 without this meaning.
    pub ttl_ms: Option<u64>,
    /// True if the list is only for these credentials.
    pub is_private: bool,
    /// Tools that cannot be called, with the reasons; at most 100.
    pub dropped: Vec<Dropped>,
    /// The reason why the list lacks tools of the server; `None` if the list is complete.
    pub cut: Option<String>,
}

/// A tool of a list that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The name, cut if it is long; empty if the tool has none.
    pub name: String,
    /// The reason why the tool cannot be called.
    pub reason: String,
}

impl Client {
    /// The tools of the server, from all pages. A tool that violates a rule is left out, the others remain; a list without
    /// an end is cut.
    ///
    /// # Errors
    ///
    /// If the server cannot be called, or its answer is not a list.
    pub fn list_tools<'a>(&'a self) -> LocalBoxFuture<'a, Result<ToolList, McpError>> {
        Box::pin(async move {
            let listing = Box::pin(self.list());
            self.within(self.settings().call_timeout_ms, listing).await
        })
    }

    pub(super) fn list<'a>(&'a self) -> LocalBoxFuture<'a, Result<ToolList, McpError>> {
        Box::pin(async move {
            match self.list_once().await {
                // The list has changed between two pages, so the cursor is invalid.
                Err((true, McpError::Rpc { error, .. })) if error.code == code::INVALID_PARAMS => {
                    self.list_once().await.map_err(|(_, error)| error)
                }
                listed => listed.map_err(|(_, error)| error),
            }
        })
    }

    /// Reads the pages. The `bool` of an error is true if a page after the first one failed.
    fn list_once<'a>(&'a self) -> LocalBoxFuture<'a, Result<ToolList, (bool, McpError)>> {
        Box::pin(async move {
            let is_modern = self.is_modern().await.map_err(|error| (false, error))?;
            let mut reading = Reading::new(self, is_modern);
            let (mut cursor, mut cursors) = (None, Vec::new());
            for page in 0..self.settings().max_pages {
                let mut params = Map::new();
                params.extend(
                    cursor.take().map(|cursor: String| ("cursor".to_owned(), json!(cursor))),
                );
                let result = self.ask(self.plain("tools/list", params)).await;
                let result = match result {
                    Err(error) if page == 0 && self.has_no_tools(&error) => {
                        return Ok(ToolList::default());
                    }
                    result => result.map_err(|error| (page > 0, error))?,
                };
                let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                if !reading.page(result).map_err(|error| (false, error))? {
                    return Ok(reading.list);
                }
                let Some(next) = next else { return Ok(reading.list) };
                if cursors.contains(&next) {
                    return Ok(reading.cut("its pages lead in a circle".to_owned()));
                }
                cursors.push(next.clone());
                cursor = Some(next);
            }
            let reason = format!("it has more than {} pages", self.settings().max_pages);
            Ok(reading.cut(reason))
        })
    }

    /// True if the server refuses the method as unknown, and its capabilities do not contain tools.
    fn has_no_tools(&self, error: &McpError) -> bool {
        let says_none =
            self.verdict().is_some_and(|known| known.capabilities.get("tools").is_none());
        says_none && error.code() == Some(code::METHOD_NOT_FOUND)
    }
}

/// A list while its pages are read.
struct Reading {
    list: ToolList,
    is_modern: bool,
    max_tools: usize,
    left_bytes: usize,
    left_values: usize,
}

impl Reading {
    fn new(client: &Client, is_modern: bool) -> Self {
        let settings = client.settings();
        Self {
            list: ToolList::default(),
            is_modern,
            max_tools: settings.max_tools,
            left_bytes: settings.max_bytes,
            left_values: MAX_FOREIGN_VALUES,
        }
    }

    /// Adds the tools of a page. Returns true if more tools may be read.
    fn page(&mut self, result: Value) -> Result<bool, McpError> {
        let list = &mut self.list;
        if let Some(ttl) = result.get("ttlMs").and_then(Value::as_f64) {
            let ttl_ms = ttl.max(0.0) as u64;
            list.ttl_ms = Some(list.ttl_ms.map_or(ttl_ms, |known| known.min(ttl_ms)));
        }
        list.is_private |= result.get("cacheScope").and_then(Value::as_str) == Some("private");
        let Some(tools) = result.get("tools").and_then(Value::as_array) else {
            let reason = "the list of tools has no member \"tools\" that is a list";
            return Err(McpError::NotMcp(reason.to_owned()));
        };
        for json in tools {
            let (bytes, values) = measure(json);
            let tool = match self.judge(json, bytes) {
                Ok(Some(tool)) => tool,
                Ok(None) => continue,
                Err(reason) => {
                    self.drop(json, reason);
                    continue;
                }
            };
            if self.list.tools.len() >= self.max_tools {
                self.list.cut = Some(format!("it has more than {} tools", self.max_tools));
                return Ok(false);
            }
            let left_bytes = self.left_bytes.checked_sub(bytes);
            let left_values = self.left_values.checked_sub(values);
            let (Some(left_bytes), Some(left_values)) = (left_bytes, left_values) else {
                self.list.cut = Some("its tools are too large altogether".to_owned());
                return Ok(false);
            };
            (self.left_bytes, self.left_values) = (left_bytes, left_values);
            self.list.tools.push(tool);
        }
        Ok(true)
    }

    /// Checks and parses a tool; `None` for a tool that this client cannot call.
    fn judge(&self, json: &Value, bytes: usize) -> Result<Option<Tool>, String> {
        // The experimental tasks of 2025-11-25, which the extension has replaced, are not supported.
        let support = json.get("execution").and_then(|execution| execution.get("taskSupport"));
        if !self.is_modern && support.is_some_and(|support| support == "required") {
            return Ok(None);
        }
        if bytes > MAX_TOOL_BYTES {
            return Err(format!("its definition has more than {MAX_TOOL_BYTES} bytes"));
        }
        let Some(tool) = Tool::read(json) else {
            return Err("it has no name, or its inputSchema is no object".to_owned());
        };
        if tool.name.len() > MAX_NAME_BYTES {
            return Err(format!("its name has more than {MAX_NAME_BYTES} bytes"));
        }
        if self.list.tools.iter().any(|known| known.name == tool.name) {
            return Err("another tool of the server has the same name".to_owned());
        }
        if self.is_modern {
            param_headers(&tool.input_schema)?;
        }
        Ok(Some(tool))
    }

    fn drop(&mut self, json: &Value, reason: String) {
        let name = excerpt(json.get("name").and_then(Value::as_str).unwrap_or_default());
        if self.list.dropped.len() < MAX_DROPPED {
            self.list.dropped.push(Dropped { name, reason });
        }
    }

    fn cut(self, reason: String) -> ToolList {
        ToolList { cut: Some(reason), ..self.list }
    }
}

const MAX_NAME_BYTES: usize = 1_024;
const MAX_TOOL_BYTES: usize = 256 * 1_024;
const MAX_DROPPED: usize = 100;
