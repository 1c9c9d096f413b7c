//! One request to an agent, from its first byte to its answer.

use serde_json::Value;
use worker::{Env, Method, Request, Response, Result};

use super::admission::{Asked, Door, Wanted, unknown_path};
use super::body::{Body, Turn};
use super::identify::identify;
use super::listing::list_tasks;
use super::page::{self, PageAgent};
use super::{header, preflight, quota, stream};
use crate::auth::Caller;
use crate::config::Settings;
use crate::edge::address::TaskAddress;
use crate::edge::command::{Command, StreamCommand};
use crate::edge::objects::{AskError, Object};
use crate::edge::response::to_response;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::target::check_webhook_url;
use crate::executor::{Agents, HostedAgent};
use crate::format;
use crate::port::{Observation, Observer};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::jsonrpc::{self, Envelope, RequestId};
use a2a::binding::rest::Endpoint;
use a2a::binding::{MediaType, Reply, ServiceParameters};
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::TaskId;
use a2a::{Call, FollowCall, Operation, Outcome, TaskCall};

/// One request to an agent.
pub(super) struct Exchange<'a> {
    env: &'a Env,
    door: Door<'a>,
    url: &'a str,
    parameters: ServiceParameters,
    identity: std::result::Result<Caller, Error>,
    observer: ConsoleObserver,
}

