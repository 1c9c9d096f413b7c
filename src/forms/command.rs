//! The calls of clients in the form for a task object. `ask.rs` has the other requests.
//!
//! Both sides may run different versions during a deploy: members are added, and unknown ones are ignored. A change that an
//! older version would misread raises the number of the form ([`format`]).

use serde::Serialize;

use crate::auth::{Caller, GivenCredentials, Owners};
use crate::format;
use crate::operation::list_tasks::Scope;
use crate::session::SentCredentials;
use crate::trail::Trail;
use a2a::binding::Reply;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Generation, TaskId};
use a2a::{Call, FollowCall, TaskCall, Terms};

/// One call for a task object: a [`TaskCall`], to which the object answers with the finished HTTP response for the client, or
/// part of a [`StreamCommand`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Command<C = TaskCall> {
    /// The called agent.
    pub(crate) agent: String,
    /// The caller.
    pub(crate) caller: Caller,
    /// The form of the answer.
    pub(crate) reply: Reply,
    /// The fingerprint of the message of an idempotent send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// The terms of the call.
    #[serde(skip_serializing_if = "Terms::are_default")]
    pub(crate) terms: Terms,
    /// The origin of this server, for a message: the origin of the request, or `PUBLIC_URL`. `None` from front Workers of
    /// earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// The ids under which the request is found. Empty from front Workers of earlier versions.
    #[serde(skip_serializing_if = "Trail::is_empty")]
    pub(crate) trail: Trail,
    /// Credentials in a message, for a task that waits for credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<SentCredentials>,
    /// The id of the task, if a client has chosen it. A message that names no task continues the task with this id, or begins
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chosen_id: Option<TaskId>,
    /// The same credentials before they are encrypted. Not part of the form.
    #[serde(skip)]
    pub(crate) unsealed: Option<GivenCredentials>,
    /// The number of the form, if it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<u32>,
    /// True if the caller acts as an operator, on the task of any owner.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_operators: bool,
    /// The owners whose tasks a listing shows. Not part of the form.
    #[serde(skip)]
    pub(crate) scope: Scope,
    /// The call.
    pub(crate) call: C,
}

impl<C> Command<C> {
    /// A command with these members; all others are empty or have their defaults.
    pub(crate) fn new(agent: String, caller: Caller, reply: Reply, call: C) -> Self {
        let (fingerprint, terms, origin, trail) = (None, Terms::default(), None, Trail::default());
        let (credentials, unsealed, format, is_operators) = (None, None, None, false);
        let chosen_id = None;
        Self {
            agent,
            caller,
            reply,
            fingerprint,
            terms,
            origin,
            trail,
            credentials,
            chosen_id,
            unsealed,
            format,
            is_operators,
            scope: Scope::default(),
            call,
        }
    }

    /// The same command of an operator. A version without support for operators refuses it as unreadable.
    pub(crate) fn of_operator(self) -> Self {
        let format = self.format.max(Some(format::OPERATORS_COMMAND));
        Self { format, is_operators: true, ..self }
    }

    /// The same command about the task whose id a client has chosen. A version without support for such ids refuses it as
    /// unreadable.
    pub(crate) fn of_chosen_id(self, id: TaskId) -> Self {
        Self { format: Some(format::CHOSEN_ID_COMMAND), chosen_id: Some(id), ..self }
    }

    /// The owner of the task that the call is about, if its id was chosen by a client: the owner that an operator names, or
    /// else the caller's owner id.
    pub(crate) fn owner(&self) -> &str {
        match &self.scope {
            Scope::Operator(Owners::One(owner)) => owner.as_str(),
            Scope::Operator(Owners::All) | Scope::Own | Scope::OneContext => self.caller.owner(),
        }
    }

    /// True if the caller acts as an operator, on the task of any owner.
    pub(crate) fn is_operators(&self) -> bool {
        self.is_operators
    }

    /// Separates the call from the other members.
    pub(crate) fn take_call(self) -> (Command<()>, C) {
        self.replace_call(())
    }

    /// The same command with another call.
    pub(crate) fn with_call<D>(self, call: D) -> Command<D> {
        self.replace_call(call).0
    }

    fn replace_call<D>(self, call: D) -> (Command<D>, C) {
        let Self {
            agent,
            caller,
            reply,
            fingerprint,
            terms,
            origin,
            trail,
            credentials,
            chosen_id,
            unsealed,
            format,
            is_operators,
            scope,
            call: replaced,
        } = self;
        let command = Command {
            agent,
            caller,
            reply,
            fingerprint,
            terms,
            origin,
            trail,
            credentials,
            chosen_id,
            unsealed,
            format,
            is_operators,
            scope,
            call,
        };
        (command, replaced)
    }
}

