//! A request to an agent, read as its binding writes it, and admitted.

use std::rc::Rc;

use super::card::PARTIAL_SECONDS;
use super::decision::{Front, Received, preflight};
use super::facts::Need;
use super::plan::Plan;
use crate::auth::{ActAs, Identity};
use crate::edge::bindings;
use crate::edge::service::random::WorkerRandom;
use crate::edge::target::check_webhook_url;
use crate::executor::{Cards, HostedAgent};
use crate::front::admission::{Asked, Door, Params, Unadmitted, Wanted, unknown_path};
use crate::front::head::Head;
use crate::front::page::{self, PageAgent};
use crate::port::{Observation, Observer, Random};
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
    head: &'a Head<'a>,
    door: Door<'a>,
    parameters: ServiceParameters,
    front: &'a Front,
}

impl<'a> Exchange<'a> {
    /// A request to the agent of this slug, the default agent if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(super) fn new(
        front: &'a Front,
        slug: Option<&'a str>,
        head: &'a Head<'a>,
    ) -> Result<Self, Error> {
        let (_, path, query) = split_url(head.url());
        let header = |name: &str| head.header(name).map(str::to_owned);
        let door =
            Door::find(&front.settings, &front.agents, slug, path, check_webhook_url, || {
                WorkerRandom.new_id()
            })?;
        front.seen.note_agent(door.agent);
        Ok(Self { head, door, parameters: ServiceParameters::read(header, query), front })
    }

    /// Decides about a request to the JSON-RPC endpoint. Where `only` one method is taken, the status of every refusal of
    /// another body is an HTTP error.
    pub(super) fn jsonrpc(self, body: &Received<'_>, only: Option<&str>) -> Plan {
        let head = self.head;
        match head.method() {
            "POST" => {}
            "OPTIONS" => return Plan::Answer(preflight(head, "POST, OPTIONS")),
            "GET" | "HEAD" if only.is_none() => return self.page(),
            _ => {
                let refused = Error::MethodNotAllowed("POST, OPTIONS");
                return Plan::Answer(HttpResponse::error(&refused));
            }
        }
        self.front.seen.note_call();
        let held = self.front.seen.check();
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
        let envelope = Envelope::parse(body, self.door.settings.limits.max_json_values);
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

    /// Answers GET and HEAD at the URL of the agent: a page for browsers, a refusal for programs.
    fn page(&self) -> Plan {
        let Door { agents, agent, slug, .. } = self.door;
        let mut response = if page::is_wanted(self.head.header("accept")) {
            if let Some(decision) = self.front.unlearned(agent) {
                return decision;
            }
            let (origin, _, _) = split_url(self.head.url());
            let origin = self.door.settings.place_of(origin).origin;
            let path = slug.map_or_else(String::new, |slug| format!("/{slug}"));
            let all = agents.slugs().filter_map(|slug| agents.find(Some(slug)));
            let all: Vec<_> = all.map(|agent| (agent.slug.as_str(), agent.cards())).collect();
            let cards = agent.cards();
            let shown = PageAgent { slug: &agent.slug, card: &cards.card };
            let has_console = bindings::has_console(&self.front.env);
            let others = all.iter().map(on_page);
            let page = page::page(shown, &path, origin, others, has_console);
            let seconds = if cards.is_partial { PARTIAL_SECONDS } else { PAGE_SECONDS };
            page.with_header("cache-control", format!("public, max-age={seconds}"))
        } else {
            HttpResponse::error(&Error::MethodNotAllowed("POST, OPTIONS"))
        };
        if self.head.method() == "HEAD" {
            response.body.clear();
        }
        Plan::Answer(response.with_header("vary", "accept"))
    }

    /// Decides about a request to the HTTP+JSON binding, at the path `below` the URL of the agent.
    pub(super) fn rest(self, below: &str, body: &Received<'_>) -> Plan {
        let head = self.head;
        let version = self.parameters.version.as_deref();
        let strict = self.door.settings.strict_version;
        let known = Spoken::looks_like(below);
        let spoken = &self.door.agent.dialects;
        let dialect = Spoken::dialect_of_path(below, version, strict, spoken);
        let endpoint = Endpoint::find(known, self.door.slug, below);
        if let ("OPTIONS", Some(endpoint)) = (head.method(), &endpoint) {
            return Plan::Answer(preflight(head, endpoint.allowed()));
        }
        let media_type = MediaType::of_answer(head.header("accept"), head.header("content-type"));
        let mut reply = Reply::rest(media_type);
        self.front.seen.note_call();
        let held = self.front.seen.check();
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
        let (_, path, query) = split_url(self.head.url());
        let endpoint = endpoint.ok_or_else(|| unknown_path(path, self.door.agents))?;
        let operation = endpoint.operation(self.head.method())?;
        if self.head.method() != "POST" {
            let params = endpoint.params_of_query(query);
            return Ok(Some(RestRequest { dialect, operation, params }));
        }
        MediaType::of_body(self.head.header("content-type"))?;
        let Some(body) = self.bytes(body)? else { return Ok(None) };
        let max_values = self.door.settings.limits.max_json_values;
        let params = endpoint.params_of_body(body, max_values)?;
        Ok(Some(RestRequest { dialect, operation, params }))
    }

    /// The bytes of the body; `None` if it has to be received first.
    fn bytes<'b>(&self, body: &Received<'b>) -> Result<Option<&'b [u8]>, Error> {
        let limit = self.door.settings.max_body_bytes;
        match body {
            Received::Whole(bytes) if bytes.len() > limit => Err(Error::TooLarge(limit)),
            Received::Whole(bytes) => Ok(Some(bytes)),
            Received::Nothing => Ok(None),
            Received::Refused(error) => Err(error.clone()),
        }
    }

    /// Who makes the request, if it is for this agent.
    fn identify(&self, agent: &HostedAgent) -> Identity {
        let judged = self.front.judge(self.head, agent);
        self.front.seen.note_judged(agent, &judged);
        judged.identity
    }

    /// Decides before the body has arrived: receive it, unless the agent in the path already rejects the caller. Where the
    /// path is `/`, the body names the agent.
    fn before_body(&self) -> Result<Plan, Error> {
        self.front.seen.check()?;
        let agent = self.door.slug.map(|_| self.door.agent);
        match agent.map(|agent| self.identify(agent)) {
            Some(Identity::Refused(error)) => {
                self.note(&error);
                Err(error)
            }
            Some(Identity::Pending(tokens)) => Ok(Plan::Need(Need::Verdicts(tokens))),
            Some(Identity::Caller(_)) | None => {
                Ok(Plan::Need(Need::Body(self.door.settings.max_body_bytes)))
            }
        }
    }

    fn admit(self, wanted: Wanted<'_>, params: Params, reply: &mut Reply) -> Result<Plan, Error> {
        let parameters = &self.parameters;
        let seen = &self.front.seen;
        seen.check()?;
        let identify = |agent: &HostedAgent| self.identify(agent);
        let authorization = self.head.header("authorization");
        let act_as = self.head.header(ActAs::HEADER);
        let identify = &identify;
        let asked = Asked { wanted, params, parameters, authorization, act_as, identify };
        let mut command = match self.door.admit(asked, reply) {
            Ok(command) => command,
            Err(Unadmitted::Unlisted(slug, error)) => {
                let agent = self.door.agents.find(Some(&slug));
                let unlearned = agent.and_then(|agent| self.front.unlearned(agent));
                return unlearned.ok_or(error);
            }
            Err(Unadmitted::Refused(error)) => {
                self.note(&error);
                seen.note_refusal(self.door.agent, &error);
                return Err(error);
            }
            Err(Unadmitted::Pending(tokens)) => return Ok(Plan::Need(Need::Verdicts(tokens))),
        };
        let (origin, _, _) = split_url(self.head.url());
        if command.call == Call::Card {
            let agent = self.door.agents.find(Some(&command.agent));
            let agent = agent.ok_or(Error::Internal { task: None })?;
            return self.front.extended_card(agent, &command.caller, &command.reply, origin);
        }
        command.trail = self.head.trail();
        if command.call.message().is_some() {
            let public = self.door.settings.public_url.as_deref();
            command.origin = Some(public.unwrap_or(origin).to_owned());
        }
        Ok(self.front.plan_command(&self.parameters, command))
    }
}

impl Exchange<'_> {
    /// Tells the operator why an agent cannot run.
    fn note(&self, error: &Error) {
        let Error::AgentUnusable(slug) = error else { return };
        for (agent, misfit) in self.door.agents.unusable().filter(|(agent, _)| agent == slug) {
            self.front.observer.observe(&Observation::AgentUnusable { agent, reason: &misfit.0 });
        }
    }
}

fn on_page<'a>((slug, cards): &'a (&str, Rc<Cards>)) -> PageAgent<'a> {
    PageAgent { slug, card: &cards.card }
}

/// For how long browsers keep a page.
const PAGE_SECONDS: u32 = 300;

/// A request of the HTTP+JSON binding, read as far as it names its operation.
struct RestRequest {
    dialect: Dialect,
    operation: Operation,
    params: Value,
}
