use serde_json::json;

use super::*;
use crate::dialect::OlderFacts;
use crate::dialect::card::card_of_1_0 as whole_card;
use crate::model::SecurityScheme;

fn card(json: Value) -> RemoteCard {
    RemoteCard::read(json).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(json: Value) -> String {
    RemoteCard::read(json).expect_err("a refusal").to_string()
}

fn shown(card: &RemoteCard) -> Vec<[&str; 3]> {
    let shown = |one: &'_ AgentInterface| {
        let AgentInterface { url, protocol_binding, protocol_version, .. } = one;
        [url, protocol_binding, protocol_version].map(|text| &*text.clone().leak())
    };
    card.interfaces.iter().map(shown).collect()
}

#[test]
fn a_card_says_the_same_in_every_version() {
    let pure = card(whole_card());
    assert_eq!((pure.name.as_str(), pure.version.as_str()), ("A", "1"));
    assert!(pure.streams && !pure.sends_webhooks && pure.has_extended_card);
    assert_eq!(pure.skills[0].tags, ["t"]);
    assert_eq!(pure.security_schemes.len(), 9);
    assert_eq!(pure.interfaces.len(), 4);
    for dialect in [Dialect::V0_3, Dialect::Legacy] {
        let text = dialect.card(&whole_card().to_string(), OlderFacts::default()).expect("a card");
        let mut older: Value = serde_json::from_str(&text).expect("JSON");
        let both = card(older.clone());
        assert_eq!(
            RemoteCard { json: Value::Null, ..both },
            RemoteCard { json: Value::Null, ..pure.clone() }
        );
        // The card as written by a server that does not know 1.0.
        let members = older.as_object_mut().expect("an object");
        for name in ["supportedInterfaces", "securityRequirements"] {
            members.shift_remove(name);
        }
        members["capabilities"]
            .as_object_mut()
            .expect("an object")
            .shift_remove("extendedAgentCard");
        for (_, scheme) in members["securitySchemes"].as_object_mut().expect("an object") {
            scheme
                .as_object_mut()
                .expect("an object")
                .retain(|name, _| !name.ends_with("SecurityScheme"));
        }
        let alone = card(older);
        let urls: Vec<_> = shown(&alone).into_iter().map(|[url, ..]| url).collect();
        assert_eq!(urls, ["https://a.example/JSONRPC", "https://a.example/HTTP+JSON"]);
        let expected = RemoteCard {
            interfaces: alone.interfaces.clone(),
            json: alone.json.clone(),
            ..pure.clone()
        };
        assert_eq!(alone, expected, "{dialect:?}");
    }
}

#[test]
fn older_cards_have_the_interfaces_of_their_version() {
    let older = |more: Value| {
        let mut all = json!({"name": "A", "version": "1", "url": "https://a.example/x", "capabilities": {}, "skills": []});
        let members = more.as_object().expect("an object").clone();
        all.as_object_mut().expect("an object").extend(members);
        card(all)
    };
    let url = "https://a.example/x";
    for (more, expected) in [
        (json!({"protocolVersion": "0.3.0"}), vec![[url, "JSONRPC", "0.3.0"]]),
        (
            json!({"protocolVersion": "0.2.6", "preferredTransport": "HTTP+JSON"}),
            vec![[url, "HTTP+JSON", "0.2.6"]],
        ),
        (
            json!({"preferredTransport": "GRPC", "additionalInterfaces": [
                {"url": url, "transport": "GRPC"}, {"url": "https://a.example/y", "transport": "JSONRPC"}]}),
            vec![[url, "GRPC", "0.3"], ["https://a.example/y", "JSONRPC", "0.3"]],
        ),
        (json!({"supportedInterfaces": [], "security": []}), vec![[url, "JSONRPC", "0.3"]]),
        (json!({"defaultInputModes": ["text/plain"]}), vec![[url, "JSONRPC", "0.3"]]),
        (json!({"defaultInputModes": ["text"]}), vec![[url, "JSONRPC", "0.1"]]),
        (json!({}), vec![[url, "JSONRPC", "0.1"]]),
        (json!({"authentication": {"schemes": ["Bearer"]}}), vec![[url, "JSONRPC", "0.1"]]),
    ] {
        assert_eq!(shown(&older(more.clone())), expected, "{more}");
    }
    let oldest = older(
        json!({"defaultInputModes": ["text", "image/png"], "authentication": {"schemes": ["Bearer", "ApiKey"]}}),
    );
    assert_eq!(oldest.input_modes, ["text/plain", "image/png"]);
    let names: Vec<_> =
        oldest.security_requirements.iter().flat_map(|one| one.schemes.keys()).collect();
    assert_eq!(names, ["Bearer", "ApiKey"]);
    let SecurityScheme::HttpAuth(bearer) = &oldest.security_schemes.get("Bearer").unwrap() else {
        panic!("HTTP")
    };
    assert_eq!(bearer.scheme, "Bearer");
}

