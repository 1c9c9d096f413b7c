//! Skills that are learned while the Worker runs, since only another server knows them: that of a remote agent, or MCP
//! servers.
//!
//! The build embeds where they come from, and what the agent file says of skills that it cannot know yet. How they get here is
//! the Worker's matter; here is what they change on the card. They are text of somebody else: nothing in them is a template,
//! and only skills are taken over, within bounds.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{Misfit, RestrictedSkill};
use a2a::binding::discovery::verbatim;
use a2a::client::RemoteCard;
use a2a::model::AgentSkill;

/// What is embedded of an agent that learns skills.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnedSkills {
    /// Where they come from, in the order in which the card shows them; at least one.
    pub parts: Vec<LearnedPart>,
    /// What the agent file says of skills that no source of the build gives. It has the last word about a learned skill of
    /// the same id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnSkill>,
}

/// A place from which skills are learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LearnedPart {
    /// The place.
    pub source: LearnedSource,
    /// The number of skills that the build knows and that stand before them, among those of other sources.
    pub position: usize,
}

/// What an agent file says of a skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnSkill {
    /// Its id and the members that the file gives, as a card has them.
    pub skill: Map<String, Value>,
    /// The permissions that a caller needs, all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

/// Who has skills that are learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnedSource {
    /// The card of the agent of this name: a table of `remotes.toml`, or the slug of an agent of the same Worker.
    Remote(String),
    /// The tools of MCP servers.
    Mcp {
        /// What is taken of which server, as `[executor.tools] mcp` says it.
        choices: Vec<String>,
        /// The names of the agent's tools that are of no server.
        own: Vec<String>,
    },
}

/// What an agent shows: its card for everybody, and the skills that need permissions.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSkills {
    /// The card.
    pub card: String,
    /// The skills that it does not show.
    pub restricted: Vec<RestrictedSkill>,
}

/// By hand, since every agent is read at each start of the Worker, and few learn skills: a derived reader is several times larger.
impl<'de> Deserialize<'de> for LearnedSkills {
    fn deserialize<D: Deserializer<'de>>(learned: D) -> Result<Self, D::Error> {
        let learned = Value::deserialize(learned)?;
        Self::read(&learned).ok_or_else(|| D::Error::custom("`learned` is none of this version"))
    }
}

impl LearnedSkills {
    fn read(learned: &Value) -> Option<Self> {
        let part = |part: &Value| {
            let source = LearnedSource::read(part.get("source")?)?;
            let position = usize::try_from(part.get("position")?.as_u64()?).ok()?;
            Some(LearnedPart { source, position })
        };
        let own = |own: &Value| {
            let permissions = own.get("permissions").and_then(Value::as_array);
            let text = |permission: &Value| permission.as_str().map(str::to_owned);
            let permissions = permissions.into_iter().flatten().map(text).collect::<Option<_>>()?;
            Some(OwnSkill { skill: own.get("skill")?.as_object()?.clone(), permissions })
        };
        let parts = learned.get("parts")?.as_array()?.iter().map(part).collect::<Option<_>>()?;
        let all = learned.get("own").and_then(Value::as_array).into_iter().flatten();
        Some(Self { parts, own: all.map(own).collect::<Option<_>>()? })
    }

    /// A card and the skills that it does not show, as the build has made them, with those that were learned: for each part
    /// those of its source, none while they are unknown.
    ///
    /// Of skills of one id the first is shown, and one that the build knows is the first. What the agent file says of a
    /// learned skill counts, also that it needs permissions; it stands in the place of the learned one then. Of all parts
    /// together at most [`MAX_LEARNED`] skills and [`MAX_LEARNED_BYTES`] are shown, and the others left out.
    ///
    /// # Errors
    ///
    /// None with a card that the build made.
    pub fn show(
        &self,
        card: &str,
        restricted: &[RestrictedSkill],
        learned: &[&[Value]],
    ) -> Result<ShownSkills, Misfit> {
        let mut card: Value = a2a::model::read_own(card)?;
        let defaults = MODES.map(|(name, of_card)| (name, card.get(of_card).cloned()));
        let public = card.get_mut("skills").and_then(Value::as_array_mut).map(std::mem::take);
        let public = public.unwrap_or_default().into_iter();
        let mut written: Vec<_> = public.map(|skill| Listed::new(skill, &[])).collect();
        for RestrictedSkill { permissions, position, skill } in restricted {
            let position = (*position).min(written.len());
            written.insert(position, Listed::new(skill.clone(), permissions));
        }
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

        let (mut public, mut restricted) = (Vec::new(), Vec::new());
        for (position, Listed { skill, permissions }) in all.into_iter().enumerate() {
            if permissions.is_empty() {
                public.push(skill)
            } else {
                restricted.push(RestrictedSkill { permissions, position, skill })
            }
        }
        if let Some(members) = card.as_object_mut() {
            members.insert("skills".to_owned(), public.into());
        }
        Ok(ShownSkills { card: card.to_string(), restricted })
    }

