use std::cell::Cell;

use super::*;
use crate::client::Settings;
use crate::client::simulation::Simulation;
use crate::http::HttpAnswer;
use crate::http::memory::ok;

/// Servers of cards: the name of a card is the number of card requests until now; the path of the URL is the time in
/// seconds for which the card is fresh.
fn simulation() -> Simulation {
    let simulation = Simulation::default();
    let asked = Cell::new(0);
    simulation.http().answer_with(move |request, _| {
        asked.set(asked.get() + 1);
        let seconds = request.url.split('/').nth(3).and_then(|text| text.parse::<u32>().ok());
        let age = seconds.map(|age| ("cache-control".to_owned(), format!("max-age={age}")));
        let card = format!(
            r#"{{"name": "{}", "version": "1", "capabilities": {{}}, "url": "https://a.example"}}"#,
            asked.get()
        );
        Ok(HttpAnswer { headers: age.into_iter().collect(), ..ok(card) })
    });
    simulation
}

fn name(simulation: &Simulation, cards: &Rc<MemoryCards>, url: &str) -> String {
    let client = Client::new(Settings::new(url), simulation.ports()).with_cards(cards.clone());
    simulation.run(client.card()).expect("a card").name.clone()
}

#[test]
fn a_card_is_kept_while_it_is_fresh() {
    let simulation = simulation();
    let cards = Rc::new(MemoryCards::new(simulation.ports()));
    let wait = |millis: u64| simulation.run(Clock::sleep(&simulation, millis));
    let named = |url: &str| name(&simulation, &cards, url);
    assert_eq!(named("https://a.example"), "1");
    wait(299_999);
    assert_eq!(named("https://a.example"), "1");
    wait(1);
    assert_eq!(named("https://a.example"), "2");
    assert_eq!(named("https://a.example/10/"), "3");
    wait(9_999);
    assert_eq!(named("https://a.example/10/"), "3");
    wait(1);
    assert_eq!(named("https://a.example/10/"), "4");
    assert_eq!(named("https://a.example/0/"), "5");
    assert_eq!(named("https://a.example/0/"), "6");
    cards.clear();
    assert_eq!(named("https://a.example/10/"), "7");
}

#[test]
fn no_more_than_a_hundred_cards_are_kept() {
    let simulation = simulation();
    let cards = Rc::new(MemoryCards::new(simulation.ports()));
    for host in 0..150 {
        name(&simulation, &cards, &format!("https://h{host}.example"));
    }
    assert_eq!(cards.known.borrow().len(), MAX_CARDS);
    // Fetching a card removes the cards that are no longer fresh.
    simulation.run(Clock::sleep(&simulation, 300_000));
    name(&simulation, &cards, "https://another.example");
    assert_eq!(cards.known.borrow().len(), 1);
}

#[test]
fn a_card_that_has_not_changed_is_the_same_one() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|request, _| {
        let etag = vec![("etag".to_owned(), "e".to_owned())];
        let is_known = request.headers.iter().any(|(name, _)| name == "If-None-Match");
        let body =
            r#"{"name": "A", "version": "1", "capabilities": {}, "url": "https://a.example"}"#;
        let answer = if is_known { crate::http::memory::status(304) } else { ok(body) };
        Ok(HttpAnswer { headers: etag, ..answer })
    });
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let first = simulation.run(client.card()).expect("a card");
    simulation.run(Clock::sleep(&simulation, 300_000));
    let second = simulation.run(client.card()).expect("a card");
    assert!(Rc::ptr_eq(&first, &second));
    assert_eq!(simulation.http().called().len(), 2);
}
