//! The additional members of cards for clients of older versions.

use serde_json::{Map, Value, json};

use super::{KINDS, OlderFacts, VERSION_0_3};

/// Adds the members that clients of A2A 0.3 and 0.2 read.
pub(super) fn add_older(card: &mut Map<String, Value>, facts: OlderFacts) {
    let interfaces: Vec<&Value> = elements(card.get("supportedInterfaces")).collect();
    let older: Vec<&Value> =
        interfaces.iter().copied().filter(|one| text(one, "protocolVersion") == "0.3").collect();
    let own =
        |one: &Value| json!({"url": text(one, "url"), "transport": text(one, "protocolBinding")});
    let mut added = Map::new();
    match older.first() {
        Some(first) => {
            added.insert("protocolVersion".to_owned(), json!(VERSION_0_3));
            added.insert("url".to_owned(), json!(text(first, "url")));
            added.insert("preferredTransport".to_owned(), json!(text(first, "protocolBinding")));
            let all = older.iter().map(|one| own(one)).collect();
            added.insert("additionalInterfaces".to_owned(), Value::Array(all));
        }
        // An agent that supports the `tasks/send` family but not 0.3.
        None => {
            let url = interfaces.first().map(|one| text(one, "url")).unwrap_or_default();
            added.insert("url".to_owned(), json!(url));
        }
    }
    let extended = card.get("capabilities").and_then(|it| it.get("extendedAgentCard"));
    let extended = extended.and_then(Value::as_bool).unwrap_or_default();
    added.insert("supportsAuthenticatedExtendedCard".to_owned(), json!(extended));
    card.append(&mut added);
    if let Some(capabilities) = card.get_mut("capabilities").and_then(Value::as_object_mut)
        && facts.state_transition_history
    {
        capabilities.insert("stateTransitionHistory".to_owned(), json!(true));
    }
    add_requirements(card);
    for skill in elements_mut(card.get_mut("skills")).filter_map(Value::as_object_mut) {
        add_requirements(skill);
    }
    let schemes = card.get_mut("securitySchemes").and_then(Value::as_object_mut);
    schemes.into_iter().flat_map(Map::values_mut).for_each(add_flat_members);
}

/// Adds `security` to a card or a skill with `securityRequirements`.
fn add_requirements(holder: &mut Map<String, Value>) {
    let requirement = |one: &Value| -> Map<String, Value> {
        let schemes = one.get("schemes").and_then(Value::as_object).into_iter().flatten();
        let scopes = |scopes: &Value| scopes.get("list").cloned().unwrap_or_else(|| json!([]));
        schemes.map(|(name, needed)| (name.clone(), scopes(needed))).collect()
    };
    let Some(requirements) = holder.get("securityRequirements") else { return };
    let security = elements(Some(requirements)).map(|one| requirement(one).into()).collect();
    holder.insert("security".to_owned(), Value::Array(security));
}

/// Adds the OpenAPI members to a scheme. Readers of 1.0 that find `type` use these members instead of those of 1.0, so
/// both have the same content, including members that OpenAPI does not define: the flow `deviceCode` and
/// `pkceRequired`.
fn add_flat_members(scheme: &mut Value) {
    let Some(scheme) = scheme.as_object_mut() else { return };
    let Some((wrapper, Value::Object(inner))) = scheme.iter().next() else { return };
    let Some((_, kind)) = KINDS.iter().find(|(known, _)| known == wrapper) else { return };
    let mut flat = inner.clone();
    if let Some(location) = flat.remove("location") {
        flat.insert("in".to_owned(), location);
    }
    flat.insert("type".to_owned(), json!(kind));
    scheme.append(&mut flat);
}

