//! Converts the results of MCP tools into parts.

use serde_json::Value;

use ::mcp::model::{CallResult, Content, ResourceContents};
use a2a::model::{Base64, MAX_FOREIGN_VALUES, Part, PartContent, read_foreign};

/// The parts of a result: its pieces in order, and its structured content as data. A text that only repeats the structured
/// content is left out, and so is a piece that cannot be decoded.
pub(in crate::executor) fn parts_of(result: CallResult) -> Vec<Part> {
    let CallResult { content, structured, .. } = result;
    let repeats = |piece: &Content| match (piece, &structured) {
        (Content::Text(text), Some(structured)) => is_twin(text, structured),
        _ => false,
    };
    let mut parts: Vec<Part> =
        content.into_iter().filter(|piece| !repeats(piece)).filter_map(part_of).collect();
    parts.extend(structured.map(Part::data));
    if parts.is_empty() {
        parts.push(Part::text(""));
    }
    parts
}

/// True if a text, parsed as JSON, equals the structured content.
fn is_twin(text: &str, structured: &Value) -> bool {
    // A text that does not begin like the expected kind of JSON is not parsed.
    let begins = text.trim_start().chars().next();
    let is_likely = match structured {
        Value::Object(_) => begins == Some('{'),
        Value::Array(_) => begins == Some('['),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    is_likely
        && read_foreign(text.as_bytes(), MAX_FOREIGN_VALUES).is_ok_and(|read| read == *structured)
}

fn part_of(piece: Content) -> Option<Part> {
    let raw = |data: &str| Base64::parse(data).map(|bytes| Part::from(PartContent::Raw(bytes)));
    Some(match piece {
        Content::Text(text) => Part::text(text),
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            raw(&data)?.with_media_type(mime_type)
        }
        Content::ResourceLink { uri, name, mime_type, .. } => {
            typed(Part::url(uri).with_filename(name), mime_type)
        }
        Content::Resource(ResourceContents { uri, mime_type, body }) => {
            let part = match body {
                Ok(text) => Part::text(text),
                Err(data) => raw(&data)?,
            };
            typed(part.with_filename(uri), mime_type)
        }
    })
}

fn typed(part: Part, media_type: Option<String>) -> Part {
    match media_type {
        Some(media_type) => part.with_media_type(media_type),
        None => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(result: Value) -> Value {
        serde_json::to_value(parts_of(CallResult::read(&result).unwrap())).unwrap()
    }

    #[test]
    fn every_kind_of_content_is_a_part() {
        let content = json!([
            {"type": "text", "text": "a"},
            {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a.md", "name": "a.md", "mimeType": "text/markdown"},
            {"type": "resource", "resource": {"uri": "demo://1", "text": "t", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "demo://2", "blob": "AAE="}},
            {"type": "image", "data": "not base64!", "mimeType": "image/png"},
            {"type": "of the future"},
        ]);
        assert_eq!(
            parts(json!({"content": content})),
            json!([
                {"text": "a"},
                {"raw": "iVBORw==", "mediaType": "image/png"},
                {"raw": "UklGRg==", "mediaType": "audio/wav"},
                {"url": "file:///a.md", "filename": "a.md", "mediaType": "text/markdown"},
                {"text": "t", "filename": "demo://1", "mediaType": "text/plain"},
                {"raw": "AAE=", "filename": "demo://2"},
            ])
        );
        assert_eq!(parts(json!({"content": []})), json!([{"text": ""}]));
    }

    #[test]
    fn a_text_that_repeats_the_structure_is_left_out() {
        let with = |structured: Value, texts: &[&str]| {
            let content: Vec<Value> =
                texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            parts(json!({"content": content, "structuredContent": structured}))
        };
        assert_eq!(with(json!({"n": 5}), &["{ \"n\": 5 }"]), json!([{"data": {"n": 5}}]));
        assert_eq!(
            with(json!({"n": 5}), &["five", "{\"n\": 6}"]),
            json!([{"text": "five"}, {"text": "{\"n\": 6}"}, {"data": {"n": 5}}])
        );
        assert_eq!(with(json!("five"), &["five"]), json!([{"text": "five"}, {"data": "five"}]));
        assert_eq!(with(json!([1]), &["[1]"]), json!([{"data": [1]}]));
        assert_eq!(with(json!(5), &["5"]), json!([{"data": 5}]));
    }
}
