//! Reads the agent files, checks them and embeds them, with the cards that follow from them.
//!
//! A file that does not hold together is a build error that names the file, the key and the fix.

#[path = "src/agent/mod.rs"]
#[allow(dead_code, missing_docs, unused_imports, unreachable_pub, reason = "shared with the crate")]
mod agent;
#[path = "src/model/mod.rs"]
#[allow(dead_code, missing_docs, unused_imports, unreachable_pub, reason = "shared with the crate")]
mod model;
#[path = "src/tool/mod.rs"]
#[allow(dead_code, missing_docs, unused_imports, unreachable_pub, reason = "shared with the crate")]
mod tool;

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;
use std::{env, fs};

use agent::{AgentDefinition, Embedded, EmbeddedAgent, Problem};
use model::UnixMillis;

fn main() -> ExitCode {
    for input in ["agents", "src/agent", "src/model", "src/tool", "build.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rustc-env=AGENTS_BUILT_AT={}", built_at().http_date());
    let problems = match embed() {
        Ok(()) => return ExitCode::SUCCESS,
        Err(problems) => problems,
    };
    for problem in problems {
        println!("cargo::error={problem}");
    }
    ExitCode::FAILURE
}

fn embed() -> Result<(), Vec<String>> {
    let agents = read_agents()?;
    let tools = tool::local::all();
    let problems = agent::check_all(&agents, &tools);
    if !problems.is_empty() {
        return Err(problems.iter().map(Problem::to_string).collect());
    }
    let embedded = agents.into_iter().map(|definition| {
        let card = serde_json::to_string(&agent::card_of(&definition, &tools));
        EmbeddedAgent::new(definition, card.unwrap_or_default())
    });
    let embedded = Embedded { agents: embedded.collect() };
    let json = embedded.to_json().map_err(|error| vec![error.to_string()])?;
    let folder = env::var("OUT_DIR").map_err(|error| vec![error.to_string()])?;
    let target = Path::new(&folder).join("agents.json");
    fs::write(&target, json).map_err(|error| vec![format!("{}: {error}", target.display())])
}

/// Now, or what `SOURCE_DATE_EPOCH` says, so that builds can be reproduced. This runs again when an
/// agent or what its card is made of changes, so it comes after the last change.
#[expect(clippy::disallowed_methods, reason = "a build runs on the host, which has a clock")]
fn built_at() -> UnixMillis {
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<i64>().ok());
    let now = || {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since_epoch.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or_default()
    };
    UnixMillis(given.unwrap_or_else(now).saturating_mul(1000))
}

fn read_agents() -> Result<Vec<AgentDefinition>, Vec<String>> {
    let entries = fs::read_dir("agents").map_err(|error| vec![format!("agents/: {error}")])?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut agents = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match read_agent(&path) {
            Ok(agent) => agents.push(agent),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(agents) } else { Err(problems) }
}

fn read_agent(path: &Path) -> Result<AgentDefinition, String> {
    let slug = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let parsed: AgentDefinition = toml::from_str(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        format!("{}:{line}: {}", path.display(), error.message().replace('\n', " "))
    })?;
    Ok(AgentDefinition { slug, ..parsed })
}
