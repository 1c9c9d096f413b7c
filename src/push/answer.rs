//! The beginning of a receiver's answer, as it is kept with an attempt.
//!
//! Receivers that fail often repeat the request in their answer. So the secrets of the webhook are removed before the text leaves the sender.

use serde::Serialize;

use a2a::binding::media_type::{essence, is_text};
use a2a::model::decode::{Decode, Fields};
use a2a::model::{AuthenticationInfo, Secret, TaskPushNotificationConfig};

/// The beginning of the body of an answer, at most 512 bytes long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerText {
    /// The text. Control characters other than tabs and line ends are replaced by their pictures (U+2400 to U+2421).
    pub text: String,
    /// True if the answer is longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The texts that an answer is not shown with.
pub struct Hidden(Vec<String>);

impl Hidden {
    /// The secrets of a webhook, and the header `authorization` of a notification.
    pub fn of(config: &TaskPushNotificationConfig, authorization: Option<&str>) -> Self {
        let TaskPushNotificationConfig { token, authentication, signing_secret, .. } = config;
        let credentials = |known: &AuthenticationInfo| known.credentials.clone();
        let credentials = authentication.as_ref().and_then(credentials);
        let known = [token, &credentials, signing_secret].into_iter().flatten();
        let known = known.map(Secret::reveal).chain(authorization);
        let mut texts: Vec<String> = Vec::new();
        for text in known {
            // A receiver may show the secret without `whsec_`, and the token without `Bearer`.
            let text = text.strip_prefix("whsec_").or(text.strip_prefix("Bearer ")).unwrap_or(text);
            if !text.is_empty() {
                // The longest first: one text may begin with another.
                let shorter = texts.iter().position(|known| known.len() < text.len());
                texts.insert(shorter.unwrap_or(texts.len()), text.to_owned());
            }
        }
        Self(texts)
    }

    /// The number of bytes of an answer to read: a secret that begins within the kept bytes must be read to its end.
    pub fn window(&self) -> usize {
        MAX_BYTES + self.0.first().map_or(0, String::len)
    }

    /// The text without the hidden texts. Of a text that is not whole, the end is removed if a hidden text may begin there.
    fn removed_from(&self, mut text: String, is_whole: bool) -> String {
        for hidden in &self.0 {
            text = text.replace(hidden.as_str(), "…");
        }
        let begins = |hidden: &String| {
            let ends =
                |length: &usize| hidden.get(..*length).is_some_and(|begun| text.ends_with(begun));
            (MIN_PART..hidden.len()).rev().find(ends).unwrap_or(0)
        };
        let begun = self.0.iter().map(begins).max().unwrap_or(0);
        if !is_whole {
            text.truncate(text.len() - begun);
        }
        text
    }
}

impl AnswerText {
    /// True if an answer with this content type is text.
    pub fn is_kept(content_type: Option<&str>) -> bool {
        content_type.is_some_and(|text| is_text(&essence(text).to_ascii_lowercase()))
    }

    /// The beginning of an answer of which these bytes were read. `is_whole` is true if there are no more. `None` if nothing is left.
    pub fn read(bytes: &[u8], is_whole: bool, hidden: &Hidden) -> Option<Self> {
        let read = String::from_utf8_lossy(bytes);
        // A character whose last bytes were not read.
        let read = if is_whole { &read } else { read.trim_end_matches('\u{fffd}') };
        let shown = hidden.removed_from(read.chars().map(visible).collect(), is_whole);
        let end = shown.floor_char_boundary(MAX_BYTES);
        let is_cut = !is_whole || end < shown.len();
        let text = shown.get(..end).unwrap_or_default().to_owned();
        (!text.is_empty()).then_some(Self { text, is_cut })
    }
}

/// A character, or the picture of a control character.
fn visible(letter: char) -> char {
    match letter {
        '\t' | '\n' | '\r' => letter,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    }
}

impl Decode for AnswerText {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let is_cut = fields.boolean("isCut").unwrap_or_default();
        Some(Self { text: fields.string("text")?, is_cut })
    }
}

/// The number of bytes of a hidden text that are removed at the end of a text; fewer tell nothing, and often stand there by chance.
const MIN_PART: usize = 4;

/// The number of bytes of an answer that are kept.
const MAX_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    fn hidden() -> Hidden {
        let config = r#"{"id": "c", "taskId": "t", "url": "https://a.example/", "token": "hush-token",
            "authentication": {"scheme": "Basic", "credentials": "hush-credentials"},
            "signingSecret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}"#;
        Hidden::of(&read_json(config).unwrap(), Some("Bearer hush.jwt.x"))
    }

    fn read(text: &[u8], is_whole: bool) -> Option<(String, bool)> {
        let read = AnswerText::read(text, is_whole, &hidden());
        read.map(|AnswerText { text, is_cut }| (text, is_cut))
    }

    #[test]
    fn an_answer_is_cut_at_a_character_and_says_so() {
        let of = |text: &str, is_cut| Some((text.to_owned(), is_cut));
        assert_eq!(read(b"{\"error\":\"no\"}\r\n", true), of("{\"error\":\"no\"}\r\n", false));
        assert_eq!(read(b"", true), None);
        assert_eq!(read("é".repeat(300).as_bytes(), true), of(&"é".repeat(256), true));
        let (cut, is_cut) = read(format!("a{}", "é".repeat(300)).as_bytes(), true).unwrap();
        assert_eq!((cut.len(), is_cut), (511, true));
        assert_eq!(read(&"aé".as_bytes()[..2], false), of("a", true), "half a character");
        assert_eq!(read(b"a\xffb", true), of("a\u{fffd}b", false));
        let (cut, _) = read(&[0xff; 600], true).unwrap();
        assert!(cut.len() <= MAX_BYTES && cut.chars().all(|letter| letter == '\u{fffd}'));
    }

    #[test]
    fn control_characters_are_seen() {
        let (text, _) = read(b"\x1b[31m\0\x7f\xc2\x85\t\n", true).unwrap();
        assert_eq!(text, "␛[31m␀␡\u{fffd}\t\n");
    }

    #[test]
    fn no_secret_of_the_webhook_is_kept_also_where_the_answer_is_cut() {
        let echo = b"t=hush-token a=Basic hush-credentials b=Bearer hush.jwt.x s=whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD.";
        let (text, _) = read(echo, true).unwrap();
        assert_eq!(text, "t=… a=Basic … b=Bearer … s=whsec_….");
        for length in 1..echo.len() {
            let told = read(&echo[..length], false).map(|(text, _)| text).unwrap_or_default();
            assert!(!told.contains("hush") && !told.contains("C2FV"), "{told}");
        }
        let long = format!("{}hush-credentials and more", "x".repeat(MAX_BYTES - 3));
        let window = &long.as_bytes()[..hidden().window().min(long.len())];
        assert_eq!(read(window, false), Some((format!("{}…", "x".repeat(MAX_BYTES - 3)), true)));
    }

    #[test]
    fn text_is_told_by_the_content_type() {
        for (content_type, is_kept) in [
            (Some("text/html; charset=utf-8"), true),
            (Some("Application/Problem+JSON"), true),
            (Some("application/json"), true),
            (Some("application/octet-stream"), false),
            (Some("image/png"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(AnswerText::is_kept(content_type), is_kept, "{content_type:?}");
        }
    }
}
