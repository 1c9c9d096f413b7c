//! The front Worker: routes a request, refuses what can be refused without a task, and hands the rest
//! to the object of the task.

mod body;
mod bridge;
mod inbox;
mod link;
mod listing;
mod page;
mod route;

use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::Value;
use worker::{Context, Delay, Env, Method, Request, Response, Result, console_error};

use crate::auth::Caller;
use crate::config::Settings;
use crate::edge::address::TaskAddress;
use crate::edge::bindings;
use crate::edge::command::{Command, StreamCommand};
use crate::edge::development::received;
use crate::edge::development::statements;
use crate::edge::objects::{AskError, Object};
use crate::edge::response::to_response;
use crate::edge::service::index::D1Index;
use crate::edge::service::keys;
use crate::edge::webhook::check_config;
use crate::executor::{Agents, HostedAgent};
use a2a::binding::discovery::{self, Known};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::jsonrpc::{self, Envelope, RequestId};
use a2a::binding::rest::Endpoint;
use a2a::binding::{MediaType, Reply, ServiceParameters, extensions};
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{SendMessageRequest, TaskId};
use a2a::{Call, FollowCall, Operation, Outcome, TaskCall};
use body::{Body, Turn};
use bridge::Opened;
use listing::list_tasks;
use page::PageAgent;
use route::{Route, route};

/// Answers one request.
///
/// # Errors
///
/// When the platform fails to build a response.
pub async fn handle(mut request: Request, env: Env, _context: Context) -> Result<Response> {
    let settings = match bindings::settings(&env) {
        Ok(settings) => settings,
        Err(error) => {
            console_error!("{error}");
            return to_response(HttpResponse::error(&Error::Internal { task: None }));
        }
    };
    let url = request.inner().url();
    let (origin, path, query) = split_url(&url);
    let agents = match bindings::agents(&env, &settings) {
        Ok(agents) => agents,
        Err(error) => {
            console_error!("{error}");
            return to_response(HttpResponse::error(&Error::NoAgents));
        }
    };
    let exchange = |slug| {
        let parameters = ServiceParameters::read(|name| header(&request, name), query);
        let agent = agents.find(slug)?;
        let (env, url) = (&env, url.as_str());
        Some(Exchange { env, settings: &settings, agents: &agents, agent, slug, url, parameters })
    };
    let answer = match route(path) {
        Route::Card(slug) => match agents.find(slug) {
            Some(agent) => card(&request, agent, settings.public_url.as_deref().unwrap_or(origin)),
            None => Err(unknown_path(path, &agents)),
        },
        Route::JsonRpc(slug) => match exchange(slug) {
            Some(exchange) => return exchange.jsonrpc(&mut request).await,
            None => Err(unknown_path(path, &agents)),
        },
        Route::Rest(slug, below) => match exchange(slug) {
            Some(exchange) => return exchange.rest(&mut request, below).await,
            None => Err(unknown_path(path, &agents)),
        },
        Route::KeySet => match keys::public_set(&env) {
            Some(keys) => key_set(&request, keys),
            None => Err(unknown_path(path, &agents)),
        },
        Route::Received if settings.development => development(&request),
        Route::Statements if settings.development => {
            Ok(HttpResponse::json(200, statements::all().to_string()))
        }
        Route::Received | Route::Statements => Err(unknown_path(path, &agents)),
    };
    let mut response = answer.unwrap_or_else(|error| HttpResponse::error(&error));
    if request.method() == Method::Head {
        response.body.clear();
    }
    to_response(response)
}

fn card(
    request: &Request,
    agent: &HostedAgent,
    origin: &str,
) -> std::result::Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => {
            let known = Known {
                etag: header(request, "if-none-match"),
                modified: header(request, "if-modified-since"),
            };
            Ok(discovery::card(&agent.card, origin, &agent.card_date, &known))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}

fn key_set(request: &Request, keys: String) -> std::result::Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => {
            let response = HttpResponse::json(200, keys);
            Ok(response.with_header("cache-control", "public, max-age=300"))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}

fn development(request: &Request) -> std::result::Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => Ok(HttpResponse::json(200, received::all().to_string())),
        Method::Delete => {
            received::clear();
            Ok(HttpResponse::json(200, "{}".to_owned()))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, DELETE, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, DELETE, OPTIONS")),
    }
}

/// A request of the HTTP+JSON binding, read as far as it names its operation.
struct RestRequest {
    dialect: Dialect,
    operation: Operation,
    params: Value,
    /// Kept to the end of the call.
    _turn: Option<Turn>,
}

