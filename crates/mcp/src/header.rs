//! The values of `Mcp-Name` and `Mcp-Param-*` (2026-07-28): headers that repeat a part of the request's body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A text as the value of a header: unchanged if a header can contain it, else `=?base64?…?=` with the base64 of its
/// UTF-8.
///
/// ```
/// use mcp::header::{decode, encode};
///
/// assert_eq!(encode("get weather"), "get weather");
/// assert_eq!(encode("größer"), "=?base64?Z3LDtsOfZXI=?=");
/// assert_eq!(decode("=?base64?Z3LDtsOfZXI=?=").as_deref(), Some("größer"));
/// ```
pub fn encode(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        format!("{OPENING}{}{CLOSING}", STANDARD.encode(text))
    }
}

/// The text of a header's value; `None` if the value is marked as base64 but is not the base64 of UTF-8.
pub fn decode(value: &str) -> Option<String> {
    let value = value.trim_matches(BLANKS);
    match encoded(value) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// True if a header can contain a text unchanged, and the text does not look like marked base64.
fn is_plain(text: &str) -> bool {
    let is_allowed = |letter: char| matches!(letter, ' '..='~' | '\t');
    text.chars().all(is_allowed) && text.trim_matches(BLANKS) == text && encoded(text).is_none()
}

/// The text between the marks of base64, if they are there.
fn encoded(value: &str) -> Option<&str> {
    value.strip_prefix(OPENING)?.strip_suffix(CLOSING)
}

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// The white space that is removed around the value of a header.
const BLANKS: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_header_cannot_carry_travels_as_base64() {
        for (text, value) in [
            ("", ""),
            ("sum", "sum"),
            ("a b\tc", "a b\tc"),
            (" a", "=?base64?IGE=?="),
            ("a\n", "=?base64?YQo=?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
            ("=?base64?", "=?base64?"),
        ] {
            assert_eq!(encode(text), value, "{text:?}");
            assert_eq!(decode(value).as_deref(), Some(text));
        }
        for value in ["=?base64?!?=", "=?base64?/w==?=", "=?base64?YQ?="] {
            assert_eq!(decode(value), None, "{value}");
        }
        assert_eq!(decode("  sum ").as_deref(), Some("sum"));
    }

    proptest! {
        #[test]
        fn every_text_comes_through_a_header(text in "\\PC*|[\\x00-\\x7f]*") {
            let value = encode(&text);
            prop_assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')));
            prop_assert_eq!(decode(&value), Some(text));
        }
    }
}
