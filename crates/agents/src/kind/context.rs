//! The properties of an agent on which the checks of its executor depend.

use crate::tool::Tool;
use crate::{HttpTool, HttpToolDefinition};

/// The properties of an agent on which the checks of its executor depend.
pub(crate) struct KindContext<'a> {
    /// True if the agent is served in development only.
    pub(crate) is_development: bool,
    /// True if callers need no credentials.
    pub(crate) is_anonymous: bool,
    /// True if the Worker may register further tools, whose names are checked at its start.
    pub(crate) may_register: bool,
    /// The tools that the agent may name.
    pub(crate) tools: KnownTools<'a>,
}

/// The tools that an agent may name and that its project describes in files.
pub(crate) struct KnownTools<'a> {
    /// The HTTP tools of the agent alone, as its file describes them.
    pub(crate) own: &'a [HttpToolDefinition],
    /// The valid tools among `own`.
    own_tools: Vec<HttpTool>,
    /// The tools that all agents may name.
    shared: &'a [&'a dyn Tool],
}

impl<'a> KnownTools<'a> {
    pub(crate) fn new(own: &'a [HttpToolDefinition], shared: &'a [&'a dyn Tool]) -> Self {
        let own_tools = own.iter().filter_map(|tool| HttpTool::new(tool).ok()).collect();
        Self { own, own_tools, shared }
    }

    /// The valid HTTP tools of the agent alone.
    pub(super) fn own(&self) -> impl Iterator<Item = &dyn Tool> {
        self.own_tools.iter().map(|tool| -> &dyn Tool { tool })
    }

    /// All of them: the shared tools, then those of the agent alone.
    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Tool> {
        self.shared.iter().copied().chain(self.own())
    }

    /// The tool with this name.
    pub(super) fn find(&self, name: &str) -> Option<&dyn Tool> {
        self.all().find(|tool| tool.name() == name)
    }

    /// True if a file describes a tool with this name, valid or not.
    pub(super) fn describes(&self, name: &str) -> bool {
        self.find(name).is_some() || self.own.iter().any(|own| own.name == name)
    }
}
