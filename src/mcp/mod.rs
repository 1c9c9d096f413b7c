//! The MCP servers that this Worker calls by name: those of `remotes.toml`.
//!
//! It finds and describes them, and says what agents offer of their tools. Who calls them, and how requests get there, is
//! said by `executor/mcp.rs`; what servers offer is kept by `edge/service/mcp_tools.rs`.

mod known;
mod offered;

use std::rc::Rc;

use futures_util::future::select;
use sha2::{Digest, Sha256};

use crate::remotes::{self, Learn};
use a2a::client::{Ports, Tokens};
use a2a::model::hex;
use a2a_agents::{McpServer, McpSettings, Values};
use mcp::client::{Client, McpError, Settings};

pub use known::{KnownTools, ListedTools};
pub use offered::{Listed, Offered, offered, servers_of};

/// The MCP servers that this Worker calls by name.
#[derive(Default)]
pub struct McpServers {
    servers: Vec<McpServer>,
    /// The tokens that were fetched for those with `oauth2`.
    tokens: Rc<Tokens>,
}

/// A server that is called, and what is said about it.
#[derive(Clone)]
pub struct FoundServer {
    /// Its name.
    pub name: String,
    /// Calls it, with its credentials.
    pub client: Client,
    /// By which its tools are remembered; at most 80 bytes, and nothing secret.
    pub key: String,
    /// Patterns of the tools that may be called; none allow all.
    pub allowed: Vec<String>,
    /// Whether its hints about repeated calls are trusted.
    pub trusts_hints: bool,
}

impl McpServers {
    /// These servers.
    pub fn new(servers: Vec<McpServer>) -> Self {
        Self { servers, tokens: Rc::default() }
    }

    /// The server of this name, with secrets and variables filled in. `bounded` makes the settings of its client fit who calls,
    /// and `learn` is told each token that is fetched for it.
    ///
    /// # Errors
    ///
    /// If there is none, or a secret or a variable that it needs is not set or does not fit. The text has no secret.
    pub fn find(
        &self,
        name: &str,
        values: &dyn Values,
        ports: Ports,
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
            headers,
            timeout_ms,
            call_timeout_ms,
            tools,
            trusts_hints,
            credentials,
        } = filled;
        let key = format!("mcp:{}", mark(name, &url, &tools));
        let settings = Settings { headers, timeout_ms, call_timeout_ms, ..Settings::new(url) };
        let client = Client::new(bounded(settings), ports.clone());
        let client = match remotes::credentials(credentials, ports, &self.tokens, learn) {
            Some(credentials) => client.with_credentials(credentials),
            None => client,
        };
        Ok(FoundServer { name: name.to_owned(), client, key, allowed: tools, trusts_hints })
    }

    /// Every name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }
}

impl FoundServer {
    /// Asks the server what it offers. `known` is what was known of it.
    ///
    /// # Errors
    ///
    /// If it gives no list.
    pub async fn ask(&self, known: Option<&KnownTools>) -> Result<ListedTools, McpError> {
        let client = self.client.clone();
        let client = match known {
            Some(known) => known.tell(client),
            None => client,
        };
        let listed = KnownTools::ask(&client, &self.allowed).await;
        // An older server need not keep its session.
        let closing = client.ports().clock.sleep(CLOSE_MS);
        select(Box::pin(client.close()), closing).await;
        listed
    }
}

/// How long an older server has to end its session, in milliseconds.
const CLOSE_MS: u64 = 1_000;

/// What tells one list of tools from others: who offers it, and what of it is kept. URLs may hold secrets, which nothing that
/// is stored does.
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