    /// What the agent file says of a skill that the build does not know.
    fn own(&self, id: &str) -> Option<&OwnSkill> {
        self.own.iter().find(|own| own.skill.get("id").and_then(Value::as_str) == Some(id))
    }

    /// A learned skill in the list. `defaults` are the media types of skills that name none.
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
    fn read(source: &Value) -> Option<Self> {
        if let Some(remote) = source.get("remote") {
            return Some(Self::Remote(remote.as_str()?.to_owned()));
        }
        let texts = |name: &str| -> Option<Vec<String>> {
            let texts = source.get("mcp")?.get(name)?.as_array()?.iter();
            texts.map(|text| text.as_str().map(str::to_owned)).collect()
        };
        Some(Self::Mcp { choices: texts("choices")?, own: texts("own")? })
    }

    /// The ids under which an agent file may say that a skill needs permissions. That of a tool is also its name, and this with
    /// its server's before it: which of both is its id depends on what others are called.
    fn names_of(&self, skill: &Value) -> Vec<String> {
        let id = id_of(skill);
        let Self::Mcp { .. } = self else { return vec![id.to_owned()] };
        let server = skill.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
        let name = id.strip_prefix(server).and_then(|rest| rest.strip_prefix('.')).unwrap_or(id);
        vec![name.to_owned(), format!("{server}.{name}"), id.to_owned()]
    }
}

/// A skill in the list of all.
struct Listed {
    skill: Value,
    permissions: Vec<String>,
}

impl Listed {
    fn new(skill: Value, permissions: &[String]) -> Self {
        Self { skill, permissions: permissions.to_vec() }
    }

    fn id(&self) -> &str {
        id_of(&self.skill)
    }
}

fn id_of(skill: &Value) -> &str {
    skill.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// The skills that the card of an agent of the same Worker shows, each with the media types that hold for it.
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

/// The members of a skill with media types, and those of a card that hold for skills without them.
const MODES: [(&str, &str); 2] =
    [("inputModes", "defaultInputModes"), ("outputModes", "defaultOutputModes")];

/// What is taken over of the card of an agent elsewhere, as [`take_over`] takes it, each skill with the media types that hold for
/// it.
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

/// What is taken over of the skills of somebody else, as a card shows it: the first of each id, at most [`MAX_LEARNED`] of
/// [`MAX_LEARNED_BYTES`] altogether, none with a text of more than [`MAX_TEXT_BYTES`]. Their texts stay as they are, whatever
/// they hold that is a placeholder elsewhere.
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
fn shown(skill: &AgentSkill) -> Value {
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

/// The room for skills of others.
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
    /// Takes a skill in, if there is room for it.
    fn takes(&mut self, skill: &Value) -> bool {
        let left = self.skills.checked_sub(1).zip(self.bytes.checked_sub(skill.to_string().len()));
        if let Some((skills, bytes)) = left {
            *self = Self { skills, bytes };
        }
        left.is_some()
    }
}

/// The number of learned skills that an agent shows at most.
pub const MAX_LEARNED: usize = 100;

/// The size of all learned skills that an agent shows, as JSON: 64 KiB.
pub const MAX_LEARNED_BYTES: usize = 64 * 1024;

/// The longest text of a learned skill: 8 KiB.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests;
