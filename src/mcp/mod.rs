//! The MCP servers that this Worker calls by name: those of `remotes.toml`.
//!
//! Finds and describes the servers, and selects the tools that agents offer. `executor/mcp.rs` decides which requests are sent
//! and how; `edge/service/mcp_tools.rs` stores the tools of servers.

mod known;
mod offered;

use std::rc::Rc;

use futures_util::future::select;
use sha2::{Digest, Sha256};

use crate::remotes::{self, Learn};
use a2a::client::{Ports, Tokens};
use a2a::http::Http;
use a2a::model::hex;
use a2a_agents::{McpServer, McpSettings, Values, http_of};
use mcp::client::{Client, McpError, Settings};

pub use known::{KnownTools, ListedTools};
pub use offered::{Listed, Offered, offered, servers_of};

/// The MCP servers that this Worker calls by name.
#[derive(Default)]
pub struct McpServers {
    servers: Vec<McpServer>,
    /// The fetched tokens of the servers with `oauth2`.
    tokens: Rc<Tokens>,
}

/// A server with its client and its settings.
#[derive(Clone)]
pub struct FoundServer {
    /// The name of the server.
    pub name: String,
    /// The client of the server, with its credentials.
    pub client: Client,
    /// The key of the server's remembered tools: at most 80 bytes, without secrets.
    pub key: String,
    /// Patterns of the tools that may be called; empty for all.
    pub allowed: Vec<String>,
    /// True if the server's hints about repeated calls are trusted.
    pub trusts_hints: bool,
}

impl McpServers {
    /// A list with these servers.
    pub fn new(servers: Vec<McpServer>) -> Self {
        Self { servers, tokens: Rc::default() }
    }

    /// The server with this name, with secrets and variables filled in. `bound` makes the client for a service binding, `bounded`
    /// limits the settings of the server's client for this caller, and `learn` is called with each token that is fetched for the
    /// server.
    ///
    /// # Errors
    ///
    /// If there is no such server, or if a secret or a variable of it is not set or does not fit. The error contains no secret.
    pub fn find(
        &self,
        name: &str,
        values: &dyn Values,
        ports: Ports,
        bound: &dyn Fn(&str) -> Rc<dyn Http>,
        bounded: &dyn Fn(Settings) -> Settings,
        learn: Learn,
    ) -> Result<FoundServer, String> {
        let Some(server) = self.servers.iter().find(|server| server.name == name) else {
            let known = self.names().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none" } else { &known };
            return Err(format!("there is no MCP server {name:?}; there are: {known}"));
        };
        let filled = server.fill(values).map_err(|misfit| misfit.to_string())?;
        let McpSettings {
            url,
            service,
            headers,
            timeout_ms,
            call_timeout_ms,
            tools,
            trusts_hints,
            credentials,
        } = filled;
        let at = service.as_ref().map_or_else(|| url.clone(), |service| format!("{service} {url}"));
        let key = format!("mcp:{}", mark(name, &at, &tools));
        let settings = Settings { headers, timeout_ms, call_timeout_ms, ..Settings::new(url) };
        // Tokens come from an authorization server, which is no Worker of ours.
        let http = http_of(service.as_deref(), &ports.http, bound);
        let client = Client::new(bounded(settings), Ports { http, ..ports.clone() });
        let client = match remotes::credentials(credentials, ports, &self.tokens, learn) {
            Some(credentials) => client.with_credentials(credentials),
            None => client,
        };
        Ok(FoundServer { name: name.to_owned(), client, key, allowed: tools, trusts_hints })
    }

    /// The names of all servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }
}

impl FoundServer {
    /// Requests the tools of the server. `known` is the result of an earlier request.
    ///
    /// # Errors
    ///
    /// If the server returns no list.
    pub async fn ask(&self, known: Option<&KnownTools>) -> Result<ListedTools, McpError> {
        let client = self.client.clone();
        let client = match known {
            Some(known) => known.tell(client),
            None => client,
        };
        let listed = KnownTools::ask(&client, &self.allowed).await;
        // Ends the session of a server with the older protocol, so that the server does not have to keep it.
        let closing = client.ports().clock.sleep(CLOSE_MS);
        select(Box::pin(client.close()), closing).await;
        listed
    }
}

/// The time limit for a server with the older protocol to end its session, in milliseconds.
const CLOSE_MS: u64 = 1_000;

/// Identifies a list of tools by a hash: of its server, and of the patterns of allowed tools. URLs may contain secrets, and
/// nothing that is stored may contain these.
fn mark(name: &str, url: &str, allowed: &[String]) -> String {
    let mut digest = Sha256::new();
    for text in [name, url].into_iter().chain(allowed.iter().map(String::as_str)) {
        digest.update(text.len().to_be_bytes());
        digest.update(text);
    }
    hex(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_differ_in_anything_are_kept_apart() {
        let marks = [
            mark("a", "https://b", &[]),
            mark("ah", "ttps://b", &[]),
            mark("a", "https://b", &["*".to_owned()]),
            mark("a", "https://c", &[]),
        ];
        for (index, one) in marks.iter().enumerate() {
            assert!(marks.iter().skip(index + 1).all(|other| other != one));
        }
    }
}
