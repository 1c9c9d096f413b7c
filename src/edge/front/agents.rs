//! A guest, in development only: the agents of this Worker at `/_dev/agents`. `a2a-edge dev` gives the agents of changed files,
//! and the commands ask which agents cannot be served. Both need the token of the start, `DEV_TOKEN`: a page in a browser
//! does not have it.

use std::fmt;

use serde_json::{Value, json};

use js_sys::Uint8Array;
use worker::Request;

use super::deployment::{Front, forget};
use super::facts::body::Body;
use crate::edge::agents;
use crate::front::head::Head;
use a2a::binding::http::HttpResponse;
use a2a::error::{Error, Refusal};
use a2a::model::decode::read_json;
use a2a_agents::tool::Tool;
use a2a_agents::{AgentSource, AgentTexts, VERSION};

impl Front {
    /// Answers a request to `/_dev/agents`. Its body is `None` if it was not received yet.
    pub(super) async fn agents(
        &self,
        request: &Request,
        head: &Head<'_>,
        body: Option<Uint8Array>,
    ) -> HttpResponse {
        if head.method() == "OPTIONS" {
            return head.preflight(ALLOWED);
        }
        if let Err(error) = check_token(request, self.deployment.settings.dev_token.as_deref()) {
            return HttpResponse::error(&error);
        }
        let answered = match head.method() {
            "GET" => Ok(self.registered()),
            "PUT" => self.replace_agents(request, body).await,
            _ => Err(Error::MethodNotAllowed(ALLOWED)),
        };
        answered.unwrap_or_else(|error| HttpResponse::error(&error))
    }

    /// The tools and kinds that the Worker registers, and the agents that cannot be served.
    fn registered(&self) -> HttpResponse {
        let agents = &self.deployment.agents;
        let unusable = agents.without_executor();
        let unusable: Vec<Value> = unusable
            .map(|(slug, misfit)| json!({"slug": slug, "reason": misfit.to_string()}))
            .collect();
        let registry = agents.registry();
        let tool = |tool: &dyn Tool| json!({"name": tool.name(), "needs": tool.needs()});
        let tools: Vec<Value> = registry.tools().iter().map(|one| tool(one.as_ref())).collect();
        let kinds: Vec<&str> = registry.kinds().collect();
        let told = json!({"unusable": unusable, "tools": tools, "kinds": kinds});
        HttpResponse::json(200, told.to_string())
    }

    /// Serves the agents of the body from the next request on.
    ///
    /// # Errors
    ///
    /// If the body is not the checked form of this version.
    async fn replace_agents(
        &self,
        request: &Request,
        body: Option<Uint8Array>,
    ) -> Result<HttpResponse, Error> {
        let body = match body {
            Some(body) => Body::of(body.to_vec()),
            None => Body::receive(request, "_dev", MAX_BYTES).await?,
        };
        let invalid = |reason: String| Error::invalid("", reason);
        let unread = |error: &dyn fmt::Display| {
            invalid(format!("the body is not the checked form: {error}"))
        };
        let body = str::from_utf8(body.bytes()).map_err(|error| unread(&error))?;
        let texts: AgentTexts = read_json(body).map_err(|error| unread(&error))?;
        if texts.version != VERSION {
            let AgentTexts { version, .. } = texts;
            return Err(invalid(format!(
                "the agents were checked by a2a-edge {version}, but this Worker is a2a-edge {VERSION}"
            )));
        }
        texts.index().map_err(|error| invalid(format!("the index cannot be read: {error}")))?;
        agents::replace(texts);
        forget();
        Ok(HttpResponse::empty(204))
    }
}

/// Checks that a request of development has the token of the start.
///
/// # Errors
///
/// [`Error::PermissionDenied`], also if the deployment has no token.
pub(super) fn check_token(request: &Request, token: Option<&str>) -> Result<(), Error> {
    let given = request.headers().get("authorization").ok().flatten();
    let given = given.as_deref().and_then(|value| value.strip_prefix("Bearer "));
    if given.is_some() && given == token {
        return Ok(());
    }
    let fix = "this route of development needs `Authorization: Bearer` and the token of the start, the variable DEV_TOKEN";
    let refusal = Refusal { message: fix.to_owned(), challenges: Vec::new() };
    Err(Error::PermissionDenied(Box::new(refusal)))
}

const ALLOWED: &str = "GET, PUT, OPTIONS";

/// The longest checked form that is accepted, in bytes.
const MAX_BYTES: usize = 32 * 1024 * 1024;
