//! Parses cards of every version, and reports missing fields in the terms of that version.

use serde_json::{Map, Value};

use super::RemoteCard;
use super::security::{requirements, schemes};
use crate::client::ClientError;
use crate::dialect::Dialect;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{AgentExtension, AgentInterface, AgentProvider, AgentSkill, FieldViolation};
use crate::model::{MAX_DOCUMENT_VALUES, read_foreign};

impl RemoteCard {
    /// Reads a card of any version.
    ///
    /// ```
    /// use a2a::client::RemoteCard;
    ///
    /// let card = RemoteCard::parse(r#"{"protocolVersion": "0.3.0", "name": "Old", "description": "", "version": "1",
    ///     "url": "https://old.example/a2a", "capabilities": {"streaming": true}, "skills": [],
    ///     "defaultInputModes": [], "defaultOutputModes": []}"#)?;
    /// assert_eq!(card.interfaces[0].protocol_binding, "JSONRPC");
    /// assert!(card.streams);
    ///
    /// let error = RemoteCard::parse(r#"{"name": "Half", "url": "https://half.example"}"#).unwrap_err();
    /// assert!(error.to_string().contains("version is required"));
    /// # Ok::<(), a2a::client::ClientError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ClientError::Card`] if the text is not JSON of at most [`MAX_DOCUMENT_VALUES`] values; [`ClientError::UnfitCard`]
    /// with each field that is missing or wrong, under its name in the version of the card. `name`, `version`, an interface
    /// (1.0: `supportedInterfaces`, before: `url`) and `capabilities` must be present. The other required fields are texts
    /// and lists; an absent one is read as empty, because writers of ProtoJSON omit empty fields.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let json = read_foreign(text.as_bytes(), MAX_DOCUMENT_VALUES);
        Self::read(json.map_err(|unfit| ClientError::Card(format!("it {unfit}")))?)
    }

    /// As [`parse`](Self::parse), for parsed JSON.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn read(json: Value) -> Result<Self, ClientError> {
        let unusable = |mut found: Vec<FieldViolation>| {
            if let Some(members) = json.as_object() {
                add_missing(members, &mut found);
            }
            ClientError::UnfitCard(found)
        };
        let version = version_of(&json);
        let mut card =
            decode_with(json.clone(), |fields| read(fields, version)).map_err(unusable)?;
        card.json = json;
        Ok(card)
    }
}

/// The version in which a card is written.
fn version_of(card: &Value) -> Dialect {
    let has = |name: &str| card.get(name).is_some_and(|value| !value.is_null());
    let is_list =
        |name: &str| card.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if is_list("supportedInterfaces") || is_list("supported_interfaces") || !has("url") {
        return Dialect::V1;
    }
    if MEMBERS_OF_0_3.iter().any(|name| has(name)) {
        return Dialect::V0_3;
    }
    let modes = card.get("defaultInputModes").and_then(Value::as_array);
    // Cards of 0.2 require `defaultInputModes`, which contains media types.
    let is_oldest =
        has("authentication") || modes.is_none_or(|modes| modes.contains(&"text".into()));
    if is_oldest { Dialect::Legacy } else { Dialect::V0_3 }
}

/// The members that exist only in cards of 0.2 and 0.3.
const MEMBERS_OF_0_3: [&str; 6] = [
    "protocolVersion",
    "preferredTransport",
    "additionalInterfaces",
    "securitySchemes",
    "security",
    "supportsAuthenticatedExtendedCard",
];

/// The members that every version except 0.1 requires, but without which a card can still be read.
const NEEDED: [&str; 4] = ["description", "defaultInputModes", "defaultOutputModes", "skills"];

/// Adds the other missing members, so that the error lists all mistakes of the card.
fn add_missing(members: &Map<String, Value>, found: &mut Vec<FieldViolation>) {
    let count =
        if version_of(&members.clone().into()) == Dialect::Legacy { 0 } else { NEEDED.len() };
    let missing = NEEDED.into_iter().take(count).filter(|name| !members.contains_key(*name));
    found.extend(missing.map(|name| FieldViolation::new(name, "is required")));
}

