//! What is derived from the table of any kind: its problems, what it needs, and what it names, by keys of the whole file.

use super::{Executor, ToolOffer};
#[cfg(any(test, feature = "build"))]
use crate::McpChoice;
use crate::skills::has_skills;
use crate::tool::Tool;
use crate::{AgentDefinition, Expandable, Misfit, Problem, Recovery, Table};

impl Executor {
    /// The name of the kind, as the file says it.
    pub fn kind(&self) -> &str {
        self.as_kind().name()
    }

    /// The table as the constructor of the kind gets it.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause.
    pub fn table(&self) -> Result<Table, Misfit> {
        self.as_kind().table()
    }

    /// What is wrong with an agent of this kind, each with its key and the fix.
    pub(crate) fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
        let kind = self.as_kind();
        let mut problems = Vec::new();
        if !has_skills(agent) && !self.has_tool_skills() {
            let (name, hint) = (kind.name(), kind.skills_hint());
            let fix = format!("an agent of kind {name:?} needs at least one `[[skills]]`{hint}");
            problems.push(Problem::at("skills", fix));
        }
        let recovery = agent.executor.run.recovery;
        if let Some(reason) = kind.resumes_because()
            && !matches!(recovery, None | Some(Recovery::Resume))
        {
            let fix = format!("must be \"resume\", or be left out: {reason}");
            problems.push(Problem::at("executor.run.recovery", fix));
        }
        let mut of_table = kind.problems(agent, tools);
        for (key, text) in kind.filled_in() {
            of_table.extend(Expandable::parse(text).err().map(|fix| Problem::at(key, fix)));
        }
        if let Some(offer) = kind.offer() {
            of_table.extend(offer.problems(agent, tools));
        }
        problems.extend(of_table.into_iter().map(|problem| problem.under(&self.key(""))));
        problems
    }

    /// The secrets and variables of the deployment that an agent of this kind needs, as far as its file and its tools
    /// name them: each with who needs it.
    pub(crate) fn needs(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        let mut needs = Vec::new();
        for (_, text) in self.as_kind().filled_in() {
            let text = Expandable::parse(text);
            let names = text.iter().flat_map(Expandable::values);
            needs.extend(names.map(|name| (format!("executor {}", self.kind()), name.to_owned())));
        }
        needs.extend(self.offer().into_iter().flat_map(|offer| offer.needs(agent, tools)));
        needs
    }

    /// The tools that an agent of this kind calls; `None` if it calls none.
    pub(crate) fn offer(&self) -> Option<ToolOffer<'_>> {
        self.as_kind().offer()
    }

    /// Whether the tools of an agent of this kind are its skills.
    pub(crate) fn has_tool_skills(&self) -> bool {
        self.offer().is_some_and(|offer| offer.are_skills)
    }

    /// The remote agent whose skills an agent of this kind may show.
    pub(crate) fn front_of(&self) -> Option<&str> {
        self.as_kind().front_of()
    }

    /// The remote agents that an agent of this kind names, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn remotes(&self) -> Vec<(String, &str)> {
        let remotes = self.as_kind().remotes().into_iter();
        remotes.map(|(key, name)| (self.key(&key), name)).collect()
    }

    /// What an agent of this kind takes of MCP servers, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn mcp(&self) -> Vec<(String, McpChoice<'_>)> {
        let choices = self.offer().into_iter().flat_map(|offer| offer.mcp_choices());
        choices.map(|(key, choice)| (self.key(&key), choice)).collect()
    }

    /// Takes the files that the table names into it, relative to the file of its agent. Returns what cannot be read, each with its
    /// key.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn read_files(&mut self, agent_file: &str) -> Vec<Problem> {
        let problems = self.as_kind_mut().read_files(agent_file);
        problems.into_iter().map(|problem| problem.under(&self.key(""))).collect()
    }

    /// A key of the file: this one below the table.
    fn key(&self, key: &str) -> String {
        format!("executor.{}.{key}", self.kind())
    }
}
