//! Agent cards for clients of older versions.
//!
//! A card for an older version is the card of 1.0 with additional members, which clients of 1.0 ignore (A2A 0.3 §5.5). So
//! one document serves a client whose version is unknown.

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

/// The file name of a requested card, below `/.well-known/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardName {
    /// `agent-card.json`, the name since 0.3.
    AgentCard,
    /// `agent.json`, the name before 0.3.
    Agent,
}

impl CardName {
    /// Parses a file name.
    pub fn parse(file: &str) -> Option<Self> {
        match file {
            "agent-card.json" => Some(Self::AgentCard),
            "agent.json" => Some(Self::Agent),
            _ => None,
        }
    }
}

/// The dialect of the card for a request with this header `A2A-Version` and this query, if the agent has cards for
/// `dialects`. If the request names no version, the dialect is that of the oldest clients that use the file name, if the
/// agent supports it.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] if the agent has no card of the requested version (spec §3.6.2).
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

/// The information of older cards that a card of 1.0 does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OlderFacts {
    /// `capabilities.stateTransitionHistory`; left out if false.
    pub state_transition_history: bool,
}

impl Dialect {
    /// Translates a card of 1.0, given as JSON without signatures, to this dialect.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the text is not a card.
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

/// The kinds of authentication schemes: the member of 1.0, and the value of `type` in 0.3.
pub(crate) const KINDS: [(&str, &str); 5] = [
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("oauth2SecurityScheme", "oauth2"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
    ("mtlsSecurityScheme", "mutualTLS"),
];

/// The value of `protocolVersion` in cards of 0.3.
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
