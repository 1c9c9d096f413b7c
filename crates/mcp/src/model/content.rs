//! The content of tools' results.

use serde_json::{Value, json};

use super::{object, text};

/// A piece of a tool's result.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The bytes in base64.
        data: String,
        /// The media type.
        mime_type: String,
    },
    /// A sound recording.
    Audio {
        /// The bytes in base64.
        data: String,
        /// The media type.
        mime_type: String,
    },
    /// A link to a resource.
    ResourceLink {
        /// The URI of the resource, with any scheme.
        uri: String,
        /// The name of the resource.
        name: String,
        /// The description of the resource.
        description: Option<String>,
        /// The media type of the resource.
        mime_type: Option<String>,
    },
    /// An embedded resource.
    Resource(ResourceContents),
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    /// The URI of the resource.
    pub uri: String,
    /// The media type of the resource.
    pub mime_type: Option<String>,
    /// The text (`Ok`), or the bytes in base64 (`Err`).
    pub body: Result<String, String>,
}

impl Content {
    /// Parses an element of `content`; `None` for an unknown type, or if a required member is
    /// missing.
    pub fn read(json: &Value) -> Option<Self> {
        let member = |name: &str| text(json, name);
        let (data, mime_type) = (member("data"), member("mimeType"));
        match json.get("type").and_then(Value::as_str)? {
            "text" => member("text").map(Self::Text),
            "image" => Some(Self::Image { data: data?, mime_type: mime_type? }),
            "audio" => Some(Self::Audio { data: data?, mime_type: mime_type? }),
            "resource_link" => {
                let uri = member("uri")?;
                let name = member("name").unwrap_or_else(|| uri.clone());
                Some(Self::ResourceLink {
                    uri,
                    name,
                    description: member("description"),
                    mime_type,
                })
            }
            "resource" => json.get("resource").and_then(ResourceContents::read).map(Self::Resource),
            _ => None,
        }
    }

    /// The form of the piece in `content`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Image { data, mime_type } => {
                json!({"type": "image", "data": data, "mimeType": mime_type})
            }
            Self::Audio { data, mime_type } => {
                json!({"type": "audio", "data": data, "mimeType": mime_type})
            }
            Self::ResourceLink { uri, name, description, mime_type } => object([
                ("type", Some(json!("resource_link"))),
                ("uri", Some(json!(uri))),
                ("name", Some(json!(name))),
                ("description", description.as_ref().map(|text| json!(text))),
                ("mimeType", mime_type.as_ref().map(|text| json!(text))),
            ]),
            Self::Resource(contents) => {
                json!({"type": "resource", "resource": contents.to_json()})
            }
        }
    }
}

impl ResourceContents {
    /// Parses the contents of a resource; `None` if `json` has none.
    pub fn read(json: &Value) -> Option<Self> {
        let body = match (text(json, "text"), text(json, "blob")) {
            (Some(text), _) => Ok(text),
            (None, blob) => Err(blob?),
        };
        Some(Self { uri: text(json, "uri")?, mime_type: text(json, "mimeType"), body })
    }

    /// The form of the contents in a result.
    pub fn to_json(&self) -> Value {
        let (text, blob) = match &self.body {
            Ok(text) => (Some(json!(text)), None),
            Err(blob) => (None, Some(json!(blob))),
        };
        object([
            ("uri", Some(json!(self.uri))),
            ("mimeType", self.mime_type.as_ref().map(|mime_type| json!(mime_type))),
            ("text", text),
            ("blob", blob),
        ])
    }
}
