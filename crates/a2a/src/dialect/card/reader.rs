//! The views of a card for readers that know the members of only one version; these readers verify the signature of their
//! view.

use serde_json::{Map, Value};

use super::members::elements_mut;
use super::{KINDS, VERSION_0_3};

/// A card without the members that [`Dialect::card`] has added, which is the view of a reader that knows only the members
/// of 1.0. The words of 0.1 for media types remain.
pub(crate) fn as_1_0(card: &Value) -> Value {
    let mut card = card.clone();
    let Some(members) = card.as_object_mut() else { return card };
    members.retain(|name, _| !OLDER_MEMBERS.contains(&name.as_str()));
    if let Some(capabilities) = members.get_mut("capabilities").and_then(Value::as_object_mut) {
        capabilities.remove("stateTransitionHistory");
    }
    for skill in elements_mut(members.get_mut("skills")).filter_map(Value::as_object_mut) {
        skill.remove("security");
    }
    for scheme in schemes_mut(members) {
        scheme.retain(|name, _| KINDS.iter().any(|(wrapper, _)| wrapper == name));
    }
    card
}

/// The view of a card for a reader that knows only the members of 0.3 and drops members with their default value, as the
/// Python SDK of 0.3 does when it verifies signatures. `None` if the card has no member of 0.3.
pub(crate) fn as_0_3(card: &Value) -> Option<Value> {
    let mut card = card.clone();
    let members = card.as_object_mut().filter(|card| card.contains_key("protocolVersion"))?;
    members.retain(|name, _| {
        !["supportedInterfaces", "securityRequirements", "authentication"].contains(&name.as_str())
    });
    for (name, default) in [("protocolVersion", VERSION_0_3), ("preferredTransport", "JSONRPC")] {
        if members.get(name).is_some_and(|value| value == default) {
            members.remove(name);
        }
    }
    if let Some(capabilities) = members.get_mut("capabilities").and_then(Value::as_object_mut) {
        capabilities.remove("extendedAgentCard");
    }
    for skill in elements_mut(members.get_mut("skills")).filter_map(Value::as_object_mut) {
        skill.remove("securityRequirements");
    }
    for scheme in schemes_mut(members) {
        scheme
            .retain(|name, _| name != "type" && !KINDS.iter().any(|(wrapper, _)| wrapper == name));
        if let Some(flows) = scheme.get_mut("flows").and_then(Value::as_object_mut) {
            flows.remove("deviceCode");
            for flow in flows.values_mut().filter_map(Value::as_object_mut) {
                flow.remove("pkceRequired");
            }
        }
    }
    Some(card)
}

/// The members of an older card that a card of 1.0 does not have.
const OLDER_MEMBERS: [&str; 7] = [
    "additionalInterfaces",
    "authentication",
    "preferredTransport",
    "protocolVersion",
    "security",
    "supportsAuthenticatedExtendedCard",
    "url",
];

fn schemes_mut(card: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let schemes = card.get_mut("securitySchemes").and_then(Value::as_object_mut);
    schemes.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use super::super::OlderFacts;
    use super::super::members::tests::card;
    use crate::dialect::Dialect;

    #[test]
    fn a_reader_of_1_0_sees_the_card_of_1_0() {
        let facts = OlderFacts { state_transition_history: true };
        let older = Dialect::V0_3.card(&card().to_string(), facts).expect("a card");
        assert_eq!(as_1_0(&serde_json::from_str(&older).expect("JSON")), card());
        assert_eq!(as_1_0(&card()), card());
        assert_eq!(as_0_3(&card()), None);
    }

    #[test]
    fn a_reader_of_0_3_sees_its_members_without_their_defaults() {
        let facts = OlderFacts { state_transition_history: true };
        let older = Dialect::V0_3.card(&card().to_string(), facts).expect("a card");
        let seen = as_0_3(&serde_json::from_str(&older).expect("JSON")).expect("a card of 0.3");
        let interface = |binding: &str| json!({"url": format!("https://a.example/{binding}"), "transport": binding});
        let expected = json!({
            "name": "A", "description": "B", "version": "1", "url": "https://a.example/JSONRPC",
            "additionalInterfaces": [interface("JSONRPC"), interface("HTTP+JSON")],
            "capabilities": {"streaming": true, "pushNotifications": false, "stateTransitionHistory": true},
            "supportsAuthenticatedExtendedCard": true,
            "securitySchemes": {
                "cookie": {"in": "cookie", "name": "c"},
                "key": {"description": "K", "in": "header", "name": "X-Key"},
                "query": {"in": "query", "name": "q"},
                "basic": {"scheme": "Basic"},
                "jwt": {"scheme": "Bearer", "bearerFormat": "JWT"},
                "code": {"flows": {"authorizationCode": {"authorizationUrl": "u", "tokenUrl": "t", "scopes": {"r": "R"}}}, "oauth2MetadataUrl": "m"},
                "device": {"flows": {}},
                "oidc": {"openIdConnectUrl": "o"},
                "mtls": {"description": "M"},
            },
            "security": [{"key": [], "mtls": []}, {"code": ["r"]}],
            "defaultInputModes": ["text/plain", "application/json"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "D", "tags": ["t"], "security": [{"jwt": []}]}],
        });
        assert_eq!(seen, expected);
    }
}
