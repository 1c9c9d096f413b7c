//! The agents that this Worker calls by name: those of `remotes.toml`, and its own.
//!
//! Finds and describes the agents. `executor/calling.rs` decides which requests are sent and how.

mod credentials;

use std::rc::Rc;

pub(crate) use credentials::credentials;

use a2a::client::{Client, Ports, Settings, Tokens};
use a2a_agents::{Remote, RemoteSettings, Slug, Values};
pub use credentials::Learn;

/// The agents that this Worker calls by name.
#[derive(Default)]
pub struct Remotes {
    remotes: Vec<Remote>,
    /// The slugs of the agents of this Worker.
    slugs: Vec<Slug>,
    /// The fetched tokens of the remotes with `oauth2`.
    tokens: Rc<Tokens>,
}

/// An agent that is called by name.
pub enum Found {
    /// An agent of this Worker.
    Here {
        /// The slug of the agent.
        slug: Slug,
        /// The settings of the agent's client; the URL is empty.
        settings: Settings,
    },
    /// An agent elsewhere: its client, with its credentials.
    Elsewhere(Client),
}

impl Remotes {
    /// A list with these remotes, and with the agents of these slugs.
    pub fn new(remotes: Vec<Remote>, slugs: Vec<Slug>) -> Self {
        Self { remotes, slugs, tokens: Rc::default() }
    }

    /// The agent with this name, with a client if it is elsewhere. `bound` limits the settings of the client, and `learn` is
    /// called with each token that is sent to the agent.
    ///
    /// # Errors
    ///
    /// The errors of [`find`](Self::find).
    pub fn client(
        &self,
        name: &str,
        values: &dyn Values,
        ports: Ports,
        bound: &dyn Fn(Settings) -> Settings,
        learn: Learn,
    ) -> Result<Found, String> {
        let RemoteSettings { client, agent, credentials } = self.find(name, values)?;
        let settings = bound(client);
        if let Some(slug) = agent {
            return Ok(Found::Here { slug, settings });
        }
        let client = Client::new(settings, ports.clone());
        Ok(Found::Elsewhere(
            match self::credentials::credentials(credentials, ports, &self.tokens, learn) {
                Some(credentials) => client.with_credentials(credentials),
                None => client,
            },
        ))
    }

    /// The agent with this name: a remote, or else an agent of this Worker.
    ///
    /// # Errors
    ///
    /// If there is no such agent, or if a secret or a variable of it is not set or does not fit. The error contains no secret.
    pub fn find(&self, name: &str, values: &dyn Values) -> Result<RemoteSettings, String> {
        if let Some(remote) = self.remotes.iter().find(|remote| remote.name == name) {
            let settings = remote.fill(values).map_err(|misfit| misfit.to_string())?;
            return match &settings.agent {
                Some(slug) if !self.slugs.contains(slug) => Err(format!(
                    "the remote {name}: there is no agent {:?} in this Worker",
                    slug.as_str()
                )),
                _ => Ok(settings),
            };
        }
        if let Some(slug) = self.slugs.iter().find(|slug| **slug == *name) {
            return Ok(RemoteSettings::of_agent(slug.clone()));
        }
        let known: Vec<&str> = self.names().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(format!("there is no remote {name:?}; there are: {known}"))
    }

    /// True if this Worker has an agent with this slug.
    pub fn has_agent(&self, slug: &str) -> bool {
        self.slugs.iter().any(|known| *known == *slug)
    }

    /// True if there is an agent with this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// All names: those of remotes, then the slugs that are not the name of a remote.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let remotes = || self.remotes.iter().map(|remote| remote.name.as_str());
        let slugs = self.slugs.iter().map(Slug::as_str);
        remotes().chain(slugs.filter(move |slug| remotes().all(|name| name != *slug)))
    }
}
