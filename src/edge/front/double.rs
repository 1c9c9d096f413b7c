//! Scripted agents as test doubles, in development only: their scripts are set, requests are noted, and faults are put in
//! their way.

use serde_json::{Map, Value, json};

use super::admission::unknown_path;
use super::decision::{Front, Received, preflight};
use super::facts::Need;
use super::head::{Head, NAMES};
use super::plan::Plan;
use super::route::{Route, route};
use crate::edge::development::{received, script};
use crate::executor::HostedAgent;
use a2a::Operation;
use a2a::binding::http::split_url;
use a2a::binding::rest::Endpoint;
use a2a::dialect::{Spoken, operation_of_method};
use a2a::error::Error;
use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
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

    /// The plan for a request, with a fault before it if one is to happen. Notes the request.
    pub(super) fn with_fault(&self, head: &Head<'_>, body: Option<&[u8]>, plan: String) -> String {
        let Some(asked) = self.asked(head, body) else { return plan };
        let Asked { agent, operation, message, task } = asked;
        let text = String::from_utf8_lossy(body.unwrap_or_default());
        let name = operation.as_deref();
        let fault = agent.double.as_ref().and_then(|double| double.take_fault(name, &text));
        let (_, path, _) = split_url(head.url());
        let plan = match &fault {
            Some(fault) => format!("d{fault}\n{plan}"),
            None => plan,
        };
        received::note_request(json!({"agent": agent.slug, "method": head.method(), "path": path,
            "operation": operation, "messageId": message, "taskId": task, "headers": shown(head),
            "fault": fault}));
        plan
    }

    /// What a request asks of an agent; `None` if it is for no agent, or a preflight.
    fn asked(&self, head: &Head<'_>, body: Option<&[u8]>) -> Option<Asked<'_>> {
        if head.method() == "OPTIONS" {
            return None;
        }
        let (_, path, _) = split_url(head.url());
        let read = || -> Option<Value> { read_foreign(body?, MAX_FOREIGN_VALUES).ok() };
        match route(path) {
            Route::JsonRpc(slug) | Route::Subscribe(slug) => {
                let envelope = read().unwrap_or_default();
                let operation = text_at(&envelope, "/method").and_then(operation_of_method);
                let of = |pointer| text_at(&envelope, pointer);
                let slug = slug.or_else(|| of("/params/tenant").filter(|it| !it.is_empty()));
                let task = of("/params/id").or_else(|| of("/params/taskId"));
                let task = task.or_else(|| of("/params/message/taskId"));
                self.asked_of(slug, operation, of("/params/message/messageId"), task)
            }
            Route::Rest(slug, below) => {
                let endpoint = Endpoint::find(Spoken::looks_like(below), slug, below);
                let operation = endpoint.and_then(|it| it.operation(head.method()).ok());
                let body = read().unwrap_or_default();
                let in_path = below.split('/').skip_while(|segment| *segment != "tasks").nth(1);
                let in_path = in_path.map(|id| id.split_once(':').map_or(id, |(id, _)| id));
                let task = in_path.or_else(|| text_at(&body, "/message/taskId"));
                self.asked_of(slug, operation, text_at(&body, "/message/messageId"), task)
            }
            Route::Card(slug, _) => {
                let agent = self.agents.find(slug)?;
                let operation = Some(CARD.to_owned());
                Some(Asked { agent, operation, message: None, task: None })
            }
            Route::Mcp(_)
            | Route::ProtectedResource(_)
            | Route::Callback(..)
            | Route::Overview(_)
            | Route::KeySet
            | Route::Received
            | Route::Script(_)
            | Route::Console(_) => None,
        }
    }

    fn asked_of(
        &self,
        slug: Option<&str>,
        operation: Option<Operation>,
        message: Option<&str>,
        task: Option<&str>,
    ) -> Option<Asked<'_>> {
        Some(Asked {
            agent: self.agents.find(slug)?,
            operation: operation.map(|operation| format!("{operation:?}")),
            message: message.map(str::to_owned),
            task: task.map(str::to_owned),
        })
    }
}

fn text_at<'a>(json: &'a Value, pointer: &str) -> Option<&'a str> {
    json.pointer(pointer)?.as_str()
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
