//! For build scripts: reads the agent files of a folder, checks them and embeds them, with the cards that are derived
//! from them.
//!
//! An invalid file is a build error that contains the file, the key and the fix.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;
use std::{env, fs, io};

use a2a::model::UnixMillis;

use super::check::{check_all, check_shared_tools};
use super::definition::AgentDefinition;
use super::remotes::{Named, check_named, parse_named};
use super::skill::{FileSkill, SkillsSource};
use super::source::located;
use super::{file, skill_file};
use crate::tool::Tool;
use crate::{Embedded, EmbeddedAgent, ExecutorKind, ExecutorPlace, HttpTool, Problem};

/// Embeds the agents of `folder` in the file `agents.json` of the folder `OUT_DIR` of the build, and prints for cargo
/// the changes after which the build script runs again. The agents may name the `tools`.
///
/// # Errors
///
/// All problems of the agent files.
pub fn embed(folder: &str, tools: &[Box<dyn Tool>]) -> Result<(), Vec<Problem>> {
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let target = env::var("OUT_DIR").map_err(|error| vec![Problem::at("", error.to_string())])?;
    embed_into(folder, tools, &Path::new(&target).join("agents.json"))
}

/// Like [`embed`], but writes the file `target`. Also reads HTTP tools that agents share from the folder `tools`, and
/// remote agents and MCP servers from the file `remotes.toml`, both next to `folder` and both optional.
///
/// # Errors
///
/// The same as [`embed`].
pub fn embed_into(
    folder: &str,
    tools: &[Box<dyn Tool>],
    target: &Path,
) -> Result<(), Vec<Problem>> {
    println!("cargo::rerun-if-changed={folder}");
    let mut files = Vec::new();
    let agents = read_files(Path::new(folder), &mut files, file::parse);
    let shared_folder = Path::new(folder).with_file_name("tools");
    let shared = if shared_folder.is_dir() {
        println!("cargo::rerun-if-changed={}", shared_folder.display());
        read_files(&shared_folder, &mut files, file::parse_tool)
    } else {
        Ok(Vec::new())
    };
    let remotes_file = Path::new(folder).with_file_name("remotes.toml");
    let named = if remotes_file.is_file() {
        println!("cargo::rerun-if-changed={}", remotes_file.display());
        read_file(&remotes_file, &mut files, parse_named)
    } else {
        Ok(Named::default())
    };
    let (mut agents, shared, named) = match (agents, shared, named) {
        (Ok(agents), Ok(shared), Ok(named)) => (agents, shared, named),
        (agents, shared, named) => {
            let problems = [agents.err(), shared.err(), named.err()];
            return Err(problems.into_iter().flatten().flatten().collect());
        }
    };
    let mut tools: Vec<&dyn Tool> = tools.iter().map(AsRef::as_ref).collect();
    let mut problems = read_skills(&mut agents);
    problems.extend(read_table_files(&mut agents));
    problems.extend(check_shared_tools(&shared, &tools));
    let made: Vec<HttpTool> = shared.iter().filter_map(|tool| HttpTool::new(tool).ok()).collect();
    tools.extend(made.iter().map(|tool| -> &dyn Tool { tool }));
    problems.extend(check_all(folder, &agents, &tools));
    problems.extend(check_named(&remotes_file.display().to_string(), &named, &agents));
    if !problems.is_empty() {
        return Err(problems.into_iter().map(|problem| located(problem, &files)).collect());
    }
    let embedded = agents.into_iter().map(|definition| {
        let file = definition.file.clone();
        let place = place_of(&definition, &files);
        let mut agent = EmbeddedAgent::new(definition, &tools, &shared)
            .map_err(|misfit| vec![Problem::of_file(file, misfit.to_string())])?;
        agent.executor.place = place;
        Ok(agent)
    });
    let embedded = Embedded::new(built_at(), embedded.collect::<Result<_, Vec<Problem>>>()?);
    let embedded = embedded.with_remotes(named.remotes).with_mcp(named.mcp);
    let json = embedded
        .to_json()
        .map_err(|error| vec![Problem::of_file(format!("{folder}/"), error.to_string())])?;
    let failed =
        |error: io::Error| vec![Problem::of_file(target.display().to_string(), error.to_string())];
    fs::write(target, json).map_err(failed)
}

