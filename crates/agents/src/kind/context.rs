//! The properties of an agent on which the checks of its executor depend.

use crate::tool::Tool;
use crate::{HttpTool, HttpToolDefinition};

/// The properties of an agent on which the checks of its executor depend.
pub(crate) struct KindContext<'a> {
    /// True if the agent is served in development only.
    pub(crate) is_development: bool,
    /// True if callers need no credentials.
    pub(crate) is_anonymous: bool,
    /// The HTTP tools of the agent alone, as its file describes them.
    pub(crate) own: &'a [HttpToolDefinition],
    /// The valid tools among `own`.
    own_tools: Vec<HttpTool>,
    /// The tools that all agents may name.
    shared: &'a [&'a dyn Tool],
}

impl<'a> KindContext<'a> {
    pub(crate) fn new(
        is_development: bool,
        is_anonymous: bool,
        own: &'a [HttpToolDefinition],
        shared: &'a [&'a dyn Tool],
    ) -> Self {
        let own_tools = own.iter().filter_map(|tool| HttpTool::new(tool).ok()).collect();
        Self { is_development, is_anonymous, own, own_tools, shared }
    }

    /// The valid HTTP tools of the agent alone.
    pub(super) fn own_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.own_tools.iter().map(|tool| -> &dyn Tool { tool })
    }

    /// The tools that the agent may name: those of the Worker, then its own.
    pub(super) fn tools(&self) -> Vec<&dyn Tool> {
        self.shared.iter().copied().chain(self.own_tools()).collect()
    }
}