fn read(fields: &mut Fields, version: Dialect) -> Option<RemoteCard> {
    let name = fields.required_string("name");
    let agent_version = fields.required_string("version");
    let description = fields.any_string("description").unwrap_or_default();
    let interfaces = match version {
        Dialect::V1 => fields.required_list("supportedInterfaces"),
        Dialect::V0_3 | Dialect::Legacy => older_interfaces(fields, version),
    };
    let capabilities: Option<Capabilities> = fields.required_object("capabilities");
    let provider: Option<Provider> = fields.object("provider");
    let input_modes = modes(fields, "defaultInputModes");
    let output_modes = modes(fields, "defaultOutputModes");
    let skills = fields.list::<Skill>("skills");
    let is_extended = ["supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard"];
    let is_extended = is_extended.map(|name| fields.boolean(name).unwrap_or_default());
    let mut security_schemes = schemes(fields.member("securitySchemes"));
    let security_requirements = requirements(fields, &mut security_schemes);
    let capabilities = capabilities?;
    Some(RemoteCard {
        name: name?,
        description,
        version: agent_version?,
        interfaces: interfaces?,
        provider: provider.map(|provider| provider.0),
        streams: capabilities.streaming,
        sends_webhooks: capabilities.push_notifications,
        has_extended_card: capabilities.extended_agent_card || is_extended.contains(&true),
        extensions: capabilities.extensions,
        input_modes,
        output_modes,
        skills: skills?.into_iter().map(|skill| skill.0).collect(),
        security_schemes,
        security_requirements,
        json: Value::Null,
    })
}

/// The interfaces of a card before 1.0: the main one and the additional ones.
fn older_interfaces(fields: &mut Fields, version: Dialect) -> Option<Vec<AgentInterface>> {
    let protocol_version =
        fields.string("protocolVersion").unwrap_or_else(|| version.version().to_owned());
    let interface = |url: String, protocol_binding: String| {
        let (tenant, protocol_version) = (None, protocol_version.clone());
        AgentInterface { url, protocol_binding, tenant, protocol_version }
    };
    let preferred = fields.string("preferredTransport").unwrap_or_else(|| "JSONRPC".to_owned());
    let mut all = vec![interface(fields.required_string("url")?, preferred)];
    for Additional { url, transport } in fields.list("additionalInterfaces")? {
        let other = interface(url, transport);
        if !all.contains(&other) {
            all.push(other);
        }
    }
    Some(all)
}

/// A list of media types, with `text` replaced by `text/plain`.
fn modes(fields: &mut Fields, name: &str) -> Vec<String> {
    let modes = fields.strings(name).into_iter();
    modes.map(|mode| if mode == "text" { "text/plain".to_owned() } else { mode }).collect()
}

/// An additional interface of a card of 0.3.
struct Additional {
    url: String,
    transport: String,
}

impl Decode for Additional {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (url, transport) = (fields.required_string("url"), fields.required_string("transport"));
        Some(Self { url: url?, transport: transport? })
    }
}

#[derive(Default)]
struct Capabilities {
    streaming: bool,
    push_notifications: bool,
    extended_agent_card: bool,
    extensions: Vec<AgentExtension>,
}

impl Decode for Capabilities {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let mut flag = |name: &str| fields.boolean(name).unwrap_or_default();
        let (streaming, push_notifications) = (flag("streaming"), flag("pushNotifications"));
        let extended_agent_card = flag("extendedAgentCard");
        let extensions = fields.list("extensions")?;
        Some(Self { streaming, push_notifications, extended_agent_card, extensions })
    }
}

struct Provider(AgentProvider);

impl Decode for Provider {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let organization = fields.required_string("organization");
        let url = fields.any_string("url").unwrap_or_default();
        Some(Self(AgentProvider { organization: organization?, url }))
    }
}

struct Skill(AgentSkill);

impl Decode for Skill {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (id, name) = (fields.required_string("id"), fields.required_string("name"));
        let description = fields.any_string("description").unwrap_or_default();
        let (tags, examples) = (fields.strings("tags"), fields.strings("examples"));
        let input_modes = modes(fields, "inputModes");
        let output_modes = modes(fields, "outputModes");
        let (id, name) = (id?, name?);
        Some(Self(AgentSkill { id, name, description, tags, examples, input_modes, output_modes }))
    }
}

#[cfg(test)]
mod tests;
