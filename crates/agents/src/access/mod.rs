//! The callers that an agent accepts: the table `[access]` of its file (spec §7, §4.5).

#[cfg(any(test, feature = "checker"))]
mod check;
#[cfg(any(test, feature = "checker"))]
mod declaration;
mod gate;
mod headers;
#[cfg(any(test, feature = "checker"))]
mod needs;
mod scheme;
mod url;

use serde::Serialize;

use a2a::model::decode::Decode;

pub use gate::{LimitedBy, RateLimit};
pub use headers::{ACT_AS, ADDRESS, ASSERTION, CERTIFICATE, ORIGIN};
pub use scheme::{
    ApiKey, Basic, CloudflareAccess, DeclaredAs, Jwt, JwtAlgorithm, JwtClaims, KeyLocation,
    MutualTls, OAuthFlow, Scheme, StaticBearer, StaticCaller,
};
pub use url::check_url;

use a2a::sorted::SortedMap;
#[cfg(any(test, feature = "checker"))]
use gate::PERIODS_S;
#[cfg(any(test, feature = "checker"))]
use scheme::MAX_LEEWAY_S;

#[cfg(any(test, feature = "checker"))]
pub(crate) use check::{is_same_scheme, problems_of};
#[cfg(any(test, feature = "checker"))]
pub(crate) use needs::{needs_of, secrets_of};

/// The callers that an agent accepts. An agent without schemes treats all callers as the same anonymous caller.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// True if the agent is served without schemes outside of development. Excludes `schemes`.
    pub open: bool,
    /// True if anonymous callers of an open agent may list its tasks without naming a context. Each of them sees the
    /// tasks of all.
    pub open_listing: bool,
    /// True if anonymous callers of an open agent may register webhooks.
    pub open_webhooks: bool,
    /// The schemes, by their names in the card. The name is part of the ids of callers.
    pub schemes: SortedMap<String, Scheme>,
    /// The alternative requirements, one of which a caller must fulfil. If empty, any one of the schemes is sufficient.
    pub requires: Vec<Requirement>,
    /// The claim whose value names the group of a caller. The callers of a group share their tasks.
    pub share_by: Option<String>,
    /// The permission of operators, who may read, cancel and redeliver the tasks of all callers.
    pub operator: String,
    /// The origins whose pages may call the agent, also with cookies. If empty, pages of all origins may call it
    /// without cookies.
    pub allowed_origins: Vec<String>,
    /// Limits of the rate of requests, by bindings in wrangler.toml.
    pub rate_limits: Vec<RateLimit>,
    /// True if a task that waits for credentials also reads them from the header `Authorization` of the next message.
    /// This has no effect if a scheme uses that header. Credentials in a part of the message are always read.
    pub authorization_is_for_task: bool,
}

/// A set of schemes, all of which must accept the caller, each with the scopes that the caller needs there.
pub type Requirement = SortedMap<String, Vec<String>>;

impl Default for Access {
    fn default() -> Self {
        Self {
            open: false,
            open_listing: false,
            open_webhooks: false,
            schemes: SortedMap::new(),
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
    /// True if callers need no credentials.
    pub fn is_anonymous(&self) -> bool {
        self.schemes.is_empty()
    }

    /// The alternative requirements, one of which a caller must fulfil: `requires`, or any one of the schemes.
    pub fn requirements(&self) -> Vec<Requirement> {
        if !self.requires.is_empty() {
            return self.requires.clone();
        }
        let alone = |name: &String| Requirement::from([(name.clone(), Vec::new())]);
        self.schemes.keys().map(alone).collect()
    }

    /// True if the header `Authorization` of a message contains credentials for its task: `authorization_is_for_task`
    /// is set, and no scheme reads that header. The checker refuses agents with both, but agents from the variable
    /// `AGENTS` are not checked by the checker.
    pub fn may_hand_authorization_to_tasks(&self) -> bool {
        let reads_it = |scheme: &Scheme| match scheme {
            Scheme::Bearer(_) | Scheme::Basic(_) => true,
            Scheme::Jwt(jwt) => jwt.cookie.is_none(),
            Scheme::ApiKey(_) | Scheme::CloudflareAccess(_) | Scheme::MutualTls(_) => false,
        };
        self.authorization_is_for_task && !self.schemes.values().any(reads_it)
    }

    /// True if the agent file has no table `[access]`.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
