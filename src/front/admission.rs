//! Admission: judges a request as far as no task is needed for that. Pure; the order of its steps is tested below.
//!
//! route, version, agent, identity, operator, extensions, capabilities, parameters, limits, media types, terms, whether the agent can run

use serde_json::Value;

use crate::auth::{ActAs, GivenCredentials, Identity, Policy, UncheckedToken};
use crate::config::Settings;
use crate::executor::{Agents, HostedAgent};
use crate::forms::address::ObjectId;
use crate::forms::command::Command;
use crate::front::webhook::check_webhook;
use crate::operation::list_tasks::Scope;
use a2a::binding::{Reply, ServiceParameters, extensions};
use a2a::client::{DEPTH_KEY, depth_of};
use a2a::dialect::{Dialect, Dialects, Habits, ReadCall, Spoken};
use a2a::error::Error;
use a2a::model::{Message, SendMessageRequest, TaskId};
use a2a::{Call, Operation, Terms};

/// What requests are judged by: the agent at their path, and the rules of the deployment.
pub(crate) struct Door<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) agents: &'a Agents,
    /// The agent of the path; `None` where the path is `/`.
    pub(crate) slug: Option<&'a str>,
    pub(crate) agent: &'a HostedAgent,
    /// Says what is wrong with where the URL of a webhook leads.
    pub(crate) check_url: CheckUrl,
    /// Gives an id that nothing else has.
    pub(crate) new_id: fn() -> String,
}

/// Checks where the URL of a webhook leads, and says what it must be.
pub(crate) type CheckUrl = fn(&str, &Settings) -> Result<(), String>;

