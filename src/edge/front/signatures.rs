//! The signatures of cards. Making them takes the platform's cryptography, which has to be waited for, so each card is
//! signed once per instance and its signatures are kept.

use std::cell::RefCell;
use std::rc::Rc;

use worker::Env;

use crate::edge::service::keys::{sign_with, signing_keys};
use crate::signing::CardSignatures;

/// A card that has to be signed before it goes to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnsignedCard {
    /// The card, which is JSON without signatures.
    pub(super) card: String,
    /// The origin below which its key set is found.
    pub(super) origin: String,
}

impl UnsignedCard {
    /// Its signatures as JSON, if it was signed before.
    pub(super) fn signatures(&self) -> Option<Rc<str>> {
        KEPT.with_borrow(|kept| {
            let found = kept.iter().find(|(card, _)| card == self);
            found.map(|(_, member)| member.clone())
        })
    }

    /// Signs it.
    ///
    /// # Errors
    ///
    /// Why it cannot be signed, for the log.
    pub(super) async fn sign(self, env: &Env) -> Result<(), String> {
        let keys = signing_keys(env).ok_or("there is no key to sign cards with")?;
        let wanted = CardSignatures::new(&self.card, &self.origin, &keys);
        let wanted = wanted.map_err(|error| format!("a card cannot be signed: {error}"))?;
        let mut signatures = Vec::new();
        for (key, input) in wanted.inputs() {
            signatures.push(sign_with(&keys, key, &input).await?);
        }
        let member = wanted.member(&signatures).into();
        KEPT.with_borrow_mut(|kept| {
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.retain(|(card, _)| *card != self);
            kept.push((self, member));
        });
        Ok(())
    }
}

/// How many signed cards are kept. Each agent has one for each of its origins, and one for each set of skills that
/// callers may use.
const MAX_KEPT: usize = 100;

thread_local! {
    static KEPT: RefCell<Vec<(UnsignedCard, Rc<str>)>> = const { RefCell::new(Vec::new()) };
}
