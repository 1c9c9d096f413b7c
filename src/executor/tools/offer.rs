//! The tools of an agent, and which of them a caller may use.

use std::rc::Rc;

use crate::auth::Caller;
use a2a_agents::RestrictedSkill;
use a2a_agents::tool::Tool;

/// The tools of an agent, in the order in which it offers them.
pub(in crate::executor) struct Offer {
    tools: Vec<(Rc<dyn Tool>, Option<RestrictedSkill>)>,
}

impl Offer {
    /// These tools; those whose skill is among the `restricted` ones need its permissions.
    pub(in crate::executor) fn new(
        tools: Vec<Rc<dyn Tool>>,
        restricted: &[RestrictedSkill],
    ) -> Self {
        let skill_of = |tool: Rc<dyn Tool>| {
            let skill = restricted.iter().find(|skill| skill.id() == tool.name()).cloned();
            (tool, skill)
        };
        Self { tools: tools.into_iter().map(skill_of).collect() }
    }

    /// Those that a caller may use. To it there are no others.
    pub(super) fn to(&self, caller: &Caller) -> Vec<Rc<dyn Tool>> {
        let is_for = |skill: &Option<RestrictedSkill>| {
            skill.as_ref().is_none_or(|skill| skill.is_for(|permission| caller.may(permission)))
        };
        let tools = self.tools.iter().filter(|(_, skill)| is_for(skill));
        tools.map(|(tool, _)| tool.clone()).collect()
    }
}
