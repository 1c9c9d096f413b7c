//! Skills that are learned while the Worker runs, since only another server knows them: that of a remote agent.
//!
//! The build embeds where they come from, and what the agent file says of skills that it cannot know yet. How they get here is
//! the Worker's matter; here is what they change on the card. They are text of somebody else: nothing in them is a template,
//! and only skills are taken over, within bounds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skills::merged;
use crate::{Misfit, RestrictedSkill, SkillDefinition};
use a2a::binding::discovery::verbatim;
use a2a::model::AgentSkill;

/// What is embedded of an agent that learns skills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedSkills {
    /// Where they come from, in the order in which the card shows them; at least one.
    pub parts: Vec<LearnedPart>,
    /// What the agent file says of skills that no source of the build gives. They have the last word about a learned skill of
    /// the same id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<SkillDefinition>,
}

/// A place from which skills are learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedPart {
    /// The place.
    pub source: LearnedSource,
    /// The number of skills that the build knows and that stand before them, among those of other sources.
    pub position: usize,
}

/// Who has skills that are learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnedSource {
    /// The card of the agent of this name: a table of `remotes.toml`, or the slug of an agent of the same Worker.
    Remote(String),
}

/// What an agent shows: its card for everybody, and the skills that need permissions.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSkills {
    /// The card.
    pub card: String,
    /// The skills that it does not show.
    pub restricted: Vec<RestrictedSkill>,
}

impl LearnedSkills {
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
        learned: &[&[AgentSkill]],
    ) -> Result<ShownSkills, Misfit> {
        let mut card: Value = serde_json::from_str(card)?;
        let public = card.get_mut("skills").and_then(Value::as_array_mut).map(std::mem::take);
        let public = public.unwrap_or_default().into_iter();
        let mut written: Vec<_> = public.map(|skill| Listed::new(skill, &[])).collect();
        for RestrictedSkill { permissions, position, skill } in restricted {
            let position = (*position).min(written.len());
            written.insert(position, Listed::new(skill.clone(), permissions));
        }
        let (own, given): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|listed| self.own(listed.id()).is_some());
        let mut known: BTreeSet<String> = given.iter().map(|one| one.id().to_owned()).collect();

        let (mut all, mut room) = (Vec::new(), Room::default());
        let mut given = given.into_iter();
        let mut passed = 0;
        for (part, skills) in self.parts.iter().zip(learned) {
            all.extend(given.by_ref().take(part.position.saturating_sub(passed)));
            passed = passed.max(part.position);
            for skill in *skills {
                if !known.contains(&skill.id) && room.takes(skill) {
                    known.insert(skill.id.clone());
                    all.push(self.listed(skill)?);
                }
            }
        }
        all.extend(given);
        all.extend(own.into_iter().filter(|listed| !known.contains(listed.id())));

        let (mut public, mut restricted) = (Vec::new(), Vec::new());
        for (position, Listed { skill, permissions }) in all.into_iter().enumerate() {
            match permissions.is_empty() {
                true => public.push(skill),
                false => restricted.push(RestrictedSkill { permissions, position, skill }),
            }
        }
        if let Some(members) = card.as_object_mut() {
            members.insert("skills".to_owned(), public.into());
        }
        Ok(ShownSkills { card: card.to_string(), restricted })
    }

    /// What the agent file says of a skill that the build does not know.
    fn own(&self, id: &str) -> Option<&SkillDefinition> {
        self.own.iter().find(|own| own.id == id)
    }

    fn listed(&self, skill: &AgentSkill) -> Result<Listed, Misfit> {
        let own = self.own(&skill.id);
        let permissions = own.map(|own| own.permissions.as_slice()).unwrap_or_default();
        let skill = skill.clone();
        let told = own.map_or_else(|| skill.clone(), |own| merged(skill.clone(), own));
        Ok(Listed::new(serde_json::to_value(told)?, permissions))
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
        self.skill.get("id").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What is taken over of the skills of somebody else: the first of each id, at most [`MAX_LEARNED`] of
/// [`MAX_LEARNED_BYTES`] altogether, none with a text of more than [`MAX_TEXT_BYTES`]. Their texts stay as they are, whatever
/// they hold that is a placeholder elsewhere.
pub fn take_over(skills: Vec<AgentSkill>) -> Vec<AgentSkill> {
    let (mut room, mut known) = (Room::default(), BTreeSet::new());
    let mut taken = Vec::new();
    for skill in skills {
        let skill = AgentSkill {
            id: verbatim(&skill.id),
            name: verbatim(&skill.name),
            description: verbatim(&skill.description),
            tags: all_verbatim(&skill.tags),
            examples: all_verbatim(&skill.examples),
            input_modes: all_verbatim(&skill.input_modes),
            output_modes: all_verbatim(&skill.output_modes),
        };
        if !known.contains(&skill.id) && room.takes(&skill) {
            known.insert(skill.id.clone());
            taken.push(skill);
        }
    }
    taken
}

fn all_verbatim(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| verbatim(text)).collect()
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
    fn takes(&mut self, skill: &AgentSkill) -> bool {
        let AgentSkill { id, name, description, tags, examples, input_modes, output_modes } = skill;
        let mut texts = [id, name, description].into_iter();
        let mut lists = [tags, examples, input_modes, output_modes].into_iter().flatten();
        let is_short = |text: &String| text.len() <= MAX_TEXT_BYTES;
        if id.trim().is_empty() || !texts.all(is_short) || !lists.all(is_short) {
            return false;
        }
        let size = serde_json::to_string(skill).map_or(usize::MAX, |json| json.len());
        match (self.skills.checked_sub(1), self.bytes.checked_sub(size)) {
            (Some(skills), Some(bytes)) => {
                *self = Self { skills, bytes };
                true
            }
            (None, _) | (_, None) => false,
        }
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
