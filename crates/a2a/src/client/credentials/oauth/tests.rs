use std::cell::Cell;

use futures_util::future::join3;

use super::*;
use crate::client::simulation::Simulation;
use crate::client::{Client, Settings};
use crate::http::HttpAnswer;
use crate::http::memory::{ok, status};
use crate::port::Clock;

const URL: &str = "https://login.example/token";

fn settings() -> OAuthSettings {
    let scopes = vec!["a".to_owned(), "b c".to_owned()];
    let audience = Some("https://a.example".to_owned());
    OAuthSettings { scopes, audience, ..OAuthSettings::new(URL, "me&you", "s3cret:") }
}

/// A provider whose tokens are numbered and live for a number of seconds. Returns the counter of
/// the token requests.
fn provider(simulation: &Simulation, seconds: u64) -> Rc<Cell<u32>> {
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    simulation.http().answer_with(move |_, _| {
        counted.set(counted.get() + 1);
        let token = format!(
            r#"{{"access_token": "t{}", "token_type": "bearer", "expires_in": {seconds}}}"#,
            counted.get()
        );
        Ok(ok(token))
    });
    count
}

async fn shown(oauth: &OAuth) -> Result<String, String> {
    let mut request = HttpRequest::get("https://a.example");
    oauth.put(&mut request).await.map_err(|error| error.to_string())?;
    Ok(request.headers.pop().expect("a header").1)
}

