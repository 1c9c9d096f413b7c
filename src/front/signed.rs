//! The cards that an instance has signed. Making a signature uses the cryptography of the platform, which has to be
//! awaited. So each card is signed once per instance, and its signatures are kept.

use std::cell::RefCell;
use std::rc::Rc;

/// A card that has to be signed before it is sent to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnsignedCard {
    /// The card as JSON without signatures.
    pub(crate) card: String,
    /// The origin of the URL at which clients find the keys for the signatures.
    pub(crate) origin: String,
}

/// The signatures that were made, each with its card.
#[derive(Default)]
pub(crate) struct SignedCards(RefCell<Vec<(UnsignedCard, Rc<str>)>>);

impl SignedCards {
    /// The signatures of a card as JSON, if it was signed before.
    pub(crate) fn find(&self, card: &UnsignedCard) -> Option<Rc<str>> {
        let kept = self.0.borrow();
        kept.iter().find(|(known, _)| known == card).map(|(_, member)| member.clone())
    }

    /// Keeps the signatures of a card.
    pub(crate) fn keep(&self, card: UnsignedCard, member: Rc<str>) {
        let mut kept = self.0.borrow_mut();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.retain(|(known, _)| *known != card);
        kept.push((card, member));
    }
}

/// The largest number of signed cards that are kept; all are dropped before one more is kept. Each agent has one card
/// for each of its origins, and one for each set of skills that a caller may use.
const MAX_KEPT: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_found_with_its_latest_signatures_until_too_many_are_kept() {
        let card = |number: usize| UnsignedCard {
            card: number.to_string(),
            origin: "https://a.example".to_owned(),
        };
        let cards = SignedCards::default();
        assert_eq!(cards.find(&card(0)), None);
        cards.keep(card(0), "old".into());
        cards.keep(card(0), "new".into());
        assert_eq!(cards.find(&card(0)).as_deref(), Some("new"));
        for number in 1..MAX_KEPT {
            cards.keep(card(number), "x".into());
        }
        assert_eq!(cards.find(&card(0)).as_deref(), Some("new"));
        cards.keep(card(MAX_KEPT), "x".into());
        assert_eq!(cards.find(&card(0)), None);
    }
}