impl<'a> Exchange<'a> {
    /// A request to the agent of this slug, the default agent if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(super) fn new(
        env: &'a Env,
        settings: &'a Settings,
        agents: &'a Agents,
        slug: Option<&'a str>,
        request: &Request,
        url: &'a str,
    ) -> std::result::Result<Self, Error> {
        let (_, path, query) = split_url(url);
        Ok(Self {
            env,
            door: Door::find(settings, agents, slug, path, check_webhook_url)?,
            url,
            parameters: ServiceParameters::read(|name| header(request, name), query),
            identity: identify(request),
            observer: ConsoleObserver::of(env),
        })
    }

    /// Answers a request to the JSON-RPC endpoint.
    ///
    /// # Errors
    ///
    /// When the platform fails to build a response.
    pub(super) async fn jsonrpc(self, request: &mut Request) -> Result<Response> {
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
        let limit = self.door.settings.max_body_bytes;
        let body = match Body::receive(request, limit).await {
            Ok(body) => body,
            Err(error) => return refuse(&RequestId::NULL, &error),
        };
        let envelope = Envelope::parse(body.bytes(), self.door.settings.limits.max_json_values);
        // Kept to the end of the call.
        let _turn = body.into_turn();
        let Envelope { id, method, params } = match envelope {
            Ok(envelope) => envelope,
            Err((id, error)) => return refuse(&id, &error),
        };
        let reply = Reply::json_rpc(id);
        let accept = header(request, "accept");
        let wanted = Wanted::Method(&method);
        match self.perform(wanted, params, &reply).await {
            Ok(answer) => answer,
            Err(error) => {
                to_response(jsonrpc::refused_method(&method, accept.as_deref(), &reply, &error))
            }
        }
    }

    /// Answers GET and HEAD at the URL of the agent: a page for browsers, a refusal for programs.
    fn page(&self, request: &Request) -> HttpResponse {
        let mut response = if page::is_wanted(header(request, "accept").as_deref()) {
            let (origin, _, _) = split_url(self.url);
            let origin = self.door.settings.public_url.as_deref().unwrap_or(origin);
            let Door { agents, agent, slug, .. } = self.door;
            let path = slug.map_or_else(String::new, |slug| format!("/{slug}"));
            let all = agents.slugs().filter_map(|slug| agents.find(Some(slug)));
            page::page(on_page(agent), &path, origin, all.map(on_page))
        } else {
            HttpResponse::error(&Error::MethodNotAllowed("POST, OPTIONS"))
        };
        if request.method() == Method::Head {
            response.body.clear();
        }
        response.with_header("vary", "accept")
    }

    /// Answers a request to the HTTP+JSON binding, at the path `below` the URL of the agent.
    ///
    /// # Errors
    ///
    /// When the platform fails to build a response.
    pub(super) async fn rest(self, request: &mut Request, below: &str) -> Result<Response> {
        let endpoint = Endpoint::find(self.door.slug, below);
        if let (Method::Options, Some(endpoint)) = (request.method(), &endpoint) {
            return to_response(preflight(request, endpoint.allowed()));
        }
        let accept = header(request, "accept");
        let content_type = header(request, "content-type");
        let reply = Reply::rest(MediaType::of_answer(accept.as_deref(), content_type.as_deref()));
        let answer = async {
            let read = self.read_rest(request, below, endpoint).await?;
            let RestRequest { dialect, operation, params, _turn } = read;
            self.perform(Wanted::Operation(dialect, operation), params, &reply).await
        };
        answer.await.unwrap_or_else(|error| to_response(reply.error(&error)))
    }

    async fn read_rest(
        &self,
        request: &mut Request,
        below: &str,
        endpoint: Option<Endpoint>,
    ) -> std::result::Result<RestRequest, Error> {
        let (_, path, query) = split_url(self.url);
        let version = self.parameters.version.as_deref();
        let dialect = Dialect::of_path(below, version, self.door.settings.strict_version)?;
        let endpoint = endpoint.ok_or_else(|| unknown_path(path, self.door.agents))?;
        let operation = endpoint.operation(request.method().as_ref())?;
        if request.method() != Method::Post {
            let params = endpoint.params_of_query(query);
            return Ok(RestRequest { dialect, operation, params, _turn: None });
        }
        MediaType::of_body(header(request, "content-type").as_deref())?;
        let limit = self.door.settings.max_body_bytes;
        let body = Body::receive(request, limit).await?;
        let params =
            endpoint.params_of_body(body.bytes(), self.door.settings.limits.max_json_values)?;
        Ok(RestRequest { dialect, operation, params, _turn: body.into_turn() })
    }

    /// Admits a request and lets the one answer it who can.
    async fn perform(&self, wanted: Wanted<'_>, params: Value, reply: &Reply) -> Answer {
        let (parameters, reply) = (&self.parameters, reply.clone());
        let identity = self.identity.clone();
        let command = self.door.admit(Asked { wanted, params, parameters, reply, identity })?;
        let Command { agent, caller, reply, fingerprint, terms, call } = command;
        match call {
            Call::List(request) => {
                let listed =
                    list_tasks(self.env, &agent, &caller, &request, &self.observer).await?;
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
            Err(error) => Err(self.unreachable(Some(&object.id().task_id()), &error)),
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
        Ok(stream::open(self.env, object.id(), StreamCommand { command, after }).await)
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
            (error, _) => self.unreachable(None, &error),
        })
    }

    async fn heed_quota<C>(
        &self,
        begins: bool,
        command: &mut Command<C>,
    ) -> std::result::Result<(), Error> {
        if !begins {
            return Ok(());
        }
        let limit = self.door.settings.max_active_tasks;
        let reached = quota::reached(self.env, limit, &command.caller, &self.observer).await;
        quota::heed(reached, command)
    }

    fn unreachable(&self, task: Option<&TaskId>, error: &AskError) -> Error {
        let reason = error.to_string();
        self.observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
        match error.is_of_versions() {
            true => Error::Unavailable(format::OTHER_VERSION),
            false => Error::Internal { task: None },
        }
    }
}

/// What comes of a call: a response, which the platform may fail to build, or a refusal.
type Answer = std::result::Result<Result<Response>, Error>;

fn on_page(agent: &HostedAgent) -> PageAgent<'_> {
    PageAgent { slug: &agent.slug, card: &agent.card }
}

/// A request of the HTTP+JSON binding, read as far as it names its operation.
struct RestRequest {
    dialect: Dialect,
    operation: Operation,
    params: Value,
    /// Kept to the end of the call.
    _turn: Option<Turn>,
}