/// A request that was read by its binding, and not judged yet.
pub(crate) struct Asked<'a> {
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
    pub(crate) identify: &'a dyn Fn(&HostedAgent) -> Identity,
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
        settings: &'a Settings,
        agents: &'a Agents,
        slug: Option<&'a str>,
        path: &str,
        check_url: CheckUrl,
        new_id: fn() -> String,
    ) -> Result<Self, Error> {
        let agent = agents.find(slug).ok_or_else(|| unknown_path(path, agents))?;
        Ok(Self { settings, agents, slug, agent, check_url, new_id })
    }

    /// Admits a request: gives the command that carries it out. The answer, and so a refusal, is told in the dialect that the
    /// request turns out to speak.
    ///
    /// # Errors
    ///
    /// The first reason not to admit it, in the order that the head of this file tells.
    pub(crate) fn admit(
        &self,
        asked: Asked<'_>,
        reply: &mut Reply,
    ) -> Result<Command<Call>, Unadmitted> {
        let Asked { wanted, params, parameters, authorization, act_as, identify } = asked;
        let spoken = match wanted {
            Wanted::Method(name) => {
                let version = parameters.version.as_deref();
                let strict = self.settings.strict_version;
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
            Some(TaskId::new((self.new_id)()))
        } else {
            chosen_id
        };
        let chosen_id = settle_chosen_id(&agent.dialects, &mut call, chosen_id)?;
        if let Some(act_as) = &act_as {
            act_as.check_owner(operation, chosen_id.is_some())?;
        }
        call.check_offered(capabilities)?;
        let named = |error| dialect.named(reply.binding(), error);
        check_webhook(&call, |url| (self.check_url)(url, self.settings)).map_err(named)?;
        if let Some(request) = call.message() {
            check_message(request, self.settings).map_err(named)?;
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
            self.name_message(&mut request.message, key);
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

    /// Gives a message an id whose dialect has none for messages: the key that it came under, so that its task knows it again
    /// when it is repeated, or a new one.
    fn name_message(&self, message: &mut Message, key: Option<&str>) {
        if message.message_id.is_empty() {
            message.message_id = key.map_or_else(|| (self.new_id)(), str::to_owned);
        }
    }

    /// The agent that a call is for: the one of the path, or at `/` the one that `tenant` names.
    fn agent_for(&self, tenant: Option<&str>) -> Result<&'a HostedAgent, Error> {
        let Some(tenant) = tenant.filter(|tenant| !tenant.is_empty()) else {
            return Ok(self.agent);
        };
        let (agents, slug) = (self.agents, self.slug);
        let named = agents.find(Some(tenant)).filter(|_| slug.is_none_or(|slug| slug == tenant));
        named.ok_or_else(|| {
            let all = || agents.slugs().collect::<Vec<_>>().join(", ");
            let known = slug.map_or_else(all, str::to_owned);
            let description = format!("names no agent that answers here; there is: {known}");
            Error::invalid("tenant", description)
        })
    }
}

/// The id that a client chose for the task that a call is about, if it is one. A message that gives one of the server's ids
/// means the task of that id, and begins none. There is no task of an id that is too long.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a message that chooses an id that no task can have.
fn settle_chosen_id(
    dialects: &Dialects,
    call: &mut Call,
    chosen_id: Option<TaskId>,
) -> Result<Option<TaskId>, Error> {
    let is_ours = |id: &TaskId| ObjectId::new(id.as_str()).is_well_formed();
    let is_possible = |id: &TaskId| (1..=MAX_ID_BYTES).contains(&id.as_str().len());
    match chosen_id {
        Some(id) if is_ours(&id) => {
            if let Some(request) = call.message_mut() {
                request.message.task_id = Some(id);
            }
            Ok(None)
        }
        Some(id) if is_possible(&id) => Ok(Some(id)),
        Some(id) => {
            let length = id.as_str().len();
            let description = format!("must have 1 to {MAX_ID_BYTES} bytes, got {length}");
            Err(Error::invalid("id", description))
        }
        None => {
            let is_chosen = |id: &&TaskId| dialects.legacy && !is_ours(id) && is_possible(id);
            Ok(call.task_id().filter(is_chosen).cloned())
        }
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

fn check_message(request: &SendMessageRequest, settings: &Settings) -> Result<(), Error> {
    let parts = request.message.parts.len();
    if parts > settings.max_parts {
        let limit = settings.max_parts;
        let description = format!("must have at most {limit} parts, got {parts}");
        return Err(Error::invalid("message.parts", description));
    }
    let (depth, limit) = (depth_of(&request.message), settings.limits.max_depth);
    if depth > limit {
        let description = format!(
            "must be at most {limit}, got {depth}: agents may call each other {limit} deep (MAX_DEPTH)"
        );
        return Err(Error::invalid(format!("message.metadata.{DEPTH_KEY}"), description));
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

/// The longest id that a client may choose for a task, in bytes.
const MAX_ID_BYTES: usize = 256;

/// How many extensions, other tasks or media types a message may name.
const MAX_LISTED: usize = 1_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::Caller;
    use crate::executor::Registry;
    use crate::twins::MemoryPlatform;
    use a2a::binding::MediaType;

    fn agents() -> Agents {
        let agent = |slug: &str, streaming: bool, push_notifications: bool, extensions: Value| {
            json!({
                "slug": slug, "default": slug == "full", "development": false, "card": "",
                "access": {"open": true}, "capabilities": {"streaming": streaming, "push_notifications": push_notifications,
                    "extended_agent_card": false, "extensions": extensions},
                "executor": {"kind": "script", "table": {"rules": []}, "run": {}},
            })
        };
        let agents = [
            agent("full", true, true, json!([])),
            agent("bare", false, false, json!([{"uri": "urn:needed", "required": true}])),
            agent("plain", true, false, json!([])),
        ];
        let mut choosy = agent("choosy", true, false, json!([]));
        choosy["accepts"] = json!("declared");
        choosy["card"] = json!({"defaultInputModes": ["text/plain"]}).to_string().into();
        let mut unusable = agent("unusable", true, false, json!([]));
        unusable["executor"]["kind"] = json!("none-such");
        let agents = agents.into_iter().chain([choosy, unusable]).collect::<Vec<_>>();
        let text = json!({"built_ms": 0, "agents": agents}).to_string();
        let outside = MemoryPlatform::default().outside();
        Agents::read(&text, &Registry::default(), &outside, false, None).unwrap()
    }

    fn settings() -> Settings {
        Settings::read(|name| (name == "MAX_PARTS").then(|| "1".to_owned())).unwrap()
    }

    fn parameters(headers: &[(&str, &str)]) -> ServiceParameters {
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ServiceParameters::read(header, "")
    }

    fn https_only(url: &str, _settings: &Settings) -> Result<(), String> {
        if url.starts_with("https://") { Ok(()) } else { Err("must be https".to_owned()) }
    }

    /// Sends a method to the agent at a path.
    fn admit(
        slug: Option<&str>,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
        identity: Result<Caller, Error>,
    ) -> Result<Command<Call>, Error> {
        let (settings, agents, parameters) = (settings(), agents(), parameters(headers));
        let door = Door::find(&settings, &agents, slug, "/x", https_only, || "new".to_owned())?;
        let mut reply = Reply::rest(MediaType::Json);
        let wanted = Wanted::Method(method);
        let params = Params::Json(params);
        let identify = |_: &HostedAgent| match identity.clone() {
            Ok(caller) => Identity::Caller(caller),
            Err(error) => Identity::Refused(error),
        };
        let act_as = headers.iter().find(|(name, _)| *name == "act-as").map(|(_, value)| *value);
        let asked = Asked {
            act_as,
            wanted,
            params,
            parameters: &parameters,
            authorization: None,
            identify: &identify,
        };
        door.admit(asked, &mut reply).map_err(|unadmitted| match unadmitted {
            Unadmitted::Refused(error) | Unadmitted::Unlisted(_, error) => error,
            Unadmitted::Pending(tokens) => panic!("{tokens:?} are to be checked"),
        })
    }

    fn message(parts: usize) -> Value {
        json!({"messageId": "m", "role": "ROLE_USER", "parts": vec![json!({"text": "x"}); parts]})
    }

    #[test]
    fn a_message_from_deeper_than_agents_may_call_each_other_is_refused() {
        let send = |depth: Value| {
            let mut message = message(1);
            message["metadata"] = json!({DEPTH_KEY: depth});
            admit(
                Some("full"),
                "SendMessage",
                json!({"message": message}),
                &[("a2a-version", "1.0")],
                Ok(Caller::new("a")),
            )
        };
        for depth in [json!(8), json!(0), json!(-1), json!("x")] {
            assert!(send(depth.clone()).is_ok(), "{depth}");
        }
        for depth in [json!(9), json!(1e99)] {
            let Err(Error::InvalidParams(violations)) = send(depth.clone()) else {
                panic!("{depth}")
            };
            let [violation] = violations.as_slice() else { panic!("{violations:?}") };
            assert_eq!(violation.field, "message.metadata.urn:a2a-edge:depth");
            assert!(violation.description.starts_with("must be at most 8, got "), "{violation:?}");
        }
    }

    fn settled(
        call: &mut Call,
        chosen: Option<&str>,
        legacy: bool,
    ) -> Result<Option<TaskId>, Error> {
        let dialects = Dialects { legacy, ..Dialects::NONE };
        settle_chosen_id(&dialects, call, chosen.map(TaskId::new))
    }

    #[test]
    fn an_id_of_ours_is_never_a_chosen_one() {
        let ours = "0aF3".repeat(16);
        let send = || Operation::SendMessage.decode(json!({"message": message(1)})).unwrap();
        let mut call = send();
        assert_eq!(settled(&mut call, Some(&ours), true), Ok(None));
        assert_eq!(call.task_id(), Some(&TaskId::new(ours.as_str())), "the task goes on");
        let mut call = send();
        assert_eq!(settled(&mut call, Some("mine"), true), Ok(Some(TaskId::new("mine"))));
        assert_eq!(call.task_id(), None, "it may begin");
        for (id, legacy, is_chosen) in [
            ("mine", true, true),
            ("mine", false, false),
            (ours.as_str(), true, false),
            ("0af3", true, true),
            (&"i".repeat(MAX_ID_BYTES), true, true),
            (&"i".repeat(MAX_ID_BYTES + 1), true, false),
        ] {
            let mut call = Operation::GetTask.decode(json!({"id": id})).unwrap();
            let chosen = is_chosen.then(|| TaskId::new(id));
            assert_eq!(settled(&mut call, None, legacy), Ok(chosen), "{id} {legacy}");
        }
    }

    #[test]
    fn a_message_chooses_an_id_of_a_bounded_length() {
        for (length, is_taken) in
            [(0, false), (1, true), (MAX_ID_BYTES, true), (MAX_ID_BYTES + 1, false)]
        {
            let mut call = Operation::SendMessage.decode(json!({"message": message(1)})).unwrap();
            let settled = settled(&mut call, Some(&"i".repeat(length)), true);
            let refused = settled.err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(refused.is_empty(), is_taken, "{length}");
            assert!(is_taken || refused.contains("id must have 1 to 256 bytes"), "{refused}");
        }
    }

    /// A send with every fault there is, in which those before `step` are mended.
    fn faulty(step: usize) -> Result<Command<Call>, Error> {
        let mended = |fault: usize| fault < step;
        let slug = match step {
            0 => "nobody",
            1..=5 => "bare",
            6..=7 => "plain",
            _ => "full",
        };
        let version = if mended(1) { "1.0" } else { "9.0" };
        let identity =
            if mended(3) { Ok(Caller::anonymous()) } else { Err(Error::Unavailable("who")) };
        let mut headers = vec![("a2a-version", version)];
        if !mended(10) {
            headers.push(("if-generation-match", "7"));
        }
        if !mended(11) {
            headers.push(("idempotency-key", ""));
        }
        if mended(4) {
            headers.push(("a2a-extensions", "urn:needed"));
        }
        let url = if mended(8) { "https://a.example" } else { "http://a.example" };
        let parts = if mended(9) { 1 } else { 2 };
        let mut params = json!({
            "message": message(parts),
            "configuration": {"taskPushNotificationConfig": {"url": url}},
        });
        if !mended(2) {
            params["tenant"] = json!("somebody");
        }
        if !mended(6) {
            params["message"]["role"] = json!("ROLE_NOBODY");
        }
        admit(Some(slug), "SendStreamingMessage", params, &headers, identity)
    }

    #[test]
    fn the_first_fault_in_the_order_of_the_steps_is_told() {
        for (step, code, text) in [
            (0, -32601, "nothing is served at /x"),
            (1, -32009, "asks for A2A 9.0"),
            (2, -32602, "tenant names no agent"),
            (3, -32603, "who"),
            (4, -32008, "urn:needed"),
            (5, -32004, "SendStreamingMessage is not offered"),
            (6, -32602, "message.role"),
            (7, -32003, "push notifications are not supported"),
            (8, -32602, "configuration.taskPushNotificationConfig.url must be https"),
            (9, -32602, "message.parts must have at most 1 parts"),
            (10, -32602, "If-Generation-Match"),
            (11, -32602, "Idempotency-Key"),
        ] {
            let refused = faulty(step).expect_err(text);
            assert_eq!(refused.wire().code, code, "{step}: {refused}");
            assert!(refused.to_string().contains(text), "{step}: {refused}");
        }
        assert!(faulty(12).is_ok());
    }

    #[test]
    fn an_agent_that_takes_what_its_card_lists_refuses_other_parts_behind_the_other_limits() {
        let send = |parts: Value| {
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
            let caller = Ok(Caller::anonymous());
            admit(Some("choosy"), "SendMessage", json!({"message": message}), &[], caller)
        };
        assert!(send(json!([{"text": "a"}])).is_ok());
        let refused = send(json!([{"data": {}}])).unwrap_err();
        assert!(matches!(refused, Error::PartNotAccepted(_)), "{refused}");
        let refused = send(json!([{"data": {}}, {"text": "a"}])).unwrap_err();
        assert!(matches!(refused, Error::InvalidParams(_)), "{refused}");
    }

    #[test]
    fn an_agent_that_cannot_run_takes_no_messages_and_its_tasks_can_be_read() {
        let admit =
            |method, params| admit(Some("unusable"), method, params, &[], Ok(Caller::anonymous()));
        for method in ["SendMessage", "SendStreamingMessage"] {
            let refused = admit(method, json!({"message": message(1)})).unwrap_err();
            assert_eq!(refused, Error::AgentUnusable("unusable".to_owned()));
        }
        for (method, params) in [("GetTask", json!({"id": "t"})), ("ListTasks", json!({}))] {
            assert!(admit(method, params).is_ok(), "{method}");
        }
    }

    #[test]
    fn a_command_is_for_the_agent_of_the_path_or_at_the_root_for_that_of_the_tenant() {
        let caller = || Ok(Caller::anonymous());
        for (slug, tenant, agent) in [
            (None, None, Some("full")),
            (None, Some("plain"), Some("plain")),
            (None, Some(""), Some("full")),
            (Some("plain"), None, Some("plain")),
            (Some("plain"), Some("plain"), Some("plain")),
            (Some("plain"), Some("full"), None),
            (None, Some("nobody"), None),
        ] {
            let params = json!({"id": "t", "tenant": tenant});
            let admitted = admit(slug, "GetTask", params, &[], caller());
            let found = admitted.ok().map(|command| command.agent);
            assert_eq!(found.as_deref(), agent, "{slug:?} {tenant:?}");
        }
    }

    #[test]
    fn a_send_under_a_key_has_a_fingerprint_and_other_calls_have_none() {
        for (method, params, key, has_fingerprint) in [
            ("SendMessage", json!({"message": message(1)}), Some("k"), true),
            ("SendMessage", json!({"message": message(1)}), None, false),
            ("GetTask", json!({"id": "t"}), Some("k"), false),
        ] {
            let headers: Vec<_> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
            let command = admit(None, method, params, &headers, Ok(Caller::anonymous())).unwrap();
            assert_eq!(command.fingerprint.is_some(), has_fingerprint, "{method} {key:?}");
        }
    }

    #[test]
    fn extensions_that_both_sides_name_are_in_use() {
        let headers = [("a2a-extensions", "urn:needed, urn:other")];
        let caller = Ok(Caller::anonymous());
        let command = admit(Some("bare"), "GetTask", json!({"id": "t"}), &headers, caller);
        let header = command.unwrap().reply.extensions_header();
        assert_eq!(header, Some(("a2a-extensions", "urn:needed".to_owned())));
    }

    #[test]
    fn lists_of_names_in_a_message_are_bounded() {
        for field in ["extensions", "referenceTaskIds"] {
            for (count, is_taken) in [(MAX_LISTED, true), (MAX_LISTED + 1, false)] {
                let mut message = message(1);
                message[field] = json!(vec!["x"; count]);
                let params = json!({"message": message});
                let admitted = admit(None, "SendMessage", params, &[], Ok(Caller::anonymous()));
                assert_eq!(admitted.is_ok(), is_taken, "{field} {count}");
            }
        }
    }
}
