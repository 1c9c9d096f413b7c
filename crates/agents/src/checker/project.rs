//! Checks the files of a project, and makes the checked form that the Worker reads.

use std::collections::BTreeMap;

use a2a::model::UnixMillis;
use a2a::sorted::sort_by;

use super::check::{check_all, check_shared_tools};
use super::definition::AgentDefinition;
use super::remotes::{Named, check_named, parse_named};
use super::skill::{FileSkill, SkillsSource};
use super::source::located;
use super::{file, skill_file};
use crate::files::{Files, Unreadable, join};
use crate::tool::Tool;
use crate::{Checked, CheckedAgent, ExecutorKind, ExecutorPlace, HttpTool, Problem, no_such};

/// What a check depends on in addition to the files.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// True if the project has code that may register tools and kinds of executors: names that the files do not explain are
    /// then checked when the Worker starts. Otherwise they are problems.
    pub may_register: bool,
    /// The instant of the check: the date of all cards.
    pub now: UnixMillis,
}

/// Checks the files of a project: the agents in `agents/`, and, if they exist, the HTTP tools that agents share in `tools/`
/// and the remote agents and MCP servers in `remotes.toml`. Agents may name folders of skills and files with prompts, which
/// are read, too.
///
/// # Errors
///
/// All problems of the files, each with its file, line and key as far as they are known.
pub fn check(files: &dyn Files, terms: Terms) -> Result<Checked, Vec<Problem>> {
    let mut texts = Vec::new();
    let agents = read_folder(files, AGENTS, &mut texts, file::parse);
    let agents = agents.unwrap_or_else(|reason| {
        let fix = format!("{reason}; an agent is a file in it, as agents/hello.toml");
        Err(vec![Problem::of_file(format!("{AGENTS}/"), fix)])
    });
    let shared = match read_folder(files, TOOLS, &mut texts, file::parse_tool) {
        Ok(read) => read,
        Err(Unreadable::Missing) => Ok(Vec::new()),
        Err(reason) => Err(vec![Problem::of_file(format!("{TOOLS}/"), reason.to_string())]),
    };
    let named = match read_file(files, REMOTES, &mut texts, parse_named) {
        Ok(read) => read,
        Err(Unreadable::Missing) => Ok(Named::default()),
        Err(reason) => Err(vec![Problem::of_file(REMOTES, reason.to_string())]),
    };
    let (mut agents, shared, named) = match (agents, shared, named) {
        (Ok(agents), Ok(shared), Ok(named)) => (agents, shared, named),
        (agents, shared, named) => {
            let problems = [agents.err(), shared.err(), named.err()];
            return Err(problems.into_iter().flatten().flatten().collect());
        }
    };
    for agent in &mut agents {
        agent.may_register = terms.may_register;
    }
    let mut problems = read_skills(files, &mut agents);
    problems.extend(read_table_files(files, &mut agents));
    if !terms.may_register {
        problems.extend(agents.iter().filter_map(unknown_kind));
    }
    problems.extend(check_shared_tools(&shared));
    let made: Vec<HttpTool> = shared.iter().filter_map(|tool| HttpTool::new(tool).ok()).collect();
    let tools: Vec<&dyn Tool> = made.iter().map(|tool| -> &dyn Tool { tool }).collect();
    problems.extend(check_all(AGENTS, &agents, &tools));
    problems.extend(check_named(REMOTES, &named, &agents));
    if !problems.is_empty() {
        return Err(problems.into_iter().map(|problem| located(problem, &texts)).collect());
    }
    let checked = agents.into_iter().map(|definition| {
        let file = definition.file.clone();
        let place = place_of(&definition, &tools, &texts);
        let mut agent = CheckedAgent::new(definition, &tools, &shared)
            .map_err(|misfit| vec![Problem::of_file(file, misfit.to_string())])?;
        agent.executor.place = place;
        Ok(agent)
    });
    let checked = Checked::new(terms.now, checked.collect::<Result<_, Vec<Problem>>>()?);
    Ok(checked.with_remotes(named.remotes).with_mcp(named.mcp))
}

/// The lines of the agent file that configure an executor whose parts the Worker registers: a kind, or tools. `None` if
/// everything in the file is known.
fn place_of(
    agent: &AgentDefinition,
    tools: &[&dyn Tool],
    texts: &[(String, String)],
) -> Option<ExecutorPlace> {
    let kind = agent.executor.kind.as_str();
    let names_registered = || {
        let offer = agent.executor.offer();
        offer.is_some_and(|offer| offer.registered(&agent.context(tools)).next().is_some())
    };
    if ExecutorKind::named(kind).is_some() && !names_registered() {
        return None;
    }
    let (file, text) = texts.iter().find(|(file, _)| *file == agent.file)?;
    let lines = file::executor_lines(text, kind);
    Some(ExecutorPlace { file: file.clone(), lines })
}