/// One request to an agent.
struct Exchange<'a> {
    env: &'a Env,
    settings: &'a Settings,
    agents: &'a Agents,
    agent: &'a HostedAgent,
    slug: Option<&'a str>,
    url: &'a str,
    parameters: ServiceParameters,
}

impl Exchange<'_> {
    /// Answers a request to the JSON-RPC endpoint.
    async fn jsonrpc(&self, request: &mut Request) -> Result<Response> {
        match request.method() {
            Method::Post => {}
            Method::Options => return to_response(preflight(request, "POST, OPTIONS")),
            Method::Get | Method::Head => return to_response(self.page(request)),
            _ => {
                return to_response(HttpResponse::error(&Error::MethodNotAllowed("POST, OPTIONS")));
            }
        }
        let refuse = |id: &RequestId, error: &Error| to_response(jsonrpc::error(id, error));
        let content_type = header(request, "content-type");
        if let Err(error) = MediaType::of_body(content_type.as_deref()) {
            return refuse(&RequestId::NULL, &error);
        }
        let limit = self.settings.max_body_bytes;
        let body = match Body::receive(request, limit).await {
            Ok(body) => body,
            Err(error) => return refuse(&RequestId::NULL, &error),
        };
        let envelope = Envelope::parse(body.bytes(), self.settings.limits.max_json_values);
        // Kept to the end of the call.
        let _turn = body.into_turn();
        let Envelope { id, method, params } = match envelope {
            Ok(envelope) => envelope,
            Err((id, error)) => return refuse(&id, &error),
        };
        let reply = Reply::json_rpc(id);
        let version = self.parameters.version.as_deref();
        match Dialect::of_method(&method, version, self.settings.strict_version) {
            Ok((dialect, operation)) => {
                self.perform(operation, params, reply.in_dialect(dialect)).await
            }
            Err(error) => {
                let accept = header(request, "accept");
                to_response(jsonrpc::refused_method(&method, accept.as_deref(), &reply, &error))
            }
        }
    }

    /// Answers GET and HEAD at the URL of the agent: a page for browsers, a refusal for programs.
    fn page(&self, request: &Request) -> HttpResponse {
        let mut response = if page::is_wanted(header(request, "accept").as_deref()) {
            let (origin, _, _) = split_url(self.url);
            let origin = self.settings.public_url.as_deref().unwrap_or(origin);
            let path = self.slug.map_or_else(String::new, |slug| format!("/{slug}"));
            let agents = self.agents.slugs().filter_map(|slug| self.agents.find(Some(slug)));
            page::page(on_page(self.agent), &path, origin, agents.map(on_page))
        } else {
            HttpResponse::error(&Error::MethodNotAllowed("POST, OPTIONS"))
        };
        if request.method() == Method::Head {
            response.body.clear();
        }
        response.with_header("vary", "accept")
    }

    /// Answers a request to the HTTP+JSON binding, at the path `below` the URL of the agent.
    async fn rest(&self, request: &mut Request, below: &str) -> Result<Response> {
        let endpoint = Endpoint::find(self.slug, below);
        if let (Method::Options, Some(endpoint)) = (request.method(), &endpoint) {
            return to_response(preflight(request, endpoint.allowed()));
        }
        let accept = header(request, "accept");
        let content_type = header(request, "content-type");
        let reply = Reply::rest(MediaType::of_answer(accept.as_deref(), content_type.as_deref()));
        match self.read_rest(request, below, endpoint).await {
            Ok(read) => {
                let RestRequest { dialect, operation, params, _turn } = read;
                self.perform(operation, params, reply.in_dialect(dialect)).await
            }
            Err(error) => to_response(reply.error(&error)),
        }
    }

    async fn read_rest(
        &self,
        request: &mut Request,
        below: &str,
        endpoint: Option<Endpoint>,
    ) -> std::result::Result<RestRequest, Error> {
        let (_, path, query) = split_url(self.url);
        let version = self.parameters.version.as_deref();
        let dialect = Dialect::of_path(below, version, self.settings.strict_version)?;
        let endpoint = endpoint.ok_or_else(|| unknown_path(path, self.agents))?;
        let operation = endpoint.operation(request.method().as_ref())?;
        if request.method() != Method::Post {
            let params = endpoint.params_of_query(query);
            return Ok(RestRequest { dialect, operation, params, _turn: None });
        }
        MediaType::of_body(header(request, "content-type").as_deref())?;
        let limit = self.settings.max_body_bytes;
        let body = Body::receive(request, limit).await?;
        let params = endpoint.params_of_body(body.bytes(), self.settings.limits.max_json_values)?;
        Ok(RestRequest { dialect, operation, params, _turn: body.into_turn() })
    }

    /// Carries an operation out and answers, in whatever form the binding wants.
    async fn perform(&self, operation: Operation, params: Value, reply: Reply) -> Result<Response> {
        let decoded = || {
            let tenant = params.get("tenant").and_then(Value::as_str);
            let agent = agent_for(self.agents, self.agent, self.slug, tenant)?;
            let capabilities = &agent.capabilities;
            let asked = &self.parameters.extensions;
            let active = extensions::activate(operation, &capabilities.extensions, asked)?;
            operation.check_offered(capabilities)?;
            let call = operation.decode(params)?;
            call.check_offered(capabilities)?;
            check_config(&call, self.settings)?;
            if let Some(request) = call.message() {
                check_message(request, self.settings)?;
            }
            let agent = agent.slug.clone();
            let terms = self.parameters.terms(&call, &active)?;
            let reply = reply.clone().with_extensions(active);
            let is_keyed = self.parameters.idempotency_key()?.is_some();
            let fingerprint =
                call.message().filter(|_| is_keyed).map(SendMessageRequest::fingerprint);
            Ok(Command { agent, caller: Caller::anonymous(), reply, fingerprint, terms, call })
        };
        let (reply, answer) = match decoded() {
            Ok(command) => {
                let reply = command.reply.clone();
                (reply, self.answer(command).await)
            }
            Err(error) => (reply, Err(error)),
        };
        answer.unwrap_or_else(|error| to_response(reply.error(&error)))
    }

    /// Lets the one answer a call who can.
    async fn answer(&self, command: Command<Call>) -> Answer {
        let Command { agent, caller, reply, fingerprint, terms, call } = command;
        match call {
            Call::List(request) => {
                let listed = list_tasks(self.env, &agent, &caller, &request).await?;
                Ok(to_response(reply.outcome(&Outcome::Tasks(listed))?))
            }
            Call::Card => Err(Error::ExtendedAgentCardNotConfigured),
            Call::Task(call) => {
                let command = Command { agent, caller, reply, fingerprint, terms, call };
                self.ask(command).await
            }
            Call::Follow(call) => {
                let command = Command { agent, caller, reply, fingerprint, terms, call };
                self.follow(command).await
            }
        }
    }

    /// Lets the object of the task that a call is about answer it.
    async fn ask(&self, mut command: Command<TaskCall>) -> Answer {
        let begins = command.call.message().is_some() && command.call.task_id().is_none();
        self.heed_quota(begins, &mut command).await?;
        let object = self.object(&command, command.call.task_id())?;
        match object.call(command).await {
            Ok(response) => Ok(Ok(response)),
            Err(error) => {
                console_error!("task {} did not answer: {error}", object.id());
                Err(Error::Internal { task: None })
            }
        }
    }

    /// Opens a stream from the object of the task that a call is about.
    async fn follow(&self, mut command: Command<FollowCall>) -> Answer {
        self.heed_quota(command.call.task_id().is_none(), &mut command).await?;
        let object = self.object(&command, command.call.task_id())?;
        let after = match &command.call {
            FollowCall::SubscribeToTask(_) => self.parameters.after()?,
            FollowCall::SendStreamingMessage(_) if self.parameters.idempotency_key()?.is_some() => {
                self.parameters.after()?
            }
            FollowCall::SendStreamingMessage(_) => None,
        };
        let opened = bridge::open(object, StreamCommand { command, after }).await;
        Ok(opened.and_then(|opened| match opened {
            Opened::Stream(response) => Ok(response),
            Opened::Answer(response) => to_response(response),
        }))
    }

    /// The object of the task that a call names, or of a new one. An id that was never given out is refused
    /// here: the namespace knows its own ids.
    fn object<C>(
        &self,
        command: &Command<C>,
        task: Option<&TaskId>,
    ) -> std::result::Result<Object, Error> {
        let address = match (task, self.parameters.idempotency_key()?) {
            (Some(id), _) => TaskAddress::of_task(id),
            (None, Some(key)) => TaskAddress::of_key(&command.agent, &command.caller.id, key),
            (None, None) => TaskAddress::New,
        };
        Object::at(self.env, &address).map_err(|error| match (error, task) {
            (AskError::Unknown, Some(id)) => Error::TaskNotFound(id.clone()),
            (error, _) => {
                console_error!("no task object: {error}");
                Error::Internal { task: None }
            }
        })
    }

    /// Refuses a call that begins a task if its caller is over the quota. A send under a key is let through
    /// with the quota in its terms: its object knows whether it is repeated and so begins nothing.
    async fn heed_quota<C>(
        &self,
        begins: bool,
        command: &mut Command<C>,
    ) -> std::result::Result<(), Error> {
        let reached = if begins { self.quota_reached(&command.caller).await } else { None };
        match reached {
            quota if command.fingerprint.is_some() => command.terms.quota = quota,
            Some(limit) => return Err(Error::TooManyTasks(limit)),
            None => {}
        }
        Ok(())
    }

    /// The quota, if a caller has as many unfinished tasks as it may. An index that does not answer lets
    /// the call through.
    async fn quota_reached(&self, caller: &Caller) -> Option<u64> {
        let limit = self.settings.max_active_tasks;
        if limit == 0 {
            return None;
        }
        let index = D1Index { env: self.env.clone() };
        let counted = Box::pin(index.count_unfinished(&caller.id, limit));
        let reason = match select(counted, Delay::from(QUOTA_PATIENCE)).await {
            Either::Left((Ok(count), _)) => return (count >= limit).then_some(limit),
            Either::Left((Err(error), _)) => error.to_string(),
            Either::Right(_) => "no answer in time".to_owned(),
        };
        console_error!("a send goes on although its caller's tasks cannot be counted: {reason}");
        None
    }
}

