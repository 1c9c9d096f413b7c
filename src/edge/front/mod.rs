//! The front Worker: routes a request, refuses what can be refused without a task, and hands the rest
//! to the object of the task.

mod body;
mod bridge;
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
use crate::edge::bindings;
use crate::edge::command::{Command, StreamCommand};
use crate::edge::development::received;
use crate::edge::development::statements;
use crate::edge::request::post_bytes;
use crate::edge::response::to_response;
use crate::edge::service::index::D1Index;
use crate::edge::service::keys;
use crate::edge::webhook::check_config;
use crate::executor::{Agents, BUILT_AT, HostedAgent};
use crate::format;
use a2a::binding::discovery::{self, Known};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::jsonrpc::{self, Envelope, RequestId};
use a2a::binding::rest::{self, Endpoint};
use a2a::binding::{MediaType, Reply, ServiceParameters, extensions};
use a2a::error::Error;
use a2a::model::{SendMessageRequest, TaskId, encode};
use a2a::{Call, Operation};
pub(super) use body::read_text;
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
    let agents = match bindings::agents(&settings) {
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
            Ok(discovery::card(&agent.card, origin, BUILT_AT, &known))
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
        match jsonrpc::parse_method(&method, version, self.settings.strict_version) {
            Ok(operation) => self.perform(operation, params, reply).await,
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
            Ok((operation, params, _turn)) => self.perform(operation, params, reply).await,
            Err(error) => to_response(reply.error(&error)),
        }
    }

    async fn read_rest(
        &self,
        request: &mut Request,
        below: &str,
        endpoint: Option<Endpoint>,
    ) -> std::result::Result<(Operation, Value, Option<Turn>), Error> {
        let (_, path, query) = split_url(self.url);
        let version = self.parameters.version.as_deref();
        rest::check_version(below, version, self.settings.strict_version)?;
        let endpoint = endpoint.ok_or_else(|| unknown_path(path, self.agents))?;
        let operation = endpoint.operation(request.method().as_ref())?;
        if request.method() != Method::Post {
            return Ok((operation, endpoint.params_of_query(query), None));
        }
        MediaType::of_body(header(request, "content-type").as_deref())?;
        let limit = self.settings.max_body_bytes;
        let body = Body::receive(request, limit).await?;
        let params = endpoint.params_of_body(body.bytes(), self.settings.limits.max_json_values)?;
        Ok((operation, params, body.into_turn()))
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
            if let Call::SendMessage(request) | Call::SendStreamingMessage(request) = &call {
                check_message(request, self.settings)?;
            }
            let agent = agent.slug.clone();
            let terms = self.parameters.terms(&call, &active)?;
            let reply = reply.clone().with_extensions(active);
            let fingerprint = match (&call, self.parameters.idempotency_key()?) {
                (Call::SendMessage(request) | Call::SendStreamingMessage(request), Some(_)) => {
                    Some(request.fingerprint())
                }
                (_, _) => None,
            };
            Ok(Command { agent, caller: Caller::anonymous(), reply, fingerprint, terms, call })
        };
        match decoded() {
            Ok(Command { agent, caller, reply, call: Call::ListTasks(request), .. }) => {
                let listed = list_tasks(self.env, &agent, &caller, &request).await;
                to_response(
                    listed.map_or_else(|error| reply.error(&error), |json| reply.result(&json)),
                )
            }
            Ok(command) => self.hand_on(command).await,
            Err(error) => to_response(reply.error(&error)),
        }
    }

    /// Lets the object of the task that a call is about answer it.
    async fn hand_on(&self, mut command: Command) -> Result<Response> {
        let reply = command.reply.clone();
        match self.quota_reached(&command).await {
            // The object knows whether a send under a key is repeated and so begins nothing.
            quota if command.fingerprint.is_some() => command.terms.quota = quota,
            Some(limit) => return to_response(reply.error(&Error::TooManyTasks(limit))),
            None => {}
        }
        let addressed = || {
            let key = self.parameters.idempotency_key()?;
            let name = key.map(|key| format!("{}\n{key}\n{}", command.agent, command.caller.id));
            let id = object_of(self.env, &command.call, name.as_deref())?;
            let after = match &command.call {
                Call::SubscribeToTask(_) => self.parameters.after()?,
                Call::SendStreamingMessage(_) if name.is_some() => self.parameters.after()?,
                _ => None,
            };
            Ok((id, after))
        };
        let (id, after) = match addressed() {
            Ok(addressed) => addressed,
            Err(error) => return to_response(reply.error(&error)),
        };
        if matches!(command.call, Call::SendStreamingMessage(_) | Call::SubscribeToTask(_)) {
            let stream = StreamCommand { command, after };
            return match bridge::open(self.env, &id, stream).await? {
                Opened::Stream(response) => Ok(response),
                Opened::Answer(response) => to_response(response),
            };
        }
        match ask(self.env, &id, command).await {
            Ok(response) => Ok(response),
            Err(error) => to_response(reply.error(&error)),
        }
    }

    /// The quota, if a call is to begin a task and its caller has as many unfinished ones as it may. An
    /// index that does not answer lets the call through.
    async fn quota_reached(&self, command: &Command) -> Option<u64> {
        let limit = self.settings.max_active_tasks;
        let begins = matches!(
            &command.call,
            Call::SendMessage(request) | Call::SendStreamingMessage(request)
                if request.message.task_id.is_none()
        );
        if limit == 0 || !begins {
            return None;
        }
        let index = D1Index { env: self.env.clone() };
        let counted = Box::pin(index.count_unfinished(&command.caller.id, limit));
        let reason = match select(counted, Delay::from(QUOTA_PATIENCE)).await {
            Either::Left((Ok(count), _)) => return (count >= limit).then_some(limit),
            Either::Left((Err(error), _)) => error.to_string(),
            Either::Right(_) => "no answer in time".to_owned(),
        };
        console_error!("a send goes on although its caller's tasks cannot be counted: {reason}");
        None
    }
}

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

