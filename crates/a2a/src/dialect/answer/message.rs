//! Decodes messages and their parts.

use serde_json::Value;

use super::super::v0_3::{FILE_MEMBERS, encoded_twice, unmarked};
use super::{Reader, metadata};
use crate::dialect::Dialect;
use crate::model::decode::Fields;
use crate::model::{Base64, Json, Message, Metadata, Part, PartContent, Role, encode, fnv1a};

impl Reader {
    /// Decodes a message. A message without an id gets a hash of its content as its id, so that equal messages always have
    /// the same id.
    pub(super) fn message(self, fields: &mut Fields) -> Option<Message> {
        let message_id = fields.string("messageId").unwrap_or_default();
        let context_id = fields.id("contextId");
        let task_id = fields.id("taskId");
        let role = fields.enumeration("role", &ROLES).unwrap_or(Role::Agent);
        let parts = if fields.has("parts") { "parts" } else { "content" };
        let parts = fields.list_with(parts, |fields| self.part(fields));
        let metadata = metadata(fields);
        let extensions = fields.strings("extensions");
        let reference_task_ids = fields.ids("referenceTaskIds");
        let mut message = Message {
            message_id,
            context_id,
            task_id,
            role,
            parts: parts?,
            metadata,
            extensions,
            reference_task_ids,
        };
        if message.message_id.is_empty() {
            let content = encode(&message).unwrap_or_default();
            message.message_id = format!("{:016x}", fnv1a(content.as_bytes()));
        }
        Some(message)
    }

    /// Decodes a part. Its kind is in the member `type` before 0.2, in `kind` in 0.2 and 0.3, and in any version in the name
    /// of the content's member.
    pub(super) fn part(self, fields: &mut Fields) -> Option<Part> {
        let is_proto = self.is_proto_0_3() && !fields.has("kind");
        let metadata = metadata(fields);
        let is_set = |name: &&&str| fields.has(name);
        let content = match MEMBERS.iter().find(is_set) {
            Some(&"text") => PartContent::Text(fields.required_text("text")?.into()),
            Some(&"raw") => PartContent::Raw(bytes(fields, "raw")?),
            Some(&"url") => PartContent::Url(fields.required_text("url")?.into()),
            Some(&"file") => {
                return Some(Part { metadata, ..fields.object_with("file", file)? });
            }
            // In 1.0 the data may be `null`.
            _ => match fields.nullable("data") {
                Some(data) => return Some(self.data(data, is_proto, fields, metadata)),
                None => {
                    fields.refuse("", format!("has none of {}", MEMBERS.join(", ")));
                    return None;
                }
            },
        };
        Some(described(content, fields, metadata))
    }

    /// Decodes data, which is wrapped in an object in the ProtoJSON of 0.3. In 0.3, the metadata marks an object that was
    /// made from another kind of value.
    fn data(
        self,
        data: Value,
        is_proto: bool,
        fields: &mut Fields,
        metadata: Option<Metadata>,
    ) -> Part {
        let data = match data {
            Value::Object(mut members) if is_proto => {
                members.remove("data").unwrap_or(Value::Object(members))
            }
            data => data,
        };
        let (data, metadata) = match self.dialect {
            Dialect::V0_3 => unmarked(data, metadata),
            Dialect::V1 | Dialect::Legacy => (data, metadata),
        };
        described(PartContent::Data(Json::from(&data)), fields, metadata)
    }
}

/// A part of 1.0, with the file name and media type of its content.
fn described(content: PartContent, fields: &mut Fields, metadata: Option<Metadata>) -> Part {
    let (filename, media_type) = (fields.string("filename"), fields.string("mediaType"));
    Part { content, metadata, filename, media_type }
}

/// Decodes a file of 0.3 and before.
fn file(fields: &mut Fields) -> Option<Part> {
    let is_set = |name: &&&str| fields.has(name);
    let content = match FILE_MEMBERS.iter().find(is_set) {
        Some(name @ (&"bytes" | &"fileWithBytes")) => {
            let raw = bytes(fields, name)?;
            let inner = if *name == "bytes" { None } else { encoded_twice(&raw) };
            PartContent::Raw(inner.unwrap_or(raw))
        }
        Some(name) => PartContent::Url(fields.required_text(name)?.into()),
        None => {
            fields.refuse("", format!("has none of {}", FILE_MEMBERS.join(", ")));
            return None;
        }
    };
    let (filename, media_type) = (fields.string("name"), fields.string("mimeType"));
    Some(Part { content, metadata: None, filename, media_type })
}

fn bytes(fields: &mut Fields, name: &str) -> Option<Base64> {
    let read = Base64::parse(&fields.required_text(name)?);
    if read.is_none() {
        fields.refuse(name, "must be base64");
    }
    read
}

/// The members for the content of a part, in 1.0 and before; a part has one of them.
const MEMBERS: [&str; 5] = ["text", "raw", "url", "file", "data"];

/// The names of roles, in 1.0 and before.
const ROLES: [(&str, i64, Option<Role>); 5] = [
    ("ROLE_UNSPECIFIED", 0, None),
    ("ROLE_USER", 1, Some(Role::User)),
    ("ROLE_AGENT", 2, Some(Role::Agent)),
    ("user", 1, Some(Role::User)),
    ("agent", 2, Some(Role::Agent)),
];
