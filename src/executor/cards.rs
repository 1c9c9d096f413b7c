//! What an agent shows of itself: its cards, and the skills that not everybody sees.

use std::cell::OnceCell;

use crate::auth::Caller;
use a2a::dialect::{Dialect, OlderFacts};
use a2a::error::Error;
use a2a_agents::{RestrictedSkill, extended_card};

/// The cards of an agent, in every dialect and for every caller.
#[derive(Debug)]
pub struct Cards {
    /// Its card as JSON, in which [`a2a::binding::discovery::ORIGIN`] stands for the origin.
    pub card: String,
    /// That card as older versions have it, made when it is first asked for: for 0.3, and for the `tasks/send` family.
    older: [OnceCell<String>; 2],
    /// What older cards say besides.
    facts: OlderFacts,
    /// The skills that need permissions, which that card does not show.
    pub restricted: Vec<RestrictedSkill>,
    /// When it changed last, as an HTTP date.
    pub date: String,
    /// Whether skills are missing that are learned, so that clients should soon ask again.
    pub is_partial: bool,
}

impl Cards {
    /// The cards that follow from this one.
    pub fn new(
        card: String,
        restricted: Vec<RestrictedSkill>,
        facts: OlderFacts,
        date: String,
    ) -> Self {
        Self { card, older: Default::default(), facts, restricted, date, is_partial: false }
    }

    /// Others of the same agent.
    pub(super) fn others(
        &self,
        card: String,
        restricted: Vec<RestrictedSkill>,
        date: String,
        is_partial: bool,
    ) -> Self {
        Self { is_partial, ..Self::new(card, restricted, self.facts, date) }
    }

    /// The card as a dialect has it. JSON, in which [`a2a::binding::discovery::ORIGIN`] stands for the origin.
    ///
    /// # Errors
    ///
    /// None with a card that the build made.
    pub fn card_in(&self, dialect: Dialect) -> Result<&str, Error> {
        let [v0_3, legacy] = &self.older;
        let kept = match dialect {
            Dialect::V1 => return Ok(&self.card),
            Dialect::V0_3 => v0_3,
            Dialect::Legacy => legacy,
        };
        if let Some(card) = kept.get() {
            return Ok(card);
        }
        let made = dialect.card(&self.card, self.facts)?;
        Ok(kept.get_or_init(|| made))
    }

    /// The card for a caller (spec §3.1.11) as a dialect has it: with the skills that the caller may use. JSON, in which
    /// [`a2a::binding::discovery::ORIGIN`] stands for the origin.
    ///
    /// # Errors
    ///
    /// [`Error::ExtendedAgentCardNotConfigured`] for a caller of whom nothing is known, who gets by without credentials.
    pub fn extended(&self, caller: &Caller, dialect: Dialect) -> Result<String, Error> {
        if caller.is_anonymous() {
            return Err(Error::ExtendedAgentCardNotConfigured);
        }
        let card = extended_card(&self.card, &self.restricted, |wanted| caller.may(wanted));
        dialect.card(&card.map_err(|_| Error::Internal { task: None })?, self.facts)
    }
}
