//! Skills that are learned while the Worker runs, because only another server knows them: a remote agent or MCP servers.
//!
//! The checked form has the sources of these skills, and the changes of the agent file to skills that the checker does not know. Other
//! modules of the Worker fetch the skills; this module adds them to the card. The skills are texts of other parties, so
//! placeholders in them are not replaced, and their number and size are limited.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Misfit, RestrictedSkill};
use a2a::binding::discovery::verbatim;
use a2a::client::RemoteCard;
use a2a::model::AgentSkill;
use a2a::model::decode::Decode;

/// The skills that an agent learns, in the checked form.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct LearnedSkills {
    /// The sources in the order of the card; at least one.
    pub parts: Vec<LearnedPart>,
    /// The skills of the agent file that no source known to the checker has. They overwrite members of learned skills with the same
    /// id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnSkill>,
}

/// A source of learned skills, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
pub struct LearnedPart {
    /// The source.
    pub source: LearnedSource,
    /// The position of the learned skills in the card: the number of skills known to the checker that precede them.
    pub position: usize,
}

/// A skill of an agent file.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct OwnSkill {
    /// The id and the members that the file sets, as in a card.
    pub skill: Map<String, Value>,
    /// A caller needs all of these permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

/// The skill of a tool that the Worker registers: the checker knows only the name of the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct RegisteredSkill {
    /// The name of the tool.
    pub tool: String,
    /// The number of skills known to the checker that precede it.
    pub position: usize,
    /// The entry of the agent file for the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnSkill>,
}

/// A source of learned skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
#[serde(rename_all = "snake_case")]
pub enum LearnedSource {
    /// The card of the agent with this name: a table of `remotes.toml`, or the slug of an agent of the same Worker.
    Remote(String),
    /// The tools of MCP servers.
    Mcp {
        /// The chosen tools of each server, as in `[executor.tools] mcp`.
        choices: Vec<String>,
        /// The names of the agent's other tools.
        own: Vec<String>,
    },
}

/// The skills that an agent shows: a card for all callers, and the skills that need permissions.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSkills {
    /// The card.
    pub card: String,
    /// The skills that are not in the card.
    pub restricted: Vec<RestrictedSkill>,
}

impl LearnedSkills {
    /// Adds learned skills to a card that the checker made, and to the skills that are not in it. `learned` contains the skills of
    /// each part; a part that is not yet known is empty.
    ///
    /// If several skills have the same id, the first is shown, and a skill known to the checker precedes learned ones. A skill of
    /// the agent file overwrites members and adds permissions of the learned skill with its id, and keeps the learned skill's
    /// position. All parts together show at most [`MAX_LEARNED`] skills and [`MAX_LEARNED_BYTES`]; further skills are left out.
    ///
    /// # Errors
    ///
    /// A card that the checker made causes no error.
    pub fn show(
        &self,
        card: &str,
        restricted: &[RestrictedSkill],
        learned: &[&[Value]],
    ) -> Result<ShownSkills, Misfit> {
        let CardSkills { card, skills: written } = CardSkills::read(card, restricted)?;
        let defaults = MODES.map(|(name, of_card)| (name, card.get(of_card).cloned()));
        let (own, given): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|listed| self.own(listed.id()).is_some());
        let mut known: Vec<String> = given.iter().map(|one| one.id().to_owned()).collect();

