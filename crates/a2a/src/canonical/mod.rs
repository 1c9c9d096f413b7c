//! The canonical forms of an agent card, which are signed (spec §8.4.1).
//!
//! Verifiers build the canonical form themselves, and different verifiers build different forms. So each form of a card
//! can have its own signature: a verifier accepts the card if one signature matches its form.

mod jcs;

use serde_json::{Map, Value};

use crate::dialect::card::{as_0_3, as_1_0};

pub use jcs::{to_ascii_json, to_ascii_json_with_integers, to_jcs};

/// The distinct canonical forms of a card, which is JSON without `signatures`:
///
/// 1. The card as it is served.
/// 2. The form of the specification: without empty fields that are not required.
/// 3. Forms 1 and 2 of only those members that a reader of 1.0 knows: the SDKs decode the card before they verify it. A
///    card for older clients, too, has further members.
/// 4. The form of the SDKs in JavaScript and Python: form 3 without any empty value, at any depth.
/// 5. Form 4 as JSON in ASCII, which is the form of the Python SDK before version 1.3.
/// 6. The form of the Python SDK for A2A 0.3.
pub fn forms_of(card: &Value) -> Vec<String> {
    let known = as_1_0(card);
    let filled_known = filled_object(&known);
    let mut all = vec![
        to_jcs(card),
        to_jcs(&as_specified(card)),
        to_jcs(&known),
        to_jcs(&as_specified(&known)),
        to_jcs(&filled_known),
        to_ascii_json(&filled_known),
    ];
    all.extend(as_0_3(card).map(|known| to_ascii_json_with_integers(&filled_object(&known))));
    let mut forms: Vec<String> = Vec::with_capacity(all.len());
    for form in all {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

/// The card without the empty lists of schemes in its requirements, which are the only field that is served although it
/// is empty and not required.
fn as_specified(card: &Value) -> Value {
    let mut card = card.clone();
    let without_lists = |holder: &mut Value| {
        let requirements = holder.get_mut("securityRequirements").and_then(Value::as_array_mut);
        let schemes = requirements.into_iter().flatten().filter_map(|one| one.get_mut("schemes"));
        let schemes = schemes.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
        for scheme in schemes.filter_map(Value::as_object_mut) {
            let is_empty = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
            if scheme.get("list").is_some_and(is_empty) {
                scheme.remove("list");
            }
        }
    };
    without_lists(&mut card);
    if let Some(skills) = card.get_mut("skills").and_then(Value::as_array_mut) {
        skills.iter_mut().for_each(without_lists);
    }
    card
}

fn filled_object(card: &Value) -> Value {
    filled(card).unwrap_or_else(|| Value::Object(Map::new()))
}

/// A value without any empty content: null, texts, lists and objects. `None` if nothing remains.
fn filled(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Array(elements) => {
            let elements: Vec<Value> = elements.iter().filter_map(filled).collect();
            (!elements.is_empty()).then_some(Value::Array(elements))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members: Map<String, Value> =
                members.filter_map(|(name, value)| Some((name.clone(), filled(value)?))).collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_card_has_one_form() {
        let card =
            json!({"name": "A", "capabilities": {"streaming": false}, "skills": [{"id": "s"}]});
        let form = r#"{"capabilities":{"streaming":false},"name":"A","skills":[{"id":"s"}]}"#;
        assert_eq!(forms_of(&card), [form]);
    }

    #[test]
    fn forms_differ_by_what_is_empty_and_by_what_is_not_ascii() {
        let requirement = json!([{"schemes": {"key": {"list": []}, "jwt": {"list": ["r"]}}}]);
        let card = json!({
            "securityRequirements": requirement, "name": "é😀", "defaultInputModes": [],
            "skills": [{"id": "s", "description": "", "securityRequirements": [{"schemes": {"key": {"list": []}}}]}],
            "capabilities": {"extensions": [{"uri": "u", "params": {"a": [null, {"b": ""}], "c": 0, "list": []}}]},
        });
        let expected = [
            r#"{"capabilities":{"extensions":[{"params":{"a":[null,{"b":""}],"c":0,"list":[]},"uri":"u"}]},"defaultInputModes":[],"name":"é😀","securityRequirements":[{"schemes":{"jwt":{"list":["r"]},"key":{"list":[]}}}],"skills":[{"description":"","id":"s","securityRequirements":[{"schemes":{"key":{"list":[]}}}]}]}"#,
            r#"{"capabilities":{"extensions":[{"params":{"a":[null,{"b":""}],"c":0,"list":[]},"uri":"u"}]},"defaultInputModes":[],"name":"é😀","securityRequirements":[{"schemes":{"jwt":{"list":["r"]},"key":{}}}],"skills":[{"description":"","id":"s","securityRequirements":[{"schemes":{"key":{}}}]}]}"#,
            r#"{"capabilities":{"extensions":[{"params":{"c":0},"uri":"u"}]},"name":"é😀","securityRequirements":[{"schemes":{"jwt":{"list":["r"]}}}],"skills":[{"id":"s"}]}"#,
            r#"{"capabilities":{"extensions":[{"params":{"c":0.0},"uri":"u"}]},"name":"\u00e9\ud83d\ude00","securityRequirements":[{"schemes":{"jwt":{"list":["r"]}}}],"skills":[{"id":"s"}]}"#,
        ];
        assert_eq!(forms_of(&card), expected);
    }

    #[test]
    fn a_card_for_older_clients_is_signed_as_it_is_and_as_each_version_knows_it() {
        let facts = crate::dialect::OlderFacts::default();
        let card = json!({
            "name": "é", "capabilities": {"extendedAgentCard": false},
            "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}],
            "securityRequirements": [{"schemes": {"k": {"list": []}}}],
        });
        let older = crate::dialect::Dialect::V0_3.card(&card.to_string(), facts).expect("a card");
        let older: Value = serde_json::from_str(&older).expect("JSON");
        let forms = forms_of(&older);
        let empty_lists = to_jcs(&older).replace(r#"{"list":[]}"#, "{}");
        assert_eq!(forms[..2], [to_jcs(&older), empty_lists]);
        assert_eq!(forms[2..6], forms_of(&card)[..]);
        let of_0_3 = r#"{"additionalInterfaces":[{"transport":"JSONRPC","url":"u"}],"name":"\u00e9","supportsAuthenticatedExtendedCard":false,"url":"u"}"#;
        assert_eq!(forms[6..], [of_0_3]);
    }

    #[test]
    fn the_order_of_members_makes_no_difference() {
        let forms = |text: &str| forms_of(&serde_json::from_str(text).expect("JSON"));
        let (one, other) = (
            r#"{"a":{"x":1,"y":[{"q":"","p":2}]},"b":[]}"#,
            r#"{"b":[],"a":{"y":[{"p":2.0,"q":""}],"x":1e0}}"#,
        );
        assert_eq!(forms(one), forms(other));
        assert_eq!(forms("{}"), ["{}"]);
        assert_eq!(forms(r#"{"a":[]}"#), [r#"{"a":[]}"#, "{}"]);
    }
}
