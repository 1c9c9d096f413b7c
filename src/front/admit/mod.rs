//! Admission: judges a request as far as no task is needed for that, in this order, which is tested:
//!
//! route, version, agent, identity, operator, extensions, capabilities, parameters, limits, media types, terms, whether the agent can run

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
use a2a::model::{SendMessageRequest, TaskId};
use a2a::{Call, Operation, Terms};
use message::{check_message, name_message, settle_chosen_id};
use webhook::check_webhook;

/// What requests are judged by: the deployment, and the agent at their path.
pub(crate) struct Door<'a> {
    pub(crate) deployment: &'a Deployment,
    /// The agent that the path names; `None` where the path is `/`.
    pub(crate) slug: Option<&'a str>,
    pub(crate) agent: &'a HostedAgent,
}

/// A request that was read by its binding, and not judged yet.
pub(crate) struct Asked<'a, 'd> {
    /// What is asked for.
    pub(crate) wanted: Wanted<'a>,
    /// Its parameters.
    pub(crate) params: Params,
    /// What its headers say besides.
    pub(crate) parameters: &'a ServiceParameters,
    /// Its header `Authorization`.
    pub(crate) authorization: Option<&'a str>,
    /// What its header `Act-As` says.
    pub(crate) act_as: Option<&'a str>,
    /// Says who makes it, for the agent that it turns out to be for.
    pub(crate) identify: &'a mut dyn FnMut(&'d HostedAgent) -> Identity,
}

/// Why a request is not admitted.
#[derive(Debug, PartialEq)]
pub(crate) enum Unadmitted {
    /// It is refused.
    Refused(Error),
    /// The signatures of these tokens have to be checked first.
    Pending(Vec<UncheckedToken>),
    /// It is refused for this reason, as far as the skills of the agent of this slug are known.
    Unlisted(String, Error),
}

impl From<Error> for Unadmitted {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The parameters of a request.
pub(crate) enum Params {
    /// As they came.
    Json(Value),
    /// Those of a plain request, which names no tenant.
    Plain(Call),
}

impl Params {
    /// The agent that they name.
    fn tenant(&self) -> Option<&str> {
        match self {
            Self::Json(params) => params.get("tenant").and_then(Value::as_str),
            Self::Plain(_) => None,
        }
    }

    /// Whether they name a task by an id that is not one of the server's.
    fn names_chosen_id(&self) -> bool {
        match self {
            Self::Json(params) => {
                let id = params.get("id").and_then(Value::as_str);
                id.is_some_and(|id| !ObjectId::new(id).is_well_formed())
            }
            Self::Plain(_) => false,
        }
    }
}

/// What a request asks for.
pub(crate) enum Wanted<'a> {
    /// What this method of JSON-RPC stands for.
    Method(&'a str),
    /// An operation, which a path and a verb of HTTP+JSON stand for. They had to be known before its body.
    Operation(Dialect, Operation),
}

impl<'a> Door<'a> {
    /// The door of the agent that a path leads to.
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

    /// Admits a request: gives the command that carries it out. The answer, and so a refusal, is told in the dialect that the
    /// request turns out to speak.
    ///
    /// # Errors
    ///
    /// The first reason not to admit it, in the order of the steps in the header of this file.
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
        // A task under an id that was chosen exists in any case. Repetitions under a key must come to the same task.
        let chosen_id = if needs_task && parameters.idempotency_key.is_none() {
            Some(TaskId::new((self.deployment.new_id)()))
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
        // What is known of its tasks can still be asked.
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

    /// The agent that a call is for: the one of the path, or at `/` the one that `tenant` names.
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

/// The header `Authorization`, if the agent's file says that it is for tasks.
fn authorization_for_task<'a>(agent: &HostedAgent, header: Option<&'a str>) -> Option<&'a str> {
    let policy = agent.policy.as_ref().ok()?;
    header.filter(|_| policy.access().may_hand_authorization_to_tasks())
}

/// The refusal of a path to which nothing belongs.
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
