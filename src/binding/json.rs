//! Parsing JSON from strangers.

use serde_json::Value;

use crate::error::Error;

/// Parses a body.
///
/// # Errors
///
/// [`Error::JsonParse`] if it is not JSON, [`Error::InvalidRequest`] if it is nested more than
/// [`MAX_DEPTH`] levels deep.
pub fn parse(body: &[u8]) -> Result<Value, Error> {
    if depth(body) > MAX_DEPTH {
        let message = format!("the body is nested more than {MAX_DEPTH} levels deep");
        return Err(Error::InvalidRequest(message));
    }
    // From text, as everywhere else: reading from bytes would be a second copy of every decoder.
    let text = std::str::from_utf8(body).map_err(|error| Error::JsonParse(error.to_string()))?;
    serde_json::from_str(text).map_err(|error| Error::JsonParse(error.to_string()))
}

/// How deep objects and lists are nested. Exact for JSON; for anything else the parser has the word.
fn depth(body: &[u8]) -> usize {
    let mut open: usize = 0;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// How deep a body may be nested. The parser's own limit is 128, and what a request holds is wrapped
/// in a few levels more when it is stored and read again.
pub const MAX_DEPTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_outside_of_strings() {
        for (body, expected) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[{}],"b":[]}"#, 3),
            (r#""[[[""#, 0),
            (r#"["\"[[["]"#, 1),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(depth(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn deep_and_broken_bodies_are_refused() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(matches!(parse(deep.as_bytes()), Err(Error::InvalidRequest(_))));
        let allowed = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(parse(allowed.as_bytes()).is_ok());
        for body in ["", "{", "nope", "{\"a\":}", "\u{feff}{}", "{} {}"] {
            assert!(matches!(parse(body.as_bytes()), Err(Error::JsonParse(_))), "{body}");
        }
        assert!(matches!(parse(b"\"\xff\""), Err(Error::JsonParse(_))));
    }
}
