use serde_json::json;

use super::*;
use crate::client::simulation::Simulation;
use crate::http::memory::{ok, status};
use crate::port::Clock;

fn card(interfaces: &[(&str, &str, &str)]) -> RemoteCard {
    let interfaces = interfaces.iter().map(|(url, binding, version)| {
        json!({"url": url, "protocolBinding": binding, "protocolVersion": version, "tenant": "t"})
    });
    let interfaces: Vec<_> = interfaces.collect();
    let card = json!({"name": "A", "version": "1", "capabilities": {"streaming": true}, "supportedInterfaces": interfaces});
    RemoteCard::read(card).expect("a card")
}

fn chosen(
    interfaces: &[(&str, &str, &str)],
    settings: Settings,
) -> Result<(String, Binding, Dialect, bool), String> {
    let connection = choose(&card(interfaces), &settings, None);
    let connection = connection.map_err(|error| error.to_string())?;
    let Connection { url, binding, dialect, is_trusted, .. } = connection;
    Ok((url, binding, dialect, is_trusted))
}

#[test]
fn the_first_interface_that_is_spoken_is_called() {
    use Binding::{JsonRpc, Rest};
    use Dialect::{Legacy, V0_3, V1};
    let settings = || Settings::new("https://a.example/x");
    let (a, b) = ("https://a.example/a", "https://a.example/b");
    let all = [(a, "GRPC", "1.0"), (b, "HTTP+JSON", "1.0"), (a, "JSONRPC", "0.3.0")];
    for (interfaces, settings, expected) in [
        (&all[..], settings(), (b, Rest, V1)),
        (&all[..], Settings { binding: Some(JsonRpc), ..settings() }, (a, JsonRpc, V0_3)),
        (&all[..], Settings { version: Some(V0_3), ..settings() }, (a, JsonRpc, V0_3)),
        // The settings override the card.
        (&all[..], Settings { version: Some(Legacy), ..settings() }, (b, Rest, Legacy)),
        (&[(a, "JSONRPC", "2.0"), (b, "JSONRPC", "1.1")], settings(), (b, JsonRpc, V1)),
        (&[(a, "jsonrpc", "0.2.5")], settings(), (a, JsonRpc, V0_3)),
        (&[(a, "JSONRPC", "0.1")], settings(), (a, JsonRpc, Legacy)),
        (&[(a, "JSONRPC", "")], settings(), (a, JsonRpc, V1)),
        (&[(a, "JSONRPC", "7")], Settings { version: Some(V1), ..settings() }, (a, JsonRpc, V1)),
    ] {
        let (url, binding, dialect) = expected;
        let expected = (url.to_owned(), binding, dialect, true);
        assert_eq!(
            chosen(interfaces, settings.clone()),
            Ok(expected),
            "{interfaces:?} {settings:?}"
        );
    }
    let error = chosen(&all[..1], settings()).expect_err("none");
    assert_eq!(
        error,
        "the agent offers GRPC 1.0; wanted is JSONRPC or HTTP+JSON of 1.0, 0.3 or 0.1"
    );
    let rest = Settings { binding: Some(Rest), ..settings() };
    let error = chosen(&[(a, "JSONRPC", "1.0")], rest).expect_err("none");
    assert_eq!(error, "the agent offers JSONRPC 1.0; wanted is HTTP+JSON");
}

