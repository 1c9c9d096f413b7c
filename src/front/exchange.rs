//! Reads a request to an agent in the form of its binding, and has it admitted.

use super::admit::{Asked, Door, Params, Unadmitted, Wanted, unknown_path};
use super::command;
use super::document::card::extended_card;
use super::document::page;
use super::facts::{Inside, Need, Received};
use super::identify::Request;
use super::plan::Plan;
use super::report::Report;
use super::seen::Seen;
use crate::auth::{ActAs, Identity};
use crate::config::Settings;
use crate::executor::HostedAgent;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::jsonrpc::{self, Envelope, RequestId};
use a2a::binding::rest::Endpoint;
use a2a::binding::{MediaType, PlainRead, Reply, ServiceParameters};
use a2a::dialect::{Dialect, Habits, Spoken};
use a2a::error::Error;
use a2a::{Call, Operation};
use serde_json::Value;

/// A request to an agent.
pub(super) struct Exchange<'a> {
    request: Request<'a>,
    door: Door<'a>,
    parameters: ServiceParameters,
    seen: &'a mut Seen,
}

impl<'a> Exchange<'a> {
    /// A request to the agent with this slug; `None` is the default agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(super) fn new(
        request: Request<'a>,
        slug: Option<&'a str>,
        seen: &'a mut Seen,
    ) -> Result<Self, Error> {
        let (_, path, query) = split_url(request.head.url());
        let header = |name: &str| request.head.header(name).map(str::to_owned);
        let door = Door::find(request.deployment, slug, path)?;
        seen.note_agent(door.agent);
        Ok(Self { request, door, parameters: ServiceParameters::read(header, query), seen })
    }

    /// Decides about a request to the JSON-RPC endpoint. If `only` names a method, a request without a valid call of
    /// this method is refused with the status of an HTTP error.
    pub(super) fn jsonrpc(mut self, body: &Received<'_>, only: Option<&str>) -> Plan {
        let head = self.request.head;
        match head.method() {
            "POST" => {}
            "OPTIONS" => return Plan::Answer(head.preflight("POST, OPTIONS")),
            "GET" | "HEAD" if only.is_none() => {
                return page::plan(self.request, self.door.agent, self.door.slug);
            }
            _ => {
                let refused = Error::MethodNotAllowed("POST, OPTIONS");
                return Plan::Answer(HttpResponse::error(&refused));
            }
        }
        self.seen.note_call();
        let held = self.request.facts.check_limits();
        let refuse = |id: &RequestId, error: &Error| {
            let first = held.as_ref().err().unwrap_or(error);
            let mut answer = jsonrpc::error(id, first);
            if only.is_some() && answer.status == 200 {
                answer.status = 400;
            }
            Plan::Answer(answer)
        };
        if let Err(error) = MediaType::of_body(head.header("content-type")) {
            return refuse(&RequestId::NULL, &error);
        }
        let body = match self.bytes(body) {
            Ok(Some(body)) => body,
            Ok(None) => {
                let decided = self.before_body();
                return decided.unwrap_or_else(|error| refuse(&RequestId::NULL, &error));
            }
            Err(error) => return refuse(&RequestId::NULL, &error),
        };
        let plain = PlainRead::parse(body).filter(|_| only.is_none());
        if let Some(PlainRead { id, method, call }) = plain {
            let (wanted, mut reply) = (Wanted::Method(method), Reply::json_rpc(id));
            let admitted = self.admit(wanted, Params::Plain(call), &mut reply);
            return admitted.unwrap_or_else(|error| Plan::Answer(reply.error(&error)));
        }
        let envelope = Envelope::parse(body, self.settings().limits.max_json_values);
        let Envelope { id, method, params } = match envelope {
            Ok(envelope) => envelope,
            Err((id, error)) => return refuse(&id, &error),
        };
        if let Some(only) = only.filter(|only| *only != method) {
            let refused = Error::InvalidRequest(format!("this path takes {only} alone"));
            return refuse(&id, &refused);
        }
        let mut reply = Reply::json_rpc(id);
        let admitted = self.admit(Wanted::Method(&method), Params::Json(params), &mut reply);
        admitted.unwrap_or_else(|error| {
            let accept = head.header("accept");
            Plan::Answer(reply.method_refusal(&method, accept, &error))
        })
    }

    /// Decides about a request to the HTTP+JSON binding. `below` is the path after the URL of the agent.
    pub(super) fn rest(mut self, below: &str, body: &Received<'_>) -> Plan {
        let head = self.request.head;
        let version = self.parameters.version.as_deref();
        let strict = self.settings().strict_version;
        let known = Spoken::looks_like(below);
        let spoken = &self.door.agent.dialects;
        let dialect = Spoken::dialect_of_path(below, version, strict, spoken);
        let endpoint = Endpoint::find(known, self.door.slug, below);
        if let ("OPTIONS", Some(endpoint)) = (head.method(), &endpoint) {
            return Plan::Answer(head.preflight(endpoint.allowed()));
        }
        let media_type = MediaType::of_answer(head.header("accept"), head.header("content-type"));
        let mut reply = Reply::rest(media_type);
        self.seen.note_call();
        let held = self.request.facts.check_limits();
        reply.speak(known, Habits::default());
        let read = held.and(dialect).and_then(|dialect| self.read_rest(dialect, endpoint, body));
        let decided = read.and_then(|read| match read {
            Some(RestRequest { dialect, operation, params }) => {
                self.admit(Wanted::Operation(dialect, operation), Params::Json(params), &mut reply)
            }
            None => self.before_body(),
        });
        decided.unwrap_or_else(|error| Plan::Answer(reply.error(&error)))
    }

    /// Reads a request of the HTTP+JSON binding; `None` if its body has to be received first.
    fn read_rest(
        &self,
        dialect: Dialect,
        endpoint: Option<Endpoint>,
        body: &Received<'_>,
    ) -> Result<Option<RestRequest>, Error> {
        let (_, path, query) = split_url(self.request.head.url());
        let endpoint =
            endpoint.ok_or_else(|| unknown_path(path, &self.request.deployment.agents))?;
        let operation = endpoint.operation(self.request.head.method())?;
        if self.request.head.method() != "POST" {
            let params = endpoint.params_of_query(query);
            return Ok(Some(RestRequest { dialect, operation, params }));
        }
        MediaType::of_body(self.request.head.header("content-type"))?;
        let Some(body) = self.bytes(body)? else { return Ok(None) };
        let max_values = self.settings().limits.max_json_values;
        let params = endpoint.params_of_body(body, max_values)?;
        Ok(Some(RestRequest { dialect, operation, params }))
    }

    /// The bytes of the body; `None` if it has to be received first.
    fn bytes<'b>(&self, body: &Received<'b>) -> Result<Option<&'b [u8]>, Error> {
        let limit = self.settings().max_body_bytes;
        match body {
            Received::Whole(bytes) if bytes.len() > limit => Err(Error::TooLarge(limit)),
            Received::Whole(bytes) => Ok(Some(bytes)),
            Received::Nothing => Ok(None),
            Received::Refused(error) => Err(error.clone()),
        }
    }

    /// Identifies the caller of the request for this agent.
    fn identify(request: Request<'a>, agent: &'a HostedAgent, seen: &mut Seen) -> Identity {
        let judged = request.judge(agent);
        seen.note_judged(agent, &judged, request.facts.is_reported);
        judged.identity
    }

    fn settings(&self) -> &'a Settings {
        &self.request.deployment.settings
    }

    /// Decides before the body was received. The plan is to receive the body, unless the agent in the path already
    /// refuses the caller. If the path is `/`, only the body names the agent.
    fn before_body(&mut self) -> Result<Plan, Error> {
        self.request.facts.check_limits()?;
        let agent = self.door.slug.map(|_| self.door.agent);
        match agent.map(|agent| Self::identify(self.request, agent, self.seen)) {
            Some(Identity::Refused(error)) => {
                note(self.request, &error, self.seen);
                Err(error)
            }
            Some(Identity::Pending(tokens)) => Ok(Plan::Need(Need::Verdicts(tokens))),
            Some(Identity::Caller(_)) | None => {
                Ok(Plan::Need(Need::Body(self.settings().max_body_bytes)))
            }
        }
    }

    fn admit(self, wanted: Wanted<'_>, params: Params, reply: &mut Reply) -> Result<Plan, Error> {
        let Self { request, door, parameters, seen } = self;
        let (head, agents) = (request.head, &request.deployment.agents);
        request.facts.check_limits()?;
        let identify = &mut |agent: &'a HostedAgent| Self::identify(request, agent, seen);
        let authorization = head.header("authorization");
        let act_as = head.header(ActAs::HEADER);
        let asked =
            Asked { wanted, params, parameters: &parameters, authorization, act_as, identify };
        let mut command = match door.admit(asked, reply) {
            Ok(command) => command,
            Err(Unadmitted::Unlisted(slug, error)) => {
                let unlearned = agents.find(Some(&slug)).and_then(|agent| request.unlearned(agent));
                return unlearned.map(Plan::Need).ok_or(error);
            }
            Err(Unadmitted::Refused(error)) => {
                note(request, &error, seen);
                seen.note_refusal(door.agent, &error);
                return Err(error);
            }
            Err(Unadmitted::Pending(tokens)) => return Ok(Plan::Need(Need::Verdicts(tokens))),
        };
        let (origin, _, _) = split_url(head.url());
        if command.call == Call::Card {
            let agent = agents.find(Some(&command.agent)).ok_or(Error::Internal { task: None })?;
            return extended_card(request, agent, &command.caller, &command.reply);
        }
        command.trail = head.trail();
        // Who shares the new task, but not the task that asks, must not be told of the latter.
        command.trail.asked_by = match &request.facts.inside {
            Some(Inside { by, caller, .. }) if caller.owner() == command.caller.owner() => {
                Some(Box::new(by.clone()))
            }
            _ => None,
        };
        if command.call.message().is_some() {
            let public = request.deployment.settings.public_url.as_deref();
            command.origin = Some(public.unwrap_or(origin).to_owned());
        }
        Ok(command::plan(request, &parameters, command, seen))
    }
}

/// Reports the reason why an agent cannot run.
fn note(request: Request<'_>, error: &Error, seen: &mut Seen) {
    let Error::AgentUnusable(slug) = error else { return };
    for report in Report::of_unusable(&request.deployment.agents, slug) {
        seen.report(report);
    }
}

/// A request of the HTTP+JSON binding whose operation is known.
struct RestRequest {
    dialect: Dialect,
    operation: Operation,
    params: Value,
}
