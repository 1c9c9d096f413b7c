//! The skills of an agent's card: those of its sources (`skills_from`), and those that its file changes or adds.

use serde_json::Value;

use super::definition::AgentDefinition;
use super::skill::{FileSkill, SkillDefinition, SkillsSource};
use crate::kind::Offered;
use crate::tool::{Tool, skill_of};
use crate::{
    LearnedPart, LearnedSkills, LearnedSource, OwnSkill, Problem, RegisteredSkill, RestrictedSkill,
};
use a2a::model::AgentSkill;

/// A skill from a source.
struct Given {
    id: String,
    /// The skill; `None` for a tool that the Worker registers.
    skill: Option<AgentSkill>,
    /// The index of the source in `skills_from`.
    source: usize,
    /// The name of the source, for people.
    origin: String,
}

/// The skills for all callers.
pub(crate) fn public_skills(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<AgentSkill> {
    let all = skills_of(agent, tools).into_iter();
    all.filter(|(_, permissions)| permissions.is_empty()).map(|(skill, _)| skill).collect()
}

/// The skills for callers with permissions.
///
/// # Errors
///
/// No agent file causes an error.
pub(crate) fn restricted_skills(
    agent: &AgentDefinition,
    tools: &[&dyn Tool],
) -> serde_json::Result<Vec<RestrictedSkill>> {
    let all = skills_of(agent, tools).into_iter().enumerate();
    let restricted = all.filter(|(_, (_, permissions))| !permissions.is_empty());
    let restricted = restricted.map(|(position, (skill, permissions))| {
        let skill = serde_json::to_value(skill)?;
        Ok(RestrictedSkill { permissions, position, skill })
    });
    restricted.collect()
}

/// The skills of an agent, each with the permissions that a caller needs. First are the skills of the sources, with the
/// changes of the agent file; then follow the skills that only the file describes.
fn skills_of(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<(AgentSkill, Vec<String>)> {
    let given = given(agent, tools);
    let is_given = |own: &&SkillDefinition| given.iter().any(|known| known.id == own.id);
    let told =
        |skill: AgentSkill, own: &SkillDefinition| (merged(skill, own), own.permissions.clone());
    let own = agent.skills.iter().filter(|own| !is_given(own)).map(|own| told(bare(own), own));
    let own: Vec<_> = own.collect();
    let told = |skill: AgentSkill| match agent.skills.iter().find(|own| own.id == skill.id) {
        Some(own) => told(skill, own),
        None => (skill, Vec::new()),
    };
    given.into_iter().filter_map(|given| given.skill).map(told).chain(own).collect()
}

/// The skills that an agent learns while the Worker runs; `None` if it has no source of such skills.
pub(crate) fn learned_of(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Option<LearnedSkills> {
    let given = given(agent, tools);
    let part = |(index, from): (usize, &SkillsSource)| {
        let source = learned_source(agent, from)?;
        // In the source `tools`, the tools of servers follow the other tools.
        let is_before = |known: &&Given| match source {
            LearnedSource::Remote(_) => known.source < index,
            LearnedSource::Mcp { .. } => known.source <= index,
        };
        let position = given.iter().filter(is_before).filter(|known| known.skill.is_some()).count();
        Some(LearnedPart { source, position })
    };
    let parts: Vec<_> = sources_of(agent).iter().enumerate().filter_map(part).collect();
    let is_given = |own: &&SkillDefinition| given.iter().any(|known| known.id == own.id);
    let own = agent.skills.iter().filter(|own| !is_given(own)).map(own_skill).collect();
    (!parts.is_empty()).then_some(LearnedSkills { parts, own })
}

/// The skills of tools that the Worker registers.
pub(crate) fn registered_of(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<RegisteredSkill> {
    let mut position = 0;
    let mut registered = Vec::new();
    for Given { id, skill, .. } in given(agent, tools) {
        if skill.is_some() {
            position += 1;
            continue;
        }
        let own = agent.skills.iter().find(|own| own.id == id).map(own_skill);
        registered.push(RegisteredSkill { tool: id, position, own });
    }
    registered
}

/// A skill of the agent file that no source known to the checker has: its id and the members that the file sets.
fn own_skill(own: &SkillDefinition) -> OwnSkill {
    let texts = [("name", &own.name), ("description", &own.description)];
    let texts = texts.into_iter().filter_map(|(name, text)| {
        let text = text.clone()?;
        Some((name, Value::from(text)))
    });
    let lists = [
        ("tags", &own.tags),
        ("examples", &own.examples),
        ("inputModes", &own.input_modes),
        ("outputModes", &own.output_modes),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let members = texts.chain(lists.map(|(name, list)| (name, list.clone().into())));
    let id = ("id", own.id.clone().into());
    let members = [id].into_iter().chain(members).map(|(name, value)| (name.to_owned(), value));
    OwnSkill { skill: members.collect(), permissions: own.permissions.clone() }
}

/// The source of learned skills that an element of `skills_from` names; `None` if the checker knows all skills of the
/// element.
fn learned_source(agent: &AgentDefinition, from: &SkillsSource) -> Option<LearnedSource> {
    let executor = &agent.executor;
    match from {
        SkillsSource::Remote => Some(LearnedSource::Remote(executor.front_of()?.to_owned())),
        SkillsSource::Tools => {
            let offer = executor.offer().filter(|offer| offer.are_skills)?;
            let of_agent = agent.tools.iter().map(|tool| &tool.name);
            let own = offer.names.iter().chain(of_agent).cloned().collect();
            let choices = offer.mcp.to_vec();
            (!choices.is_empty()).then_some(LearnedSource::Mcp { choices, own })
        }
        SkillsSource::Folder(_) => None,
    }
}

/// The problems of an agent's skills, each with its key and the fix.
pub(crate) fn problems_of(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let executor = &agent.executor;
    if agent.skills.is_empty() && sources_of(agent).is_empty() {
        let (kind, hint) = (&executor.kind, executor.skills_hint());
        let fix = format!("an agent of kind {kind:?} needs at least one `[[skills]]`{hint}");
        problems.push(Problem::at("skills", fix));
    }
    let sources = sources_of(agent);
    let has_tools = executor.has_tool_skills();
    for (index, source) in sources.iter().enumerate() {
        let key = format!("skills_from[{index}]");
        if sources.iter().take(index).any(|earlier| earlier == source) {
            problems.push(Problem::at(key, "stands twice"));
        } else if *source == SkillsSource::Tools && !has_tools {
            let kind = &executor.kind;
            let fix = format!("is \"tools\", but an agent of kind {kind:?} has none; remove it");
            problems.push(Problem::at(key, fix));
        } else if *source == SkillsSource::Remote && learned_source(agent, source).is_none() {
            let kind = &executor.kind;
            let fix = format!(
                "is \"remote\", but an agent of kind {kind:?} is no front of a remote agent; remove it, or write \
                 `kind = \"remote\"` into `[executor]`"
            );
            problems.push(Problem::at(key, fix));
        }
    }
    // The checker does not know the tools of MCP servers, so it cannot report unknown ids.
    let has_mcp = executor.offer().is_some_and(|offer| !offer.mcp.is_empty());
    let given = given(agent, tools);
    for (index, Given { id, source, origin, .. }) in given.iter().enumerate() {
        let earlier = given.iter().take(index).find(|earlier| earlier.id == *id);
        // A tool that is named twice is reported by the check of the names.
        if let Some(earlier) = earlier.filter(|earlier| earlier.origin != *origin) {
            let fix = format!(
                "gives the skill {id:?} twice: by {} and by {origin}; rename one of the two",
                earlier.origin
            );
            problems.push(Problem::at(format!("skills_from[{source}]"), fix));
        }
    }
    for (index, own) in agent.skills.iter().enumerate() {
        let key = format!("skills[{index}].permissions");
        if own.permissions.iter().any(|permission| permission.trim().is_empty()) {
            problems.push(Problem::at(key, "must not hold an empty text"));
        } else if !own.permissions.is_empty() && agent.access.is_anonymous() {
            let fix = "can be granted to nobody: callers get permissions by the schemes in [access.schemes]; add one";
            problems.push(Problem::at(key, fix));
        }
        let key = format!("skills[{index}].id");
        let id = &own.id;
        if agent.skills.iter().take(index).any(|other| other.id == *id) {
            problems.push(Problem::at(key, format!("{id:?} stands twice")));
        } else if sources.contains(&SkillsSource::Tools)
            && has_tools
            && !has_mcp
            && !given.iter().any(|known| known.id == *id)
            && !agent.tools.iter().any(|tool| tool.name == *id)
        {
            let fix = format!(
                "no tool of this agent is called {id:?}; add it to `executor.tools.names` or remove the skill"
            );
            problems.push(Problem::at(key, fix));
        }
    }
    problems
}

/// The sources of an agent's skills. Default: its tools, if it has any.
fn sources_of(agent: &AgentDefinition) -> Vec<SkillsSource> {
    let of_kind = || {
        if agent.executor.has_tool_skills() { vec![SkillsSource::Tools] } else { vec![] }
    };
    agent.skills_from.clone().unwrap_or_else(of_kind)
}

fn given(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Given> {
    let mut given = Vec::new();
    for (source, from) in sources_of(agent).iter().enumerate() {
        match from {
            SkillsSource::Tools => {
                let Some(offer) = agent.executor.offer().filter(|offer| offer.are_skills) else {
                    continue;
                };
                given.extend(offer.tools(&agent.context(tools)).map(|tool| {
                    let (id, skill) = match tool {
                        Offered::Known(tool) => (tool.name(), Some(skill_of(tool))),
                        Offered::Registered(name) => (name, None),
                    };
                    Given { id: id.to_owned(), skill, source, origin: format!("the tool {id}") }
                }));
            }
            SkillsSource::Folder(folder) => {
                let found = agent.file_skills.iter().filter(|found| found.folder == *folder);
                given.extend(found.map(|FileSkill { file, skill, .. }| Given {
                    id: skill.id.clone(),
                    skill: Some(skill.clone()),
                    source,
                    origin: file.clone(),
                }));
            }
            // The Worker reads these skills while it runs.
            SkillsSource::Remote => {}
        }
    }
    given
}

/// A skill of which only the id is known.
fn bare(own: &SkillDefinition) -> AgentSkill {
    AgentSkill {
        id: own.id.clone(),
        name: own.id.clone(),
        description: own.id.clone(),
        tags: vec![own.id.clone()],
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    }
}

/// A skill with the changes of an agent file.
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
    use crate::tool::tool;

    /// Says.
    #[tool]
    fn say() {}

    fn agent(text: &str) -> AgentDefinition {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        let skill = |id: &str| AgentSkill { description: format!("{id}!"), ..bare(&own(id)) };
        let found = |folder: &str, id: &str| FileSkill {
            folder: folder.to_owned(),
            file: format!("{folder}{id}/SKILL.md"),
            skill: skill(id),
        };
        AgentDefinition {
            file_skills: vec![
                found("skills/", "pdf"),
                found("skills/", "say"),
                found("more/", "pdf"),
            ],
            ..toml::from_str(&format!("{about}{text}")).unwrap()
        }
    }

    fn own(id: &str) -> SkillDefinition {
        toml::from_str(&format!("id = {id:?}")).unwrap()
    }

    fn card(text: &str) -> Vec<(String, String)> {
        let skills = skills_of(&agent(text), &[&say()]).into_iter();
        skills.map(|(skill, _)| (skill.id, skill.description)).collect()
    }

    fn told(text: &str) -> Vec<String> {
        let problems = problems_of(&agent(text), &[&say()]).into_iter();
        problems.map(|Problem { key, text, .. }| format!("{key} {text}")).collect()
    }

    const TOOLS: &str = "executor = { kind = 'tools', tools = { names = ['say'] } }";
    const SEATS: &str = "executor = { kind = 'seats' }";

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let pair = |(id, description): &(&str, &str)| ((*id).to_owned(), (*description).to_owned());
        expected.iter().map(pair).collect()
    }

    #[test]
    fn skills_come_from_their_sources_and_the_file_has_the_last_word() {
        for (text, expected) in [
            (TOOLS.to_owned(), vec![("say", "Says.")]),
            (format!("skills_from = []\n{TOOLS}\n[[skills]]\nid = 'own'"), vec![("own", "own")]),
            (SEATS.to_owned(), vec![]),
            (format!("{SEATS}\n[[skills]]\nid = 'own'"), vec![("own", "own")]),
            (
                format!(
                    "skills_from = ['skills/']\n{SEATS}\n[[skills]]\nid = 'own'\n[[skills]]\nid = 'pdf'\n\
                     description = 'Mine.'"
                ),
                vec![("pdf", "Mine."), ("say", "say!"), ("own", "own")],
            ),
            (
                format!("skills_from = ['more/', 'tools']\n{TOOLS}"),
                vec![("pdf", "pdf!"), ("say", "Says.")],
            ),
        ] {
            assert_eq!(card(&text), pairs(&expected), "{text}");
            let problems = told(&text);
            assert_eq!(problems.is_empty(), !expected.is_empty(), "{text}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.starts_with("skills an agent of kind")));
        }
    }

    #[test]
    fn a_skill_that_needs_permissions_is_not_public() {
        let text = format!(
            "skills_from = ['tools', 'more/']\n{TOOLS}\n[access.schemes.tls]\nkind = 'mutual_tls'\n\
             [[skills]]\nid = 'say'\npermissions = ['speak', 'loud']\n[[skills]]\nid = 'pdf'"
        );
        let (agent, say) = (agent(&text), say());
        assert_eq!(problems_of(&agent, &[&say]), []);
        let public = public_skills(&agent, &[&say]).into_iter();
        assert_eq!(public.map(|skill| skill.id).collect::<Vec<_>>(), ["pdf"]);
        let restricted = restricted_skills(&agent, &[&say]).unwrap();
        let [say] = restricted.as_slice() else { panic!("{restricted:?}") };
        assert_eq!((say.id(), say.position, &say.skill["name"]), ("say", 0, &"Say".into()));
        for (held, is_for) in
            [(&["speak", "loud", "x"][..], true), (&["speak"], false), (&[], false)]
        {
            assert_eq!(say.is_for(|permission| held.contains(&permission)), is_for, "{held:?}");
        }
    }

    #[test]
    fn permissions_that_nobody_can_have_are_refused() {
        let skill = |permissions: &str| {
            format!("{TOOLS}\n[[skills]]\nid = 'say'\npermissions = {permissions}")
        };
        for (permissions, fix) in
            [("['a']", "can be granted to nobody"), ("['a', ' ']", "must not")]
        {
            let problems = told(&skill(permissions));
            assert!(
                problems[0].starts_with(&format!("skills[0].permissions {fix}")),
                "{problems:?}"
            );
        }
        assert_eq!(told(&skill("[]")), Vec::<String>::new());
    }

    #[test]
    fn a_skill_of_two_sources_is_refused_with_both() {
        let text = format!("skills_from = ['tools', 'skills/', 'more/']\n{TOOLS}");
        assert_eq!(
            told(&text),
            [
                "skills_from[1] gives the skill \"say\" twice: by the tool say and by skills/say/SKILL.md; rename \
                 one of the two",
                "skills_from[2] gives the skill \"pdf\" twice: by skills/pdf/SKILL.md and by more/pdf/SKILL.md; \
                 rename one of the two",
            ]
        );
        assert_eq!(
            told(&format!("skills_from = ['tools', 'more/', 'more/']\n{SEATS}"))[..2],
            [
                "skills_from[0] is \"tools\", but an agent of kind \"seats\" has none; remove it",
                "skills_from[2] stands twice"
            ]
        );
    }

    #[test]
    fn a_source_that_is_none_is_refused() {
        for (source, reason) in [
            (
                "mcp:files",
                "\"mcp:files\" is no source of skills; the tools of an MCP server are among the `tools`",
            ),
            ("agent:nl2sql", "\"agent:nl2sql\": skills from `agent:` are not supported yet"),
            ("skills", "\"skills\" is no source of skills; there are `tools`, `remote` for fronts"),
            ("/etc/", "\"/etc/\" is no source of skills"),
            ("../skills/", "\"../skills/\" is no source of skills"),
        ] {
            let error = SkillsSource::try_from(source.to_owned()).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
