//! Reading JSON: that of others within bounds, and our own as it is.
//!
//! A text holds a JSON value in two bytes, and its tree takes 50 to 250 bytes for each. So a text of somebody else is measured
//! before a tree is made of it. These are the only readers of JSON: `clippy.toml` forbids those of `serde_json` elsewhere.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::json_size::JsonSize;

/// Reads JSON of somebody else: of at most `max_values` values, names of members included, and nested at most
/// [`MAX_JSON_DEPTH`] levels deep. Of members with the same name the last one counts.
///
/// # Errors
///
/// [`UnfitJson`]. Whether a text beyond the bounds is JSON is not looked at.
pub fn read_foreign(text: &[u8], max_values: usize) -> Result<Value, UnfitJson> {
    read_foreign_as(text, max_values)
}

/// As [`read_foreign`], as a type. What the type leaves out counts, too.
///
/// # Errors
///
/// As [`read_foreign`]; also if it is not what the type takes.
#[expect(clippy::disallowed_methods, reason = "this is the reader, and it is bounded")]
pub fn read_foreign_as<'a, T: Deserialize<'a>>(
    text: &'a [u8],
    max_values: usize,
) -> Result<T, UnfitJson> {
    let JsonSize { depth, values, .. } = JsonSize::of(text);
    if depth > MAX_JSON_DEPTH {
        return Err(UnfitJson::TooDeep);
    }
    if values > max_values {
        return Err(UnfitJson::TooManyValues { max_values, got: values });
    }
    // From text, as everywhere else: reading from bytes would be a second copy of every decoder.
    let text = std::str::from_utf8(text).map_err(|error| UnfitJson::NotJson {
        reason: error.to_string(),
        is_cut: error.error_len().is_none(),
    })?;
    serde_json::from_str(text)
        .map_err(|error| UnfitJson::NotJson { is_cut: error.is_eof(), reason: error.to_string() })
}

/// Reads JSON of our own making, or of those who made this Worker: what was stored, what goes from one part to another, settings
/// and what the build has embedded. What others have a hand in was measured before it was stored or passed on.
///
/// # Errors
///
/// If it is no JSON, or not what the type takes.
#[expect(clippy::disallowed_methods, reason = "this is the reader of what needs no bound")]
pub fn read_own<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// Why a text of somebody else is not read as JSON. Its text is to be read behind what it is about, as "it" or "its body".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnfitJson {
    /// It holds too many values.
    TooManyValues {
        /// How many it may hold.
        max_values: usize,
        /// How many it holds, counted up to the first mistake.
        got: usize,
    },
    /// It is nested too deep.
    TooDeep,
    /// It is no JSON, or not what is wanted.
    NotJson {
        /// What is wrong, and where.
        reason: String,
        /// Whether it is the beginning of JSON, and ends in the middle.
        is_cut: bool,
    },
}

impl fmt::Display for UnfitJson {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyValues { max_values, .. } => {
                write!(out, "holds more than {max_values} JSON values")
            }
            Self::TooDeep => write!(out, "is nested more than {MAX_JSON_DEPTH} levels deep"),
            Self::NotJson { reason, .. } => write!(out, "is no JSON ({reason})"),
        }
    }
}

impl std::error::Error for UnfitJson {}

/// How many JSON values an answer, an event or a message of another server may hold: as many as a request (`MAX_JSON_VALUES`),
/// unless that is set otherwise.
pub const MAX_FOREIGN_VALUES: usize = 100_000;

/// How many JSON values a document may hold that tells about a server: a card, a key set, an answer of a token endpoint. Of some of
/// these several trees are held at a time.
pub const MAX_DOCUMENT_VALUES: usize = 20_000;

/// How deep JSON of others may be nested. The parser's own limit is 128, and what was read is wrapped in a few levels more when it
/// is stored and read again.
pub const MAX_JSON_DEPTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_json_is_read_within_its_bounds() {
        let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let read = |text: &str| {
            read_foreign(text.as_bytes(), 200).map(|_| ()).map_err(|unfit| unfit.to_string())
        };
        for (text, told) in [
            (list(199), Ok(())),
            (list(200), Err("holds more than 200 JSON values")),
            (nested(100), Ok(())),
            (nested(101), Err("is nested more than 100 levels deep")),
            (nested(100_000), Err("is nested more than 100 levels deep")),
            // A value that is given up for another of its name was made all the same.
            (
                format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100)),
                Err("holds more than 200 JSON values"),
            ),
            // A text beyond the bounds is not read up to its mistake.
            (list(200) + "x", Err("holds more than 200 JSON values")),
        ] {
            let beginning: String = text.chars().take(20).collect();
            assert_eq!(read(&text), told.map_err(str::to_owned), "{beginning}");
        }
    }

    #[test]
    fn what_is_no_json_says_whether_it_was_cut() {
        for (text, expected) in [
            (&b"{\"a\":"[..], true),
            (b"", true),
            (b"[\"\xc3", true),
            (b"[1}", false),
            (b"[\"\xff\"]", false),
            (b"{} {}", false),
        ] {
            match read_foreign(text, 100) {
                Err(UnfitJson::NotJson { is_cut, .. }) => assert_eq!(is_cut, expected, "{text:?}"),
                other => panic!("{text:?} is {other:?}"),
            }
        }
    }

    #[test]
    fn a_type_is_read_within_the_same_bounds() {
        let text = format!(r#"{{"rest":[{}0],"wanted":1}}"#, "0,".repeat(50));
        #[derive(Debug, Deserialize)]
        struct Wanted {
            wanted: u8,
        }
        let read = |max_values| read_foreign_as::<Wanted>(text.as_bytes(), max_values);
        assert_eq!(read(100).map(|read| read.wanted), Ok(1));
        let got = 56;
        let refused = UnfitJson::TooManyValues { max_values: 10, got };
        assert_eq!(read(10).map(|read| read.wanted), Err(refused));
    }
}
