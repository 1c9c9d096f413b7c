//! Admission: makes all checks of a request that do not need its task, in this order, which is tested:
//!
//! route, version, agent, identity, operator, extensions, capabilities, parameters, limits, media types, terms,
//! executor of the agent

mod message;
mod webhook;

use serde_json::Value;

use super::deployment::Deployment;
use crate::auth::{ActAs, GivenCredentials, Identity, Policy, UncheckedToken};
use crate::executor::{Agents, HostedAgent};
use crate::forms::address::ObjectId;
use crate::forms::command::Command;
use crate::operation::list_tasks::Scope;
use a2a::binding::{Reply, ServiceParameters, extensions};
use a2a::dialect::{Dialect, Habits, ReadCall, Spoken};
use a2a::error::Error;
use a2a::model::SendMessageRequest;
use a2a::{Call, Operation, Terms};
use message::{check_message, name_message, settle_chosen_id};
use webhook::check_webhook;

/// The deployment, and the agent at the path of a request.
pub(crate) struct Door<'a> {
    pub(crate) deployment: &'a Deployment,
    /// The slug of the agent in the path; `None` if the path is `/`.
    pub(crate) slug: Option<&'a str>,
    pub(crate) agent: &'a HostedAgent,
}

/// A request that its binding has read, before the checks of the admission.
pub(crate) struct Asked<'a, 'd> {
    /// The requested operation or method.
    pub(crate) wanted: Wanted<'a>,
    /// The parameters of the operation.
    pub(crate) params: Params,
    /// The service parameters, from headers or the query.
    pub(crate) parameters: &'a ServiceParameters,
    /// The header `Authorization`.
    pub(crate) authorization: Option<&'a str>,
    /// The value of the header `Act-As`.
    pub(crate) act_as: Option<&'a str>,
    /// Identifies the caller of the request for an agent. `admit` calls it once the agent of the request is known.
    pub(crate) identify: &'a mut dyn FnMut(&'d HostedAgent) -> Identity,
}

/// The reason why a request is not admitted.
#[derive(Debug, PartialEq)]
pub(crate) enum Unadmitted {
    /// The request is refused.
    Refused(Error),
    /// The signatures of these tokens have to be checked first.
    Pending(Vec<UncheckedToken>),
    /// The request is refused with this error because of the card of the agent with this slug. The agent may learn
    /// skills that change this result.
    Unlisted(String, Error),
}

impl From<Error> for Unadmitted {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The parameters of a request.
pub(crate) enum Params {
    /// The parameters as received.
    Json(Value),
    /// The call of a plain request, which names no tenant.
    Plain(Call),
}

impl Params {
    /// The agent that the parameters name.
    fn tenant(&self) -> Option<&str> {
        match self {
            Self::Json(params) => params.get("tenant").and_then(Value::as_str),
            Self::Plain(_) => None,
        }
    }

    /// True if the parameters name a task by an id that this server did not make.
    fn names_chosen_id(&self) -> bool {
        match self {
            Self::Json(params) => {
                let id = params.get("id").and_then(Value::as_str);
                id.is_some_and(|id| !ObjectId::is_well_formed(id))
            }
            Self::Plain(_) => false,
        }
    }
}

/// The method or operation of a request.
pub(crate) enum Wanted<'a> {
    /// A method of JSON-RPC.
    Method(&'a str),
    /// An operation of HTTP+JSON with its dialect. The path and the HTTP method determine both before the body is read.
    Operation(Dialect, Operation),
}

impl<'a> Door<'a> {
    /// Finds the agent of a path.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(crate) fn find(
        deployment: &'a Deployment,
        slug: Option<&'a str>,
        path: &str,
    ) -> Result<Self, Error> {
        let agents = &deployment.agents;
        let agent = agents.find(slug).ok_or_else(|| unknown_path(path, agents))?;
        Ok(Self { deployment, slug, agent })
    }

