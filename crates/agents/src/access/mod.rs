//! Who may call an agent: the table `[access]` of its file (spec §7, §4.5).

#[cfg(any(test, feature = "build"))]
mod check;
#[cfg(any(test, feature = "build"))]
mod declaration;
mod gate;
#[cfg(any(test, feature = "build"))]
mod needs;
mod scheme;
mod url;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use gate::{LimitedBy, RateLimit};
pub use scheme::{
    ApiKey, Basic, CloudflareAccess, DeclaredAs, Jwt, JwtAlgorithm, JwtClaims, KeyLocation,
    MutualTls, OAuthFlow, Scheme, StaticBearer, StaticCaller,
};
pub use url::check_url;

#[cfg(any(test, feature = "build"))]
pub(crate) use check::{is_same_scheme, problems_of};
#[cfg(any(test, feature = "build"))]
pub(crate) use needs::{needs_of, secrets_of};

/// Who may call an agent. An agent without schemes takes everybody as the same anonymous caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// Whether the agent is served without schemes outside of development. Not together with `schemes`.
    pub open: bool,
    /// Whether anonymous callers of an open agent may list its tasks without naming a context: everybody sees all
    /// of them.
    pub open_listing: bool,
    /// Whether anonymous callers of an open agent may register webhooks.
    pub open_webhooks: bool,
    /// The schemes, by the names that the card gives them. The name is part of the ids of callers.
    pub schemes: BTreeMap<String, Scheme>,
    /// What a caller must pass: one of these. Without it, any one of the schemes.
    pub requires: Vec<Requirement>,
    /// The claim whose value names the group of a caller. The callers of a group share their tasks.
    pub share_by: Option<String>,
    /// The permission of operators, who may read, cancel and redeliver the tasks of all callers.
    pub operator: String,
    /// The origins whose pages may call the agent, also with cookies. Without any, pages of all origins may, without
    /// cookies.
    pub allowed_origins: Vec<String>,
    /// Guards against too many requests, by bindings in wrangler.toml.
    pub rate_limits: Vec<RateLimit>,
    /// Whether a task that waits for credentials takes them from the `Authorization` header of the next message,
    /// where no scheme uses that header. Those in a part of the message are always taken.
    pub authorization_is_for_task: bool,
}

/// One way to be let in: every scheme in it has to pass, and the caller needs these scopes of each.
pub type Requirement = BTreeMap<String, Vec<String>>;

impl Default for Access {
    fn default() -> Self {
        Self {
            open: false,
            open_listing: false,
            open_webhooks: false,
            schemes: BTreeMap::new(),
            requires: Vec::new(),
            share_by: None,
            operator: "operator".to_owned(),
            allowed_origins: Vec::new(),
            rate_limits: Vec::new(),
            authorization_is_for_task: false,
        }
    }
}

impl Access {
    /// Whether callers need no credentials.
    pub fn is_anonymous(&self) -> bool {
        self.schemes.is_empty()
    }

    /// What a caller must pass, one of these: `requires`, or any one of the schemes.
    pub fn requirements(&self) -> Vec<Requirement> {
        if !self.requires.is_empty() {
            return self.requires.clone();
        }
        let alone = |name: &String| Requirement::from([(name.clone(), Vec::new())]);
        self.schemes.keys().map(alone).collect()
    }

    /// Whether a message's header `Authorization` is for its task: `authorization_is_for_task` says so, and no scheme
    /// reads that header. Agents that were not built here may say both.
    pub fn may_hand_authorization_to_tasks(&self) -> bool {
        let reads_it = |scheme: &Scheme| match scheme {
            Scheme::Bearer(_) | Scheme::Basic(_) => true,
            Scheme::Jwt(jwt) => jwt.cookie.is_none(),
            Scheme::ApiKey(_) | Scheme::CloudflareAccess(_) | Scheme::MutualTls(_) => false,
        };
        self.authorization_is_for_task && !self.schemes.values().any(reads_it)
    }

    /// Whether nothing is said about access.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
