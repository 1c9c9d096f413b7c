//! The optional parts of the protocol that an agent supports: the table `[capabilities]` of its file.

use serde::Serialize;

use a2a::model::decode::Decode;
use a2a::model::{AgentCapabilities, AgentExtension};

/// The optional parts of the protocol (spec §4.4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// True if the agent supports SendStreamingMessage and SubscribeToTask; true unless given.
    #[serde(default = "yes")]
    pub streaming: bool,
    /// True if the agent supports webhooks.
    #[serde(default)]
    pub push_notifications: bool,
    /// True if the agent supports GetExtendedAgentCard.
    #[serde(default)]
    pub extended_agent_card: bool,
    /// True if cards for older clients declare that the history of a task contains its statuses. A2A 1.0 has no such
    /// member.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub state_transition_history: bool,
    /// Extensions that the agent supports.
    #[serde(default)]
    pub extensions: Vec<AgentExtension>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            streaming: true,
            push_notifications: false,
            extended_agent_card: false,
            state_transition_history: false,
            extensions: Vec::new(),
        }
    }
}

impl From<Capabilities> for AgentCapabilities {
    fn from(capabilities: Capabilities) -> Self {
        let Capabilities { streaming, push_notifications, extended_agent_card, extensions, .. } =
            capabilities;
        Self { streaming, push_notifications, extensions, extended_agent_card }
    }
}

fn yes() -> bool {
    true
}