#[test]
fn a_token_is_asked_for_as_the_standard_has_it() {
    for (secret_in_body, authorization, rest) in [
        (false, Some(format!("Basic {}", STANDARD.encode("me%26you:s3cret%3A"))), ""),
        (true, None, "&client_id=me%26you&client_secret=s3cret%3A"),
    ] {
        let simulation = Simulation::default();
        simulation.http().answer_with(move |request, body| {
            let header = |name: &str| {
                request
                    .headers
                    .iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value.clone())
            };
            assert_eq!((request.method, request.url.as_str()), ("POST", URL));
            assert_eq!(header("Authorization"), authorization);
            assert_eq!(
                header("Content-Type").as_deref(),
                Some("application/x-www-form-urlencoded")
            );
            let form =
                "grant_type=client_credentials&scope=a%20b%20c&audience=https%3A%2F%2Fa.example";
            assert_eq!(body, format!("{form}{rest}"));
            Ok(ok(r#"{"access_token": "t"}"#))
        });
        let oauth = OAuth::new(OAuthSettings { secret_in_body, ..settings() }, simulation.ports());
        assert_eq!(simulation.run(shown(&oauth)).as_deref(), Ok("Bearer t"));
    }
}

#[test]
fn a_token_is_kept_until_shortly_before_it_expires() {
    for (seconds, used_ms) in [(3_600, 3_540_000), (60, 30_000), (100_000_000, 86_340_000)] {
        let simulation = Simulation::default();
        let count = provider(&simulation, seconds);
        let oauth = OAuth::new(settings(), simulation.ports());
        let token = || simulation.run(shown(&oauth)).expect("a token");
        assert_eq!(token(), "Bearer t1");
        simulation.run(Clock::sleep(&simulation, used_ms - 1));
        assert_eq!(token(), "Bearer t1");
        simulation.run(Clock::sleep(&simulation, 1));
        assert_eq!(token(), "Bearer t2");
        assert_eq!(count.get(), 2);
    }
}

#[test]
fn callers_at_the_same_time_wait_for_one_token() {
    let simulation = Simulation::default();
    let count = provider(&simulation, 3_600);
    let oauth = OAuth::new(settings(), simulation.ports());
    let all = simulation.run(join3(shown(&oauth), shown(&oauth), shown(&oauth)));
    let token = Ok("Bearer t1".to_owned());
    assert_eq!(all, (token.clone(), token.clone(), token));
    assert_eq!(count.get(), 1);
    // A caller that is dropped does not affect the other waiting callers.
    simulation.run(Clock::sleep(&simulation, 3_600_000));
    let waiting = shown(&oauth);
    drop(Box::pin(shown(&oauth)));
    assert_eq!(simulation.run(waiting).as_deref(), Ok("Bearer t2"));
}

#[test]
fn tokens_may_be_shared_by_those_of_equal_settings() {
    let simulation = Simulation::default();
    let count = provider(&simulation, 3_600);
    let tokens = Rc::new(Tokens::default());
    let oauth = |settings| OAuth::new(settings, simulation.ports()).with_tokens(tokens.clone());
    let token = |settings| simulation.run(shown(&oauth(settings))).expect("a token");
    assert_eq!(token(settings()), "Bearer t1");
    assert_eq!(token(settings()), "Bearer t1");
    let other = Secret::new("another");
    assert_eq!(token(OAuthSettings { client_secret: other, ..settings() }), "Bearer t2");
    assert_eq!(token(OAuthSettings { scopes: Vec::new(), ..settings() }), "Bearer t3");
    assert_eq!(count.get(), 3);
}

#[test]
fn a_token_that_the_agent_refuses_is_fetched_anew_once() {
    let simulation = Simulation::default();
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    let accepted = Rc::new(Cell::new("t1"));
    let takes = Rc::clone(&accepted);
    simulation.http().answer_with(move |request, _| {
        if request.url == URL {
            counted.set(counted.get() + 1);
            return Ok(ok(format!(
                r#"{{"access_token": "t{}", "expires_in": "3600"}}"#,
                counted.get()
            )));
        }
        let token = request.headers.iter().find(|(name, _)| name == "authorization");
        let is_right = token.is_some_and(|(_, value)| value == &format!("Bearer {}", takes.get()));
        Ok(if is_right { ok("{}") } else { status(401) })
    });
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let client = client.with_credentials(Rc::new(OAuth::new(settings(), simulation.ports())));
    let make = || Ok(HttpRequest::get("https://a.example/x"));
    let called = || simulation.run(client.dispatch(None, &make)).map(|answer| answer.status);
    assert_eq!(called(), Ok(200));
    accepted.set("t2");
    simulation.run(Clock::sleep(&simulation, 60_000));
    assert_eq!(called(), Ok(200));
    assert_eq!(count.get(), 2);
    accepted.set("none");
    assert_eq!(called(), Ok(401));
    assert_eq!(count.get(), 2, "the token is a new one");
}

#[test]
fn what_cannot_be_had_is_told_without_secrets() {
    let with_token = |rest: &str| format!(r#"{{"access_token": "t", "rest": {rest}}}"#);
    let echo = r#"{"error": "invalid_client", "error_description": "s3cret: is wrong"}"#;
    for (url, answer, reason) in [
        (
            "http://login.example/token",
            ok("{}"),
            "the URL of the token endpoint must be an absolute one of https",
        ),
        (
            URL,
            HttpAnswer { status: 401, ..ok(echo) },
            "no token was obtained: the token endpoint answered 401 (invalid_client)",
        ),
        (
            URL,
            HttpAnswer { status: 400, ..ok(r#"{"error": "s3cret: is wrong"}"#) },
            "no token was obtained: the token endpoint answered 400",
        ),
        (
            URL,
            HttpAnswer { status: 503, ..ok("s3cret:") },
            "https://login.example/token answered 503",
        ),
        (URL, ok("s3cret:"), "no token was obtained: the answer of the token endpoint is not JSON"),
        (
            URL,
            ok("{}"),
            "no token was obtained: the answer of the token endpoint has no access_token",
        ),
        (
            URL,
            ok(r#"{"access_token": "t", "token_type": "mac"}"#),
            "no token was obtained: the token endpoint gives out tokens that are no bearer tokens",
        ),
        (
            URL,
            ok(with_token(&format!("[{}0]", "0,".repeat(25_000)))),
            "no token was obtained: the answer of the token endpoint holds more than 20000 JSON values",
        ),
        (
            URL,
            ok(with_token(&format!("{}{}", "[".repeat(110), "]".repeat(110)))),
            "no token was obtained: the answer of the token endpoint is nested more than 100 levels deep",
        ),
        (
            URL,
            HttpAnswer {
                status: 400,
                ..ok(format!(r#"{{"error": "invalid_scope", "rest": [{}0]}}"#, "0,".repeat(25_000)))
            },
            "no token was obtained: the token endpoint answered 400",
        ),
    ] {
        let simulation = Simulation::default();
        simulation.http().answer_with(move |_, _| Ok(answer.clone()));
        let token_url = url.to_owned();
        let oauth = OAuth::new(OAuthSettings { token_url, ..settings() }, simulation.ports());
        assert_eq!(simulation.run(shown(&oauth)), Err(reason.to_owned()));
    }
    let shown = format!("{:?}", settings());
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn no_more_than_a_hundred_tokens_are_kept() {
    let simulation = Simulation::default();
    provider(&simulation, 3_600);
    let tokens = Rc::new(Tokens::default());
    for number in 0..150 {
        let own = OAuthSettings { client_id: number.to_string(), ..settings() };
        let oauth = OAuth::new(own, simulation.ports()).with_tokens(tokens.clone());
        simulation.run(shown(&oauth)).expect("a token");
    }
    assert_eq!(tokens.0.borrow().len(), MAX_TOKENS);
}
