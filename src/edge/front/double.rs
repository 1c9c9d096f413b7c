//! Scripted agents as test doubles, in development only: their scripts are read and set at `/_dev/script`. The faults
//! that a script defines are made before the request reaches the Worker (`dev/`).

use serde_json::{Map, Value, json};

use js_sys::Uint8Array;
use worker::Request;

use super::deployment::Front;
use super::facts::body::Body;
use crate::edge::development::script;
use crate::executor::Double;
use crate::front::admit::unknown_path;
use crate::front::head::Head;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;

impl Front {
    /// Answers a request to `/_dev/script/<agent>`. Its body is `None` if it was not received yet.
    pub(super) async fn script(
        &self,
        request: &Request,
        head: &Head<'_>,
        slug: &str,
        body: Option<Uint8Array>,
    ) -> HttpResponse {
        let answered = match self.double(slug, head) {
            Ok(double) => self.answer_script(double, slug, request, head, body).await,
            Err(error) => Err(error),
        };
        answer(head, answered)
    }

    /// The test double with this slug.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], or [`Error::UnsupportedOperation`] for an agent of another kind.
    fn double(&self, slug: &str, head: &Head<'_>) -> Result<&Double, Error> {
        let (_, path, _) = split_url(head.url());
        let agents = &self.deployment.agents;
        let agent = agents.find(Some(slug)).ok_or_else(|| unknown_path(path, agents))?;
        agent.double.as_ref().ok_or_else(|| {
            Error::UnsupportedOperation(format!("the agent {slug} is not of the kind `script`"))
        })
    }

    async fn answer_script(
        &self,
        double: &Double,
        slug: &str,
        request: &Request,
        head: &Head<'_>,
        body: Option<Uint8Array>,
    ) -> Result<HttpResponse, Error> {
        match head.method() {
            "GET" | "HEAD" => {}
            "POST" => {
                let body = match body {
                    Some(body) => Body::of(body.to_vec()),
                    None => Body::receive(request, slug, script::MAX_BYTES).await?,
                };
                let max_values = self.deployment.settings.limits.max_json_values;
                script::set(double, body.bytes(), max_values)?;
            }
            "DELETE" => double.restore(),
            "OPTIONS" => return Ok(head.preflight(ALLOWED)),
            _ => return Err(Error::MethodNotAllowed(ALLOWED)),
        }
        Ok(script::shown(double))
    }

    /// Answers a request for the scripts of all scripted agents.
    pub(super) fn scripts(&self, head: &Head<'_>) -> HttpResponse {
        answer(head, self.all_scripts(head))
    }

    /// The scripts that all scripted agents play, by slug, and the slug of the default agent.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    fn all_scripts(&self, head: &Head<'_>) -> Result<HttpResponse, Error> {
        match head.method() {
            "GET" | "HEAD" => {
                let default = self.deployment.agents.find(None).map(|agent| &agent.slug);
                let doubles = self
                    .deployment
                    .hosted()
                    .filter_map(|agent| Some((agent, agent.double.as_ref()?)));
                let scripts: Map<String, Value> = doubles
                    .map(|(agent, double)| {
                        (agent.slug.to_string(), double.playing().table.json().clone())
                    })
                    .collect();
                let told = json!({"default": default, "scripts": scripts});
                Ok(HttpResponse::json(200, told.to_string()))
            }
            "OPTIONS" => Ok(head.preflight(ALLOWED_FOR_ALL)),
            _ => Err(Error::MethodNotAllowed(ALLOWED_FOR_ALL)),
        }
    }
}

/// The answer, without its body for HEAD.
fn answer(head: &Head<'_>, answered: Result<HttpResponse, Error>) -> HttpResponse {
    let mut answer = answered.unwrap_or_else(|error| HttpResponse::error(&error));
    if head.method() == "HEAD" {
        answer.body.clear();
    }
    answer
}

const ALLOWED: &str = "GET, HEAD, POST, DELETE, OPTIONS";

const ALLOWED_FOR_ALL: &str = "GET, HEAD, OPTIONS";
