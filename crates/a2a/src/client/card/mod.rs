//! The cards of other agents: fetching, caching, parsing and verifying.
//!
//! | module | content |
//! |---|---|
//! | `read` | parses cards of every version, translated to 1.0 |
//! | `security` | the authentication schemes of cards |
//! | `fetch` | the URLs of cards, redirects, validators |
//! | `memory` | a cache of cards in memory |
//! | `signature` | verifies the signatures of cards |

mod fetch;
mod memory;
mod read;
mod security;
mod signature;

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::retry::Retries;
use super::{Client, ClientError};
use crate::call::Call;
use crate::model::{
    AgentExtension, AgentInterface, AgentProvider, AgentSkill, SecurityRequirement, SecurityScheme,
};
use crate::sorted::SortedMap;
pub use fetch::CardText;
pub use memory::MemoryCards;
pub use signature::{Verifier, Verify};

/// The card of another agent, of any version, translated to 1.0.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteCard {
    /// The name of the agent.
    pub name: String,
    /// The description of the agent; may be empty.
    pub description: String,
    /// The version of the agent itself.
    pub version: String,
    /// The interfaces of the agent, the preferred one first; at least one. Interfaces of older cards have the version of the
    /// card: `0.3`, as written in the card, or `0.1`.
    pub interfaces: Vec<AgentInterface>,
    /// The organization that offers the agent.
    pub provider: Option<AgentProvider>,
    /// True if the agent supports streaming.
    pub streams: bool,
    /// True if the agent calls webhooks.
    pub sends_webhooks: bool,
    /// True if the agent has another card for authenticated callers: [`Client::extended_card`].
    pub has_extended_card: bool,
    /// The extensions that the agent supports.
    pub extensions: Vec<AgentExtension>,
    /// The default media types of the skills' inputs. The value `text` of 0.1 is read as `text/plain`.
    pub input_modes: Vec<String>,
    /// The default media types of the skills' outputs.
    pub output_modes: Vec<String>,
    /// The skills of the agent.
    pub skills: Vec<AgentSkill>,
    /// The authentication schemes, by names that the agent has chosen. Schemes and flows that 1.0 does not define are left
    /// out.
    pub security_schemes: SortedMap<String, SecurityScheme>,
    /// The alternatives by which a caller can authenticate; an empty list means that no credentials are required.
    pub security_requirements: Vec<SecurityRequirement>,
    /// The card as received, with its other members: icon, documentation, signatures, and members that the specification
    /// does not define.
    pub json: Value,
}

/// A source of cards for clients.
///
/// A source that stores cards outside of memory fetches them by [`Client::fetch_card_text`], stores the text under
/// [`Settings::card_key`](super::Settings::card_key), and parses it by [`RemoteCard::parse`].
pub trait CardSource {
    /// The card of the client's agent.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched or used.
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>>;
}

impl Client {
    /// The card of the agent, fetched or from the cache. A failure that [may pass](ClientError::may_pass) is retried
    /// according to the settings.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched or used. If the server refuses the card, the error is
    /// [`HttpError::Status`](crate::http::HttpError::Status), with the status.
    pub async fn card(&self) -> Result<Rc<RemoteCard>, ClientError> {
        let mut retries = Retries::new(&Call::Card, None);
        loop {
            match self.card_now().await {
                Ok(card) => return Ok(card),
                Err(error) => retries.wait(self, error.into()).await?,
            }
        }
    }

    /// The card of the agent, or `None` if the card cannot be fetched or used: a check for the existence of an agent,
    /// without retries.
    pub async fn discover(&self) -> Option<Rc<RemoteCard>> {
        self.card_now().await.ok()
    }

    /// One attempt to get the card, for callers that retry themselves.
    pub(super) async fn card_now(&self) -> Result<Rc<RemoteCard>, ClientError> {
        self.0.cards.card(self).await
    }
}