#[test]
fn the_configured_host_is_called_whatever_the_card_names() {
    let other = |allow_other_hosts, url: &str| Settings { allow_other_hosts, ..Settings::new(url) };
    for (interface, settings, url, is_trusted) in [
        (
            "http://10.0.0.7:8000/a2a?v=1",
            other(false, "https://a.example/x"),
            "https://a.example/a2a?v=1",
            true,
        ),
        (
            "https://evil.example/a2a",
            other(false, "https://a.example"),
            "https://a.example/a2a",
            true,
        ),
        ("https://b.example/a2a", other(true, "https://a.example"), "https://b.example/a2a", false),
        (
            "https://a.example:8443/a2a",
            other(true, "https://a.example"),
            "https://a.example:8443/a2a",
            false,
        ),
        // A host behind a proxy may not know about TLS.
        ("http://a.example/a2a", other(false, "https://a.example"), "https://a.example/a2a", true),
        ("http://a.example/a2a", other(true, "https://a.example"), "https://a.example/a2a", true),
        ("https://a.example/a2a", other(false, "http://a.example"), "https://a.example/a2a", true),
        ("/a2a", other(true, "https://a.example/x"), "https://a.example/a2a", true),
        ("https://A.Example:443/", other(true, "https://a.example"), "https://a.example/", true),
    ] {
        let found = chosen(&[(interface, "JSONRPC", "1.0")], settings);
        let expected = (url.to_owned(), Binding::JsonRpc, Dialect::V1, is_trusted);
        assert_eq!(found, Ok(expected), "{interface}");
    }
    let error =
        chosen(&[("https://good\\@evil/", "JSONRPC", "1.0")], other(true, "https://a.example"));
    assert!(error.expect_err("no URL").contains("which is no URL"));
}

#[test]
fn tenant_and_streaming_are_those_of_the_card_and_the_settings() {
    let card = card(&[("https://a.example/", "JSONRPC", "1.0")]);
    let settings = Settings::new("https://a.example");
    let connection = choose(&card, &settings, None).expect("an interface");
    assert_eq!((connection.tenant.as_deref(), connection.streams), (Some("t"), true));
    let settings = Settings { streaming: Streaming::Never, ..settings };
    assert!(!choose(&card, &settings, None).expect("an interface").streams);
}

#[test]
fn the_card_is_asked_again_after_five_minutes() {
    let simulation = Simulation::default();
    let with_path = |path: &'static str| {
        simulation.http().answer_with(move |_, _| {
            Ok(match path {
                "" => status(503),
                "gone" => status(404),
                path => ok(card(&[(&format!("https://a.example/{path}"), "JSONRPC", "1.0")])
                    .json
                    .to_string()),
            })
        });
    };
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let called = || {
        let connection = simulation.run(client.connect());
        connection.map(|connection| connection.url.clone()).map_err(|error| error.to_string())
    };
    let wait = |millis: u64| simulation.run(Clock::sleep(&simulation, millis));
    with_path("one");
    assert_eq!(called().as_deref(), Ok("https://a.example/one"));
    with_path("two");
    wait(299_999);
    assert_eq!(called().as_deref(), Ok("https://a.example/one"));
    wait(1);
    assert_eq!(called().as_deref(), Ok("https://a.example/two"));
    with_path("");
    wait(300_000);
    assert_eq!(called().as_deref(), Ok("https://a.example/two"), "a server in trouble");
    with_path("gone");
    wait(300_000);
    assert!(called().expect_err("no card").contains("404"));
}

#[test]
fn another_version_is_tried_once_unless_the_settings_name_it() {
    let simulation = Simulation::default();
    let interfaces =
        [("https://a.example/one", "JSONRPC", "1.0"), ("https://a.example/old", "JSONRPC", "0.3")];
    let text = card(&interfaces).json.to_string();
    simulation.http().answer_with(move |_, _| Ok(ok(text.clone())));
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let first = simulation.run(client.connect()).expect("an interface");
    let other = simulation.run(client.connect_otherwise(&first)).expect("another");
    assert_eq!((other.url.as_str(), other.dialect), ("https://a.example/old", Dialect::V0_3));
    assert_eq!(simulation.run(client.connect()), Ok(Rc::clone(&other)), "it is kept");
    assert_eq!(simulation.run(client.connect_otherwise(&other)), None);
    client.connect_as_before();
    assert_eq!(simulation.run(client.connect()), Ok(Rc::clone(&first)));

    let settings = Settings { version: Some(Dialect::V1), ..Settings::new("https://a.example") };
    let client = Client::new(settings, simulation.ports());
    assert_eq!(simulation.run(client.connect_otherwise(&first)), None);
}