/// Adds the members that only clients of A2A 0.1 read, and replaces the media type of text by the word of 0.1.
pub(super) fn add_oldest(card: &mut Map<String, Value>) {
    let mut schemes: Vec<Value> = Vec::new();
    let declared = card.get("securitySchemes");
    let required = elements(card.get("security")).filter_map(Value::as_object).flat_map(Map::keys);
    for scheme in required.filter_map(|name| declared?.get(name)) {
        if let Some(word) = oldest_word(scheme).map(Value::from)
            && !schemes.contains(&word)
        {
            schemes.push(word);
        }
    }
    if !schemes.is_empty() {
        card.insert("authentication".to_owned(), json!({"schemes": schemes}));
    }
    for name in ["defaultInputModes", "defaultOutputModes"] {
        for mode in elements_mut(card.get_mut(name)).filter(|mode| *mode == "text/plain") {
            *mode = json!("text");
        }
    }
}

/// The name of a scheme in A2A 0.1; `None` for a scheme without a name there.
fn oldest_word(scheme: &Value) -> Option<String> {
    let word = match (text(scheme, "type"), text(scheme, "in")) {
        ("apiKey", "cookie") => "cookie",
        ("apiKey", _) => "ApiKey",
        ("http", _) => text(scheme, "scheme"),
        ("oauth2" | "openIdConnect", _) => "Bearer",
        (_, _) => return None,
    };
    Some(word.to_owned())
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn elements(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

pub(super) fn elements_mut(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::dialect::Dialect;

    /// A card of 1.0 with each kind of scheme.
    pub(crate) fn card() -> Value {
        let interface = |binding: &str, version: &str| {
            let url = format!("https://a.example/{binding}");
            json!({"url": url, "protocolBinding": binding, "protocolVersion": version})
        };
        let all = |version| [interface("JSONRPC", version), interface("HTTP+JSON", version)];
        let interfaces = [all("1.0"), all("0.3")].concat();
        let code = json!({"authorizationUrl": "u", "tokenUrl": "t", "scopes": {"r": "R"}, "pkceRequired": true});
        json!({
            "name": "A", "description": "B", "version": "1",
            "supportedInterfaces": interfaces,
            "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true},
            "securitySchemes": {
                "cookie": {"apiKeySecurityScheme": {"location": "cookie", "name": "c"}},
                "key": {"apiKeySecurityScheme": {"description": "K", "location": "header", "name": "X-Key"}},
                "query": {"apiKeySecurityScheme": {"location": "query", "name": "q"}},
                "basic": {"httpAuthSecurityScheme": {"scheme": "Basic"}},
                "jwt": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
                "code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": code}, "oauth2MetadataUrl": "m"}},
                "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": {"deviceAuthorizationUrl": "d", "tokenUrl": "t", "scopes": {}}}}},
                "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "o"}},
                "mtls": {"mtlsSecurityScheme": {"description": "M"}},
            },
            "securityRequirements": [{"schemes": {"key": {"list": []}, "mtls": {"list": []}}}, {"schemes": {"code": {"list": ["r"]}}}],
            "defaultInputModes": ["text/plain", "application/json"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "D", "tags": ["t"],
                "securityRequirements": [{"schemes": {"jwt": {"list": []}}}]}],
        })
    }

    fn in_dialect(dialect: Dialect, card: &Value) -> Value {
        let text = dialect.card(&card.to_string(), OlderFacts::default()).expect("a card");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The members that exist in `older` but not in `card`.
    fn added(older: &Value, card: &Value) -> Value {
        let members = older.as_object().expect("an object").iter();
        members
            .filter(|(name, _)| card.get(name).is_none())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Map<_, _>>()
            .into()
    }

    #[test]
    fn a_card_of_0_3_has_its_members_besides() {
        let (pure, older) = (card(), in_dialect(Dialect::V0_3, &card()));
        let interface = |binding: &str| json!({"url": format!("https://a.example/{binding}"), "transport": binding});
        let expected = json!({
            "protocolVersion": "0.3.0", "url": "https://a.example/JSONRPC", "preferredTransport": "JSONRPC",
            "additionalInterfaces": [interface("JSONRPC"), interface("HTTP+JSON")],
            "supportsAuthenticatedExtendedCard": true,
            "security": [{"key": [], "mtls": []}, {"code": ["r"]}],
        });
        assert_eq!(added(&older, &pure), expected);
        let of_skill = added(&older["skills"][0], &pure["skills"][0]);
        assert_eq!(of_skill, json!({"security": [{"jwt": []}]}));
        let pkce = &pure["securitySchemes"]["code"]["oauth2SecurityScheme"]["flows"];
        let device = &pure["securitySchemes"]["device"]["oauth2SecurityScheme"]["flows"];
        for (name, flat) in [
            ("cookie", json!({"type": "apiKey", "in": "cookie", "name": "c"})),
            ("key", json!({"type": "apiKey", "in": "header", "name": "X-Key", "description": "K"})),
            ("query", json!({"type": "apiKey", "in": "query", "name": "q"})),
            ("basic", json!({"type": "http", "scheme": "Basic"})),
            ("jwt", json!({"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"})),
            ("code", json!({"type": "oauth2", "flows": pkce, "oauth2MetadataUrl": "m"})),
            ("device", json!({"type": "oauth2", "flows": device})),
            ("oidc", json!({"type": "openIdConnect", "openIdConnectUrl": "o"})),
            ("mtls", json!({"type": "mutualTLS", "description": "M"})),
        ] {
            let (scheme, own) = (&older["securitySchemes"][name], &pure["securitySchemes"][name]);
            assert_eq!(added(scheme, own), flat, "{name}");
        }
    }

    #[test]
    fn the_oldest_card_has_words_for_schemes_and_text() {
        let mut card = card();
        for (required, words) in [
            (json!({"key": {}, "query": {}}), Some(json!(["ApiKey"]))),
            (json!({"cookie": {}, "key": {}}), Some(json!(["cookie", "ApiKey"]))),
            (json!({"basic": {}, "jwt": {}, "mtls": {}}), Some(json!(["Basic", "Bearer"]))),
            (json!({"code": {}, "oidc": {}, "device": {}}), Some(json!(["Bearer"]))),
            (json!({"mtls": {}}), None),
            (json!({}), None),
        ] {
            card["securityRequirements"] = json!([{"schemes": required}]);
            let oldest = in_dialect(Dialect::Legacy, &card);
            let expected = words.map(|words| json!({"schemes": words}));
            assert_eq!(oldest.get("authentication"), expected.as_ref());
        }
        let oldest = in_dialect(Dialect::Legacy, &card);
        assert_eq!(oldest["defaultInputModes"], json!(["text", "application/json"]));
        assert_eq!(oldest["defaultOutputModes"], json!(["text"]));
        assert_eq!(oldest["protocolVersion"], "0.3.0", "clients of 0.2 read it too");
    }

    #[test]
    fn an_agent_without_0_3_is_no_agent_of_it_in_the_oldest_card() {
        let mut card = card();
        card["supportedInterfaces"].as_array_mut().expect("a list").truncate(2);
        let oldest = in_dialect(Dialect::Legacy, &card);
        assert_eq!(oldest["url"], "https://a.example/JSONRPC");
        for name in ["protocolVersion", "preferredTransport", "additionalInterfaces"] {
            assert_eq!(oldest.get(name), None, "{name}");
        }
    }

    #[test]
    fn the_flag_of_histories_is_shown_in_older_cards_alone() {
        let facts = OlderFacts { state_transition_history: true };
        for (dialect, shown) in [
            (Dialect::V1, None),
            (Dialect::V0_3, Some(&json!(true))),
            (Dialect::Legacy, Some(&json!(true))),
        ] {
            let text = dialect.card(&card().to_string(), facts).expect("a card");
            let made: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(made["capabilities"].get("stateTransitionHistory"), shown, "{dialect:?}");
        }
    }
}
