//! The agent card (spec §4.4): the description of an agent, its interfaces and its skills.

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::{SecurityRequirement, SecurityScheme};
use crate::sorted::SortedMap;

/// The self-description of an agent (spec §4.4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// A name for people.
    pub name: String,
    /// What the agent does.
    pub description: String,
    /// The interfaces of the agent, the preferred one first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// The organization that offers the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The version of the agent itself.
    pub version: String,
    /// The URL of the agent's documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// The optional parts of the protocol that the agent supports.
    pub capabilities: AgentCapabilities,
    /// The authentication schemes, by names that the agent has chosen.
    #[serde(skip_serializing_if = "SortedMap::is_empty")]
    pub security_schemes: SortedMap<String, SecurityScheme>,
    /// The alternatives by which a caller can authenticate; an empty list means that no credentials
    /// are required.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// The default media types of the skills' inputs.
    pub default_input_modes: Vec<String>,
    /// The default media types of the skills' outputs.
    pub default_output_modes: Vec<String>,
    /// The skills of the agent.
    pub skills: Vec<AgentSkill>,
    /// The URL of the agent's icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// An interface of an agent: a URL, a binding and a version (spec §4.4.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The absolute URL.
    pub url: String,
    /// `JSONRPC` or `HTTP+JSON`.
    pub protocol_binding: String,
    /// The parameter `tenant` of requests, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// `1.0` or `0.3`.
    pub protocol_version: String,
}

/// The organization that offers an agent (spec §4.4.2).
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentProvider {
    /// The name of the organization.
    pub organization: String,
    /// The URL of the organization's web site.
    pub url: String,
}

/// The optional parts of the protocol (spec §4.4.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// The agent supports SendStreamingMessage and SubscribeToTask.
    pub streaming: bool,
    /// The agent calls webhooks.
    pub push_notifications: bool,
    /// The extensions that the agent supports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
    /// The agent supports GetExtendedAgentCard.
    pub extended_agent_card: bool,
}

/// An extension of the protocol that an agent supports (spec §4.4.4).
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentExtension {
    /// The URI of the extension.
    pub uri: String,
    /// How the agent uses the extension.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether a client must request the extension.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The parameters that the extension defines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A skill of an agent (spec §4.4.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Unique within the agent.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// The description of the skill.
    pub description: String,
    /// Key words.
    pub tags: Vec<String>,
    /// Examples of requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The media types of inputs, if different from the agent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// The media types of outputs, if different from the agent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
}

impl Decode for AgentInterface {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let url = fields.required_string("url");
        let protocol_binding = fields.required_string("protocolBinding");
        let tenant = fields.string("tenant");
        let protocol_version = fields.string("protocolVersion").unwrap_or_default();
        Some(Self { url: url?, protocol_binding: protocol_binding?, tenant, protocol_version })
    }
}

impl Decode for AgentExtension {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            uri: fields.any_string("uri")?,
            description: fields.any_string("description").unwrap_or_default(),
            required: fields.boolean("required").unwrap_or_default(),
            params: fields.free_form("params"),
        })
    }
}
