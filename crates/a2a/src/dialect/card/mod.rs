//! Agent cards for clients of older versions.
//!
//! The card of 1.0 is the one that is made; the others have what it says and the members of the older versions
//! besides, which clients of 1.0 do not read (A2A 0.3 §5.5). So one document serves a client of which no version is known.

mod members;
mod reader;

use serde_json::Value;

use super::mistake::no_card;
use super::version::{is_0_3, is_1_x, requested_version};
use super::{Dialect, Dialects};
use crate::error::Error;
use crate::model::read_own;
#[cfg(test)]
pub(crate) use members::tests::card as card_of_1_0;
pub(crate) use reader::{as_0_3, as_1_0};

/// The name under which a card is asked for, below `/.well-known/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardName {
    /// `agent-card.json`, the name since 0.3.
    AgentCard,
    /// `agent.json`, the name before.
    Agent,
}

impl CardName {
    /// The name that this is.
    pub fn parse(file: &str) -> Option<Self> {
        match file {
            "agent-card.json" => Some(Self::AgentCard),
            "agent.json" => Some(Self::Agent),
            _ => None,
        }
    }
}

/// The dialect of the card for a request with this header `A2A-Version` and this query, from an agent that shows `dialects`
/// in its cards. If neither names a version, it is that of the oldest clients that know the name, if the agent speaks it.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] if the agent has no card of that version (spec §3.6.2).
pub fn dialect_of_card(
    name: CardName,
    header: Option<&str>,
    query: &str,
    dialects: &Dialects,
) -> Result<Dialect, Error> {
    match requested_version(header, query).as_deref() {
        Some(version) if is_1_x(version) => Ok(Dialect::V1),
        Some(version) if is_0_3(version) && dialects.v0_3 => Ok(Dialect::V0_3),
        Some(version) => Err(no_card(version, dialects)),
        None if name == CardName::Agent && dialects.legacy => Ok(Dialect::Legacy),
        None if dialects.v0_3 => Ok(Dialect::V0_3),
        None => Ok(Dialect::V1),
    }
}

/// What a card of 1.0 does not say, and older ones do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OlderFacts {
    /// `capabilities.stateTransitionHistory`; left out if it is false.
    pub state_transition_history: bool,
}

impl Dialect {
    /// A card of 1.0, given as JSON without signatures, as this dialect has it.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it is no card.
    pub fn card(self, card: &str, facts: OlderFacts) -> Result<String, Error> {
        let broken = || Error::Internal { task: None };
        if self.is_v1() {
            return Ok(card.to_owned());
        }
        let mut card: Value = read_own(card).map_err(|_| broken())?;
        let members = card.as_object_mut().ok_or_else(broken)?;
        members::add_older(members, facts);
        if self == Self::Legacy {
            members::add_oldest(members);
        }
        Ok(card.to_string())
    }
}

/// The kinds of schemes: the member of 1.0, and what `type` says in 0.3.
pub(crate) const KINDS: [(&str, &str); 5] = [
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("oauth2SecurityScheme", "oauth2"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
    ("mtlsSecurityScheme", "mutualTLS"),
];

/// What cards of 0.3 say of their version.
const VERSION_0_3: &str = "0.3.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_of_1_0_is_served_as_it_is() {
        let text = "no card at all";
        assert_eq!(Dialect::V1.card(text, OlderFacts::default()).as_deref(), Ok(text));
        assert!(Dialect::V0_3.card(text, OlderFacts::default()).is_err());
        assert!(Dialect::V0_3.card("[]", OlderFacts::default()).is_err());
    }

    #[test]
    fn the_version_and_the_name_say_which_card_it_is() {
        use CardName::{Agent, AgentCard};
        use Dialect::{Legacy, V0_3, V1};
        let only = |v0_3, legacy| Dialects { v0_3, legacy, ..Dialects::NONE };
        let none = Dialects::NONE;
        for (name, version, dialects, expected) in [
            (AgentCard, None, Dialects::ALL, Some(V0_3)),
            (AgentCard, Some(""), Dialects::ALL, Some(V0_3)),
            (AgentCard, Some("0.3"), Dialects::ALL, Some(V0_3)),
            (AgentCard, Some("0.3.0"), Dialects::ALL, Some(V0_3)),
            (AgentCard, Some("1.0"), Dialects::ALL, Some(V1)),
            (AgentCard, Some("1.7.2"), none, Some(V1)),
            (AgentCard, None, only(false, true), Some(V1)),
            (AgentCard, None, none, Some(V1)),
            (AgentCard, Some("0.3"), none, None),
            (AgentCard, Some("0.2"), Dialects::ALL, None),
            (AgentCard, Some("99.0"), Dialects::ALL, None),
            (AgentCard, Some("1."), Dialects::ALL, None),
            (AgentCard, Some("abc"), Dialects::ALL, None),
            (Agent, None, Dialects::ALL, Some(Legacy)),
            (Agent, None, only(false, true), Some(Legacy)),
            (Agent, None, only(true, false), Some(V0_3)),
            (Agent, None, none, Some(V1)),
            (Agent, Some("1.0"), Dialects::ALL, Some(V1)),
            (Agent, Some("0.3"), Dialects::ALL, Some(V0_3)),
            (Agent, Some("0.1"), Dialects::ALL, None),
        ] {
            let found = dialect_of_card(name, version, "", &dialects);
            assert_eq!(found.ok(), expected, "{name:?} {version:?} {dialects:?}");
        }
        let by_query = dialect_of_card(AgentCard, None, "a2a-version=1.0", &Dialects::ALL);
        assert_eq!(by_query, Ok(V1));
        let refused = dialect_of_card(AgentCard, Some("99.0"), "", &Dialects::ALL);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "this agent has no card of A2A 99.0; it has cards of 1.0 and 0.3: send A2A-Version: 1.0 or 0.3, or no version"
        );
    }
}
