//! The results of an agent (spec §4.1.7).

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::{Metadata, Part};
use crate::decode_via_fields;

/// One result of a task (spec §4.1.7).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within the task; never empty.
    pub artifact_id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The content; at least one part.
    pub parts: Vec<Part>,
    /// Free-form data, including that of extensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// URIs of the extensions that contribute to this artifact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl Artifact {
    /// An artifact with this id and name and one part.
    pub fn new(id: impl Into<String>, part: Part) -> Self {
        let artifact_id = id.into();
        Self {
            name: Some(artifact_id.clone()),
            artifact_id,
            description: None,
            parts: vec![part],
            metadata: None,
            extensions: Vec::new(),
        }
    }

    /// The text parts joined without a separator, because the parts of a streamed text are its chunks. `None` if there are
    /// no text parts.
    pub fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        (!texts.is_empty()).then(|| texts.concat())
    }

    /// Adds a chunk of the same artifact: its parts at the end, its metadata member by member, and its name and description
    /// if set.
    pub fn extend(&mut self, chunk: Artifact) {
        self.parts.extend(chunk.parts);
        self.name = chunk.name.or_else(|| self.name.take());
        self.description = chunk.description.or_else(|| self.description.take());
        self.metadata = match (self.metadata.take(), chunk.metadata) {
            (Some(known), Some(added)) => {
                let mut members = known.members();
                members.extend(added.members());
                Some(members.into())
            }
            (known, added) => known.or(added),
        };
        for uri in chunk.extensions {
            if !self.extensions.contains(&uri) {
                self.extensions.push(uri);
            }
        }
    }
}

impl Decode for Artifact {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let artifact_id = fields.required_string("artifactId");
        let name = fields.string("name");
        let description = fields.string("description");
        let parts = fields.required_list("parts");
        let metadata = fields.metadata("metadata");
        let extensions = fields.strings("extensions");
        Some(Self {
            artifact_id: artifact_id?,
            name,
            description,
            parts: parts?,
            metadata,
            extensions,
        })
    }
}

decode_via_fields!(Artifact);
