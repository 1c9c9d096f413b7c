//! What an agent shows of itself: its cards, and the skills that not everybody sees.

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
    /// Its card as JSON, in which [`a2a::binding::discovery::ORIGIN`] stands for the origin.
    pub card: String,
    /// That card as older versions have it, made when it is first asked for: for 0.3, and for the `tasks/send` family.
    older: [OnceCell<String>; 2],
    /// The media types that it lists, read when a message is first compared with them.
    input_modes: OnceCell<InputModes>,
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

    /// Whether the card for a caller lists the media types of a message's parts (spec §3.1.1).
    ///
    /// # Errors
    ///
    /// [`Error::PartNotAccepted`].
    pub fn check_parts(&self, message: &Message, caller: &Caller) -> Result<(), Error> {
        let listed = self.input_modes.get_or_init(|| {
            // A card that the build made can be read.
            InputModes::of_card(&read_own(&self.card).unwrap_or_default())
        });
        let mut own = self.restricted.iter().filter(|skill| skill.is_for(|may| caller.may(may)));
        let Some(first) = own.next() else { return listed.check(message) };
        let mut listed = listed.clone();
        [first].into_iter().chain(own).for_each(|restricted| listed.add_skill(&restricted.skill));
        listed.check(message)
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