        let (mut all, mut room) = (Vec::new(), Room::default());
        let mut given = given.into_iter();
        let mut passed = 0;
        for (part, skills) in self.parts.iter().zip(learned) {
            all.extend(given.by_ref().take(part.position.saturating_sub(passed)));
            passed = passed.max(part.position);
            for skill in *skills {
                if !known.iter().any(|known| known == id_of(skill)) && room.takes(skill) {
                    known.push(id_of(skill).to_owned());
                    all.push(self.listed(&part.source, skill.clone(), &defaults));
                }
            }
        }
        all.extend(given);
        all.extend(
            own.into_iter().filter(|listed| !known.iter().any(|known| known == listed.id())),
        );
        Ok(CardSkills { card, skills: all }.write())
    }

    /// The entry of the agent file for a skill that the checker does not know.
    fn own(&self, id: &str) -> Option<&OwnSkill> {
        self.own.iter().find(|own| own.skill.get("id").and_then(Value::as_str) == Some(id))
    }

    /// Applies the agent file to a learned skill. `defaults` are the card's media types, which are removed from the skill.
    fn listed(
        &self,
        source: &LearnedSource,
        mut skill: Value,
        defaults: &[(&str, Option<Value>)],
    ) -> Listed {
        for (name, default) in defaults {
            let is_default = |modes: &Value| Some(modes) == default.as_ref();
            if skill.get(name).is_some_and(is_default)
                && let Some(members) = skill.as_object_mut()
            {
                members.shift_remove(*name);
            }
        }
        let names = source.names_of(&skill);
        let rules = self.own.iter().filter(|own| {
            names.iter().any(|name| own.skill.get("id").and_then(Value::as_str) == Some(name))
        });
        let permissions: Vec<String> =
            rules.flat_map(|own| own.permissions.iter().cloned()).collect();
        if let (Some(own), Some(members)) = (self.own(id_of(&skill)), skill.as_object_mut()) {
            members.extend(own.skill.clone());
        }
        Listed::new(skill, &permissions)
    }
}

impl LearnedSource {
    /// The ids that an agent file may use for the permissions of a skill. The id of a tool is its name, or the server's name and
    /// its name if other tools have the same name. An agent file may use both.
    fn names_of(&self, skill: &Value) -> Vec<String> {
        let id = id_of(skill);
        let Self::Mcp { .. } = self else { return vec![id.to_owned()] };
        let server = skill.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
        let name = id.strip_prefix(server).and_then(|rest| rest.strip_prefix('.')).unwrap_or(id);
        vec![name.to_owned(), format!("{server}.{name}"), id.to_owned()]
    }
}

/// A card, and all skills of its agent in their order: those of the card, and those for callers with permissions.
pub(crate) struct CardSkills {
    card: Value,
    pub(crate) skills: Vec<Listed>,
}

impl CardSkills {
    /// Reads the skills of a card, and adds the others at their positions.
    ///
    /// # Errors
    ///
    /// For a card that the checker did not make.
    pub(crate) fn read(card: &str, restricted: &[RestrictedSkill]) -> Result<Self, Misfit> {
        let mut card: Value = a2a::model::read_own(card)?;
        let public = card.get_mut("skills").and_then(Value::as_array_mut).map(std::mem::take);
        let public = public.unwrap_or_default().into_iter();
        let mut skills: Vec<_> = public.map(|skill| Listed::new(skill, &[])).collect();
        for RestrictedSkill { permissions, position, skill } in restricted {
            let position = (*position).min(skills.len());
            skills.insert(position, Listed::new(skill.clone(), permissions));
        }
        Ok(Self { card, skills })
    }

    /// The card with the skills that need no permissions, and the others.
    pub(crate) fn write(self) -> ShownSkills {
        let Self { mut card, skills } = self;
        let (mut public, mut restricted) = (Vec::new(), Vec::new());
        for (position, Listed { skill, permissions }) in skills.into_iter().enumerate() {
            if permissions.is_empty() {
                public.push(skill)
            } else {
                restricted.push(RestrictedSkill { permissions, position, skill })
            }
        }
        if let Some(members) = card.as_object_mut() {
            members.insert("skills".to_owned(), public.into());
        }
        ShownSkills { card: card.to_string(), restricted }
    }
}

/// A skill in the list of all skills, and its permissions.
pub(crate) struct Listed {
    skill: Value,
    permissions: Vec<String>,
}

impl Listed {
    pub(crate) fn new(skill: Value, permissions: &[String]) -> Self {
        Self { skill, permissions: permissions.to_vec() }
    }

    fn id(&self) -> &str {
        id_of(&self.skill)
    }
}

