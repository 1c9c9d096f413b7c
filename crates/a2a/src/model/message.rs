//! Messages, and the parts of messages and artifacts (spec §4.1.4, §4.1.6).

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::decode::{Decode, Fields};
use super::{ContextId, Json, Metadata, TaskId, Text};
use crate::decode_via_fields;

/// A message of a conversation (spec §4.1.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id that the sender has chosen; never empty.
    pub message_id: String,
    /// The id of the conversation; always set in messages of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// The id of the task; in a message of a client, the task must exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The sender: client or agent.
    pub role: Role,
    /// The content; at least one part.
    pub parts: Vec<Part>,
    /// Free-form data, including that of extensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// URIs of the extensions that contribute to this message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// The tasks that the sender names as context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<TaskId>,
}

impl Message {
    /// The text parts, joined by line breaks; empty if there are no text parts.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

/// The media type of a part with credentials for a task that waits for credentials (spec §7.6); its data is a JSON
/// object. Servers of a2a-edge remove the credentials from the message: they are neither stored nor returned with
/// it.
pub const CREDENTIALS_MEDIA_TYPE: &str = "application/vnd.a2a-edge.credentials+json";

/// The sender of a message (spec §4.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Role {
    /// The client.
    #[serde(rename = "ROLE_USER")]
    User,
    /// The agent.
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// One piece of content: text, bytes, a link or JSON data (spec §4.1.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The content itself.
    #[serde(flatten)]
    pub content: PartContent,
    /// Free-form data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The name of the file, if the content is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The media type of the content, for example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

impl Part {
    /// A part of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        PartContent::Text(text.into().into()).into()
    }

    /// A part of JSON data.
    pub fn data(data: Value) -> Self {
        PartContent::Data(Json::from(&data)).into()
    }

    /// A part of bytes, with a media type, for example `image/png`.
    pub fn raw(bytes: &[u8], media_type: impl Into<String>) -> Self {
        Self::from(PartContent::Raw(Base64::encode(bytes))).with_media_type(media_type)
    }

    /// A part whose content is at this URL.
    pub fn url(url: impl Into<String>) -> Self {
        PartContent::Url(url.into().into()).into()
    }

    /// Sets the name of the file.
    #[must_use]
    pub fn with_filename(self, filename: impl Into<String>) -> Self {
        Self { filename: Some(filename.into()), ..self }
    }

    /// Sets the media type of the content.
    #[must_use]
    pub fn with_media_type(self, media_type: impl Into<String>) -> Self {
        Self { media_type: Some(media_type.into()), ..self }
    }

    /// The text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            PartContent::Raw(_) | PartContent::Url(_) | PartContent::Data(_) => None,
        }
    }

    /// The data as a JSON tree, if this is a data part.
    pub fn as_data(&self) -> Option<Value> {
        match &self.content {
            PartContent::Data(data) => Some(data.value()),
            PartContent::Text(_) | PartContent::Raw(_) | PartContent::Url(_) => None,
        }
    }
}

impl From<PartContent> for Part {
    fn from(content: PartContent) -> Self {
        Self { content, metadata: None, filename: None, media_type: None }
    }
}

/// The content of a [`Part`]; on the wire, exactly one of these members is present.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PartContent {
    /// Text; may be empty.
    Text(Text),
    /// Bytes.
    Raw(Base64),
    /// The URL of the content.
    Url(Text),
    /// Any JSON value, including `null`.
    Data(Json),
}

/// Bytes, stored in their wire form: base64 in the standard alphabet, padded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64(Text);

impl Base64 {
    /// Encodes bytes.
    pub fn encode(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes).into())
    }

    /// Parses base64 in the standard or the URL-safe alphabet, padded or not. `None` if the text is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let url_safe = text.contains(['-', '_']);
        let engine = if url_safe { &LENIENT_URL_SAFE } else { &LENIENT_STANDARD };
        engine.decode(text).ok().map(|bytes| Self::encode(&bytes))
    }

    /// The encoded text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(self.as_str()).unwrap_or_default()
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Decode for Message {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let message_id = fields.required_string("messageId");
        let context_id = fields.id("contextId");
        let task_id = fields.id("taskId");
        let role = fields.required_enumeration("role", &ROLES);
        let parts = fields.required_list("parts");
        let metadata = fields.metadata("metadata");
        let extensions = fields.strings("extensions");
        let reference_task_ids = fields.ids("referenceTaskIds");
        Some(Self {
            message_id: message_id?,
            context_id,
            task_id,
            role: role?,
            parts: parts?,
            metadata,
            extensions,
            reference_task_ids,
        })
    }
}

impl Decode for Part {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let text = fields.member("text");
        let raw = fields.member("raw");
        let url = fields.member("url");
        let data = fields.nullable("data");
        let metadata = fields.metadata("metadata");
        let filename = fields.string("filename");
        let media_type = fields.string("mediaType");

        let members = [text.is_some(), raw.is_some(), url.is_some(), data.is_some()];
        let set = members.iter().filter(|is_set| **is_set).count();
        if set != 1 {
            let found = if set == 0 { "none" } else { "more than one" };
            fields.refuse("", format!("needs exactly one of text, raw, url and data, got {found}"));
            return None;
        }
        let content = if let Some(text) = text {
            PartContent::Text(fields.text("text", text)?.into())
        } else if let Some(raw) = raw {
            let raw = fields.text("raw", raw)?;
            let Some(raw) = Base64::parse(&raw) else {
                fields.refuse("raw", "must be base64");
                return None;
            };
            PartContent::Raw(raw)
        } else if let Some(url) = url {
            PartContent::Url(fields.text("url", url)?.into())
        } else {
            PartContent::Data(Json::from(&data?))
        };
        Some(Self { content, metadata, filename, media_type })
    }
}

decode_via_fields!(Message, Part);

const ROLES: [(&str, i64, Option<Role>); 3] = [
    ("ROLE_UNSPECIFIED", 0, None),
    ("ROLE_USER", 1, Some(Role::User)),
    ("ROLE_AGENT", 2, Some(Role::Agent)),
];

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const LENIENT_STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const LENIENT_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);
