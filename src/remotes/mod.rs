//! The agents that this Worker calls by name: those of `remotes.toml`, and its own.
//!
//! It finds and describes them. Who calls them, and how requests get there, is said by `executor/calling.rs`.

mod credentials;

use std::rc::Rc;

pub(crate) use credentials::credentials;

use a2a::client::{Client, Ports, Settings, Tokens};
use a2a_agents::{Remote, RemoteSettings, Values};
pub use credentials::Learn;

/// The agents that this Worker calls by name.
#[derive(Default)]
pub struct Remotes {
    remotes: Vec<Remote>,
    /// The slugs of the agents of this Worker.
    slugs: Vec<String>,
    /// The tokens that were fetched for those with `oauth2`.
    tokens: Rc<Tokens>,
}

/// An agent that is called by name.
pub enum Found {
    /// One of this Worker.
    Here {
        /// Its slug.
        slug: String,
        /// How it is called; the URL is empty.
        settings: Settings,
    },
    /// One elsewhere: its client, with its credentials.
    Elsewhere(Client),
}

impl Remotes {
    /// These remotes, and agents of these slugs.
    pub fn new(remotes: Vec<Remote>, slugs: Vec<String>) -> Self {
        Self { remotes, slugs, tokens: Rc::default() }
    }

    /// The agent of this name, with a client if it is elsewhere. `bound` bounds the settings of the client, and `learn` is told each
    /// token that was fetched for it, when it is shown.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
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

    /// The agent of this name: a remote, else an agent of this Worker.
    ///
    /// # Errors
    ///
    /// If there is none, or a secret or a variable that it needs is not set or does not fit. The text has no secret.
    pub fn find(&self, name: &str, values: &dyn Values) -> Result<RemoteSettings, String> {
        if let Some(remote) = self.remotes.iter().find(|remote| remote.name == name) {
            let settings = remote.fill(values).map_err(|misfit| misfit.to_string())?;
            return match &settings.agent {
                Some(slug) if !self.slugs.contains(slug) => {
                    Err(format!("the remote {name}: there is no agent {slug:?} in this Worker"))
                }
                _ => Ok(settings),
            };
        }
        if self.slugs.iter().any(|slug| slug == name) {
            return Ok(RemoteSettings::of_agent(name));
        }
        let known: Vec<&str> = self.names().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(format!("there is no remote {name:?}; there are: {known}"))
    }

    /// Whether there is an agent of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Every name: those of remotes, then the slugs that no remote has as its name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let remotes = || self.remotes.iter().map(|remote| remote.name.as_str());
        let slugs = self.slugs.iter().map(String::as_str);
        remotes().chain(slugs.filter(move |slug| remotes().all(|name| name != *slug)))
    }
}
