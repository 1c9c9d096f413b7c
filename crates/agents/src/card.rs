//! The card that follows from an agent file.

use super::definition::{AgentDefinition, Capabilities, ExecutorKind, SkillDefinition};
use crate::tool::{Tool, skill_of};
use a2a::binding::discovery::ORIGIN;
use a2a::model::{
    AgentCard, AgentExtension, AgentInterface, AgentSkill, GENERATION_EXTENSION, WEBHOOKS_EXTENSION,
};

/// The card of an agent. URLs begin with [`ORIGIN`], which the Worker replaces by the origin at
/// which the request came in.
pub fn card_of(agent: &AgentDefinition, tools: &[Box<dyn Tool>]) -> AgentCard {
    AgentCard {
        name: agent.name.clone(),
        description: agent.description.clone(),
        supported_interfaces: interfaces_of(agent),
        provider: agent.provider.clone(),
        version: agent.version.clone(),
        documentation_url: agent.documentation_url.clone(),
        capabilities: capabilities_of(agent).into(),
        default_input_modes: agent.input_modes.clone(),
        default_output_modes: agent.output_modes.clone(),
        skills: skills_of(agent, tools),
        icon_url: agent.icon_url.clone(),
    }
}

/// What an agent supports: what its file says, the extension that all agents have, and the one of those
/// that have webhooks.
pub fn capabilities_of(agent: &AgentDefinition) -> Capabilities {
    let mut capabilities = agent.capabilities.clone();
    let mut declare = |uri: &str, description: &str| {
        capabilities.extensions.push(AgentExtension {
            uri: uri.to_owned(),
            description: description.to_owned(),
            required: false,
            params: None,
        });
    };
    declare(GENERATION_EXTENSION, GENERATION_DESCRIPTION);
    if agent.capabilities.push_notifications {
        declare(WEBHOOKS_EXTENSION, WEBHOOKS_DESCRIPTION);
    }
    capabilities
}

/// JSON-RPC first, then HTTP+JSON. Both answer at the URL of the agent, but clients of HTTP+JSON
/// append paths to theirs, so that it must not end in a slash.
fn interfaces_of(agent: &AgentDefinition) -> Vec<AgentInterface> {
    let (endpoint, base) = match agent.default {
        true => (format!("{ORIGIN}/"), ORIGIN.to_owned()),
        false => (format!("{ORIGIN}/{}", agent.slug), format!("{ORIGIN}/{}", agent.slug)),
    };
    let interface = |url, binding: &str| AgentInterface {
        url,
        protocol_binding: binding.to_owned(),
        tenant: None,
        protocol_version: "1.0".to_owned(),
    };
    vec![interface(endpoint, "JSONRPC"), interface(base, "HTTP+JSON")]
}

const GENERATION_DESCRIPTION: &str = "A task's generation counts its events: answers tell it, \
    If-Generation-Match lets a message or a cancel through at one generation only, and GetTask with \
    After-Generation waits for a later one.";

const WEBHOOKS_DESCRIPTION: &str = "Webhooks take a filter of events and a secret to sign notifications \
    with, and two methods show how deliveries fared and send events again.";

fn skills_of(agent: &AgentDefinition, tools: &[Box<dyn Tool>]) -> Vec<AgentSkill> {
    match agent.executor.kind {
        ExecutorKind::Tools => {
            let names = agent.executor.tools.iter();
            let named = names.filter_map(|name| tools.iter().find(|tool| tool.name() == name));
            let skill = |tool: &dyn Tool| {
                let skill = skill_of(tool);
                match agent.skills.iter().find(|own| own.id == skill.id) {
                    Some(own) => merged(skill, own),
                    None => skill,
                }
            };
            named.map(|tool| skill(tool.as_ref())).collect()
        }
        ExecutorKind::Script => {
            let bare = |own: &SkillDefinition| AgentSkill {
                id: own.id.clone(),
                name: own.id.clone(),
                description: own.id.clone(),
                tags: vec![own.id.clone()],
                examples: Vec::new(),
                input_modes: Vec::new(),
                output_modes: Vec::new(),
            };
            agent.skills.iter().map(|own| merged(bare(own), own)).collect()
        }
    }
}

/// A skill with what an agent file says of it.
fn merged(skill: AgentSkill, own: &SkillDefinition) -> AgentSkill {
    let or = |own: &Vec<String>, derived: Vec<String>| {
        if own.is_empty() { derived } else { own.clone() }
    };
    AgentSkill {
        id: skill.id,
        name: own.name.clone().unwrap_or(skill.name),
        description: own.description.clone().unwrap_or(skill.description),
        tags: or(&own.tags, skill.tags),
        examples: or(&own.examples, skill.examples),
        input_modes: or(&own.input_modes, skill.input_modes),
        output_modes: or(&own.output_modes, skill.output_modes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(default: bool) -> Vec<(String, String)> {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools' }";
        let parsed: AgentDefinition = toml::from_str(text).unwrap();
        let agent = AgentDefinition { slug: "demo".to_owned(), default, ..parsed };
        let interfaces = card_of(&agent, &[]).supported_interfaces.into_iter();
        interfaces.map(|interface| (interface.protocol_binding, interface.url)).collect()
    }

    #[test]
    fn every_agent_declares_generations_behind_its_own_extensions() {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools' }\n\
                    capabilities = { extensions = [{ uri = 'urn:own' }] }";
        let agent: AgentDefinition = toml::from_str(text).unwrap();
        let extensions = card_of(&agent, &[]).capabilities.extensions;
        let uris: Vec<&str> = extensions.iter().map(|found| found.uri.as_str()).collect();
        assert_eq!(uris, ["urn:own", GENERATION_EXTENSION]);
        assert!(extensions.iter().all(|extension| !extension.required));
        assert_eq!(capabilities_of(&agent).extensions, extensions);
    }

    #[test]
    fn agents_with_webhooks_declare_what_is_added_to_them() {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools' }\n\
                    capabilities = { push_notifications = true }";
        let agent: AgentDefinition = toml::from_str(text).unwrap();
        let capabilities = card_of(&agent, &[]).capabilities;
        let uris: Vec<&str> =
            capabilities.extensions.iter().map(|found| found.uri.as_str()).collect();
        assert_eq!(uris, [GENERATION_EXTENSION, WEBHOOKS_EXTENSION]);
        assert!(capabilities.push_notifications);
    }

    #[test]
    fn every_binding_has_an_interface() {
        let expected = |endpoint: &str, base: &str| {
            let pair = |binding: &str, url: &str| (binding.to_owned(), url.to_owned());
            vec![pair("JSONRPC", endpoint), pair("HTTP+JSON", base)]
        };
        assert_eq!(urls(true), expected("{origin}/", "{origin}"));
        assert_eq!(urls(false), expected("{origin}/demo", "{origin}/demo"));
    }
}
