//! The cards of other agents: fetched, remembered, read and checked.
//!
//! | module | what is there |
//! |---|---|
//! | `read` | cards of every version, in the words of 1.0 |
//! | `security` | how callers prove who they are |
//! | `fetch` | where cards are, redirects, validators |
//! | `memory` | cards in memory |
//! | `signature` | who has signed them |

mod fetch;
mod memory;
mod read;
mod security;
mod signature;

use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::retry::Retries;
use super::{Client, ClientError};
use crate::call::Call;
use crate::model::{
    AgentExtension, AgentInterface, AgentProvider, AgentSkill, SecurityRequirement, SecurityScheme,
};
pub use fetch::CardText;
pub use memory::MemoryCards;
pub use signature::{Verifier, Verify};

/// The card of another agent, of any version, in the words of 1.0.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteCard {
    /// Its name.
    pub name: String,
    /// What it does; may be empty.
    pub description: String,
    /// The version of the agent itself.
    pub version: String,
    /// Where it answers, the preferred interface first; at least one. Those of older cards have the version of the card:
    /// `0.3`, as it says it, or `0.1`.
    pub interfaces: Vec<AgentInterface>,
    /// Who offers it.
    pub provider: Option<AgentProvider>,
    /// Whether it streams.
    pub streams: bool,
    /// Whether it sends webhooks.
    pub sends_webhooks: bool,
    /// Whether it has another card for those whom it knows: [`Client::extended_card`].
    pub has_extended_card: bool,
    /// Extensions that it knows.
    pub extensions: Vec<AgentExtension>,
    /// Media types that every skill takes unless it says otherwise. The word `text` of 0.1 is `text/plain`.
    pub input_modes: Vec<String>,
    /// Media types that every skill gives unless it says otherwise.
    pub output_modes: Vec<String>,
    /// What it can do.
    pub skills: Vec<AgentSkill>,
    /// How callers prove who they are, by names of the agent's own. Schemes and flows that 1.0 does not know are left out.
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// What a caller must pass, one of these; without any, everybody is let in.
    pub security_requirements: Vec<SecurityRequirement>,
    /// The card as it came, with all else that it says: icon, documentation, signatures, members of its own.
    pub json: Value,
}

/// Where clients have cards from.
///
/// One that remembers cards elsewhere than in memory fetches them by [`Client::fetch_card_text`], keeps the text under
/// [`Settings::card_key`](super::Settings::card_key), and reads it by [`RemoteCard::parse`].
pub trait CardSource {
    /// The card of the agent of a client.
    ///
    /// # Errors
    ///
    /// If it cannot be had or used.
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>>;
}

impl Client {
    /// The card of the agent, fetched or remembered. A failure that [may pass](ClientError::may_pass) is tried again as the
    /// settings say.
    ///
    /// # Errors
    ///
    /// If it cannot be had or used. One that the server refuses is
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

    /// The card of the agent, or nothing if it cannot be had or used: for finding out whether there is an agent. Nothing is tried
    /// again.
    pub async fn discover(&self) -> Option<Rc<RemoteCard>> {
        self.card_now().await.ok()
    }

    /// One attempt to have the card, for those who try again themselves.
    pub(super) async fn card_now(&self) -> Result<Rc<RemoteCard>, ClientError> {
        self.0.cards.card(self).await
    }
}