/// A call that is answered by a stream: the request of a follower.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StreamCommand {
    /// The call.
    pub(crate) command: Command<FollowCall>,
    /// The largest number of streams that the caller may have with the agent. Not part of the form.
    #[serde(skip)]
    pub(crate) most_streams: Option<u64>,
    /// The generation of the newest event that the client has received, if it resumes a stream.
    pub(crate) after: Option<Generation>,
}

impl Command<Call> {
    /// True if the command is about a task that may exist already.
    pub(crate) fn may_go_on(&self) -> bool {
        self.chosen_id.is_some() || self.call.task_id().is_some()
    }
}

impl<C: Decode> Decode for Command<C> {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::COMMAND.check(fields)?;
        let is_operators = fields.boolean("is_operators").unwrap_or_default();
        let chosen_id = fields.id("chosen_id");
        let format = match chosen_id {
            Some(_) => Some(format::CHOSEN_ID_COMMAND),
            None => is_operators.then_some(format::OPERATORS_COMMAND),
        };
        Some(Self {
            agent: fields.required_string("agent")?,
            caller: fields.required_object("caller")?,
            reply: fields.required_object("reply")?,
            fingerprint: fields.string("fingerprint"),
            terms: fields.object("terms").unwrap_or_default(),
            origin: fields.string("origin"),
            trail: fields.object("trail").unwrap_or_default(),
            credentials: fields.object("credentials"),
            chosen_id,
            unsealed: None,
            format,
            is_operators,
            scope: Scope::default(),
            call: fields.required_object("call")?,
        })
    }
}

impl Decode for StreamCommand {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::COMMAND.check(fields)?;
        let after = fields.number("after").map(Generation);
        Some(Self { command: fields.required_object("command")?, most_streams: None, after })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use a2a::binding::MediaType;
    use a2a::binding::jsonrpc::RequestId;
    use a2a::model::PushNotificationConfigRequest;
    use a2a::model::decode::read_json;
    use a2a::{Allowance, DayLimit, Operation, Quota, UsedUp, WebhookCall};

    fn command<C>(call: C, reply: &Reply, fingerprint: Option<String>, terms: Terms) -> Command<C> {
        let caller = Caller { permissions: vec!["admin".to_owned()], ..Caller::new("c") };
        let origin = fingerprint.as_ref().map(|_| "https://a.example".to_owned());
        let command = Command::new("a".to_owned(), caller, reply.clone(), call);
        let trail = Trail::new(origin.as_ref().map(|_| "8f2d-FRA"), None);
        Command { fingerprint, terms, origin, trail, ..command }
    }

    fn survives<T: Serialize + Decode + PartialEq + std::fmt::Debug>(command: T) {
        let text = serde_json::to_string(&command).unwrap();
        assert_eq!(read_json::<T>(&text).unwrap(), command);
    }

