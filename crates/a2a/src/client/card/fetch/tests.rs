use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::client::simulation::Simulation;
use crate::client::{Bearer, Settings};
use crate::http::memory::{ok, status};

const CARD: &str =
    r#"{"name": "A", "version": "1", "capabilities": {}, "url": "https://a.example/rpc"}"#;

/// A client, and servers with these bodies at these URLs: a card, a page, or a redirect.
fn client(settings: Settings, servers: &'static [(&str, &str)]) -> (Client, Simulation) {
    let simulation = Simulation::default();
    simulation.http().answer_with(move |request, _| {
        let found = servers.iter().find(|(url, _)| *url == request.url);
        Ok(match found {
            Some((_, "card")) => ok(CARD),
            Some((_, "refused")) => status(403),
            Some((_, body)) if body.starts_with("to ") => {
                let location = body.trim_start_matches("to ").to_owned();
                HttpAnswer { headers: vec![("location".to_owned(), location)], ..status(302) }
            }
            Some((_, body)) => ok(*body),
            None => status(404),
        })
    });
    (Client::new(settings, simulation.ports()), simulation)
}

/// The URL of the card or the error, and the requested paths.
fn fetched(url: &str, servers: &'static [(&str, &str)]) -> (Result<String, String>, Vec<String>) {
    let (client, simulation) = client(Settings::new(url), servers);
    let fetched = simulation.run(client.fetch_card_text(None));
    let found = fetched.map(|card| card.url).map_err(|error| error.to_string());
    (found, simulation.http().called())
}

#[test]
fn a_card_is_looked_for_below_the_path_first_and_then_at_the_origin() {
    let new = "https://a.example/x/.well-known/agent-card.json";
    let old = "https://a.example/x/.well-known/agent.json";
    let origin = "https://a.example/.well-known/agent-card.json";
    let oldest = "https://a.example/.well-known/agent.json";
    for (servers, asked) in [
        (&[("https://a.example/x/.well-known/agent-card.json", "card")] as &[_], vec![new]),
        (&[("https://a.example/x/.well-known/agent.json", "card")], vec![new, old]),
        (&[("https://a.example/.well-known/agent-card.json", "card")], vec![new, old, origin]),
        (&[("https://a.example/.well-known/agent.json", "card")], vec![new, old, origin, oldest]),
        (
            &[
                ("https://a.example/x/.well-known/agent-card.json", "<html>"),
                ("https://a.example/.well-known/agent-card.json", "card"),
            ],
            vec![new, old, origin],
        ),
    ] {
        for url in ["https://a.example/x", "https://a.example/x/"] {
            let (found, called) = fetched(url, servers);
            assert_eq!(found.as_deref(), Ok(*asked.last().expect("a URL")));
            assert_eq!(called, asked);
        }
    }
    let (found, called) = fetched("https://a.example", &[]);
    assert_eq!(found, Err(format!("{origin} answered 404")));
    assert_eq!(called, [origin, oldest]);
}

#[test]
fn the_url_may_be_that_of_the_card() {
    for url in [
        "https://a.example/cards/7.json",
        "https://a.example/x/card",
        "https://a.example/agent-card?v=1",
        "https://a.example/.well-known/agent.json",
    ] {
        let servers: &'static [(&str, &str)] = Box::leak(Box::new([(url, "card")]));
        let (found, called) = fetched(url, servers);
        assert_eq!(found.as_deref(), Ok(url));
        assert_eq!(called, [url]);
    }
}

#[test]
fn a_card_that_is_refused_or_cannot_be_used_is_not_looked_for_elsewhere() {
    for (body, reason) in [
        ("refused", "https://a.example/x/.well-known/agent-card.json answered 403"),
        (r#"{"name": "A"}"#, "the card cannot be used: "),
    ] {
        let servers = [("https://a.example/x/.well-known/agent-card.json", body)];
        let (found, called) = fetched("https://a.example/x", Box::leak(Box::new(servers)));
        let error = found.expect_err("no card");
        assert!(error.starts_with(reason), "{error}");
        assert_eq!(called.len(), 1);
    }
    let (client, simulation) = client(Settings::new("https://a.example"), &[]);
    let error = simulation.run(client.card()).expect_err("no card");
    assert!(matches!(error, ClientError::Http(HttpError::Status { status: 404, .. })), "{error:?}");
    assert_eq!(simulation.run(client.discover()), None);
    let (found, called) = fetched("https://user:word@a.example", &[]);
    assert!(found.expect_err("no URL").starts_with("the URL of the agent must be"));
    assert_eq!(called, [""; 0]);
}

#[test]
fn a_card_whose_server_fails_for_a_moment_is_asked_for_again() {
    for (failures, asked) in [(2, 3), (9, 4)] {
        let simulation = Simulation::default();
        let left = RefCell::new(failures);
        simulation.http().answer_with(move |_, _| {
            let mut left = left.borrow_mut();
            if *left == 0 {
                return Ok(ok(CARD));
            }
            *left -= 1;
            Ok(status(503))
        });
        let client = Client::new(Settings::new("https://a.example"), simulation.ports());
        assert_eq!(simulation.run(client.discover()), None);
        assert_eq!(simulation.http().called().len(), 1, "that asks once");
        let card = simulation.run(client.card()).map(|card| card.name.clone());
        assert_eq!(card.is_ok(), failures == 2, "{card:?}");
        assert_eq!(simulation.http().called().len(), if failures == 2 { asked } else { 1 + asked });
    }
}

#[test]
fn a_card_of_more_than_a_mebibyte_is_refused() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|_, _| Ok(ok(" ".repeat(1024 * 1024) + CARD)));
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let error = simulation.run(client.fetch_card()).expect_err("too large");
    assert!(matches!(error, ClientError::Http(HttpError::TooLarge { .. })), "{error:?}");
}