#[test]
fn each_field_that_is_missing_is_named_as_the_version_has_it() {
    for (json, named, unnamed) in [
        (
            json!({}),
            vec![
                "name",
                "version",
                "supportedInterfaces",
                "capabilities",
                "description",
                "defaultInputModes",
                "defaultOutputModes",
                "skills",
            ],
            vec!["url"],
        ),
        (
            json!({"url": "https://a.example", "protocolVersion": "0.3.0", "skills": []}),
            vec![
                "name",
                "version",
                "capabilities",
                "description",
                "defaultInputModes",
                "defaultOutputModes",
            ],
            vec!["supportedInterfaces", "skills", "url"],
        ),
        (
            json!({"url": "https://a.example", "authentication": {"schemes": []}}),
            vec!["name", "version", "capabilities"],
            vec!["description", "defaultInputModes"],
        ),
        (
            json!({"name": "A", "version": "1", "capabilities": {}, "description": "", "skills": [{"name": "S"}],
                "defaultInputModes": [], "defaultOutputModes": [], "supportedInterfaces": [{"protocolBinding": "JSONRPC"}]}),
            vec!["supportedInterfaces[0].url", "skills[0].id"],
            vec!["name", "description"],
        ),
    ] {
        let text = refused(json);
        for name in named {
            assert!(text.contains(&format!("{name} is required")), "{name}: {text}");
        }
        for name in unnamed {
            assert!(!text.contains(&format!(" {name} ")), "{name}: {text}");
        }
    }
    for (json, reason) in [
        (json!([]), "must be an object"),
        (json!({"name": 7}), "name must be a string, got 7"),
        (json!({"name": ""}), "name is required and must not be empty"),
        (
            json!({"name": "A", "version": "1", "capabilities": [], "supportedInterfaces": []}),
            "capabilities must be an object",
        ),
    ] {
        assert!(refused(json).contains(reason), "{reason}");
    }
    assert!(
        RemoteCard::parse("<html>").expect_err("no card").to_string().contains("it is not JSON")
    );
}

#[test]
fn what_writers_of_protojson_leave_out_is_empty() {
    let read = card(json!({"name": "A", "version": "1", "capabilities": {},
        "supported_interfaces": [{"url": "https://a.example", "protocol_binding": "JSONRPC", "protocol_version": "1.0"}]}));
    assert_eq!((read.description.as_str(), read.skills.len(), read.input_modes.len()), ("", 0, 0));
    assert_eq!(shown(&read), [["https://a.example", "JSONRPC", "1.0"]]);
}

#[test]
fn schemes_that_nobody_knows_leave_a_card_usable() {
    let schemes = json!({
        "new": {"quantumSecurityScheme": {}}, "odd": 7, "half": {"type": "apiKey"},
        "implicit": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "u", "scopes": {}}}},
        "several": {"type": "oauth2", "flows": {"password": {"tokenUrl": "p"}, "clientCredentials": {"tokenUrl": "t", "scopes": {"r": "R"}}}},
    });
    let read =
        card(json!({"name": "A", "version": "1", "capabilities": {}, "url": "https://a.example",
        "securitySchemes": schemes, "security": [{"several": ["r"]}, 7]}));
    assert_eq!(read.security_schemes.keys().collect::<Vec<_>>(), ["several"]);
    assert_eq!(read.security_requirements[0].schemes.get("several").unwrap().list, ["r"]);
    assert_eq!(read.json["securitySchemes"], schemes);
}
