//! Decodes messages of 0.3.

use super::super::older::ROLES;
use super::part::{KindPart, ProtoPart, check_kind};
use crate::model::decode::{Decode, Fields};
use crate::model::{Message, Part, Role};

/// A message in either shape.
pub(super) struct ReadMessage(pub(super) Message);

impl Decode for ReadMessage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        check_kind(fields, "message");
        let message_id = fields.required_string("messageId");
        let context_id = fields.id("contextId");
        let task_id = fields.id("taskId");
        let is_proto_role = fields.begins("role", "ROLE_");
        let is_proto = is_proto_role || fields.has("content");
        let roles: &[_] = if is_proto_role { &PROTO_ROLES } else { &ROLES };
        let role = fields.required_enumeration("role", roles);
        let parts = parts(fields, is_proto);
        let metadata = fields.metadata("metadata");
        let extensions = fields.strings("extensions");
        let reference_task_ids = fields.ids("referenceTaskIds");
        Some(Self(Message {
            message_id: message_id?,
            context_id,
            task_id,
            role: role?,
            parts: parts?,
            metadata,
            extensions,
            reference_task_ids,
        }))
    }
}

/// Decodes the parts of a message: in the proto they are its `content`, and have another shape.
fn parts(fields: &mut Fields, is_proto: bool) -> Option<Vec<Part>> {
    if !is_proto {
        let parts: Vec<KindPart> = fields.required_list("parts")?;
        return Some(parts.into_iter().map(|KindPart(part)| part).collect());
    }
    let name = if fields.has("parts") { "parts" } else { "content" };
    let parts: Vec<ProtoPart> = fields.required_list(name)?;
    Some(parts.into_iter().map(|ProtoPart(part)| part).collect())
}

const PROTO_ROLES: [(&str, i64, Option<Role>); 2] =
    [("ROLE_USER", 1, Some(Role::User)), ("ROLE_AGENT", 2, Some(Role::Agent))];
