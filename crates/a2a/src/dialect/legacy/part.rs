//! Parts: `{"type": "text", "text": …}`, `file` and `data`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::model::decode::{Decode, Fields};
use crate::model::{Base64, Json, Metadata, Part, PartContent};

/// A part of this dialect. If the type is missing, it follows from the members.
pub(super) struct LegacyPart(pub(super) Part);

impl Decode for LegacyPart {
    fn decode(fields: &mut Fields) -> Option<Self> {
        // The second name is from 0.2.
        let kind = fields.string("type").or_else(|| fields.string("kind"));
        let text = fields.member("text");
        let data = fields.nullable("data");
        let metadata = fields.metadata("metadata");
        let kind = kind.as_deref().unwrap_or(match (&text, &data) {
            (Some(_), _) => TEXT,
            (None, Some(_)) => DATA,
            (None, None) if fields.has(FILE) => FILE,
            (None, None) => "",
        });
        let part = match (kind, text, data) {
            (TEXT, Some(text), _) => PartContent::Text(fields.text(TEXT, text)?.into()).into(),
            (DATA, _, Some(data)) => PartContent::Data(Json::from(&data)).into(),
            (TEXT | DATA, ..) => {
                fields.refuse(kind, "is required");
                return None;
            }
            (FILE, ..) => fields.required_object::<File>(FILE)?.0,
            ("", ..) => {
                fields.refuse("", format!("needs a {TEXT}, a {FILE} or {DATA}"));
                return None;
            }
            (other, ..) => {
                let known = format!("must be {TEXT}, {FILE} or {DATA}, got {other:?}");
                fields.refuse("type", known);
                return None;
            }
        };
        Some(Self(Part { metadata, ..part }))
    }
}

/// The member `file` of a part.
struct File(Part);

impl Decode for File {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let filename = fields.string("name");
        let media_type = fields.string("mimeType");
        let content = match (fields.any_string("bytes"), fields.any_string("uri")) {
            (Some(bytes), None) => match Base64::parse(&bytes) {
                Some(bytes) => PartContent::Raw(bytes),
                None => {
                    fields.refuse("bytes", "must be base64");
                    return None;
                }
            },
            (None, Some(uri)) => PartContent::Url(uri.into()),
            (Some(_), Some(_)) | (None, None) => {
                fields.refuse("", "needs exactly one of bytes and uri");
                return None;
            }
        };
        Some(Self(Part { filename, media_type, ..content.into() }))
    }
}

/// The encoded form of a part.
#[derive(Serialize)]
pub(super) struct PartView<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a Base64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

impl<'a> PartView<'a> {
    /// The form of a part with its type.
    pub(super) fn of(part: &'a Part) -> Self {
        let (kind, view) = Self::untyped(part);
        Self { kind: Some(kind), ..view }
    }

    /// The form of a part without its type, for the plain pair.
    pub(super) fn plain(part: &'a Part) -> Self {
        Self::untyped(part).1
    }

    /// The form of a text without its type.
    pub(super) fn plain_text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: Some(text.into()), ..Self::empty(None) }
    }

    fn untyped(part: &'a Part) -> (&'static str, Self) {
        let empty = Self::empty(part.metadata.as_ref());
        if let Some(text) = text_of(part) {
            return (TEXT, Self { text: Some(text), ..empty });
        }
        let (name, mime_type) = (part.filename.as_deref(), part.media_type.as_deref());
        let file = |bytes, uri| (FILE, Some(FileView { name, mime_type, bytes, uri }));
        let (kind, file) = match &part.content {
            PartContent::Raw(bytes) => file(Some(bytes), None),
            PartContent::Url(url) => file(None, Some(url)),
            PartContent::Data(data) => return (DATA, Self { data: Some(data), ..empty }),
            PartContent::Text(_) => (TEXT, None),
        };
        (kind, Self { file, ..empty })
    }

    fn empty(metadata: Option<&'a Metadata>) -> Self {
        Self { kind: None, text: None, file: None, data: None, metadata }
    }
}

/// The text of a part that is sent as text: a text, or data that is not an object, because data of this
/// dialect must be an object.
pub(super) fn text_of(part: &Part) -> Option<Cow<'_, str>> {
    match &part.content {
        PartContent::Text(text) => Some(Cow::Borrowed(text)),
        PartContent::Data(data) if data.as_str().starts_with('{') => None,
        PartContent::Data(data) => Some(match data.value() {
            Value::String(text) => Cow::Owned(text),
            _ => Cow::Borrowed(data.as_str()),
        }),
        PartContent::Raw(_) | PartContent::Url(_) => None,
    }
}

const TEXT: &str = "text";
const FILE: &str = "file";
const DATA: &str = "data";