/// The task that a call is about, and so its object. For a message without task a new one or, if the
/// send has a name, the one of that name. An id that was never given out is refused here: the
/// namespace knows its own ids.
pub(in crate::edge) fn object_of(
    env: &Env,
    call: &Call,
    name: Option<&str>,
) -> std::result::Result<TaskId, Error> {
    let internal = |error: worker::Error| {
        console_error!("no task object: {error}");
        Error::Internal { task: None }
    };
    let tasks = bindings::tasks(env).map_err(internal)?;
    let existing = |id: &TaskId| {
        let object = tasks.id_from_string(id.as_str());
        let object = object.map_err(|_| Error::TaskNotFound(id.clone()))?;
        Ok(TaskId::new(object.to_string()))
    };
    match call {
        // No task in particular.
        Call::ListTasks(_) => Err(Error::Internal { task: None }),
        Call::SendMessage(request) | Call::SendStreamingMessage(request) => {
            match &request.message.task_id {
                Some(id) => existing(id),
                None => {
                    let id =
                        name.map_or_else(|| tasks.unique_id(), |name| tasks.id_from_name(name));
                    id.map(|id| TaskId::new(id.to_string())).map_err(internal)
                }
            }
        }
        Call::GetTask(request) => existing(&request.id),
        Call::CancelTask(request) => existing(&request.id),
        Call::SubscribeToTask(request) => existing(&request.id),
        Call::CreateTaskPushNotificationConfig(config) => existing(&config.task_id),
        Call::ListTaskPushNotificationConfigs(request) => existing(&request.task_id),
        Call::GetTaskPushNotificationConfig(request)
        | Call::DeleteTaskPushNotificationConfig(request)
        | Call::ListTaskPushNotificationDeliveries(request) => existing(&request.task_id),
        Call::RedeliverTaskPushNotifications(request) => existing(&request.task_id),
    }
}

/// Sends a command to the object of a task; gives what it answers for the client.
///
/// # Errors
///
/// [`Error::Unavailable`] if the object is of a version that cannot read the command, [`Error::Internal`]
/// when it does not answer, or not for the client.
pub(in crate::edge) async fn ask(
    env: &Env,
    id: &TaskId,
    command: Command,
) -> std::result::Result<Response, Error> {
    let reason = match send(env, id, command).await {
        Ok(response) => match response.status_code() {
            ..500 => return Ok(response),
            503 if response.headers().has("content-type").unwrap_or(false) => return Ok(response),
            503 => return Err(Error::Unavailable(format::OTHER_VERSION)),
            status => format!("it answered {status}"),
        },
        Err(error) => error.to_string(),
    };
    console_error!("task {id} did not answer: {reason}");
    Err(Error::Internal { task: None })
}

async fn send(env: &Env, id: &TaskId, command: Command) -> Result<Response> {
    let stub = bindings::tasks(env)?.id_from_string(id.as_str())?.get_stub()?;
    let body = encode(&command)?;
    drop(command);
    let asked = post_bytes("https://task/", body.as_bytes())?;
    drop(body);
    stub.fetch_with_request(asked).await
}

/// The answer to an OPTIONS request where these methods are taken.
fn preflight(request: &Request, allowed: &'static str) -> HttpResponse {
    let requested = header(request, "access-control-request-headers");
    HttpResponse::options(allowed, requested.as_deref())
}

pub(in crate::edge) fn header(request: &Request, name: &str) -> Option<String> {
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
