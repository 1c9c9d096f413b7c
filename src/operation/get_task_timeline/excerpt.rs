//! Excerpts: the beginnings of contents, long enough to recognize them, limited in size.

use serde_json::{Map, Value, json};

use a2a::model::{Message, Part, PartContent};

/// How many bytes of texts one entry may still show.
pub(super) struct Budget {
    left: usize,
    /// How many bytes of one text it may show.
    of_text: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MAX_ENTRY_BYTES, of_text: MAX_TEXT_BYTES }
    }
}

impl Budget {
    /// For one text of a step.
    pub(super) fn of_step() -> Self {
        Self { left: MAX_STEP_BYTES, of_text: MAX_STEP_BYTES }
    }

    /// The beginning of the text that still fits, and true if this is the whole text.
    pub(super) fn cut<'t>(&mut self, text: &'t str) -> (&'t str, bool) {
        let room = self.left.min(self.of_text);
        let shown = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        self.left = self.left.saturating_sub(shown.len());
        (shown, shown.len() == text.len())
    }

    /// Puts a text into an object; adds the member `isCut` if the text was cut.
    pub(super) fn put(&mut self, object: &mut Map<String, Value>, name: &str, text: &str) {
        let (shown, is_whole) = self.cut(text);
        object.insert(name.to_owned(), shown.into());
        if !is_whole {
            object.insert("isCut".to_owned(), true.into());
        }
    }
}

/// Puts the excerpt of parts into an object: the first parts, each with its kind and size.
pub(super) fn parts(parts: &[Part], budget: &mut Budget, object: &mut Map<String, Value>) {
    let shown = parts.iter().take(MAX_PARTS).map(|part| part_of(part, budget));
    object.insert("parts".to_owned(), shown.collect());
    if parts.len() > MAX_PARTS {
        object.insert("moreParts".to_owned(), (parts.len() - MAX_PARTS).into());
    }
}

/// The excerpt of a message.
pub(super) fn message(message: &Message, budget: &mut Budget) -> Value {
    let mut shown = Map::new();
    shown.insert("messageId".to_owned(), name(&message.message_id).into());
    shown.insert("role".to_owned(), json!(message.role));
    parts(&message.parts, budget, &mut shown);
    Value::Object(shown)
}

/// The excerpt of a part.
pub(super) fn part_of(part: &Part, budget: &mut Budget) -> Value {
    let mut shown = Map::new();
    let (kind, bytes, text) = match &part.content {
        PartContent::Text(text) => ("text", text.len(), Some(&**text)),
        PartContent::Data(data) => ("data", data.as_str().len(), Some(data.as_str())),
        PartContent::Url(url) => ("url", url.len(), Some(&**url)),
        PartContent::Raw(base64) => ("raw", decoded_len(base64.as_str()), None),
    };
    shown.insert("type".to_owned(), kind.into());
    shown.insert("bytes".to_owned(), bytes.into());
    if let Some(media_type) = &part.media_type {
        shown.insert("mediaType".to_owned(), name(media_type).into());
    }
    if let Some(filename) = &part.filename {
        shown.insert("filename".to_owned(), name(filename).into());
    }
    if let Some(text) = text {
        budget.put(&mut shown, "text", text);
    }
    Value::Object(shown)
}

/// The number of bytes that a base64 text encodes.
fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// A name, or its beginning if it is very long.
pub(super) fn name(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or_default()
}

/// The number of bytes shown of one text.
const MAX_TEXT_BYTES: usize = 2_048;

/// The number of bytes shown of all texts of one entry.
const MAX_ENTRY_BYTES: usize = 4_096;

/// The number of bytes shown of what a step was given, and of what it came to.
const MAX_STEP_BYTES: usize = 16 * 1024;

/// The number of parts shown of a message or an artifact.
const MAX_PARTS: usize = 10;

/// The number of bytes shown of a name.
const MAX_NAME_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_whole_up_to_a_bound_and_cut_between_characters() {
        let mut budget = Budget::default();
        assert_eq!(budget.cut("ab€"), ("ab€", true));
        let long = "€".repeat(1_000);
        let (shown, is_whole) = Budget::default().cut(&long);
        assert_eq!((shown.len(), is_whole), (2_046, false));
        let whole = "x".repeat(2_048);
        let mut budget = Budget::default();
        assert_eq!(budget.cut(&whole), (whole.as_str(), true));
        assert_eq!(budget.cut(&whole), (whole.as_str(), true));
        assert_eq!(budget.cut("y"), ("", false), "the entry has no room left");
        assert_eq!(budget.cut(""), ("", true));
    }

    #[test]
    fn parts_are_told_by_kind_and_size_and_bytes_are_not_shown() {
        let all = [
            Part::text("hello"),
            Part::data(json!({"a": 1})),
            Part::url("https://a.example/x").with_filename("x.txt"),
            Part::raw(b"\x01\x02\x03\x04", "image/png"),
        ];
        let mut shown = Map::new();
        parts(&all, &mut Budget::default(), &mut shown);
        assert_eq!(
            Value::Object(shown),
            json!({"parts": [
                {"type": "text", "bytes": 5, "text": "hello"},
                {"type": "data", "bytes": 7, "text": "{\"a\":1}"},
                {"type": "url", "bytes": 19, "filename": "x.txt", "text": "https://a.example/x"},
                {"type": "raw", "bytes": 4, "mediaType": "image/png"},
            ]})
        );
        let many: Vec<Part> = (0..13).map(|_| Part::text("x".repeat(5_000))).collect();
        let mut shown = Map::new();
        parts(&many, &mut Budget::default(), &mut shown);
        assert_eq!(shown["parts"].as_array().map(Vec::len), Some(10));
        assert_eq!(shown["moreParts"], 3);
        assert!(Value::Object(shown).to_string().len() < 6_000);
    }
}
