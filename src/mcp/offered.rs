//! The tools of MCP servers that an agent offers, and their names.

use a2a::client::humanize;
use a2a::model::AgentSkill;
use a2a_agents::McpChoice;
use mcp::model::Tool;

/// A server with its known tools.
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The tools of the server.
    pub tools: &'a [Tool],
}

/// A tool of a server that an agent offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a Tool,
    /// True if another tool of the agent has the same name.
    pub is_ambiguous: bool,
}

/// The tools of these servers that an agent with these choices offers: each tool once, in the order of the choices.
/// `taken` are the names of the agent's other tools, which belong to no server.
pub fn offered<'a>(choices: &[String], lists: &[Listed<'a>], taken: &[&str]) -> Vec<Offered<'a>> {
    let mut offered: Vec<Offered<'a>> = Vec::new();
    for written in choices {
        let choice = McpChoice::of(written);
        for Listed { server, tools } in lists.iter().filter(|list| list.server == choice.server) {
            for tool in tools.iter().filter(|tool| choice.takes(&tool.name)) {
                let is_same =
                    |known: &&Offered<'_>| known.server == *server && known.tool.name == tool.name;
                if !offered.iter().any(|known| is_same(&known)) {
                    offered.push(Offered { server, tool, is_ambiguous: false });
                }
            }
        }
    }
    let names: Vec<&str> = offered.iter().map(|one| one.tool.name.as_str()).collect();
    for one in &mut offered {
        let name = one.tool.name.as_str();
        let count = names.iter().filter(|known| **known == name).count();
        one.is_ambiguous = count > 1 || taken.contains(&name);
    }
    offered
}

impl Offered<'_> {
    /// The id of the tool's skill, which is also its name in calls: the name of the tool, or `server.name` if another
    /// tool of the agent has the same name.
    pub fn id(&self) -> String {
        if self.is_ambiguous { self.full_name() } else { self.tool.name.clone() }
    }

    /// `server.name`, a name that is never ambiguous.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.server, self.tool.name)
    }

    /// The skill of the tool: with a name for people, and the server as its tag.
    pub fn skill(&self) -> AgentSkill {
        let name = self.tool.shown_name().map_or_else(|| humanize(&self.tool.name), str::to_owned);
        let description = self.tool.description.as_deref();
        // A longer description is cut, because a skill with it would not be shown at all.
        let description =
            description.map(|text| text.chars().take(MAX_DESCRIPTION_CHARS).collect());
        AgentSkill {
            id: self.id(),
            description: description.unwrap_or_else(|| name.clone()),
            name,
            tags: vec![self.server.to_owned()],
            examples: Vec::new(),
            input_modes: Vec::new(),
            output_modes: Vec::new(),
        }
    }
}

/// The servers in these choices, each once.
pub fn servers_of(choices: &[String]) -> Vec<&str> {
    let mut servers = Vec::new();
    for written in choices {
        let McpChoice { server, .. } = McpChoice::of(written);
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    servers
}

/// The largest length of a skill's description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools(names: &[&str]) -> Vec<Tool> {
        names.iter().map(|name| Tool::read(&json!({"name": name})).unwrap()).collect()
    }

    fn ids(choices: &[&str], taken: &[&str]) -> Vec<String> {
        let (files, github) =
            (tools(&["read", "write", "search"]), tools(&["search", "create_issue"]));
        let lists = [
            Listed { server: "files", tools: &files },
            Listed { server: "github", tools: &github },
        ];
        let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
        offered(&choices, &lists, taken).iter().map(Offered::id).collect()
    }

    #[test]
    fn tools_are_offered_in_the_order_of_the_choices_and_each_once() {
        assert_eq!(ids(&["files"], &[]), ["read", "write", "search"]);
        assert_eq!(ids(&["files:w*", "files"], &[]), ["write", "read", "search"]);
        assert_eq!(ids(&["github:create_*", "files:read"], &[]), ["create_issue", "read"]);
        assert_eq!(ids(&["unknown", "files:none"], &[]), Vec::<String>::new());
    }

    #[test]
    fn tools_of_one_name_are_told_apart_by_their_servers() {
        assert_eq!(
            ids(&["files", "github"], &[]),
            ["read", "write", "files.search", "github.search", "create_issue"]
        );
        assert_eq!(
            ids(&["files", "github:create_*"], &[]),
            ["read", "write", "search", "create_issue"]
        );
        assert_eq!(ids(&["files"], &["read"]), ["files.read", "write", "search"]);
    }

    #[test]
    fn a_skill_has_a_name_for_people_and_its_server_as_its_tag() {
        let tool = |json| Tool::read(&json).unwrap();
        for (tool, name, description) in [
            (tool(json!({"name": "read_file"})), "Read file", "Read file"),
            (tool(json!({"name": "r", "title": "Reads", "description": "d"})), "Reads", "d"),
            (tool(json!({"name": "r", "annotations": {"title": "Reader"}})), "Reader", "Reader"),
        ] {
            let skill = Offered { server: "files", tool: &tool, is_ambiguous: true }.skill();
            assert_eq!((skill.name.as_str(), skill.description.as_str()), (name, description));
            assert_eq!(
                (skill.id, skill.tags),
                (format!("files.{}", tool.name), vec!["files".to_owned()])
            );
        }
    }
}
