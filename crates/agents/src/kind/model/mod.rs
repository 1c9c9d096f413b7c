//! The kind `model`: an agent that a language model answers for.

mod settings;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "build"))]
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{ExecutorKind, Kind, ToolOffer};
use crate::template::check_header_name;
use crate::tool::{Tool, check_schema};
use crate::{AgentDefinition, Misfit, Problem, Table};

pub use settings::{DEV_MODEL, ModelLimits, ModelSettings, Price, Provider};

/// `[executor.model]`: what it says, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTable {
    members: Map<String, Value>,
    settings: Box<ModelSettings>,
    misfits: Vec<Problem>,
}

impl ModelTable {
    /// The table with these members.
    pub fn new(members: Map<String, Value>) -> Self {
        let (settings, misfits) = ModelSettings::read(&members);
        Self { members, settings: Box::new(settings), misfits }
    }

    /// What it says; the default stands for what is wrong.
    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }
}

impl Kind for ModelTable {
    fn name(&self) -> &str {
        ExecutorKind::Model.name()
    }

    fn table(&self) -> Result<Table, Misfit> {
        Table::of(self)
    }

    fn problems(&self, agent: &AgentDefinition, _: &[&dyn Tool]) -> Vec<Problem> {
        let settings = &self.settings;
        let mut problems = self.misfits.clone();
        let mut report = |key: &str, fix: String| problems.push(Problem::at(key, fix));
        if let Some(fix) = base_url_problem(settings, agent.development) {
            report("base_url", fix);
        }
        if let Some(key) = &settings.api_key
            && !key.contains("${")
        {
            let fix =
                "must name a secret, as \"${OPENAI_API_KEY}\": agent files are no place for keys";
            report("api_key", fix.to_owned());
        }
        for (name, _) in &settings.headers {
            if let Err(fix) = check_header_name(name) {
                report(&format!("headers.{name}"), fix);
            }
        }
        for fix in settings.output_schema.iter().flat_map(check_schema) {
            report("output_schema", fix);
        }
        for (index, name) in settings.agents.iter().enumerate() {
            if settings.agents.iter().take(index).any(|earlier| earlier == name) {
                report(&format!("agents[{index}]"), format!("{name:?} stands twice"));
            }
        }
        problems
    }

    fn filled_in(&self) -> Vec<(String, &str)> {
        let ModelSettings { model, base_url, api_key, headers, .. } = &*self.settings;
        let texts =
            [("model", Some(model)), ("base_url", Some(base_url)), ("api_key", api_key.as_ref())];
        let texts =
            texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.as_str())));
        let headers =
            headers.iter().map(|(name, value)| (format!("headers.{name}"), value.as_str()));
        texts.chain(headers).collect()
    }

    fn offer(&self) -> Option<ToolOffer<'_>> {
        let ModelSettings { tools, mcp, .. } = &*self.settings;
        Some(ToolOffer { key: "tools", names: tools, mcp, are_skills: false })
    }

    #[cfg(any(test, feature = "build"))]
    fn remotes(&self) -> Vec<(String, &str)> {
        let agents = self.settings.agents.iter().enumerate();
        agents.map(|(index, name)| (format!("agents[{index}]"), name.as_str())).collect()
    }

    fn resumes_because(&self) -> Option<&'static str> {
        Some("what a model and its tools have done is not done again after a crash")
    }

    fn skills_hint(&self) -> &'static str {
        ": what it can be asked for"
    }

    /// Each file becomes the key `instructions` or `output_schema`.
    #[cfg(any(test, feature = "build"))]
    fn read_files(&mut self, agent_file: &str) -> Vec<Problem> {
        let mut members = self.members.clone();
        let mut problems = Vec::new();
        for (key, text_key) in
            [("instructions_file", "instructions"), ("output_schema_file", "output_schema")]
        {
            // What is wrong with the keys themselves is said by `problems`.
            let Some(Value::String(name)) = self.members.get(key) else { continue };
            if self.members.contains_key(text_key) {
                continue;
            }
            let path = Path::new(agent_file).with_file_name(name);
            println!("cargo::rerun-if-changed={}", path.display());
            let read = match std::fs::read_to_string(&path) {
                Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
                Ok(text) if key == "output_schema_file" => a2a::model::read_own(&text)
                    .map_err(|error| format!("{} is no JSON: {error}", path.display())),
                Ok(text) => Ok(Value::String(text)),
            };
            members.shift_remove(key);
            match read {
                Ok(value) => {
                    members.insert(text_key.to_owned(), value);
                }
                Err(fix) => problems.push(Problem::at(key, fix)),
            }
        }
        *self = Self::new(members);
        problems
    }
}

/// What is wrong with a base URL as it is written.
fn base_url_problem(settings: &ModelSettings, is_development: bool) -> Option<String> {
    let ModelSettings { provider, base_url, api_key, .. } = settings;
    if *provider == Provider::WorkersAi {
        return None;
    }
    if base_url == DEV_MODEL {
        let fix = "is the scripted model of development, which only an agent with `development = true` may have";
        return (!is_development).then(|| fix.to_owned());
    }
    if base_url.starts_with("https://api.openai.com") && api_key.is_none() {
        return Some(
            "is the API of OpenAI, which needs `api_key = \"${OPENAI_API_KEY}\"`".to_owned(),
        );
    }
    let is_local = LOCAL.iter().any(|host| {
        let rest = base_url.strip_prefix(host);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    if base_url.starts_with("https://")
        || base_url.starts_with("${")
        || (is_local && is_development)
    {
        return None;
    }
    Some(if is_local {
        "begins with http://, which only an agent with `development = true` may have".to_owned()
    } else {
        format!("is {base_url:?}, but must begin with https://, as \"https://api.openai.com/v1\"")
    })
}

impl Serialize for ModelTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ModelTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::new)
    }
}

/// Servers of the same machine.
const LOCAL: [&str; 3] = ["http://localhost", "http://127.0.0.1", "http://[::1]"];

/// What stands before the keys of the table in an agent file.
const TABLE: &str = "executor.model.";