/// What comes of a call: a response, which the platform may fail to build, or a refusal.
type Answer = std::result::Result<Result<Response>, Error>;

fn on_page(agent: &HostedAgent) -> PageAgent<'_> {
    PageAgent { slug: &agent.slug, card: &agent.card }
}

/// The agent that a call is for: the one of the path, or at `/` the one that `tenant` names.
fn agent_for<'a>(
    agents: &'a Agents,
    at_path: &'a HostedAgent,
    slug: Option<&str>,
    tenant: Option<&str>,
) -> std::result::Result<&'a HostedAgent, Error> {
    let Some(tenant) = tenant.filter(|tenant| !tenant.is_empty()) else { return Ok(at_path) };
    let named = agents.find(Some(tenant)).filter(|_| slug.is_none_or(|slug| slug == tenant));
    named.ok_or_else(|| {
        let all = || agents.slugs().collect::<Vec<_>>().join(", ");
        let known = slug.map_or_else(all, str::to_owned);
        Error::invalid("tenant", format!("names no agent that answers here; there is: {known}"))
    })
}

fn check_message(
    request: &SendMessageRequest,
    settings: &Settings,
) -> std::result::Result<(), Error> {
    let parts = request.message.parts.len();
    if parts > settings.max_parts {
        let limit = settings.max_parts;
        let description = format!("must have at most {limit} parts, got {parts}");
        return Err(Error::invalid("message.parts", description));
    }
    // Short texts take several times their bytes in memory, and are kept.
    let message = &request.message;
    for (field, count) in [
        ("message.extensions", message.extensions.len()),
        ("message.referenceTaskIds", message.reference_task_ids.len()),
        ("configuration.acceptedOutputModes", request.configuration.accepted_output_modes.len()),
    ] {
        if count > MAX_LISTED {
            let description = format!("must have at most {MAX_LISTED} entries, got {count}");
            return Err(Error::invalid(field, description));
        }
    }
    Ok(())
}

/// How many extensions, other tasks or media types a message may name.
const MAX_LISTED: usize = 1_000;

/// The answer to an OPTIONS request where these methods are taken.
fn preflight(request: &Request, allowed: &'static str) -> HttpResponse {
    let requested = header(request, "access-control-request-headers");
    HttpResponse::options(allowed, requested.as_deref())
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}

fn unknown_path(path: &str, agents: &Agents) -> Error {
    let shown: String = path.chars().take(60).collect();
    let cards = "their cards at <agent>/.well-known/agent-card.json";
    Error::NotFound(format!(
        "nothing is served at {shown}; agents answer at {}, {cards}",
        agents.paths()
    ))
}

/// How long a send waits at most for its caller's tasks to be counted.
const QUOTA_PATIENCE: Duration = Duration::from_secs(2);
