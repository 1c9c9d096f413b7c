//! `#[derive(Decode)]` follows the attributes of serde: what serde writes is read, and what serde refuses is refused, with the
//! path of each wrong member.

use a2a::sorted::SortedMap;
use std::fmt::Debug;

use a2a::model::decode::{Decode, Member, decode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(rename_all = "camelCase")]
struct Whole {
    some_text: String,
    #[serde(rename = "in")]
    place: Place,
    count: u8,
    #[serde(default)]
    flags: Vec<bool>,
    #[serde(default = "sixty")]
    left_s: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maybe: Option<i64>,
    inner: Option<Box<Inner>>,
    #[serde(skip)]
    skipped: usize,
    any: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(default, deny_unknown_fields)]
struct Inner {
    names: SortedMap<String, Place>,
    free: Map<String, Value>,
    size: usize,
}

impl Default for Inner {
    fn default() -> Self {
        Self { names: SortedMap::new(), free: Map::new(), size: 7 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(rename_all = "snake_case")]
enum Place {
    Header,
    TheQuery,
    #[serde(rename = "Cookie!")]
    Cookie,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    Whole(Box<Whole>),
    Inner(Inner),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(rename_all = "camelCase")]
enum Content {
    Nothing,
    Text(String),
    Two(String, u64),
    Both { left: u8, right: Option<Inner> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
struct Flat {
    #[serde(flatten)]
    inner: Rest,
    own: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
struct Rest {
    #[serde(default)]
    took: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(from = "Rest", into = "Rest")]
struct Converted(u64);

impl From<Rest> for Converted {
    fn from(Rest { took }: Rest) -> Self {
        Self(took.unwrap_or_default())
    }
}

impl From<Converted> for Rest {
    fn from(Converted(took): Converted) -> Self {
        Self { took: Some(took) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Decode)]
#[serde(transparent)]
struct Wrapped(Vec<Inner>);

fn sixty() -> u32 {
    60
}

/// The value as both readers read it; `None` if both refuse it.
fn read<T>(json: Value) -> Option<T>
where
    T: DeserializeOwned + Member + Serialize + PartialEq + Debug,
{
    let decoded = decode::<T>(json.clone());
    assert_eq!(
        decoded.as_ref().ok(),
        serde_json::from_value::<T>(json.clone()).ok().as_ref(),
        "{json}"
    );
    let decoded = decoded.ok()?;
    let again = decode::<T>(serde_json::to_value(&decoded).unwrap());
    assert_eq!(again.as_ref(), Ok(&decoded), "{json}");
    Some(decoded)
}

fn whole() -> Value {
    json!({"someText": "a", "in": "the_query", "count": 255, "inner": null, "any": null})
}

fn with(mut json: Value, name: &str, value: Value) -> Value {
    json[name] = value;
    json
}

#[test]
fn members_have_the_names_and_the_defaults_of_serde() {
    let least = Whole {
        some_text: "a".to_owned(),
        place: Place::TheQuery,
        count: 255,
        flags: Vec::new(),
        left_s: 60,
        maybe: None,
        inner: None,
        skipped: 0,
        any: Value::Null,
    };
    assert_eq!(read::<Whole>(whole()), Some(least.clone()));
    assert_eq!(read::<Whole>(with(whole(), "unknown", json!(1))), Some(least.clone()));
    for (name, value) in [
        ("flags", json!([true, false])),
        ("leftS", json!(0)),
        ("maybe", json!(i64::MIN)),
        ("maybe", json!(i64::MAX)),
        ("in", json!("Cookie!")),
        ("inner", json!({})),
        ("inner", json!({"names": {"b": "header", "a": "Cookie!"}, "free": {"x": [1]}, "size": 0})),
        ("any", json!({"x": null})),
    ] {
        assert!(read::<Whole>(with(whole(), name, value)).is_some(), "{name}");
    }
}

#[test]
fn what_serde_refuses_is_refused() {
    for (name, value) in [
        ("someText", json!(1)),
        ("someText", json!(null)),
        ("in", json!("query")),
        ("in", json!(1)),
        ("count", json!(256)),
        ("count", json!(-1)),
        ("count", json!(1.0)),
        ("count", json!("1")),
        ("flags", json!(null)),
        ("flags", json!(["true"])),
        ("leftS", json!(u64::from(u32::MAX) + 1)),
        ("leftS", json!(null)),
        ("maybe", json!(u64::MAX)),
        ("inner", json!("x")),
        ("inner", json!({"names": {"a": "b"}})),
        ("inner", json!({"size": -1})),
    ] {
        assert_eq!(read::<Whole>(with(whole(), name, value.clone())), None, "{name}: {value}");
    }
    for name in ["someText", "in", "count"] {
        let mut missing = whole();
        missing.as_object_mut().unwrap().remove(name);
        assert_eq!(read::<Whole>(missing), None, "{name}");
    }
    for json in [json!(null), json!("x"), json!(7)] {
        assert_eq!(read::<Whole>(json), None);
    }
}

#[test]
fn every_form_of_a_type_is_read() {
    assert_eq!(
        read(json!({"kind": "inner", "size": 1})),
        Some(Tagged::Inner(Inner { size: 1, ..Inner::default() }))
    );
    assert!(read::<Tagged>(with(whole(), "kind", json!("whole"))).is_some());
    for wrong in [json!({}), json!({"kind": "other"}), json!({"kind": 1}), json!({"kind": "whole"})]
    {
        assert_eq!(read::<Tagged>(wrong), None);
    }
    for (json, content) in [
        (json!("nothing"), Content::Nothing),
        (json!({"text": "a"}), Content::Text("a".to_owned())),
        (json!({"two": ["a", u64::MAX]}), Content::Two("a".to_owned(), u64::MAX)),
        (json!({"both": {"left": 1}}), Content::Both { left: 1, right: None }),
    ] {
        assert_eq!(read(json), Some(content));
    }
    for wrong in [
        json!("text"),
        json!("other"),
        json!({}),
        json!({"text": "a", "nothing": null}),
        json!({"text": 1}),
        json!({"two": ["a"]}),
        json!({"two": ["a", 1, 2]}),
        json!({"two": [1, "a"]}),
        json!({"both": {}}),
        json!(null),
    ] {
        assert_eq!(read::<Content>(wrong), None);
    }
    let flat = Flat { inner: Rest { took: Some(2) }, own: "a".to_owned() };
    assert_eq!(read(json!({"own": "a", "took": 2})), Some(flat));
    assert_eq!(read::<Flat>(json!({"took": 2})), None);
    assert_eq!(read(json!({"took": 2})), Some(Converted(2)));
    assert_eq!(read(json!([{}, {"size": 2}])).map(|Wrapped(all)| all.len()), Some(2));
    assert_eq!(read::<Wrapped>(json!({})), None);
}

#[test]
fn every_wrong_member_is_named_with_its_path() {
    let wrong = json!({
        "someText": 1,
        "in": "header",
        "count": -1,
        "flags": [true, 1],
        "inner": {"names": {"a": "header", "b": "x"}, "size": 1.5},
    });
    let found = decode::<Whole>(wrong).unwrap_err();
    let found: Vec<String> =
        found.iter().map(|found| format!("{} {}", found.field, found.description)).collect();
    assert_eq!(
        found,
        [
            "someText must be a string, got 1",
            "count must be a whole number, got -1",
            "flags[1] must be true or false, got 1",
            "inner.names.b must be one of header, the_query, Cookie!, got \"x\"",
            "inner.size must be a whole number, got 1.5",
            "any is required",
        ]
    );
}
