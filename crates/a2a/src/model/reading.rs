//! Parses JSON: foreign JSON within limits, and this program's own JSON without.
//!
//! In a text, a JSON value may need only two bytes, but in a tree each value needs 50 to 250 bytes. So a foreign text is
//! measured before it is parsed to a tree. Only the functions here parse JSON: `clippy.toml` forbids those of `serde_json`
//! elsewhere.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::json_size::JsonSize;

/// Parses foreign JSON of at most `max_values` values, including the names of members, and with at most [`MAX_JSON_DEPTH`]
/// levels. Of members with the same name, the last one counts.
///
/// # Errors
///
/// [`UnfitJson`]. The syntax of a text beyond the limits is not checked.
pub fn read_foreign(text: &[u8], max_values: usize) -> Result<Value, UnfitJson> {
    read_foreign_as(text, max_values)
}

/// Parses foreign JSON to a type, with the limits of [`read_foreign`]. Members that the type ignores also count.
///
/// # Errors
///
/// As [`read_foreign`]; also if the text does not match the type.
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
    // Parses a text and not bytes, as the other readers do: parsing bytes would add a second copy of every decoder to the
    // program.
    let text = std::str::from_utf8(text).map_err(|error| UnfitJson::NotJson {
        reason: error.to_string(),
        is_cut: error.error_len().is_none(),
    })?;
    serde_json::from_str(text)
        .map_err(|error| UnfitJson::NotJson { is_cut: error.is_eof(), reason: error.to_string() })
}

/// Parses JSON of this program or of the authors of this Worker: stored data, messages between parts of the program,
/// settings and embedded data of the build. Foreign data in such JSON was measured before it was stored or sent.
///
/// # Errors
///
/// If the text is not JSON, or does not match the type.
#[expect(clippy::disallowed_methods, reason = "this is the reader of what needs no bound")]
pub fn read_own<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// The reason why a foreign text was not read as JSON. The error text continues a sentence whose subject is the text, for
/// example "it" or "its body".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnfitJson {
    /// The text contains too many values.
    TooManyValues {
        /// The limit.
        max_values: usize,
        /// The number of values, counted up to the first mistake.
        got: usize,
    },
    /// The text has too many levels.
    TooDeep,
    /// The text is not JSON, or does not match the type.
    NotJson {
        /// What is wrong, and the position.
        reason: String,
        /// Whether the text is the beginning of JSON that breaks off.
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
            Self::NotJson { reason, .. } => write!(out, "is not JSON ({reason})"),
        }
    }
}

impl std::error::Error for UnfitJson {}

/// The largest number of JSON values in an answer, an event or a message of another server: the default limit for a request
/// (`MAX_JSON_VALUES`).
pub const MAX_FOREIGN_VALUES: usize = 100_000;

/// The largest number of JSON values in a document about a server: a card, a key set, an answer of a token endpoint. For
/// some of these, several trees are in memory at the same time.
pub const MAX_DOCUMENT_VALUES: usize = 20_000;

/// The largest depth of foreign JSON. The parser's own limit is 128, and parsed JSON is wrapped in some further levels when
/// it is stored and read again.
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
            // A value that a later member of the same name replaces still counts.
            (
                format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100)),
                Err("holds more than 200 JSON values"),
            ),
            // A text beyond the limits is not checked for syntax mistakes.
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