fn id_of(skill: &Value) -> &str {
    skill.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// The skills of the card of an agent of the same Worker, each with its media types or those of the card.
pub fn skills_of_card(card: &str) -> Vec<Value> {
    let mut card: Value = a2a::model::read_own(card).unwrap_or_default();
    let skills = card.get_mut("skills").and_then(Value::as_array_mut);
    let mut skills = skills.map(std::mem::take).unwrap_or_default();
    for members in skills.iter_mut().filter_map(Value::as_object_mut) {
        for (name, of_card) in MODES {
            if let (None, Some(modes)) = (members.get(name), card.get(of_card)) {
                members.insert(name.to_owned(), modes.clone());
            }
        }
    }
    skills
}

/// The members of a skill with media types, and the members of a card with the default media types.
const MODES: [(&str, &str); 2] =
    [("inputModes", "defaultInputModes"), ("outputModes", "defaultOutputModes")];

/// The skills of a remote agent's card, limited by [`take_over`], each with its media types or those of the card.
pub fn take_over_card(card: &RemoteCard) -> Vec<Value> {
    let or = |own: &[String], of_card: &[String]| match own {
        [] => of_card.to_vec(),
        own => own.to_vec(),
    };
    let skills = card.skills.iter().map(|skill| AgentSkill {
        input_modes: or(&skill.input_modes, &card.input_modes),
        output_modes: or(&skill.output_modes, &card.output_modes),
        ..skill.clone()
    });
    take_over(&skills.collect::<Vec<_>>())
}

/// Limits the skills of another party: the first of each id, at most [`MAX_LEARNED`] skills and [`MAX_LEARNED_BYTES`] together,
/// without those that contain a text of more than [`MAX_TEXT_BYTES`]. Placeholders in their texts are escaped, so that they are
/// shown unchanged.
pub fn take_over(skills: &[AgentSkill]) -> Vec<Value> {
    let mut room = Room::default();
    let mut taken: Vec<Value> = Vec::new();
    for skill in skills.iter().filter(|skill| !skill.id.trim().is_empty() && is_short(skill)) {
        let shown = shown(skill);
        if !taken.iter().any(|known| id_of(known) == id_of(&shown)) && room.takes(&shown) {
            taken.push(shown);
        }
    }
    taken
}

/// A skill as a card shows it.
pub(crate) fn shown(skill: &AgentSkill) -> Value {
    let AgentSkill { id, name, description, tags, examples, input_modes, output_modes } = skill;
    let texts = |texts: &[String]| -> Value { texts.iter().map(|text| verbatim(text)).collect() };
    let mut shown = Map::new();
    for (name, text) in [("id", id), ("name", name), ("description", description)] {
        shown.insert(name.to_owned(), verbatim(text).into());
    }
    shown.insert("tags".to_owned(), texts(tags));
    for (name, list) in
        [("examples", examples), ("inputModes", input_modes), ("outputModes", output_modes)]
    {
        if !list.is_empty() {
            shown.insert(name.to_owned(), texts(list));
        }
    }
    shown.into()
}

fn is_short(skill: &AgentSkill) -> bool {
    let AgentSkill { id, name, description, tags, examples, input_modes, output_modes } = skill;
    let lists = [tags, examples, input_modes, output_modes].into_iter().flatten();
    [id, name, description].into_iter().chain(lists).all(|text| text.len() <= MAX_TEXT_BYTES)
}

/// The remaining number and size of learned skills.
struct Room {
    skills: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { skills: MAX_LEARNED, bytes: MAX_LEARNED_BYTES }
    }
}

impl Room {
    /// Subtracts a skill if it fits. Returns true if it did.
    fn takes(&mut self, skill: &Value) -> bool {
        let left = self.skills.checked_sub(1).zip(self.bytes.checked_sub(skill.to_string().len()));
        if let Some((skills, bytes)) = left {
            *self = Self { skills, bytes };
        }
        left.is_some()
    }
}

/// The maximum number of learned skills that an agent shows.
pub const MAX_LEARNED: usize = 100;

/// The maximum size of all learned skills that an agent shows, as JSON: 64 KiB.
pub const MAX_LEARNED_BYTES: usize = 64 * 1024;

/// The maximum size of a text in a learned skill: 8 KiB.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests;
