//! Makes the signatures of a card with the cryptography of the platform.

use worker::Env;

use crate::edge::front::deployment::Front;
use crate::edge::service::keys::{sign_with, signing_keys};
use crate::front::signed::UnsignedCard;
use crate::port::{Observation, Observer};
use crate::signing::CardSignatures;

impl Front {
    /// Signs a card, and keeps the signatures in the deployment. Returns false if the card cannot be signed; the reason
    /// is reported.
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
/// The reason why the card cannot be signed, for the log.
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
