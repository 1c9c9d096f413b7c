//! Reads `remotes.toml`, and checks it.

#[cfg(test)]
mod mcp_tests;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::definition::AgentDefinition;
use super::source::read;
use crate::{Expandable, McpChoice, McpServer, Need, Problem, Remote, Slug, Table, no_such};
use a2a::sorted::sort_by;

/// The contents of `remotes.toml`, sorted by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::checker) struct Named {
    pub(in crate::checker) remotes: Vec<Remote>,
    pub(in crate::checker) mcp: Vec<McpServer>,
}

/// Parses the text of `remotes.toml`.
///
/// # Errors
///
/// The first invalid value of the file, with its line and its key.
pub(in crate::checker) fn parse_named(file: &str, text: &str) -> Result<Named, Problem> {
    let at = |key: &str, fix: &str| Problem::at(key, fix).in_file(file);
    let parsed: Map<String, Value> = read(file, text)?;
    let mut named = Named::default();
    for (kind, tables) in parsed {
        let Value::Object(tables) = tables else { return Err(at(&kind, NO_TABLE)) };
        if kind != REMOTE && kind != MCP {
            return Err(at(&kind, NO_TABLE));
        }
        for (name, table) in tables {
            let key = format!("{kind}.{name}");
            let Value::Object(_) = &table else { return Err(at(&key, "must be a table")) };
            let by = format!("{kind} {name}");
            let needs = names_in(&table).into_iter().map(|need| (by.clone(), vec![need])).collect();
            let needs = Need::collect(needs);
            let table = Table::of(&table).map_err(|misfit| at(&key, &misfit.0))?;
            if kind == MCP {
                named.mcp.push(McpServer { name, table, needs });
            } else {
                named.remotes.push(Remote { name, table, needs });
            }
        }
    }
    sort_by(&mut named.remotes, |a, b| a.name.cmp(&b.name));
    sort_by(&mut named.mcp, |a, b| a.name.cmp(&b.name));
    Ok(named)
}

/// All problems of the file, and of names in agent files that refer to remotes or MCP servers.
pub(in crate::checker) fn check_named(
    file: &str,
    named: &Named,
    agents: &[AgentDefinition],
) -> Vec<Problem> {
    let mut problems = check_remotes(file, &named.remotes, agents);
    problems.extend(check_servers(file, &named.mcp, agents));
    problems
}

/// The problems of MCP servers. A server may have the same name as a remote or as an agent, because no key accepts names of both.
fn check_servers(file: &str, servers: &[McpServer], agents: &[AgentDefinition]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for server in servers {
        let mut found = server.problems();
        if let Err(rule) = Slug::parse(&server.name) {
            found.push(Problem::at("", format!("the name of an MCP server {rule}")));
        }
        let table = format!("{MCP}.{}.", server.name);
        problems.extend(found.into_iter().map(|problem| problem.under(&table).in_file(file)));
    }
    let known: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    for agent in agents {
        for (key, choice) in agent.executor.mcp() {
            let McpChoice { server, .. } = choice;
            if !known.contains(&server) {
                let no_such = no_such("MCP server", server, known.iter().copied());
                let fix = format!("{no_such}; they stand in {file} as [mcp.<name>]");
                problems.push(Problem::at(key, fix).in_file(&agent.file));
            }
        }
    }
    problems
}

/// All problems of the remotes of the file, and of the names in agent files that refer to remotes.
fn check_remotes(file: &str, remotes: &[Remote], agents: &[AgentDefinition]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let slugs = || agents.iter().map(|agent| agent.slug.as_str());
    for remote in remotes {
        let mut found = remote.problems();
        if let Err(rule) = Slug::parse(&remote.name) {
            found.push(Problem::at("", format!("the name of a remote {rule}")));
        }
        let agent = remote.table.members().and_then(|table| table.get("agent"));
        let agent = agent.and_then(Value::as_str).filter(|agent| !agent.contains("${"));
        match agent {
            Some(agent) if !slugs().any(|slug| slug == agent) => {
                found.push(Problem::at("agent", no_such("agent", agent, slugs())));
            }
            _ if slugs().any(|slug| slug == remote.name) && agent != Some(&remote.name) => {
                let fix = format!(
                    "is the name of an agent of this Worker, too, which can be called by it; choose another name, or \
                     write agent = {:?} instead of a `url`",
                    remote.name
                );
                found.push(Problem::at("", fix));
            }
            _ => {}
        }
        let table = format!("{REMOTE}.{}.", remote.name);
        problems.extend(found.into_iter().map(|problem| problem.under(&table).in_file(file)));
    }
    let known: Vec<&str> =
        remotes.iter().map(|remote| remote.name.as_str()).chain(slugs()).collect();
    for agent in agents {
        let named = agent.executor.remotes();
        for (key, name) in named.iter().filter(|(_, name)| leads_to(name, remotes) == agent.slug) {
            let fix = format!(
                "names {name:?}, which is this agent itself: it would ask itself again and again; name other agents"
            );
            problems.push(Problem::at(key, fix).in_file(&agent.file));
        }
        problems.extend(unknown_remotes(file, &known, &agent.file, named));
    }
    problems
}

/// The slug of the agent of this Worker to which a name in an agent file refers: the `agent` of the remote with this name, or
/// without such a remote the name itself. Empty for a remote on another server.
fn leads_to<'a>(name: &'a str, remotes: &'a [Remote]) -> &'a str {
    let remote = remotes.iter().find(|remote| remote.name == name);
    let table = remote.and_then(|remote| remote.table.members());
    match table {
        Some(table) => table.get("agent").and_then(Value::as_str).unwrap_or_default(),
        None => name,
    }
}

/// The problems of names in an agent file that are neither the name of a remote nor the slug of an agent.
fn unknown_remotes(
    file: &str,
    known: &[&str],
    agent_file: &str,
    named: Vec<(String, &str)>,
) -> Vec<Problem> {
    let unknown = named.into_iter().filter(|(_, name)| !known.contains(name));
    let problem = |(key, name): (String, &str)| {
        let fix =
            format!("{}; remotes stand in {file}", no_such("remote", name, known.iter().copied()));
        Problem::at(key, fix).in_file(agent_file)
    };
    unknown.map(problem).collect()
}

/// The names of secrets and variables in a value. Invalid texts are skipped.
fn names_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let read = Expandable::parse(text);
            read.iter().flat_map(Expandable::values).map(str::to_owned).collect()
        }
        Value::Array(values) => values.iter().flat_map(names_in).collect(),
        Value::Object(members) => members.values().flat_map(names_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

const REMOTE: &str = "remote";
const MCP: &str = "mcp";

const NO_TABLE: &str = "is no table [remote.<name>] or [mcp.<name>]";
