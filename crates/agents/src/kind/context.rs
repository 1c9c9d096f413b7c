//! What the checks of a kind see of the agent around its table.

use crate::tool::Tool;
use crate::{HttpTool, HttpToolDefinition};

/// What the checks of a kind see of the agent around its table.
pub(crate) struct KindContext<'a> {
    /// Whether the agent is served in development only.
    pub(crate) is_development: bool,
    /// Whether its callers need no credentials.
    pub(crate) is_anonymous: bool,
    /// The HTTP tools of its own, as its file describes them.
    pub(crate) own: &'a [HttpToolDefinition],
    /// Those of them that hold together.
    own_tools: Vec<HttpTool>,
    /// The tools that every agent may name.
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

    /// Its own tools that hold together.
    pub(super) fn own_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.own_tools.iter().map(|tool| -> &dyn Tool { tool })
    }

    /// The tools that it may name: those of the Worker, then its own.
    pub(super) fn tools(&self) -> Vec<&dyn Tool> {
        self.shared.iter().copied().chain(self.own_tools()).collect()
    }
}