#[test]
fn redirects_are_followed_within_the_host() {
    let begin = "https://a.example/.well-known/agent-card.json";
    for (location, reason) in [
        ("to /cards/1", ""),
        ("to https://A.example:443/cards/1", ""),
        ("to https://evil.example/cards/1", "redirects to another host, https://evil.example: "),
        ("to //evil.example/cards/1", "redirects to another host, https://evil.example: "),
        ("to http://a.example/cards/1", "redirects from https to http"),
        ("to https://evil.example\\@a.example/", "redirects to nowhere that can be called"),
        ("to /.well-known/agent-card.json", "redirects more than 3 times"),
    ] {
        let servers = [
            (begin, location),
            ("https://a.example/cards/1", "card"),
            ("https://evil.example/cards/1", "card"),
            ("http://a.example/cards/1", "card"),
        ];
        let (found, called) = fetched("https://a.example", Box::leak(Box::new(servers)));
        match found {
            Ok(url) => assert_eq!((url.as_str(), reason), (begin, ""), "what is asked next time"),
            Err(error) => assert!(!reason.is_empty() && error.contains(reason), "{error}"),
        }
        assert!(called.iter().all(|url| url.starts_with("https://a.example/")), "{called:?}");
    }
}

#[test]
fn a_redirect_to_another_host_gets_no_credentials() {
    let simulation = Simulation::default();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    simulation.http().answer_with(move |request, _| {
        let has_key = request.headers.iter().any(|(_, value)| value.contains("s3cret"));
        log.borrow_mut().push((request.url.clone(), has_key, request.is_guarded));
        Ok(match request.url.as_str() {
            "https://b.example/card" => ok(CARD),
            _ => HttpAnswer {
                headers: vec![("location".to_owned(), "https://b.example/card".to_owned())],
                ..status(301)
            },
        })
    });
    let headers = vec![("X-Key".to_owned(), "s3cret".to_owned())];
    let settings =
        Settings { allow_other_hosts: true, headers, ..Settings::new("https://a.example") };
    let client = Client::new(settings, simulation.ports());
    let client = client.with_credentials(Rc::new(Bearer::new("s3cret")));
    simulation.run(client.fetch_card()).expect("a card");
    let asked = "https://a.example/.well-known/agent-card.json".to_owned();
    let expected = [(asked, true, false), ("https://b.example/card".to_owned(), false, true)];
    assert_eq!(seen.take(), expected);
}

#[test]
fn a_known_card_is_fetched_anew_only_if_it_has_changed() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|request, _| {
        let has = |name: &str, value: &str| {
            request.headers.contains(&(name.to_owned(), value.to_owned()))
        };
        let headers =
            [("etag", "\"1\""), ("last-modified", "then"), ("cache-control", "max-age=7")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let is_known = has("If-None-Match", "\"1\"") && has("If-Modified-Since", "then");
        Ok(HttpAnswer { headers, ..if is_known { status(304) } else { ok(CARD) } })
    });
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let first = simulation.run(client.fetch_card_text(None)).expect("a card");
    assert_eq!((first.fresh_ms, first.text.as_str()), (7_000, CARD));
    let again = simulation.run(client.fetch_card_text(Some(&first))).expect("a card");
    assert_eq!(again, first);
    // If the card is no longer at its URL, the other URLs are tried.
    let moved = CardText { url: "https://a.example/old".to_owned(), etag: None, ..first.clone() };
    simulation.http().answer_with(|request, _| {
        Ok(if request.url.ends_with("/old") { status(404) } else { ok(CARD) })
    });
    let found = simulation.run(client.fetch_card_text(Some(&moved))).expect("a card");
    assert_eq!(found.url, "https://a.example/.well-known/agent-card.json");
}

#[test]
fn the_server_says_for_how_long_a_card_is_fresh() {
    for (header, expected) in [
        (None, 300_000),
        (Some(""), 300_000),
        (Some("public, Max-Age=\"7200\""), 7_200_000),
        (Some("max-age=0"), 0),
        (Some("max-age=999999999999999999999"), 86_400_000),
        (Some("max-age=soon"), 300_000),
        (Some("max-age=60, no-cache"), 0),
        (Some("no-store"), 0),
    ] {
        assert_eq!(fresh_ms(header), expected, "{header:?}");
    }
}
