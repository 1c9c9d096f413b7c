//! The claims of tokens (RFC 7519 §4), read by their names.

use serde_json::{Map, Value};

use crate::auth::proof::check_id;
use a2a::model::UnixMillis;

/// The claims of a token.
pub(super) struct Claims<'a>(pub(super) &'a Map<String, Value>);

impl Claims<'_> {
    /// The claim of this name; `None` for `null`, too. If no claim has the whole name, dots in the name lead into
    /// nested objects.
    fn find(&self, name: &str) -> Option<&Value> {
        fn within<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
            members.get(name).or_else(|| {
                let (first, rest) = name.split_once('.')?;
                within(members.get(first)?.as_object()?, rest)
            })
        }
        within(self.0, name).filter(|value| !value.is_null())
    }

    /// A claim that is a text; `None` if it is missing or empty.
    ///
    /// # Errors
    ///
    /// If the claim is invalid; the text states the requirement.
    pub(super) fn id(&self, name: &str) -> Result<Option<String>, String> {
        match self.find(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => match check_id(text) {
                Ok(()) => Ok(Some(text.clone())),
                Err(rule) => Err(format!("the claim {name} {rule}")),
            },
            Some(_) => Err(format!("the claim {name} must be a text")),
        }
    }

    /// A claim that is an instant, in seconds.
    ///
    /// # Errors
    ///
    /// If the claim exists and is not an instant.
    pub(super) fn instant(&self, name: &'static str) -> Result<Option<UnixMillis>, String> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        match value.as_f64().filter(|seconds| (0.0..=LAST_SECOND).contains(seconds)) {
            Some(seconds) => Ok(Some(UnixMillis((seconds * 1000.0) as i64))),
            None => Err(format!("the claim {name} must be a time in seconds")),
        }
    }

    /// True if the token's audience, or one of its audiences, is in this list.
    ///
    /// # Errors
    ///
    /// If the token has no audience, or it is neither a text nor a list of texts.
    pub(super) fn is_for(&self, audience: &[String]) -> Result<bool, &'static str> {
        let is_meant = |value: &str| audience.iter().any(|known| known == value);
        match self.0.get("aud") {
            Some(Value::String(value)) => Ok(is_meant(value)),
            Some(Value::Array(values)) if !values.is_empty() => {
                let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
                let texts = texts.ok_or("the audience of the token must be a text or texts")?;
                Ok(texts.into_iter().any(is_meant))
            }
            _ => Err("the audience of the token must be a text or texts"),
        }
    }

    /// True if this issuer has issued the token.
    pub(super) fn is_from(&self, issuer: &str) -> bool {
        self.0.get("iss").and_then(Value::as_str) == Some(issuer)
    }

    /// The permissions in claims of these names: each a list of texts, or a text with spaces.
    ///
    /// # Errors
    ///
    /// If a claim is neither of the two.
    pub(super) fn permissions(&self, names: &[String]) -> Result<Vec<String>, String> {
        let mut permissions: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            if !text.is_empty() && !permissions.iter().any(|known| known == text) {
                permissions.push(text.to_owned());
            }
        };
        for name in names {
            let wrong = || format!("the claim {name} must be a text or a list of texts");
            match self.find(name) {
                None => {}
                Some(Value::String(text)) => text.split(' ').for_each(&mut add),
                Some(Value::Array(values)) => {
                    for value in values {
                        add(value.as_str().ok_or_else(wrong)?);
                    }
                }
                Some(_) => return Err(wrong()),
            }
        }
        Ok(permissions)
    }
}

/// The last second of the year 9999.
const LAST_SECOND: f64 = 253_402_300_799.0;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T>(claims: &Value, reader: impl Fn(&Claims<'_>) -> T) -> T {
        reader(&Claims(claims.as_object().unwrap()))
    }

    #[test]
    fn claims_are_found_by_their_name_or_by_a_way_through_objects() {
        let claims = json!({
            "sub": "a", "realm": {"access": {"id": "deep"}, "a.b": {"c": "dotted"}},
            "https://a.example/team": "team", "realm.x": "whole", "empty": "", "none": null,
            "number": 5, "list": ["a"],
        });
        for (name, found) in [
            ("sub", Ok(Some("a"))),
            ("realm.access.id", Ok(Some("deep"))),
            ("https://a.example/team", Ok(Some("team"))),
            ("realm.x", Ok(Some("whole"))),
            ("realm.access.none", Ok(None)),
            ("sub.a", Ok(None)),
            ("empty", Ok(None)),
            ("none", Ok(None)),
            ("number", Err("the claim number must be a text")),
            ("list", Err("the claim list must be a text")),
            ("realm", Err("the claim realm must be a text")),
        ] {
            let id = read(&claims, |claims| claims.id(name));
            assert_eq!(id, found.map(|id| id.map(str::to_owned)).map_err(str::to_owned), "{name}");
        }
    }

    #[test]
    fn permissions_are_lists_or_texts_with_spaces_and_each_counts_once() {
        let claims =
            json!({"scope": "read  write", "scp": ["write", "a b"], "r": {"roles": ["x"]}});
        let names = ["scope", "scp", "r.roles", "none"].map(str::to_owned);
        let permissions = read(&claims, |claims| claims.permissions(&names));
        assert_eq!(permissions.unwrap(), ["read", "write", "a b", "x"]);
        for wrong in [json!(5), json!({}), json!([5]), json!([["a"]]), json!(true)] {
            let claims = json!({"scope": wrong});
            assert!(read(&claims, |claims| claims.permissions(&names)).is_err(), "{claims}");
        }
    }

    #[test]
    fn instants_are_seconds() {
        for (value, millis) in
            [(json!(0), 0), (json!(1.5), 1500), (json!(1_767_603_601), 1_767_603_601_000)]
        {
            let instant = read(&json!({"exp": value}), |claims| claims.instant("exp"));
            assert_eq!(instant, Ok(Some(UnixMillis(millis))));
        }
        for wrong in [
            json!("1767603601"),
            json!(-1),
            json!(1e300),
            json!(null),
            json!([1]),
            json!(true),
            json!(253_402_300_800_i64),
        ] {
            let claims = json!({"exp": wrong});
            assert!(read(&claims, |claims| claims.instant("exp")).is_err(), "{claims}");
        }
        assert_eq!(read(&json!({}), |claims| claims.instant("exp")), Ok(None));
    }

    #[test]
    fn one_of_the_audiences_has_to_be_meant() {
        let audience = ["a", "b"].map(str::to_owned);
        for (value, is_for) in [
            (json!("a"), Ok(true)),
            (json!(["x", "b"]), Ok(true)),
            (json!("x"), Ok(false)),
            (json!("A"), Ok(false)),
            (json!("a "), Ok(false)),
            (json!("a b"), Ok(false)),
        ] {
            let found = read(&json!({"aud": value}), |claims| claims.is_for(&audience));
            assert_eq!(found, is_for, "{value}");
        }
        for wrong in [json!(null), json!([]), json!(["a", 5]), json!({"a": 1}), json!(5)] {
            let claims = json!({"aud": wrong});
            assert!(read(&claims, |claims| claims.is_for(&audience)).is_err(), "{claims}");
        }
        assert!(read(&json!({}), |claims| claims.is_for(&audience)).is_err());
    }
}
