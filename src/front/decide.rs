//! Decides a request by what is known of it: the deployment, the facts that were found, its head and its body. Nothing is waited for
//! here, and nothing is kept.

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
use super::overview;
use super::plan::{Form, Plan};
use super::report::Report;
use super::route::{Route, route};
use super::seen::Seen;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::model::UnixMillis;

/// A decision about a request.
pub(crate) struct Decision<'h> {
    pub(crate) plan: Plan,
    /// Which pages may read the answer: those of this origin, or none if it is empty. `None` where pages of all origins may.
    pub(crate) origin: Option<&'h str>,
    /// The rate limits to ask before the plan is carried out.
    pub(crate) limits: Vec<Limit>,
    /// What the operator is told in any case.
    pub(crate) reports: Vec<Report>,
    /// The lines for the audit about its credentials and its refusal. They are written once for each request.
    pub(crate) audits: Vec<Report>,
}

/// Decides a request. `now` is the present instant.
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
        plan,
        origin: seen.origin(agents, head),
        limits: seen.limits(agents, head, &facts.asked, facts.inside.is_some()),
        audits: seen.audit(head),
        reports: seen.take_reports(),
    }
}

/// The answer to a command whose object has none, and what the operator is told of it.
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
        Route::Overview(slug) => Ok(overview::plan(request, slug, seen)),
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
        Route::Scripts | Route::Script(_) if deployment.settings.development => Ok(Plan::Visit),
        Route::Scripts | Route::Script(_) => Err(unknown_path(path, agents)),
        Route::Console(below) => console::plan(request, below),
    };
    planned.unwrap_or_else(|error| answered(head, HttpResponse::error(&error)))
}

/// The plan to give an answer, without its body for HEAD.
fn answered(head: &Head<'_>, mut answer: HttpResponse) -> Plan {
    if head.method() == "HEAD" {
        answer.body.clear();
    }
    Plan::Answer(answer)
}

/// The method that is taken where streams of A2A 0.1 are.
const SUBSCRIBE_METHOD: &str = "tasks/sendSubscribe";
