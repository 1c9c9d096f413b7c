//! Decodes parts of 0.3.

use serde_json::Value;

use super::view::DATA_MARK;
use crate::model::decode::{Decode, Fields};
use crate::model::{Base64, Json, Metadata, Part, PartContent};

/// A part of `parts`, whose `kind` may be missing.
pub(super) struct KindPart(pub(super) Part);

/// A part of the proto. A part with `kind` is decoded as a [`KindPart`].
pub(super) struct ProtoPart(pub(super) Part);

impl Decode for KindPart {
    fn decode(fields: &mut Fields) -> Option<Self> {
        part(fields, false).map(Self)
    }
}

impl Decode for ProtoPart {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let is_proto = !fields.has("kind");
        part(fields, is_proto).map(Self)
    }
}

fn part(fields: &mut Fields, is_proto: bool) -> Option<Part> {
    let metadata = fields.metadata("metadata");
    // Before 0.2 the member is called `type`.
    let name = if is_proto || fields.has("kind") { "kind" } else { "type" };
    let kind = match fields.string(name) {
        Some(kind) => kind,
        None => only_member(fields)?.to_owned(),
    };
    match kind.as_str() {
        "text" => {
            let content = PartContent::Text(fields.required_text("text")?.into());
            Some(Part { metadata, ..content.into() })
        }
        "file" => {
            let File { content, name, mime_type } = fields.required_object("file")?;
            Some(Part { content, metadata, filename: name, media_type: mime_type })
        }
        "data" => {
            let data = if is_proto {
                fields.required_object::<Data>("data")?.0
            } else {
                required_free_form(fields, "data")?
            };
            let (data, metadata) = unmarked(data, metadata);
            Some(Part { metadata, ..PartContent::Data(Json::from(&data)).into() })
        }
        other => {
            fields.refuse(name, format!("must be text, file or data, got {other:?}"));
            None
        }
    }
}

/// The kind of a part without `kind`: the name of its only member.
fn only_member(fields: &mut Fields) -> Option<&'static str> {
    let mut members = ["text", "file", "data"].into_iter().filter(|name| fields.has(name));
    match (members.next(), members.next()) {
        (Some(member), None) => Some(member),
        (found, _) => {
            let found = if found.is_none() { "none" } else { "more than one" };
            fields.refuse("", format!("needs exactly one of text, file and data, got {found}"));
            None
        }
    }
}

/// The file of a part.
struct File {
    content: PartContent,
    name: Option<String>,
    mime_type: Option<String>,
}

impl Decode for File {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let content = file_content(fields);
        let name = fields.string("name");
        let mime_type = fields.string("mimeType");
        Some(Self { content: content?, name, mime_type })
    }
}

fn file_content(fields: &mut Fields) -> Option<PartContent> {
    let mut members = FILE_MEMBERS.into_iter().filter(|name| fields.has(name));
    let (member, None) = (members.next(), members.next()) else {
        fields.refuse("", "needs exactly one of bytes and uri, got more than one");
        return None;
    };
    match member {
        Some(name @ ("bytes" | "fileWithBytes")) => {
            let text = fields.required_text(name)?;
            let Some(raw) = Base64::parse(&text) else {
                fields.refuse(name, "must be base64");
                return None;
            };
            let inner = if name == "bytes" { None } else { encoded_twice(&raw) };
            Some(PartContent::Raw(inner.unwrap_or(raw)))
        }
        Some(name) => Some(PartContent::Url(fields.required_text(name)?.into())),
        None => {
            fields.refuse("", "needs bytes or uri (over HTTP+JSON fileWithBytes or fileWithUri)");
            None
        }
    }
}

/// The names of a file's content: those of the shape with `kind`, then those of the proto.
pub(in crate::dialect) const FILE_MEMBERS: [&str; 4] =
    ["bytes", "uri", "fileWithBytes", "fileWithUri"];

/// Decodes base64 of base64, which the Python and Go SDKs write, once; `None` if the value is not encoded
/// twice.
pub(in crate::dialect) fn encoded_twice(raw: &Base64) -> Option<Base64> {
    let inner = String::from_utf8(raw.bytes()).ok().filter(|inner| !inner.is_empty())?;
    Base64::parse(&inner).filter(|read| read.as_str() == inner)
}

/// The data of a part in the proto, which is wrapped in an object.
struct Data(Value);

impl Decode for Data {
    fn decode(fields: &mut Fields) -> Option<Self> {
        required_free_form(fields, "data").map(Self)
    }
}

fn required_free_form(fields: &mut Fields, name: &str) -> Option<Value> {
    if !fields.has(name) {
        fields.refuse(name, "is required");
    }
    fields.free_form(name).map(Value::Object)
}

/// Restores the data of 1.0 if the metadata marks that it was not an object.
pub(in crate::dialect) fn unmarked(
    data: Value,
    metadata: Option<Metadata>,
) -> (Value, Option<Metadata>) {
    let mut marks = metadata.as_ref().map(Metadata::members).unwrap_or_default();
    let is_marked = marks.remove(DATA_MARK) == Some(Value::Bool(true));
    match data {
        Value::Object(mut members) if is_marked && members.len() == 1 => {
            let Some(value) = members.remove("value") else {
                return (Value::Object(members), metadata);
            };
            (value, (!marks.is_empty()).then(|| marks.into()))
        }
        data => (data, metadata),
    }
}

/// Refuses an object whose `kind` names another type.
pub(super) fn check_kind(fields: &mut Fields, kind: &str) {
    match fields.string("kind") {
        Some(other) if other != kind => {
            fields.refuse("kind", format!("must be {kind}, got {other:?}"));
        }
        Some(_) | None => {}
    }
}
