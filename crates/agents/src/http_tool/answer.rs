//! Converts a response of a server into the result of a tool.

use serde::Serialize;
use serde_json::{Value, json};

use super::excerpt::excerpt;
use super::redaction::Redaction;
use crate::tool::ToolOutput;
use a2a::http::HttpAnswer;
use a2a::model::decode::Decode;
use a2a::model::{Base64, MAX_FOREIGN_VALUES, Part, PartContent, UnfitJson, read_foreign};

/// The result of a call, in the form in which its step is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[serde(rename_all = "camelCase")]
pub(super) enum Answer {
    Text(String),
    Data(Value),
    /// Bytes in base64, and their media type.
    Raw(String, String),
}

a2a::decode_via_fields!(Answer);

impl Answer {
    /// Converts a successful response: JSON becomes data, text remains text, and other bodies become bytes. With a
    /// pointer, the result is the value at the pointer in the JSON.
    ///
    /// # Errors
    ///
    /// The reason why the response cannot be used, as a text that follows "but".
    pub(super) fn read(answer: HttpAnswer<Vec<u8>>, pointer: Option<&str>) -> Result<Self, String> {
        let content_type = answer.header("content-type").unwrap_or_default();
        let media_type =
            content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if let Some(pointer) = pointer {
            let json = parse(&answer.body, &media_type)?;
            let found = json.pointer(pointer).cloned();
            return found
                .map(Self::of)
                .ok_or_else(|| format!("has nothing at {pointer} in its body"));
        }
        if answer.body.is_empty() {
            return Ok(Self::Data(json!({"status": answer.status})));
        }
        if media_type == "application/json" || media_type.ends_with("+json") {
            return parse(&answer.body, &media_type).map(Self::of);
        }
        let is_text =
            media_type.is_empty() || media_type.starts_with("text/") || media_type.ends_with("xml");
        match String::from_utf8(answer.body) {
            Ok(text) if is_text => Ok(Self::Text(text)),
            Ok(text) => Ok(Self::raw(text.as_bytes(), media_type)),
            Err(error) => Ok(Self::raw(error.as_bytes(), media_type)),
        }
    }

    /// The result without secrets.
    pub(super) fn redacted(self, redaction: &Redaction) -> Self {
        match self {
            Self::Text(text) => Self::Text(redaction.text(&text)),
            Self::Data(data) => Self::Data(redaction.value(data)),
            Self::Raw(..) => self,
        }
    }

    fn of(json: Value) -> Self {
        match json {
            Value::String(text) => Self::Text(text),
            data => Self::Data(data),
        }
    }

    fn raw(bytes: &[u8], media_type: String) -> Self {
        let media_type =
            if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
        Self::Raw(Base64::encode(bytes).as_str().to_owned(), media_type)
    }
}

impl From<Answer> for ToolOutput {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Text(text) => text.into(),
            Answer::Data(data) => Part::data(data).into(),
            Answer::Raw(base64, media_type) => match Base64::parse(&base64) {
                Some(raw) => Part::from(PartContent::Raw(raw)).with_media_type(media_type).into(),
                None => base64.into(),
            },
        }
    }
}

/// Parses the JSON of a body, within the limits of requests.
fn parse(body: &[u8], media_type: &str) -> Result<Value, String> {
    read_foreign(body, MAX_FOREIGN_VALUES).map_err(|unfit| match unfit {
        UnfitJson::NotJson { .. } => {
            let beginning =
                String::from_utf8_lossy(body.get(..MAX_SHOWN).unwrap_or(body)).into_owned();
            let media_type = if media_type.is_empty() { "unknown type" } else { media_type };
            format!("its body is not JSON ({media_type}): {}", excerpt(&beginning))
        }
        beyond => format!("its body {beyond}"),
    })
}

/// The number of bytes of a body from which the excerpt in an error is made.
const MAX_SHOWN: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(media_type: &str, body: &[u8], pointer: Option<&str>) -> Result<Value, String> {
        let headers = vec![("content-type".to_owned(), media_type.to_owned())];
        let answer = HttpAnswer { status: 200, headers, body: body.to_vec(), url: String::new() };
        let stored = serde_json::to_value(Answer::read(answer, pointer)?).unwrap();
        let again: Answer = serde_json::from_value(stored).unwrap();
        Ok(serde_json::to_value(ToolOutput::from(again).parts()).unwrap())
    }

    #[test]
    fn an_answer_is_data_text_or_bytes_as_its_media_type_says() {
        for (media_type, body, pointer, parts) in [
            ("application/json", &br#"{"a":1}"#[..], None, json!([{"data": {"a": 1}}])),
            ("application/problem+json; charset=utf-8", b"[]", None, json!([{"data": []}])),
            ("application/json", br#""hi""#, None, json!([{"text": "hi"}])),
            ("text/plain", b"hi", None, json!([{"text": "hi"}])),
            ("application/xml", b"<a/>", None, json!([{"text": "<a/>"}])),
            ("", b"hi", None, json!([{"text": "hi"}])),
            ("", b"\xff", None, json!([{"raw": "/w==", "mediaType": "application/octet-stream"}])),
            ("image/png", b"hi", None, json!([{"raw": "aGk=", "mediaType": "image/png"}])),
            ("text/plain", b"", None, json!([{"data": {"status": 200}}])),
            ("application/json", br#"{"a":[{"b":5}]}"#, Some("/a/0/b"), json!([{"data": 5}])),
            ("text/html", br#"{"a/b":"x"}"#, Some("/a~1b"), json!([{"text": "x"}])),
            ("application/json", b"[1]", Some(""), json!([{"data": [1]}])),
            ("application/json", br#"{"a":null}"#, Some("/a"), json!([{"data": null}])),
        ] {
            assert_eq!(read(media_type, body, pointer), Ok(parts), "{media_type} {body:?}");
        }
    }

    #[test]
    fn an_answer_without_what_was_to_be_found_says_so() {
        let deep = "[".repeat(101);
        let many = "[],".repeat(100_001);
        for (media_type, body, pointer, told) in [
            (
                "text/html",
                "<p>\n  Sorry\u{7}</p>",
                Some("/a"),
                "its body is not JSON (text/html): <p> Sorry </p>",
            ),
            ("application/json", "{", None, "its body is not JSON (application/json): {"),
            ("application/json", "{}", Some("/a/b"), "has nothing at /a/b in its body"),
            ("application/json", "", Some("/a"), "its body is not JSON (application/json): "),
            ("application/json", &deep, None, "its body is nested more than 100 levels deep"),
            ("application/json", &many, None, "its body holds more than 100000 JSON values"),
        ] {
            assert_eq!(read(media_type, body.as_bytes(), pointer), Err(told.to_owned()));
        }
    }
}
