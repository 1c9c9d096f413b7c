//! A cache of cards in memory.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{CardSource, CardText, RemoteCard};
use crate::client::{Client, ClientError, Ports};
use crate::model::UnixMillis;
use crate::port::Clock;
use crate::sorted::SortedMap;

/// Fetches cards and caches them in memory as long as they are fresh: 5 minutes, unless the server sends another time. For a
/// card that is no longer fresh, the client sends a conditional request, so an unchanged card is not sent again.
///
/// Clients may share a cache: clients with the same URL share the card, so all of them must be allowed to read the same
/// card.
pub struct MemoryCards {
    clock: Rc<dyn Clock>,
    /// The cards by the key of the settings; at most [`MAX_CARDS`].
    known: RefCell<SortedMap<String, Known>>,
}

#[derive(Clone)]
struct Known {
    card: Rc<RemoteCard>,
    text: CardText,
    fresh_until: UnixMillis,
}

impl MemoryCards {
    /// An empty cache.
    pub fn new(ports: Ports) -> Self {
        Self { clock: ports.clock, known: RefCell::default() }
    }

    /// Removes all cards.
    pub fn clear(&self) {
        self.known.borrow_mut().clear();
    }

    fn keep(&self, key: String, known: Known) {
        let now = self.clock.now();
        let mut all = self.known.borrow_mut();
        all.retain(|other, known| *other == key || now < known.fresh_until);
        if all.len() >= MAX_CARDS && !all.contains_key(&key) {
            let oldest = all.iter().min_by_key(|(_, known)| known.fresh_until);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.map(|oldest| all.remove(&oldest));
        }
        all.insert(key, known);
    }
}

impl CardSource for MemoryCards {
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>> {
        Box::pin(async move {
            let key = client.settings().card_key();
            let known = self.known.borrow().get(&key).cloned();
            if let Some(known) = known.as_ref().filter(|known| self.clock.now() < known.fresh_until)
            {
                return Ok(Rc::clone(&known.card));
            }
            let text = client.fetch_card_text(known.as_ref().map(|known| &known.text)).await?;
            let card = match known.filter(|known| known.text.text == text.text) {
                Some(known) => known.card,
                None => Rc::new(RemoteCard::parse(&text.text)?),
            };
            let fresh_until = self.clock.now().after(text.fresh_ms);
            self.keep(key, Known { card: Rc::clone(&card), text, fresh_until });
            Ok(card)
        })
    }
}

/// The largest number of cached cards. A further card replaces the card that expires first.
const MAX_CARDS: usize = 100;

#[cfg(test)]
mod tests;
