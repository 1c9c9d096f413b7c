//! Decides a request by the deployment, the facts that were found, its head and its body. The decision waits for
//! nothing and keeps no state.

use super::admit::unknown_path;
use super::callback;
use super::console;
use super::deployment::Deployment;
use super::document::card::card;
use super::document::keys::key_set;
use super::document::metadata::protected_resource;
use super::exchange::Exchange;
use super::facts::{Facts, Received};
use super::failure::Failure;
use super::head::Head;
use super::identify::Request;
use super::limit::Limit;
use super::operator;
use super::plan::{Form, Plan};
use super::report::Report;
use super::route::{Route, route};
use super::seen::Seen;
use super::subject::{Subject, subject};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a::model::UnixMillis;

/// A decision about a request.
pub(crate) struct Decision<'h> {
    pub(crate) plan: Plan,
    /// The only origin whose pages may read the answer; empty if no page may. `None` if pages of all origins may.
    pub(crate) origin: Option<&'h str>,
    /// The rate limits to ask before the plan is carried out.
    pub(crate) limits: Vec<Limit>,
    /// The reports that are written for every plan of the request.
    pub(crate) reports: Vec<Report>,
    /// The audit lines about the credentials and the refusal of the request. They are written once for each request.
    pub(crate) audits: Vec<Report>,
    /// What the observation of the request says about it; `None` if it is not observed.
    pub(crate) subject: Option<Subject>,
}

/// Decides a request. `now` returns the current time.
pub(crate) fn decide<'h>(
    deployment: &Deployment,
    facts: &Facts,
    head: &Head<'h>,
    body: &Received<'_>,
    now: fn() -> UnixMillis,
) -> Decision<'h> {
    let mut seen = Seen::default();
    let plan = plan(Request { deployment, facts, head, now }, body, &mut seen);
    let agents = &deployment.agents;
    Decision {
        subject: subject(agents, head, &plan),
        plan,
        origin: seen.origin(agents, head),
        limits: seen.limits(agents, head, &facts.asked, facts.inside.is_some()),
        audits: seen.audit(head),
        reports: seen.take_reports(),
    }
}

/// The error answer to a command whose object returned no answer, and the reports about this failure.
pub(crate) fn refuse(form: &Form, failure: &Failure) -> (HttpResponse, Vec<Report>) {
    let mut seen = Seen::default();
    let answer = form.refusal(failure, &mut seen);
    (answer, seen.take_reports())
}

fn plan(request: Request<'_>, body: &Received<'_>, seen: &mut Seen) -> Plan {
    let Request { deployment, head, .. } = request;
    let agents = &deployment.agents;
    let (_, path, _) = split_url(head.url());
    let planned = match route(path) {
        Route::JsonRpc(slug) => Exchange::new(request, slug, seen).map(|it| it.jsonrpc(body, None)),
        Route::Subscribe(slug) => Exchange::new(request, slug, seen)
            .map(|exchange| exchange.jsonrpc(body, Some(SUBSCRIBE_METHOD))),
        Route::Rest(slug, below) => {
            Exchange::new(request, slug, seen).map(|it| it.rest(below, body))
        }
        Route::Callback(slug, below) => Ok(callback::plan(request, slug, below, body, seen)),
        Route::Overview(slug) => Ok(operator::overview(request, slug, seen)),
        Route::Usage(slug) => Ok(operator::usage(request, slug, seen)),
        Route::IndexCopy(slug) => Ok(operator::copy(request, slug, seen)),
        Route::OwnerForget(slug) => Ok(operator::forget(request, slug, seen)),
        Route::Metrics if head.method() == "GET" => Ok(Plan::Visit),
        Route::Metrics => Err(Error::MethodNotAllowed("GET")),
        Route::Mcp(slug) if deployment.has_mcp(slug) => Ok(Plan::Visit),
        Route::Mcp(_) => Err(unknown_path(path, agents)),
        Route::ProtectedResource(slug) => {
            protected_resource(deployment, slug, path, head).map(|answer| answered(head, answer))
        }
        Route::Card(slug, name) => match agents.find(slug) {
            Some(agent) => card(request, agent, name, seen),
            None => Err(unknown_path(path, agents)),
        },
        Route::KeySet => match &deployment.signing {
            Some(keys) => key_set(head, keys.public_set()).map(|answer| answered(head, answer)),
            None => Err(unknown_path(path, agents)),
        },
        Route::Agents | Route::Resume | Route::Scripts | Route::Script(_) => {
            let is_development = deployment.settings.development;
            if is_development { Ok(Plan::Visit) } else { Err(unknown_path(path, agents)) }
        }
        Route::Console(below) => console::plan(request, below),
    };
    planned.unwrap_or_else(|error| answered(head, HttpResponse::error(&error)))
}

/// The plan to send an answer, without its body for HEAD.
fn answered(head: &Head<'_>, mut answer: HttpResponse) -> Plan {
    if head.method() == "HEAD" {
        answer.body.clear();
    }
    Plan::Answer(answer)
}

/// The only method of the endpoint for streams of A2A 0.1.
const SUBSCRIBE_METHOD: &str = "tasks/sendSubscribe";
