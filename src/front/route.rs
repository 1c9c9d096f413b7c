//! Maps paths to routes.

use a2a::dialect::{self, CardName};

/// The route that a path names. Agents are named by slug; `None` is the default agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// The JSON-RPC endpoint of an agent.
    JsonRpc(Option<&'a str>),
    /// The JSON-RPC endpoint of an agent that serves only streams of A2A 0.1.
    Subscribe(Option<&'a str>),
    /// The HTTP+JSON binding of an agent, and the path below the agent's URL.
    Rest(Option<&'a str>, &'a str),
    /// A callback of an agent, and the part of the path after `callbacks/`.
    Callback(&'a str, &'a str),
    /// The overview of an agent, for operators.
    Overview(&'a str),
    /// The usage of an agent: for a caller its own, for operators that of all callers.
    Usage(&'a str),
    /// The copy of the rows of an agent in the index, for operators.
    IndexCopy(&'a str),
    /// The deletion of what the index has of an owner with an agent, for operators.
    OwnerForget(&'a str),
    /// The metrics of all agents, for operators.
    Metrics,
    /// The MCP server of all agents (`None`), or of one agent.
    Mcp(Option<&'a str>),
    /// The metadata with the issuers of tokens for this MCP server.
    ProtectedResource(Option<&'a str>),
    /// The card of an agent, and the file name by which it was requested.
    Card(Option<&'a str>, CardName),
    /// The keys that verify the JWTs of notifications.
    KeySet,
    /// The agents that are served, in development only: `/_dev/agents`.
    Agents,
    /// The tasks under way, which are opened after a reload, in development only: `/_dev/resume`.
    Resume,
    /// The scripts of all scripted agents.
    Scripts,
    /// The script of a scripted agent.
    Script(&'a str),
    /// The console, and the part of the path after `console/`. The platform serves the pages of the console as files;
    /// this route serves their data.
    Console(&'a str),
}

impl<'a> Route<'a> {
    /// The slug of the agent that the path names; `None` for the default agent and for paths of no agent.
    pub(crate) fn agent(&self) -> Option<&'a str> {
        match self {
            Self::JsonRpc(slug) | Self::Subscribe(slug) | Self::Rest(slug, _) => *slug,
            Self::Mcp(slug) | Self::ProtectedResource(slug) | Self::Card(slug, _) => *slug,
            Self::Callback(slug, _) | Self::Overview(slug) | Self::IndexCopy(slug) => Some(slug),
            Self::Usage(slug) | Self::OwnerForget(slug) | Self::Script(slug) => Some(slug),
            Self::KeySet | Self::Agents | Self::Resume | Self::Scripts => None,
            Self::Metrics | Self::Console(_) => None,
        }
    }
}

impl Route<'_> {
    /// True if an agent answers, which may be the default agent.
    pub(crate) fn is_of_agent(&self) -> bool {
        let of_none = matches!(
            self,
            Self::KeySet
                | Self::Agents
                | Self::Resume
                | Self::Scripts
                | Self::Metrics
                | Self::Console(_)
                | Self::Mcp(None)
                | Self::ProtectedResource(None)
        );
        !of_none
    }

    /// The form of paths with this route, without what clients choose.
    pub(crate) fn pattern(&self) -> &'static str {
        match self {
            Self::JsonRpc(None) => "/",
            Self::JsonRpc(Some(_)) => "/{agent}",
            Self::Subscribe(_) => "/{agent}/subscribe",
            Self::Rest(_, _) => "/{agent}/*",
            Self::Callback(_, _) => "/{agent}/callbacks/{callback}",
            Self::Overview(_) => "/{agent}/overview",
            Self::Usage(_) => "/{agent}/usage",
            Self::IndexCopy(_) => "/{agent}/index:copy",
            Self::OwnerForget(_) => "/{agent}/owner:forget",
            Self::Metrics => "/metrics",
            Self::Mcp(None) => "/mcp",
            Self::Mcp(Some(_)) => "/{agent}/mcp",
            Self::ProtectedResource(_) | Self::KeySet => "/.well-known/*",
            Self::Card(_, _) => "/{agent}/.well-known/{card}",
            Self::Agents | Self::Resume | Self::Scripts | Self::Script(_) => "/_dev/*",
            Self::Console(_) => "/console/*",
        }
    }
}

/// Reads a path. This function does not check that the agent and the path below the agent exist.
pub(crate) fn route(path: &str) -> Route<'_> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = trimmed.split('/').collect();
    if let Some((agent, name)) = card(&segments) {
        return Route::Card(agent, name);
    }
    match segments.as_slice() {
        [] | [""] | [ENDPOINT] | ["", ENDPOINT] => Route::JsonRpc(None),
        [SUBSCRIBE] | ["", SUBSCRIBE] => Route::Subscribe(None),
        [METRICS] => Route::Metrics,
        [MCP] | ["", MCP] => Route::Mcp(None),
        [".well-known", PROTECTED_RESOURCE, MCP] => Route::ProtectedResource(None),
        [".well-known", PROTECTED_RESOURCE, agent, MCP] => Route::ProtectedResource(Some(agent)),
        [".well-known", "jwks.json"] => Route::KeySet,
        ["_dev", "agents"] => Route::Agents,
        ["_dev", "resume"] => Route::Resume,
        ["_dev", "script"] => Route::Scripts,
        ["_dev", "script", agent] => Route::Script(agent),
        [CONSOLE, ..] => Route::Console(trimmed.split_once('/').map_or("", |(_, below)| below)),
        [first, ..] if dialect::begins_path(first) => Route::Rest(None, path),
        [agent, "callbacks", token] if !agent.is_empty() => Route::Callback(agent, token),
        [agent, "overview"] if !agent.is_empty() => Route::Overview(agent),
        [agent, "usage"] if !agent.is_empty() => Route::Usage(agent),
        [agent, "index:copy"] if !agent.is_empty() => Route::IndexCopy(agent),
        [agent, "owner:forget"] if !agent.is_empty() => Route::OwnerForget(agent),
        [agent] | [agent, ENDPOINT] => Route::JsonRpc(Some(agent)),
        [agent, MCP] => Route::Mcp(Some(agent)),
        [agent, SUBSCRIBE] => Route::Subscribe(Some(agent)),
        [agent, ..] => match path.split_once('/') {
            // A client that joins `/` and `/tasks` wants the default agent.
            Some(("", below)) => Route::Rest(None, below),
            Some((_, below)) => Route::Rest(Some(agent), below),
            None => Route::JsonRpc(Some(agent)),
        },
    }
}

/// The agent and the kind of the card that these segments name.
fn card<'a>(segments: &[&'a str]) -> Option<(Option<&'a str>, CardName)> {
    match segments {
        [".well-known", file] => Some((None, CardName::parse(file)?)),
        [agent, ".well-known", file] => Some((Some(agent), CardName::parse(file)?)),
        _ => None,
    }
}

/// The paths at which clients of A2A 0.1 expect the JSON-RPC endpoint of an agent, and its streams. No agent may have
/// these names.
const ENDPOINT: &str = "a2a";
const SUBSCRIBE: &str = "subscribe";

/// The path of an MCP server, which has agents as tools.
const MCP: &str = "mcp";

/// The path of the metrics. No agent may have this name.
const METRICS: &str = "metrics";

/// The path of the console. No agent may have this name.
const CONSOLE: &str = "console";

/// The part of a metadata URL before the path of the server (RFC 9728 §3.1).
const PROTECTED_RESOURCE: &str = "oauth-protected-resource";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_agents_and_cards() {
        for (path, expected) in [
            ("/", Route::JsonRpc(None)),
            ("", Route::JsonRpc(None)),
            ("/demo", Route::JsonRpc(Some("demo"))),
            ("/demo/", Route::JsonRpc(Some("demo"))),
            ("/a2a", Route::JsonRpc(None)),
            ("/a2a/", Route::JsonRpc(None)),
            ("/demo/a2a", Route::JsonRpc(Some("demo"))),
            ("/subscribe", Route::Subscribe(None)),
            ("/demo/subscribe/", Route::Subscribe(Some("demo"))),
            ("/a2a/tasks/send", Route::Rest(None, "a2a/tasks/send")),
            ("/demo/a2a/tasks/t", Route::Rest(Some("demo"), "a2a/tasks/t")),
            ("/tasks/a2a", Route::Rest(None, "tasks/a2a")),
            ("/tasks/subscribe", Route::Rest(None, "tasks/subscribe")),
            ("//a2a", Route::JsonRpc(None)),
            ("//subscribe", Route::Subscribe(None)),
            ("//a2a/tasks/send", Route::Rest(None, "a2a/tasks/send")),
            ("/.well-known/agent-card.json", Route::Card(None, CardName::AgentCard)),
            ("/.well-known/agent.json", Route::Card(None, CardName::Agent)),
            ("/demo/.well-known/agent-card.json", Route::Card(Some("demo"), CardName::AgentCard)),
            ("/demo/.well-known/agent.json/", Route::Card(Some("demo"), CardName::Agent)),
            ("/.well-known/jwks.json", Route::KeySet),
            ("/demo/.well-known/jwks.json", Route::Rest(Some("demo"), ".well-known/jwks.json")),
            ("/_dev/script/demo", Route::Script("demo")),
            ("/_dev/script", Route::Scripts),
            ("/_dev/agents", Route::Agents),
            ("/_dev/resume", Route::Resume),
            ("/console", Route::Console("")),
            ("/console/", Route::Console("")),
            ("/console/index.html", Route::Console("index.html")),
            ("/console/api/agents", Route::Console("api/agents")),
            ("/console/api/agents/", Route::Console("api/agents")),
            ("/tasks/console", Route::Rest(None, "tasks/console")),
            ("/demo/console", Route::Rest(Some("demo"), "console")),
            ("/.well-known/other.json", Route::Rest(Some(".well-known"), "other.json")),
            ("//", Route::JsonRpc(None)),
            ("/demo//", Route::Rest(Some("demo"), "/")),
            ("/mcp", Route::Mcp(None)),
            ("/mcp/", Route::Mcp(None)),
            ("//mcp", Route::Mcp(None)),
            ("/demo/mcp", Route::Mcp(Some("demo"))),
            ("/tasks/mcp", Route::Rest(None, "tasks/mcp")),
            ("/demo/tasks/mcp", Route::Rest(Some("demo"), "tasks/mcp")),
            ("/mcp/mcp", Route::Mcp(Some("mcp"))),
            ("/.well-known/oauth-protected-resource/mcp", Route::ProtectedResource(None)),
            (
                "/.well-known/oauth-protected-resource/demo/mcp",
                Route::ProtectedResource(Some("demo")),
            ),
            ("/demo/callbacks/ab12", Route::Callback("demo", "ab12")),
            ("/demo/callbacks/ab12/", Route::Callback("demo", "ab12")),
            ("/demo/callbacks", Route::Rest(Some("demo"), "callbacks")),
            ("/demo/callbacks/a/b", Route::Rest(Some("demo"), "callbacks/a/b")),
            ("/tasks/callbacks/a", Route::Rest(None, "tasks/callbacks/a")),
            ("//callbacks/a", Route::Rest(None, "callbacks/a")),
            ("/demo/overview", Route::Overview("demo")),
            ("/demo/overview/", Route::Overview("demo")),
            ("/demo/usage", Route::Usage("demo")),
            ("/demo/usage/", Route::Usage("demo")),
            ("/usage", Route::JsonRpc(Some("usage"))),
            ("//usage", Route::Rest(None, "usage")),
            ("/tasks/usage", Route::Rest(None, "tasks/usage")),
            ("/demo/usage/x", Route::Rest(Some("demo"), "usage/x")),
            ("/demo/index:copy", Route::IndexCopy("demo")),
            ("/demo/owner:forget", Route::OwnerForget("demo")),
            ("//owner:forget", Route::Rest(None, "owner:forget")),
            ("/overview", Route::JsonRpc(Some("overview"))),
            ("//overview", Route::Rest(None, "overview")),
            ("/tasks/overview", Route::Rest(None, "tasks/overview")),
            ("/demo/overview/x", Route::Rest(Some("demo"), "overview/x")),
            ("/demo/x/y", Route::Rest(Some("demo"), "x/y")),
            ("/tasks", Route::Rest(None, "tasks")),
            ("/tasks/", Route::Rest(None, "tasks/")),
            ("/tasks/a%2Fb:cancel", Route::Rest(None, "tasks/a%2Fb:cancel")),
            ("/message:send", Route::Rest(None, "message:send")),
            ("//message:send", Route::Rest(None, "message:send")),
            ("/extendedAgentCard", Route::Rest(None, "extendedAgentCard")),
            ("/v1/message:send", Route::Rest(None, "v1/message:send")),
            ("/demo/message:send", Route::Rest(Some("demo"), "message:send")),
            ("/demo/tasks/demo", Route::Rest(Some("demo"), "tasks/demo")),
            ("/demo/demo/tasks", Route::Rest(Some("demo"), "demo/tasks")),
        ] {
            assert_eq!(route(path), expected, "{path}");
        }
    }
}
