//! The card of an agent, derived from its file.

use super::definition::AgentDefinition;
use super::skills::public_skills;
use crate::Capabilities;
use crate::tool::Tool;
use a2a::binding::discovery::ORIGIN;
use a2a::dialect::Dialect;
use a2a::model::{
    AgentCard, AgentExtension, AgentInterface, DELETION_EXTENSION, GENERATION_EXTENSION,
    TIMELINE_EXTENSION, WEBHOOKS_EXTENSION,
};

/// The card of an agent for anonymous callers. URLs begin with [`ORIGIN`], which the Worker replaces by the origin of the
/// request.
pub(super) fn card_of(agent: &AgentDefinition, tools: &[&dyn Tool]) -> AgentCard {
    AgentCard {
        name: agent.name.clone(),
        description: agent.description.clone(),
        supported_interfaces: interfaces_of(agent),
        provider: agent.provider.clone(),
        version: agent.version.clone(),
        documentation_url: agent.documentation_url.clone(),
        capabilities: capabilities_of(agent).into(),
        security_schemes: agent.access.security_schemes(),
        security_requirements: agent.access.security_requirements(),
        default_input_modes: agent.input_modes.clone(),
        default_output_modes: agent.output_modes.clone(),
        skills: public_skills(agent, tools),
        icon_url: agent.icon_url.clone(),
    }
}

/// The capabilities of an agent: those of its file and the extensions that a2a-edge adds. Anonymous callers have webhooks
/// only with `open_webhooks`, and without webhooks their extension is not declared.
pub(super) fn capabilities_of(agent: &AgentDefinition) -> Capabilities {
    let mut capabilities = agent.capabilities.clone();
    capabilities.push_notifications &= !agent.access.is_anonymous() || agent.access.open_webhooks;
    let has_webhooks = capabilities.push_notifications;
    let mut declare = |uri: &str, description: &str| {
        capabilities.extensions.push(AgentExtension {
            uri: uri.to_owned(),
            description: description.to_owned(),
            required: false,
            params: None,
        });
    };
    declare(GENERATION_EXTENSION, GENERATION_DESCRIPTION);
    declare(TIMELINE_EXTENSION, TIMELINE_DESCRIPTION);
    declare(DELETION_EXTENSION, DELETION_DESCRIPTION);
    if has_webhooks {
        declare(WEBHOOKS_EXTENSION, WEBHOOKS_DESCRIPTION);
    }
    capabilities
}

/// The interfaces of an agent: JSON-RPC and then HTTP+JSON for 1.0, and both again for 0.3. All have the URL of the agent.
/// Clients of HTTP+JSON append paths to it, so it must not end with a slash.
fn interfaces_of(agent: &AgentDefinition) -> Vec<AgentInterface> {
    let (endpoint, base) = if agent.default {
        (format!("{ORIGIN}/"), ORIGIN.to_owned())
    } else {
        (format!("{ORIGIN}/{}", agent.slug), format!("{ORIGIN}/{}", agent.slug))
    };
    let interface = |url: &str, binding: &str, dialect: Dialect| AgentInterface {
        url: url.to_owned(),
        protocol_binding: binding.to_owned(),
        tenant: None,
        protocol_version: dialect.version().to_owned(),
    };
    let older = agent.dialects.spoken(&agent.access).v0_3.then_some(Dialect::V0_3);
    let dialects = [Dialect::V1].into_iter().chain(older);
    let both = |dialect| {
        [interface(&endpoint, "JSONRPC", dialect), interface(&base, "HTTP+JSON", dialect)]
    };
    dialects.flat_map(both).collect()
}

const GENERATION_DESCRIPTION: &str = "A task's generation counts its events: answers tell it, \
    If-Generation-Match lets a message, a cancel or a deletion through at one generation only, and GetTask with \
    After-Generation waits for a later one.";

const TIMELINE_DESCRIPTION: &str = "GetTaskTimeline tells what happened in a task, page by page: its events with their \
    generations and times, the attempts of the agent, their steps, and the attempts to reach webhooks.";