    /// During a deploy a front Worker and an object of different versions talk to each other.
    #[test]
    fn calls_travel_under_the_names_of_their_operations() {
        let reply = Reply::rest(MediaType::Json);
        for (operation, params) in [
            ("GetTask", json!({"id": "t", "historyLength": 3})),
            ("DeleteTaskPushNotificationConfig", json!({"taskId": "t", "id": "c"})),
            ("SubscribeToTask", json!({"id": "t"})),
        ] {
            let call = Operation::named(operation).unwrap().decode(params.clone()).unwrap();
            let written = match call {
                Call::Task(call) => {
                    serde_json::to_value(command(call, &reply, None, Terms::default()))
                }
                Call::Follow(call) => {
                    serde_json::to_value(command(call, &reply, None, Terms::default()))
                }
                Call::List(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card => {
                    panic!("no object answers {operation}")
                }
            };
            assert_eq!(written.unwrap()["call"], json!({operation: params}));
        }
    }

    /// A version without support for operators refuses such a command as unreadable. A version with support treats a caller as
    /// an operator only if the member is set.
    #[test]
    fn commands_of_operators_have_a_number_of_their_own() {
        let call = Operation::GetTask.decode(json!({"id": "t"})).unwrap();
        let Call::Task(call) = call else { panic!("{call:?}") };
        let plain = command(call, &Reply::rest(MediaType::Json), None, Terms::default());
        let operators = plain.clone().of_operator();
        assert!(!plain.is_operators() && operators.is_operators());
        let written = serde_json::to_value(&operators).unwrap();
        assert_eq!(written["format"], 2);
        let chosen = operators.clone().of_chosen_id(TaskId::new("mine").unwrap());
        assert_eq!(serde_json::to_value(&chosen).unwrap()["format"], 3);
        survives(chosen);
        let plain_written = serde_json::to_value(&plain).unwrap();
        assert_eq!((plain_written.get("format"), plain_written.get("is_operators")), (None, None));
        survives(operators.clone());
        let mut unsaid = written;
        unsaid["is_operators"] = json!("yes");
        assert!(read_json::<Command>(&unsaid.to_string()).is_err(), "what is unclear is refused");
        let (rest, call) = operators.take_call();
        assert!(rest.with_call(call).is_operators());
    }

    #[test]
    fn a_command_does_not_hold_a_call_of_another_kind() {
        let listing = json!({"agent": "a", "caller": {"id": "c"}, "reply": {"form": {"Rest": "Json"}},
            "call": {"ListTasks": {}}});
        assert!(read_json::<Command>(&listing.to_string()).is_err());
        let mut following = listing;
        following["call"] = json!({"SubscribeToTask": {"id": "t"}});
        assert!(read_json::<Command>(&following.to_string()).is_err());
        assert!(read_json::<Command<FollowCall>>(&following.to_string()).is_ok());
    }

    /// Older dialects send this request, because their parameters name no webhook.
    #[test]
    fn a_command_asks_for_the_first_webhook_by_an_empty_id() {
        let (tenant, task_id, id) = (None, TaskId::new("t").unwrap(), String::new());
        let get = PushNotificationConfigRequest { tenant, task_id, id };
        let call = TaskCall::Webhook(WebhookCall::GetTaskPushNotificationConfig(get));
        survives(command(call, &Reply::rest(MediaType::Json), None, Terms::default()));
    }

    #[test]
    fn commands_are_read_as_they_were_written() {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
        let secret = format!("whsec_{}", "A".repeat(32));
        let webhook = json!({"id": "c", "taskId": "t", "url": "https://example.com", "token": "k",
            "authentication": {"scheme": "Bearer", "credentials": "x"}, "events": "artifacts",
            "signingSecret": secret});
        for (operation, params) in [
            (Operation::SendMessage, json!({"message": message, "metadata": {"a": 1}})),
            (Operation::SendStreamingMessage, json!({"message": message})),
            (Operation::SubscribeToTask, json!({"id": "t"})),
            (Operation::GetTask, json!({"id": "t", "historyLength": 3})),
            (Operation::CancelTask, json!({"id": "t", "tenant": "a"})),
            (
                Operation::SendMessage,
                json!({"message": message, "configuration": {"taskPushNotificationConfig": webhook}}),
            ),
            (Operation::CreateTaskPushNotificationConfig, webhook.clone()),
            (Operation::GetTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
            (Operation::ListTaskPushNotificationConfigs, json!({"taskId": "t", "tenant": "a"})),
            (Operation::DeleteTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
            (Operation::ListTaskPushNotificationDeliveries, json!({"taskId": "t", "id": "c"})),
            (Operation::TestTaskPushNotificationConfig, json!({"taskId": "t", "id": "c"})),
            (
                Operation::VerifyTaskPushNotificationSignature,
                json!({"taskId": "t", "id": "c", "headers": {"webhook-id": "t.c.1"}, "body": "{}"}),
            ),
            (
                Operation::RedeliverTaskPushNotifications,
                json!({"taskId": "t", "id": "c", "fromGeneration": 3}),
            ),
        ] {
            let terms = Terms {
                expected: Some(1),
                after: Some(u64::MAX),
                wait_ms: Some(3),
                run_timeout_ms: Some(5_000_000_000),
                answer_within_ms: Some(250),
                shows_ended: true,
                refuses_canceled: true,
                shows_generation: true,
                shows_statuses: true,
                over_quota: Some(Quota::StoredBytes(4)),
                is_reserved: true,
                used_up: Some(UsedUp { limit: DayLimit::CostMicros(5), seconds: 6 }),
                allowance: Some(Allowance { tokens: Some(7), cost_micros: None }),
            };
            for (reply, terms) in [
                (Reply::json_rpc(RequestId::NULL), Terms::default()),
                (Reply::rest(MediaType::A2aJson), terms),
            ] {
                let (reply, fingerprint) = (&reply, terms.expected.map(|_| "f".to_owned()));
                match operation.decode(params.clone()).unwrap() {
                    Call::Task(call) => survives(command(call, reply, fingerprint, terms)),
                    Call::Follow(call) => {
                        let command = command(call, reply, fingerprint, terms);
                        let after = Some(Generation(u64::MAX));
                        survives(StreamCommand { command, most_streams: None, after });
                    }
                    call @ (Call::List(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card) => {
                        panic!("no object answers {call:?}")
                    }
                }
            }
        }
    }
}
