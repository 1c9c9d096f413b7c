//! Joins the tools that a Worker registers to the agents of the checked form, which knows only their names.

use std::rc::Rc;

use crate::learned::{CardSkills, Listed, shown};
use crate::tool::{Tool, skill_of};
use crate::{CheckedAgent, Misfit, RegisteredSkill, ShownSkills};

impl CheckedAgent {
    /// The agent with the skills of the registered tools that its file names, each in the place of its name. A name without a
    /// tool is left out: then the executor of the agent cannot be made, and its error names the tool.
    ///
    /// # Errors
    ///
    /// For a card that the checker did not make.
    pub fn join(self, tools: &[Rc<dyn Tool>]) -> Result<Self, Misfit> {
        if self.registered.is_empty() {
            return Ok(self);
        }
        let mut joined = CardSkills::read(&self.card, &self.restricted)?;
        let mut count = 0;
        for RegisteredSkill { tool, position, own } in &self.registered {
            let Some(tool) = tools.iter().find(|known| known.name() == tool) else { continue };
            let mut skill = shown(&skill_of(tool.as_ref()));
            if let (Some(own), Some(members)) = (own, skill.as_object_mut()) {
                members.extend(own.skill.clone());
            }
            let permissions = own.as_ref().map(|own| own.permissions.as_slice());
            let position = (position + count).min(joined.skills.len());
            joined.skills.insert(position, Listed::new(skill, permissions.unwrap_or_default()));
            count += 1;
        }
        let ShownSkills { card, restricted } = joined.write();
        let mut learned = self.learned;
        // The skills of servers follow those of the tools that the file names.
        for part in learned.iter_mut().flat_map(|learned| &mut learned.parts) {
            part.position += count;
        }
        Ok(Self { card, restricted, learned, registered: Vec::new(), ..self })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::checker::AgentDefinition;
    use crate::tool::tool;
    use crate::{LearnedPart, LearnedSkills, LearnedSource};

    /// Says hello.
    #[tool]
    fn hello() {}

    /// Says goodbye.
    #[tool]
    fn goodbye() {}

    /// The skills of an agent for callers without permissions, the others, and those that it learns.
    fn skills(text: &str) -> (Vec<String>, Vec<String>, Option<LearnedSkills>) {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        let definition: AgentDefinition = toml::from_str(&format!("{about}{text}")).unwrap();
        let definition = AgentDefinition { slug: "a".to_owned(), may_register: true, ..definition };
        let agent = CheckedAgent::new(definition, &[], &[]).unwrap();
        let text = serde_json::to_string(&agent).unwrap();
        let agent: CheckedAgent = a2a::model::decode::read_json(&text).unwrap();
        let registered: [Rc<dyn Tool>; 2] = [Rc::new(hello()), Rc::new(goodbye())];
        let joined = agent.join(&registered).unwrap();
        let card: Value = serde_json::from_str(&joined.card).unwrap();
        let told =
            |skill: &Value| format!("{}: {}", skill["id"], skill["description"]).replace('"', "");
        let public = card["skills"].as_array().unwrap().iter().map(told).collect();
        let restricted = joined.restricted.iter();
        let restricted = restricted.map(|one| format!("{} {}", one.position, told(&one.skill)));
        (public, restricted.collect(), joined.learned)
    }

    const LOOK: &str =
        "[[tools]]\nname = 'look'\ndescription = 'Looks.'\nurl = 'https://c.example'\n";

    #[test]
    fn registered_tools_stand_in_the_order_of_their_names() {
        let text = format!(
            "executor = {{ kind = 'tools', tools = {{ names = ['hello', 'look', 'none', 'goodbye'] }} }}\n{LOOK}\
             [[skills]]\nid = 'goodbye'\ndescription = 'Mine.'"
        );
        let (public, restricted, learned) = skills(&text);
        assert_eq!(public, ["hello: Says hello.", "look: Looks.", "goodbye: Mine."]);
        assert_eq!((restricted, learned), (vec![], None));
    }

    #[test]
    fn restricted_tools_and_the_tools_of_servers_keep_their_places() {
        let text = format!(
            "executor = {{ kind = 'tools', tools = {{ names = ['hello', 'look', 'goodbye'], mcp = ['files'] }} }}\n{LOOK}\
             [access.schemes.tls]\nkind = 'mutual_tls'\n\
             [[skills]]\nid = 'hello'\npermissions = ['speak']\n[[skills]]\nid = 'read'\ndescription = 'Reads.'"
        );
        let (public, restricted, learned) = skills(&text);
        assert_eq!(public, ["look: Looks.", "goodbye: Says goodbye.", "read: Reads."]);
        assert_eq!(restricted, ["0 hello: Says hello."]);
        let LearnedSkills { parts, own } = learned.unwrap();
        let [LearnedPart { source: LearnedSource::Mcp { .. }, position }] = parts.as_slice() else {
            panic!("{parts:?}")
        };
        assert_eq!(*position, 3, "after the three tools that the file names");
        let ids: Vec<&Value> = own.iter().map(|own| &own.skill["id"]).collect();
        assert_eq!(ids, ["read"]);
    }
}