const DELETION_DESCRIPTION: &str = "DeleteTask deletes a task of the caller that has ended, or with force cancels it first, and DeleteContext \
    does so with the tasks of a context: A2A 1.0 has no operations for that.";

const WEBHOOKS_DESCRIPTION: &str = "Webhooks take a filter of events and a secret to sign notifications \
    with, and two methods show how deliveries fared and send events again.";

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(default: bool) -> Vec<(String, String)> {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools', tools = { names = [] } }";
        let parsed: AgentDefinition = toml::from_str(text).unwrap();
        let agent = AgentDefinition { slug: "demo".to_owned(), default, ..parsed };
        let interfaces = card_of(&agent, &[]).supported_interfaces.into_iter();
        interfaces.map(|interface| (interface.protocol_binding, interface.url)).collect()
    }

    #[test]
    fn every_agent_declares_generations_timelines_and_deletions_behind_its_own_extensions() {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools', tools = { names = [] } }\n\
                    capabilities = { extensions = [{ uri = 'urn:own' }] }";
        let agent: AgentDefinition = toml::from_str(text).unwrap();
        let extensions = card_of(&agent, &[]).capabilities.extensions;
        let uris: Vec<&str> = extensions.iter().map(|found| found.uri.as_str()).collect();
        assert_eq!(uris, ["urn:own", GENERATION_EXTENSION, TIMELINE_EXTENSION, DELETION_EXTENSION]);
        assert!(extensions.iter().all(|extension| !extension.required));
        assert_eq!(capabilities_of(&agent).extensions, extensions);
    }

    #[test]
    fn agents_with_webhooks_declare_what_is_added_to_them() {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools', tools = { names = [] } }\n\
                    capabilities = { push_notifications = true }
                    access = { open_webhooks = true }";
        let agent: AgentDefinition = toml::from_str(text).unwrap();
        let capabilities = card_of(&agent, &[]).capabilities;
        let uris: Vec<&str> =
            capabilities.extensions.iter().map(|found| found.uri.as_str()).collect();
        let first = [GENERATION_EXTENSION, TIMELINE_EXTENSION, DELETION_EXTENSION];
        assert_eq!(uris, [&first[..], &[WEBHOOKS_EXTENSION]].concat());
        assert!(capabilities.push_notifications);
    }

    #[test]
    fn webhooks_are_declared_where_their_callers_are_known_or_the_file_opens_them() {
        let scheme = "schemes = { key = { kind = 'api_key', name = 'x-key', callers = [] } }";
        for (access, declares) in [
            ("", false),
            ("open = true", false),
            ("open = true, open_listing = true", false),
            ("open_webhooks = true", true),
            (scheme, true),
        ] {
            let text = format!(
                "name = 'A'\ndescription = 'B'\nversion = '1'\n\
                 executor = {{ kind = 'tools', tools = {{ names = [] }} }}\n\
                 capabilities = {{ push_notifications = true }}\naccess = {{ {access} }}"
            );
            let agent: AgentDefinition = toml::from_str(&text).unwrap();
            let capabilities = card_of(&agent, &[]).capabilities;
            assert_eq!(capabilities.push_notifications, declares, "{access}");
            let is_declared = |extension: &AgentExtension| extension.uri == WEBHOOKS_EXTENSION;
            assert_eq!(capabilities.extensions.iter().any(is_declared), declares, "{access}");
        }
    }

    #[test]
    fn every_binding_has_an_interface() {
        let expected = |endpoint: &str, base: &str| {
            let pair = |binding: &str, url: &str| (binding.to_owned(), url.to_owned());
            let both = [pair("JSONRPC", endpoint), pair("HTTP+JSON", base)];
            // The interfaces of 1.0, then the same of 0.3.
            [both.clone(), both].concat()
        };
        assert_eq!(urls(true), expected("{origin}/", "{origin}"));
        assert_eq!(urls(false), expected("{origin}/demo", "{origin}/demo"));
    }
}