/// The lines of the agent file that configure an executor of the Worker; `None` for a built-in kind.
fn place_of(agent: &AgentDefinition, files: &[(String, String)]) -> Option<ExecutorPlace> {
    let kind = agent.executor.kind.as_str();
    if ExecutorKind::named(kind).is_some() {
        return None;
    }
    let (file, text) = files.iter().find(|(file, _)| *file == agent.file)?;
    let lines = file::executor_lines(text, kind);
    Some(ExecutorPlace { file: file.clone(), lines })
}

/// Reads the folders in `skills_from`, each once. Returns their problems.
fn read_skills(agents: &mut [AgentDefinition]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: BTreeMap<String, Vec<FileSkill>> = BTreeMap::new();
    for agent in agents {
        for source in agent.skills_from.iter().flatten() {
            let SkillsSource::Folder(folder) = source else { continue };
            if !known.contains_key(folder) {
                println!("cargo::rerun-if-changed={folder}");
                let found = skill_file::read_folder(folder);
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
fn read_table_files(agents: &mut [AgentDefinition]) -> Vec<Problem> {
    let read = |AgentDefinition { file, executor, .. }: &mut AgentDefinition| {
        let problems = executor.read_files(file).into_iter();
        problems.map(|problem| problem.in_file(file)).collect::<Vec<_>>()
    };
    agents.iter_mut().flat_map(read).collect()
}

/// The whole build script of a Worker: embeds the agents of `folder`, which may name the `tools`, and prints their
/// problems.
///
/// ```no_run
/// # mod tools { pub fn all() -> Vec<Box<dyn a2a_agents::tool::Tool>> { Vec::new() } }
/// fn main() -> std::process::ExitCode {
///     a2a_agents::embed::run("agents", tools::all())
/// }
/// ```
pub fn run(folder: &str, tools: Vec<Box<dyn Tool>>) -> ExitCode {
    report([embed(folder, &tools)])
}

/// The last call in the `main` of a build script: prints every problem as an error of cargo.
pub fn report(results: impl IntoIterator<Item = Result<(), Vec<Problem>>>) -> ExitCode {
    let problems: Vec<Problem> = results.into_iter().filter_map(Result::err).flatten().collect();
    for problem in &problems {
        println!("cargo::error={problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The instant of the build: `SOURCE_DATE_EPOCH` if it is set, so that builds can be reproduced, otherwise the current
/// time. The build script runs again after each change of an agent or of the inputs of its card, so this instant is
/// later than the last change.
#[expect(clippy::disallowed_methods, reason = "a build runs on the host, which has a clock")]
fn built_at() -> UnixMillis {
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<i64>().ok());
    let now = || {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since_epoch.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or_default()
    };
    UnixMillis(given.unwrap_or_else(now).saturating_mul(1000))
}

/// Reads and parses a file. Its text is added to `files`.
fn read_file<T>(
    path: &Path,
    files: &mut Vec<(String, String)>,
    parse: impl Fn(&str, &str) -> Result<T, Problem>,
) -> Result<T, Vec<Problem>> {
    let file = path.display().to_string();
    let unreadable = |error: io::Error| vec![Problem::of_file(file.as_str(), error.to_string())];
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let read = parse(&file, &text);
    files.push((file, text));
    read.map_err(|problem| vec![located(problem, files)])
}

/// Reads and parses the TOML files of a folder, sorted by name. Their texts are added to `files`.
fn read_files<T>(
    folder: &Path,
    files: &mut Vec<(String, String)>,
    parse: impl Fn(&str, &str, &str) -> Result<T, Problem>,
) -> Result<Vec<T>, Vec<Problem>> {
    let failed = |error: io::Error| {
        vec![Problem::of_file(format!("{}/", folder.display()), error.to_string())]
    };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = path.display().to_string();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(Problem::of_file(file, error.to_string()));
                continue;
            }
        };
        let parsed = parse(&file, &stem, &text);
        files.push((file, text));
        match parsed {
            Ok(found) => read.push(found),
            Err(problem) => problems.push(located(problem, files)),
        }
    }
    if problems.is_empty() { Ok(read) } else { Err(problems) }
}