    /// Admits a request, and returns the command that carries it out. `reply` is set to the dialect of the request, in
    /// which answers and refusals are written.
    ///
    /// # Errors
    ///
    /// The error of the first check that fails, in the order of the steps at the top of this file.
    pub(crate) fn admit(
        &self,
        asked: Asked<'_, 'a>,
        reply: &mut Reply,
    ) -> Result<Command<Call>, Unadmitted> {
        let settings = &self.deployment.settings;
        let Asked { wanted, params, parameters, authorization, act_as, identify } = asked;
        let spoken = match wanted {
            Wanted::Method(name) => {
                let version = parameters.version.as_deref();
                let strict = settings.strict_version;
                Spoken::method(name, version, strict, &self.agent.dialects)?
            }
            Wanted::Operation(dialect, operation) => Spoken::path(dialect, operation),
        };
        let operation = spoken.operation;
        reply.speak(spoken.dialect(), Habits::default());
        let agent = self.agent_for(params.tenant())?;
        let dialect = spoken.dialect_for(&agent.dialects, params.names_chosen_id())?;
        reply.speak(dialect, agent.dialects.habits);
        let caller = match identify(agent) {
            Identity::Caller(caller) => caller,
            Identity::Refused(error) => return Err(error.into()),
            Identity::Pending(tokens) => return Err(Unadmitted::Pending(tokens)),
        };
        let access = agent.policy.as_ref().ok().map(Policy::access);
        let act_as = act_as.map(ActAs::read).transpose()?;
        if let Some(act_as) = &act_as {
            act_as.check(access, &caller, operation)?;
        }
        let capabilities = &agent.capabilities;
        let declared = &capabilities.extensions;
        let active = extensions::activate(operation, declared, &parameters.extensions)?;
        operation.check_offered(capabilities)?;
        let read = match params {
            Params::Json(params) => dialect.decode(reply.binding(), operation, params)?,
            Params::Plain(call) => call.into(),
        };
        let ReadCall { mut call, chosen_id, needs_task, run_timeout_ms, answer_within_ms } = read;
        // A task must exist even if the agent answers with a message, so the task gets a chosen id. A send with an
        // idempotency key gets no new id, because repeated sends must lead to the same task.
        let chosen_id = if needs_task && parameters.idempotency_key.is_none() {
            Some((self.deployment.new_id)().into())
        } else {
            chosen_id
        };
        let chosen_id = settle_chosen_id(&agent.dialects, &mut call, chosen_id)?;
        if let Some(act_as) = &act_as {
            act_as.check_owner(operation, chosen_id.is_some())?;
        }
        call.check_offered(capabilities)?;
        let named = |error| dialect.named(reply.binding(), error);
        check_webhook(&call, |url| (self.deployment.check_url)(url, settings)).map_err(named)?;
        if let Some(request) = call.message() {
            check_message(request, settings).map_err(named)?;
            agent
                .check_parts(&request.message, &caller)
                .map_err(|error| Unadmitted::Unlisted(agent.slug.to_string(), named(error)))?;
        }
        let authorization = authorization_for_task(agent, authorization);
        let taken = call
            .message_mut()
            .map(|request| GivenCredentials::take(&mut request.message, authorization));
        let unsealed = taken.transpose().map_err(named)?.flatten();
        let terms = parameters.terms(&call, &active)?;
        let run_timeout_ms = terms.run_timeout_ms.or(run_timeout_ms);
        let shows_ended = dialect.shows_ended_tasks();
        let shows_statuses = dialect.shows_statuses(agent.dialects.habits);
        let refuses_canceled =
            operation == Operation::CancelTask && dialect.refuses_second_cancel();
        let terms = Terms {
            run_timeout_ms,
            answer_within_ms,
            shows_ended,
            refuses_canceled,
            shows_statuses,
            ..terms
        };
        let key = parameters.idempotency_key()?;
        if let Some(request) = call.message_mut() {
            name_message(&mut request.message, key, self.deployment.new_id);
        }
        let is_keyed = key.is_some() && chosen_id.is_none();
        let fingerprint = call.message().filter(|_| is_keyed).map(SendMessageRequest::fingerprint);
        // Tasks of an agent that cannot run can still be read.
        if call.message().is_some() && agent.runner.is_err() {
            return Err(Error::AgentUnusable(agent.slug.to_string()).into());
        }
        let reply = reply.clone().with_extensions(active);
        let agent = agent.slug.to_string();
        let opens_listing = access.is_some_and(|access| access.open_listing);
        let scope = match &act_as {
            Some(act_as) => Scope::Operator(act_as.owners.clone()),
            None if caller.is_anonymous() && !opens_listing => Scope::OneContext,
            None => Scope::Own,
        };
        let command = Command::new(agent, caller, reply, call);
        let command = if act_as.is_some() { command.of_operator() } else { command };
        let command = match chosen_id {
            Some(id) => command.of_chosen_id(id),
            None => command,
        };
        Ok(Command { fingerprint, terms, unsealed, scope, ..command })
    }

    /// The agent of a call: the agent in the path; at `/`, the agent that `tenant` names, else the default agent.
    fn agent_for(&self, tenant: Option<&str>) -> Result<&'a HostedAgent, Error> {
        let Some(tenant) = tenant.filter(|tenant| !tenant.is_empty()) else {
            return Ok(self.agent);
        };
        let (agents, slug) = (&self.deployment.agents, self.slug);
        let named = agents.find(Some(tenant)).filter(|_| slug.is_none_or(|slug| slug == tenant));
        named.ok_or_else(|| {
            let all = || agents.slugs().collect::<Vec<_>>().join(", ");
            let known = slug.map_or_else(all, str::to_owned);
            let description = format!("names no agent that answers here; there is: {known}");
            Error::invalid("tenant", description)
        })
    }
}

/// The header `Authorization`, if the agent file allows passing this header to tasks.
fn authorization_for_task<'a>(agent: &HostedAgent, header: Option<&'a str>) -> Option<&'a str> {
    let policy = agent.policy.as_ref().ok()?;
    header.filter(|_| policy.access().may_hand_authorization_to_tasks())
}

/// The refusal of an unknown path.
pub(crate) fn unknown_path(path: &str, agents: &Agents) -> Error {
    let shown: String = path.chars().take(60).collect();
    let cards = "their cards at <agent>/.well-known/agent-card.json";
    Error::NotFound(format!(
        "nothing is served at {shown}; agents answer at {}, {cards}",
        agents.paths()
    ))
}

#[cfg(test)]
mod tests;
