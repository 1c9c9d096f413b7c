//! The cards of an agent, including the skills that only some callers can see.

use std::cell::OnceCell;

use crate::auth::Caller;
use a2a::InputModes;
use a2a::dialect::{Dialect, OlderFacts};
use a2a::error::Error;
use a2a::model::{Message, read_own};
use a2a_agents::{RestrictedSkill, extended_card};

/// The cards of an agent, in every dialect and for every caller.
#[derive(Debug)]
pub struct Cards {
    /// The card as JSON. [`a2a::binding::discovery::ORIGIN`] is the placeholder for the origin.
    pub card: String,
    /// The card in the form of older versions, built at the first request: for 0.3, and for the `tasks/send` family.
    older: [OnceCell<String>; 2],
    /// The media types on the card, read when the first message is compared with them.
    input_modes: OnceCell<InputModes>,
    /// The facts that only older cards contain.
    facts: OlderFacts,
    /// The skills that need permissions; the public card does not list them.
    pub restricted: Vec<RestrictedSkill>,
    /// The time of the last change, as an HTTP date.
    pub date: String,
    /// True if learned skills are still missing, so that clients should soon fetch the card again.
    pub is_partial: bool,
}

impl Cards {
    /// The cards of an agent with this public card.
    pub fn new(
        card: String,
        restricted: Vec<RestrictedSkill>,
        facts: OlderFacts,
        date: String,
    ) -> Self {
        Self {
            card,
            older: Default::default(),
            input_modes: OnceCell::new(),
            facts,
            restricted,
            date,
            is_partial: false,
        }
    }

    /// The cards of the same agent with other skills.
    pub(super) fn others(
        &self,
        card: String,
        restricted: Vec<RestrictedSkill>,
        date: String,
        is_partial: bool,
    ) -> Self {
        Self { is_partial, ..Self::new(card, restricted, self.facts, date) }
    }

    /// The card in a dialect, as JSON. [`a2a::binding::discovery::ORIGIN`] is the placeholder for the origin.
    ///
    /// # Errors
    ///
    /// Only for a card that the checker did not make.
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

    /// Checks that the card for a caller lists the media types of a message's parts (spec §3.1.1).
    ///
    /// # Errors
    ///
    /// [`Error::PartNotAccepted`].
    pub fn check_parts(&self, message: &Message, caller: &Caller) -> Result<(), Error> {
        let listed = self.input_modes.get_or_init(|| {
            // The card that the checker made can always be read.
            InputModes::of_card(&read_own(&self.card).unwrap_or_default())
        });
        let mut own = self.restricted.iter().filter(|skill| skill.is_for(|may| caller.may(may)));
        let Some(first) = own.next() else { return listed.check(message) };
        let mut listed = listed.clone();
        [first].into_iter().chain(own).for_each(|restricted| listed.add_skill(&restricted.skill));
        listed.check(message)
    }

    /// The extended card for a caller (spec §3.1.11) in a dialect: with the skills that the caller may use. The card is
    /// JSON in which [`a2a::binding::discovery::ORIGIN`] is the placeholder for the origin.
    ///
    /// # Errors
    ///
    /// [`Error::ExtendedAgentCardNotConfigured`] for an anonymous caller.
    pub fn extended(&self, caller: &Caller, dialect: Dialect) -> Result<String, Error> {
        if caller.is_anonymous() {
            return Err(Error::ExtendedAgentCardNotConfigured);
        }
        let card = extended_card(&self.card, &self.restricted, |wanted| caller.may(wanted));
        dialect.card(&card.map_err(|_| Error::Internal { task: None })?, self.facts)
    }
}
