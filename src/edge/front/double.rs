//! Scripted agents as test doubles, in development only: their scripts are set, requests are noted, and faults are put in
//! their way.

use serde_json::{Map, Value, json};

use super::admission::unknown_path;
use super::decision::{Decision, Front, Received, preflight};
use super::head::{Head, NAMES};
use super::route::{Route, route};
use crate::edge::development::{received, script};
use crate::executor::HostedAgent;
use a2a::Operation;
use a2a::binding::http::split_url;
use a2a::binding::rest::Endpoint;
use a2a::dialect::{Spoken, operation_of_method};
use a2a::error::Error;
use a2a::model::encode;
use a2a_agents::script::CARD;

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
    ) -> Result<Decision, Error> {
        let agent = self.agents.find(Some(slug)).ok_or_else(|| unknown_path(path, &self.agents))?;
        let double = agent.double.as_ref().ok_or_else(|| {
            Error::UnsupportedOperation(format!("the agent {slug} is not of the kind `script`"))
        })?;
        let answer = match head.method() {
            "GET" | "HEAD" => script::shown(double),
            "POST" => match body {
                Received::Whole(bytes) => {
                    script::set(double, bytes, self.settings.limits.max_json_values)
                }
                Received::Nothing => return Ok(Decision::Receive(script::MAX_BYTES)),
                Received::Refused(error) => Err(error.clone()),
            },
            "DELETE" => {
                double.restore();
                script::shown(double)
            }
            "OPTIONS" => Ok(preflight(head, ALLOWED)),
            _ => Err(Error::MethodNotAllowed(ALLOWED)),
        };
        answer.map(Decision::Answer)
    }

    /// The plan for a request, with a fault before it if one is to happen. Notes the request.
    pub(super) fn with_fault(&self, head: &Head<'_>, body: Option<&[u8]>, plan: String) -> String {
        let Some(asked) = self.asked(head, body) else { return plan };
        let Asked { agent, operation, message, task } = asked;
        let text = String::from_utf8_lossy(body.unwrap_or_default());
        let name = operation.as_deref();
        let fault = agent.double.as_ref().and_then(|double| double.take_fault(name, &text));
        let fault = fault.and_then(|fault| encode(&fault).ok());
        let (_, path, _) = split_url(head.url());
        received::note_request(json!({"agent": agent.slug, "method": head.method(), "path": path,
            "operation": operation, "messageId": message, "taskId": task, "headers": shown(head),
            "fault": fault.as_deref().and_then(|json| serde_json::from_str::<Value>(json).ok())}));
        fault.map_or(plan.clone(), |fault| format!("d{fault}\n{plan}"))
    }

    /// What a request asks of an agent; `None` if it is for no agent, or a preflight.
    fn asked(&self, head: &Head<'_>, body: Option<&[u8]>) -> Option<Asked<'_>> {
        if head.method() == "OPTIONS" {
            return None;
        }
        let (_, path, _) = split_url(head.url());
        let read = || -> Option<Value> { serde_json::from_slice(body?).ok() };
        match route(path) {
            Route::JsonRpc(slug) | Route::Subscribe(slug) => {
                let envelope = read().unwrap_or_default();
                let method = envelope["method"].as_str();
                let operation = method.and_then(operation_of_method);
                let params = &envelope["params"];
                let slug = slug.or_else(|| params["tenant"].as_str().filter(|it| !it.is_empty()));
                let named = [&params["id"], &params["taskId"], &params["message"]["taskId"]];
                self.asked_of(slug, operation, params, named.into_iter().find_map(Value::as_str))
            }
            Route::Rest(slug, below) => {
                let endpoint = Endpoint::find(Spoken::looks_like(below), slug, below);
                let operation = endpoint.and_then(|it| it.operation(head.method()).ok());
                let params = read().unwrap_or_default();
                let in_path = below.split('/').skip_while(|segment| *segment != "tasks").nth(1);
                let in_path = in_path.map(|id| id.split_once(':').map_or(id, |(id, _)| id));
                let task = in_path.or_else(|| params["message"]["taskId"].as_str());
                self.asked_of(slug, operation, &params, task)
            }
            Route::Card(slug, _) => {
                let agent = self.agents.find(slug)?;
                let operation = Some(CARD.to_owned());
                Some(Asked { agent, operation, message: None, task: None })
            }
            Route::Callback(..)
            | Route::KeySet
            | Route::Received
            | Route::Statements
            | Route::Script(_) => None,
        }
    }

    fn asked_of(
        &self,
        slug: Option<&str>,
        operation: Option<Operation>,
        params: &Value,
        task: Option<&str>,
    ) -> Option<Asked<'_>> {
        Some(Asked {
            agent: self.agents.find(slug)?,
            operation: operation.map(|operation| format!("{operation:?}")),
            message: params["message"]["messageId"].as_str().map(str::to_owned),
            task: task.map(str::to_owned),
        })
    }
}

/// What a request asks of an agent.
struct Asked<'a> {
    agent: &'a HostedAgent,
    /// The name of the operation in A2A 1.0, or [`CARD`]; none where it cannot be told.
    operation: Option<String>,
    message: Option<String>,
    task: Option<String>,
}

/// The headers that are handed over for the lists only.
pub(super) fn headers(front: &Front) -> &'static [&'static str] {
    if front.settings.development { &NOTED } else { &[] }
}

/// The headers of a request, without the secrets in them.
fn shown(head: &Head<'_>) -> Value {
    let told = head.headers().iter().filter(|(name, _)| !name.starts_with(':'));
    let shown = told.map(|(name, value)| {
        let is_plain = NAMES.contains(name) || PLAIN.contains(name);
        let value = match (is_plain, *name) {
            (true, _) => (*value).to_owned(),
            (false, "authorization") => {
                let scheme = value.split_once(' ').map_or("", |(scheme, _)| scheme);
                format!("{scheme} {HIDDEN}").trim_start().to_owned()
            }
            (false, _) => HIDDEN.to_owned(),
        };
        ((*name).to_owned(), Value::String(value))
    });
    Value::Object(shown.collect::<Map<_, _>>())
}

/// What stands in place of a credential.
const HIDDEN: &str = "(hidden)";

/// The headers that are noted besides those that the server reads.
const NOTED: [&str; 4] = ["authorization", "cookie", "user-agent", "x-api-key"];

/// Those that hold no credentials, besides [`NAMES`].
const PLAIN: [&str; 3] = ["user-agent", "traceparent", "tracestate"];

const ALLOWED: &str = "GET, HEAD, POST, DELETE, OPTIONS";
