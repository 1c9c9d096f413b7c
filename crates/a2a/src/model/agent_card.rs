//! The agent card (spec §4.4): what an agent is, where it answers and what it can do.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::{SecurityRequirement, SecurityScheme};

/// The self-description of an agent (spec §4.4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// A name for people.
    pub name: String,
    /// What the agent does.
    pub description: String,
    /// Where it answers, the preferred interface first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// Who offers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The version of the agent itself.
    pub version: String,
    /// Where its documentation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// Which optional parts of the protocol it supports.
    pub capabilities: AgentCapabilities,
    /// How callers prove who they are, by names of the agent's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// What a caller must pass, one of these; without any, everybody is let in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types that every skill takes unless it says otherwise.
    pub default_input_modes: Vec<String>,
    /// Media types that every skill gives unless it says otherwise.
    pub default_output_modes: Vec<String>,
    /// What it can do.
    pub skills: Vec<AgentSkill>,
    /// Where its picture is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// One way to reach an agent (spec §4.4.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// Absolute URL.
    pub url: String,
    /// `JSONRPC` or `HTTP+JSON`.
    pub protocol_binding: String,
    /// What requests must carry as `tenant`, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// `1.0` or `0.3`.
    pub protocol_version: String,
}

/// Who offers an agent (spec §4.4.2).
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProvider {
    /// The name of the organization.
    pub organization: String,
    /// Its web site.
    pub url: String,
}

/// The optional parts of the protocol (spec §4.4.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// SendStreamingMessage and SubscribeToTask.
    pub streaming: bool,
    /// Webhooks.
    pub push_notifications: bool,
    /// Extensions that the agent knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
    /// GetExtendedAgentCard.
    pub extended_agent_card: bool,
}

/// An extension of the protocol that an agent knows (spec §4.4.4).
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentExtension {
    /// What identifies it.
    pub uri: String,
    /// How the agent uses it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether a client must declare it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// What else the extension wants to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Something an agent can do (spec §4.4.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Unique within the agent.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Key words.
    pub tags: Vec<String>,
    /// What one may ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types that it takes, if other than the agent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types that it gives, if other than the agent's.
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
