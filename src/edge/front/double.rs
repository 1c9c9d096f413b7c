//! Scripted agents as test doubles, in development only: their scripts are read and set at `/_dev/script`. The faults in
//! them happen before the Worker (`dev/`).

use serde_json::{Map, Value, json};

use super::decision::{Front, Received, preflight};
use super::facts::Need;
use super::plan::Plan;
use crate::edge::development::script;
use crate::front::admission::unknown_path;
use crate::front::head::Head;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

impl Front {
    /// Decides about a request to `/_dev/script/<agent>`.
    ///
    /// # Errors
    ///
    /// What is wrong with it or with its script.
    pub(super) fn script(
        &self,
        head: &Head<'_>,
        slug: &str,
        path: &str,
        body: &Received<'_>,
    ) -> Result<Plan, Error> {
        let agent = self.agents.find(Some(slug)).ok_or_else(|| unknown_path(path, &self.agents))?;
        let double = agent.double.as_ref().ok_or_else(|| {
            Error::UnsupportedOperation(format!("the agent {slug} is not of the kind `script`"))
        })?;
        match (head.method(), body) {
            ("GET" | "HEAD", _) => {}
            ("POST", Received::Whole(bytes)) => {
                script::set(double, bytes, self.settings.limits.max_json_values)?;
            }
            ("POST", Received::Nothing) => return Ok(Plan::Need(Need::Body(script::MAX_BYTES))),
            ("POST", Received::Refused(error)) => return Err(error.clone()),
            ("DELETE", _) => double.restore(),
            ("OPTIONS", _) => return Ok(Plan::Answer(preflight(head, ALLOWED))),
            _ => return Err(Error::MethodNotAllowed(ALLOWED)),
        }
        Ok(Plan::Answer(script::shown(double)))
    }

    /// The scripts that all scripted agents play, by slug, and the slug of the default agent.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    pub(super) fn scripts(&self, head: &Head<'_>) -> Result<HttpResponse, Error> {
        match head.method() {
            "GET" | "HEAD" => {
                let default = self.agents.find(None).map(|agent| &agent.slug);
                let doubles =
                    self.hosted().filter_map(|agent| Some((agent, agent.double.as_ref()?)));
                let scripts: Map<String, Value> = doubles
                    .map(|(agent, double)| {
                        (agent.slug.to_string(), double.playing().table.json().clone())
                    })
                    .collect();
                let told = json!({"default": default, "scripts": scripts});
                Ok(HttpResponse::json(200, told.to_string()))
            }
            "OPTIONS" => Ok(preflight(head, ALLOWED_FOR_ALL)),
            _ => Err(Error::MethodNotAllowed(ALLOWED_FOR_ALL)),
        }
    }
}

const ALLOWED: &str = "GET, HEAD, POST, DELETE, OPTIONS";

const ALLOWED_FOR_ALL: &str = "GET, HEAD, OPTIONS";