/// The problem of an agent whose kind nobody registers.
fn unknown_kind(agent: &AgentDefinition) -> Option<Problem> {
    let kind = agent.executor.kind.as_str();
    if ExecutorKind::named(kind).is_some() {
        return None;
    }
    let fix = format!(
        "{}; this project has no code that registers kinds of its own",
        no_such("kind of executor", kind, ExecutorKind::names())
    );
    Some(Problem::at("executor.kind", fix).in_file(&agent.file))
}

/// Reads the folders in `skills_from`, each once. Returns their problems.
fn read_skills(files: &dyn Files, agents: &mut [AgentDefinition]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: BTreeMap<String, Vec<FileSkill>> = BTreeMap::new();
    for agent in agents {
        for source in agent.skills_from.iter().flatten() {
            let SkillsSource::Folder(folder) = source else { continue };
            if !known.contains_key(folder) {
                let found = skill_file::read_folder(files, folder);
                known.insert(
                    folder.clone(),
                    found.unwrap_or_else(|found| {
                        problems.extend(found);
                        Vec::new()
                    }),
                );
            }
            agent.file_skills.extend(known.get(folder).into_iter().flatten().cloned());
        }
    }
    problems
}

/// Replaces the names of files in the tables of executors by the contents of the files. Returns the problems.
fn read_table_files(files: &dyn Files, agents: &mut [AgentDefinition]) -> Vec<Problem> {
    let read = |AgentDefinition { file, executor, .. }: &mut AgentDefinition| {
        let problems = executor.read_files(files, file).into_iter();
        problems.map(|problem| problem.in_file(file)).collect::<Vec<_>>()
    };
    agents.iter_mut().flat_map(read).collect()
}

/// Reads and parses a file. Its text is added to `texts`.
fn read_file<T>(
    files: &dyn Files,
    path: &str,
    texts: &mut Vec<(String, String)>,
    parse: impl Fn(&str, &str) -> Result<T, Problem>,
) -> Result<Result<T, Vec<Problem>>, Unreadable> {
    let text = files.read(path)?;
    let read = parse(path, &text);
    texts.push((path.to_owned(), text));
    Ok(read.map_err(|problem| vec![located(problem, texts)]))
}

/// Reads and parses the TOML files of a folder, sorted by name. Their texts are added to `texts`.
fn read_folder<T>(
    files: &dyn Files,
    folder: &str,
    texts: &mut Vec<(String, String)>,
    parse: impl Fn(&str, &str, &str) -> Result<T, Problem>,
) -> Result<Result<Vec<T>, Vec<Problem>>, Unreadable> {
    let mut names: Vec<String> = files.list(folder)?.into_iter().map(|entry| entry.name).collect();
    sort_by(&mut names, Ord::cmp);
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for name in &names {
        let Some(stem) = name.strip_suffix(".toml").filter(|stem| !stem.is_empty()) else {
            continue;
        };
        let parse = |file: &str, text: &str| parse(file, stem, text);
        let path = join(folder, name);
        match read_file(files, &path, texts, parse) {
            Ok(Ok(found)) => read.push(found),
            Ok(Err(found)) => problems.extend(found),
            Err(reason) => problems.push(Problem::of_file(path, reason.to_string())),
        }
    }
    Ok(if problems.is_empty() { Ok(read) } else { Err(problems) })
}

const AGENTS: &str = "agents";
const TOOLS: &str = "tools";
const REMOTES: &str = "remotes.toml";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Given;

    const ABOUT: &str =
        "name = 'A'\ndescription = 'B'\nversion = '1'\ndefault = true\n[[skills]]\nid = 's'\n";

    /// The lines of the problems of files; empty if there are none.
    fn told(files: &[(&'static str, &str)], may_register: bool) -> Vec<String> {
        let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        let terms = Terms { may_register, now: UnixMillis(0) };
        let problems = check(&Given(files), terms).err().unwrap_or_default();
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn kinds_that_nobody_registers_are_problems_of_a_project_without_code() {
        let text = format!("{ABOUT}[executor]\nkind = 'seats'\n");
        assert_eq!(told(&[("agents/a.toml", &text)], true), Vec::<String>::new());
        assert_eq!(
            told(&[("agents/a.toml", &text)], false),
            [
                "agents/a.toml:8: `executor.kind` there is no kind of executor \"seats\"; there are: tools, script, remote, http, \
                 model; this project has no code that registers kinds of its own"
            ]
        );
    }

    #[test]
    fn a_project_needs_a_folder_of_agents_and_no_other_file() {
        assert_eq!(
            told(&[], false),
            ["agents/: does not exist; an agent is a file in it, as agents/hello.toml"]
        );
        let script = format!(
            "{ABOUT}[executor]\nkind = 'script'\n[[executor.script.rules]]\nthen = [{{ do = 'complete' }}]"
        );
        assert_eq!(
            told(&[("agents/a.toml", &script), ("agents/notes.md", "")], false),
            Vec::<String>::new()
        );
        let remotes = told(&[("agents/a.toml", &script), ("remotes.toml", "remote = 1")], false);
        assert!(remotes[0].starts_with("remotes.toml:1: `remote` is no table"), "{remotes:?}");
    }
}
