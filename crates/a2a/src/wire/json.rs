//! Parses the JSON of request bodies.

use serde_json::Value;

use crate::error::Error;
use crate::model::{MAX_JSON_DEPTH, UnfitJson, read_foreign};

/// Parses a body of at most `max_values` values.
///
/// # Errors
///
/// [`Error::JsonParse`] if the body is not JSON, [`Error::InvalidRequest`] if it has more than
/// [`MAX_JSON_DEPTH`] levels, [`Error::InvalidParams`] if it contains too many values.
pub fn parse(body: &[u8], max_values: usize) -> Result<Value, Error> {
    read_foreign(body, max_values).map_err(|unfit| match unfit {
        UnfitJson::TooDeep => {
            let message = format!("the body is nested more than {MAX_JSON_DEPTH} levels deep");
            Error::InvalidRequest(message)
        }
        UnfitJson::TooManyValues { max_values, got } => {
            let description = format!(
                "the body may hold at most {max_values} JSON values (MAX_JSON_VALUES), got {got}"
            );
            Error::invalid("", description)
        }
        UnfitJson::NotJson { reason, .. } => Error::JsonParse(reason),
    })
}

/// The unparsed text of a member's value in a JSON object; of several members of the same name, the
/// last one. Names with escapes are not found.
pub(super) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut open = 0_usize;
    let mut found = None;
    // The positions at which the value of the searched member begins, and at which the newest string
    // of the object begins.
    let mut value = None;
    let mut string = None;
    let mut quoted = None;
    let mut is_escaped = false;
    for (at, byte) in object.bytes().enumerate() {
        if let Some(begun) = quoted {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    quoted = None;
                    string = object.get(begun + 1..at).filter(|_| open == 1);
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = Some(at),
            b'{' | b'[' => open += 1,
            b':' if open == 1 && string == Some(name) => value = Some(at + 1),
            b',' | b'}' if open == 1 => {
                let text = value.take().and_then(|begun| object.get(begun..at));
                found = text.map(str::trim).or(found);
            }
            _ => {}
        }
        if matches!(byte, b'}' | b']') {
            open = open.saturating_sub(1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_broken_bodies_are_refused() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(matches!(parse(deep.as_bytes(), usize::MAX), Err(Error::InvalidRequest(_))));
        let allowed = "[".repeat(MAX_JSON_DEPTH) + &"]".repeat(MAX_JSON_DEPTH);
        assert!(parse(allowed.as_bytes(), MAX_JSON_DEPTH).is_ok());
        for body in ["", "{", "nope", "{\"a\":}", "\u{feff}{}", "{} {}"] {
            assert!(matches!(parse(body.as_bytes(), 100), Err(Error::JsonParse(_))), "{body}");
        }
        assert!(matches!(parse(b"\"\xff\"", 100), Err(Error::JsonParse(_))));
    }

    #[test]
    fn bodies_of_too_many_values_are_told_the_setting() {
        assert!(parse(br#"{"a": [1, 2, "x"]}"#, 6).is_ok());
        // In this case the syntax of the text is not checked.
        for body in [r#"{"a": [1, 2, "x", null]}"#, "[0,0,0,0,0,0,0"] {
            let refused = parse(body.as_bytes(), 6).expect_err(body);
            assert_eq!(refused.wire().code, -32602);
            assert!(refused.to_string().contains("at most 6 JSON values (MAX_JSON_VALUES)"));
        }
    }
}
