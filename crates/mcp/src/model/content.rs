//! What results of tools hold.

use serde_json::{Value, json};

use super::{object, text};

/// A piece of the result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// Where something is that can be fetched.
    ResourceLink {
        /// Its address; any scheme.
        uri: String,
        /// Its name.
        name: String,
        /// What it is.
        description: Option<String>,
        /// Its media type.
        mime_type: Option<String>,
    },
    /// Something with its address.
    Resource(ResourceContents),
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    /// Its address.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its text, or its bytes in base64.
    pub body: Result<String, String>,
}

impl Content {
    /// A piece of `content`; `None` for a kind that is not known here, or one that lacks something.
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

    /// As it stands in `content`.
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
    /// The contents of a resource; `None` if there are none.
    pub fn read(json: &Value) -> Option<Self> {
        let body = match (text(json, "text"), text(json, "blob")) {
            (Some(text), _) => Ok(text),
            (None, blob) => Err(blob?),
        };
        Some(Self { uri: text(json, "uri")?, mime_type: text(json, "mimeType"), body })
    }

    /// As they stand in a result.
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
