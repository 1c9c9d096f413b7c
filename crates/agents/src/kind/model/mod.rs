//! The kind `model`: an agent that answers with a language model.

mod settings;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "checker"))]
use super::{Kind, KindContext, TableFile, ToolOffer};
#[cfg(any(test, feature = "checker"))]
use crate::Problem;
#[cfg(any(test, feature = "checker"))]
use crate::template::check_header_name;
#[cfg(any(test, feature = "checker"))]
use crate::tool::check_schema;

pub use settings::{DEV_MODEL, ModelLimits, ModelSettings, Price, Provider};

#[cfg(any(test, feature = "checker"))]
impl Kind for ModelSettings {
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |key: &str, fix: String| problems.push(Problem::at(key, fix));
        if let Some(fix) = base_url_problem(self, agent.is_development) {
            report("base_url", fix);
        }
        if let Some(key) = &self.api_key
            && !key.contains("${")
        {
            let fix =
                "must name a secret, as \"${OPENAI_API_KEY}\": agent files are no place for keys";
            report("api_key", fix.to_owned());
        }
        for (name, _) in &self.headers {
            if let Err(fix) = check_header_name(name) {
                report(&format!("headers.{name}"), fix);
            }
        }
        for fix in self.output_schema.iter().flat_map(check_schema) {
            report("output_schema", fix);
        }
        for (index, name) in self.agents.iter().enumerate() {
            if self.agents.iter().take(index).any(|earlier| earlier == name) {
                report(&format!("agents[{index}]"), format!("{name:?} stands twice"));
            }
        }
        problems
    }

    fn filled_in(&self) -> Vec<(String, &str)> {
        let ModelSettings { model, base_url, api_key, headers, .. } = self;
        let texts =
            [("model", Some(model)), ("base_url", Some(base_url)), ("api_key", api_key.as_ref())];
        let texts =
            texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.as_str())));
        let headers =
            headers.iter().map(|(name, value)| (format!("headers.{name}"), value.as_str()));
        texts.chain(headers).collect()
    }

    fn offer(&self) -> Option<ToolOffer<'_>> {
        let ModelSettings { tools, mcp, .. } = self;
        Some(ToolOffer { key: "tools", names: tools, mcp, are_skills: false })
    }

    fn remotes(&self) -> Vec<(String, &str)> {
        let agents = self.agents.iter().enumerate();
        agents.map(|(index, name)| (format!("agents[{index}]"), name.as_str())).collect()
    }

    fn resumes_because(&self) -> Option<&'static str> {
        Some("what a model and its tools have done is not done again after a crash")
    }

    fn skills_hint(&self) -> &'static str {
        ": what it can be asked for"
    }

    fn files(&self) -> &'static [TableFile] {
        &FILES
    }
}

/// The problem of a base URL before variables are filled in.
#[cfg(any(test, feature = "checker"))]
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

/// Servers on this machine.
#[cfg(any(test, feature = "checker"))]
const LOCAL: [&str; 3] = ["http://localhost", "http://127.0.0.1", "http://[::1]"];

/// The keys whose values are names of files.
#[cfg(any(test, feature = "checker"))]
const FILES: [TableFile; 2] = [
    TableFile { key: "instructions_file", content_key: "instructions", is_json: false },
    TableFile { key: "output_schema_file", content_key: "output_schema", is_json: true },
];
