//! The signatures of a card, which the platform's cryptography makes.

use worker::Env;

use crate::edge::front::deployment::Front;
use crate::edge::service::keys::{sign_with, signing_keys};
use crate::front::signed::UnsignedCard;
use crate::port::{Observation, Observer};
use crate::signing::CardSignatures;

impl Front {
    /// Signs a card; the deployment keeps its signatures. Returns false if it cannot be signed, which is reported.
    pub(super) async fn sign(&self, card: UnsignedCard) -> bool {
        match signatures(&self.env, &card).await {
            Ok(member) => {
                self.deployment.signed.keep(card, member.into());
                true
            }
            Err(reason) => {
                self.observer.observe(&Observation::KeyFailed { reason: &reason });
                false
            }
        }
    }
}

/// The signatures of a card as JSON.
///
/// # Errors
///
/// Why it cannot be signed, for the log.
async fn signatures(env: &Env, card: &UnsignedCard) -> Result<String, String> {
    let keys = signing_keys(env).ok_or("there is no key to sign cards with")?;
    let wanted = CardSignatures::new(&card.card, &card.origin, &keys);
    let wanted = wanted.map_err(|error| format!("a card cannot be signed: {error}"))?;
    let mut signatures = Vec::new();
    for (key, input) in wanted.inputs() {
        signatures.push(sign_with(&keys, key, &input).await?);
    }
    Ok(wanted.member(&signatures))
}
