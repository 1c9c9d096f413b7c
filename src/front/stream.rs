//! The plan of a stream for `js/stream.js`: the data about the stream that only the Rust code has, as text.

use std::ops::Not;

use serde::Serialize;

use crate::format;
use crate::forms::command::{Command, StreamCommand};
use crate::task::LogEntry;
use a2a::FollowCall;
use a2a::binding::http::HttpResponse;
use a2a::binding::{Reply, StreamText, sse};
use a2a::dialect::StreamState;
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{
    Generation, HistoryLimit, SubscribeToTaskRequest, TaskView, append, read_own, to_json,
};
use a2a::sorted::SortedMap;

/// The plan of a stream. `js/client-stream.js` describes the members.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plan<'a> {
    /// The texts before and after the id of the object.
    resume: (&'a str, &'a str),
    #[serde(skip_serializing_if = "Not::not")]
    begins: bool,
    #[serde(skip_serializing_if = "Not::not")]
    is_turn: bool,
    #[serde(skip_serializing_if = "Not::not")]
    is_new: bool,
    position: Option<Generation>,
    #[serde(skip_serializing_if = "Not::not")]
    shows_generation: bool,
    /// The key of the caller's streams with the agent, and their largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<(String, u64)>,
    /// The form of the answer as JSON, for [`event_text`]; `None` for 1.0.
    form: Option<String>,
    #[serde(skip_serializing_if = "Not::not")]
    refuses_by_stream: bool,
    before: &'a str,
    behind: &'a str,
    headers: SortedMap<&'a str, &'a str>,
}

/// Appends the plan of the stream for the request `hello` to a text: a line of JSON, and in the next line the first message
/// to the object. That is empty for a subscription, whose first message equals those after a drop.
///
/// # Errors
///
/// If the plan cannot be encoded.
#[inline(never)]
pub(crate) fn plan(text: String, mut hello: StreamCommand) -> serde_json::Result<String> {
    let (is_turn, is_new) = match &hello.command.call {
        FollowCall::SendStreamingMessage(request) => (true, request.message.task_id.is_none()),
        FollowCall::SubscribeToTask(_) => (false, false),
    };
    let position = hello.after;
    let quota = hello.most_streams.map(|most| {
        let Command { agent, caller, .. } = &hello.command;
        (format!("{agent}\n{}", caller.owner()), most)
    });
    let is_named = hello.command.fingerprint.is_some() || hello.command.chosen_id.is_some();
    let begins = is_new && !is_named;
    if begins {
        // No other client knows the task, so a repeated send gets its events from the first one on, not a snapshot.
        hello.after = Some(Generation::NONE);
    }
    let is_exact = position.is_none_or(|Generation(position)| position <= MAX_EXACT);
    let first = match &hello.command.call {
        FollowCall::SubscribeToTask(_) if is_exact => String::new(),
        _ => append(String::new(), &hello)?,
    };
    let request = SubscribeToTaskRequest { tenant: None, id: ID.into() };
    hello.command.call = FollowCall::SubscribeToTask(request);
    hello.after = None;
    let resume = append(String::new(), &hello)?;
    // The call and the position are the last members.
    let resume = resume.strip_suffix(NO_POSITION).and_then(|resume| resume.rsplit_once(ID));
    let reply = &hello.command.reply;
    let (before, behind) = reply.around_result();
    let extensions = reply.extensions_header();
    let mut headers = SortedMap::from(sse::HEADERS);
    headers.extend(extensions.as_ref().map(|(name, value)| (*name, value.as_str())));
    let plan = Plan {
        resume: resume.unwrap_or_default(),
        begins,
        is_turn,
        is_new,
        position,
        shows_generation: hello.command.terms.shows_generation,
        quota,
        form: (!reply.dialect().is_v1()).then(|| to_json(reply)).transpose()?,
        refuses_by_stream: reply.refuses_by_stream(),
        before: &before,
        behind,
        headers,
    };
    let text = append(text, &plan)?;
    Ok([&text, "\n", &first].concat())
}

/// The placeholder that the stream replaces by the id of the object, which a new task does not have yet. For a task whose id
/// a client has chosen, the object uses the separate member with the chosen id.
const ID: char = '?';

/// The largest number that JavaScript writes as it was read.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// The end of a [`StreamCommand`] without a position. The stream inserts its position there.
const NO_POSITION: &str = "null}";

/// An answer in place of a stream, in the form for `js/client-stream.js`.
#[derive(Serialize)]
struct Answer<'a> {
    status: u16,
    headers: SortedMap<&'a str, &'a str>,
    body: &'a str,
}

/// The answer that refuses a stream resumed by `hello`, or ends the stream if it `has_begun`. `limit` is the number of
/// streams that a task may have.
pub(crate) fn refusal(hello: &str, failure: &str, has_begun: bool, limit: usize) -> String {
    let hello = read_json::<StreamCommand>(hello).ok();
    let task = hello.as_ref().filter(|_| has_begun).and_then(|hello| match &hello.command.call {
        FollowCall::SubscribeToTask(request) => {
            hello.command.chosen_id.clone().or_else(|| Some(request.id.clone()))
        }
        FollowCall::SendStreamingMessage(_) => None,
    });
    let error = match failure {
        "too-many" => Error::TooManyStreams(limit),
        "over-quota" => Error::TooManyStreamsOfCaller(limit),
        "other-version" => Error::Unavailable(format::OTHER_VERSION),
        _ => Error::Internal { task },
    };
    let HttpResponse { status, headers, body } = match hello {
        Some(hello) => hello.command.reply.error(&error),
        None => HttpResponse::error(&error),
    };
    let headers = headers.iter().map(|(name, value)| (name.as_ref(), value.as_str())).collect();
    to_json(&Answer { status, headers, body: &body }).unwrap_or_default()
}

/// The first event of a task's log, with the generation added to the metadata of the task. Frames contain the event as it is
/// stored, which is the same for all followers.
pub(crate) fn opening(json: String) -> String {
    let Ok(LogEntry::Task(task)) = LogEntry::parse(&json) else { return json };
    let view = TaskView { generation: Some(1), ..task.view(HistoryLimit::All) };
    to_json(&view).map_or(json, |task| format!(r#"{{"task":{task}}}"#))
}

/// The form of an event for a client of an older version. The first line contains `1` if the stream ends with the event,
/// else `0`, and the `state` for the next event as JSON; the rest is the text for the client. Empty if this version cannot
/// read the event.
pub(crate) fn event_text(form: &str, json: &str, generation: Option<u64>, state: &str) -> String {
    let Ok(reply) = read_json::<Reply>(form) else { return String::new() };
    let mut state: StreamState = read_own(state).unwrap_or_default();
    let Some(StreamText { text, is_last }) = reply.stream_text(json, generation, &mut state) else {
        return String::new();
    };
    let state = to_json(&state).unwrap_or_default();
    format!("{}{state}\n{text}", u8::from(is_last))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::auth::Caller;
    use a2a::binding::MediaType;
    use a2a::binding::jsonrpc::RequestId;
    use a2a::dialect::Dialect;
    use a2a::model::TaskId;
    use a2a::{Call, Operation};

    fn following(
        operation: Operation,
        task: Option<&str>,
        after: Option<Generation>,
    ) -> StreamCommand {
        let params = match operation {
            Operation::SubscribeToTask => json!({"id": task}),
            _ => json!({"message": {"messageId": "m", "role": "ROLE_USER",
                "parts": [{"text": "x"}], "taskId": task}}),
        };
        let Ok(Call::Follow(call)) = operation.decode(params) else { panic!("{operation:?}") };
        let reply = Reply::rest(MediaType::Json);
        let command = Command::new("a".to_owned(), Caller::anonymous(), reply, call);
        StreamCommand { command, most_streams: None, after }
    }

    fn planned(hello: StreamCommand) -> (Value, StreamCommand) {
        let text = plan("s".to_owned(), hello).expect("plain data");
        let text = text.strip_prefix('s').expect("the text before the plan");
        let (plan, hello) = text.split_once('\n').expect("two lines");
        let plan = serde_json::from_str(plan).expect("JSON");
        let hello = match hello {
            "" => resume(&plan, plan["position"].as_u64().map(Generation)),
            hello => hello.to_owned(),
        };
        (plan, read_json(&hello).expect("a hello"))
    }

    /// Inserts id and position into a plan, like `js/client-stream.js`.
    fn resume(plan: &Value, position: Option<Generation>) -> String {
        let part = |index: usize| plan["resume"][index].as_str().expect("text");
        let position = position.map_or_else(|| "null".to_owned(), |position| position.to_string());
        format!("{}t{}{position}}}", part(0), part(1))
    }

    #[test]
    fn a_stream_of_a_new_task_asks_for_its_first_event() {
        let (plan, hello) = planned(following(Operation::SendStreamingMessage, None, None));
        assert_eq!(hello.after, Some(Generation::NONE));
        assert_eq!((&plan["isTurn"], &plan["isNew"]), (&json!(true), &json!(true)));
        assert_eq!((&plan["begins"], &plan["position"]), (&json!(true), &Value::Null));
    }

    /// The object may have the task already, and then sends a snapshot.
    #[test]
    fn an_idempotent_send_asks_for_what_the_client_has_not() {
        for after in [None, Some(Generation(2))] {
            let mut keyed = following(Operation::SendStreamingMessage, None, after);
            keyed.command.fingerprint = Some("f".to_owned());
            let (plan, hello) = planned(keyed);
            assert_eq!(hello.after, after);
            assert_eq!((&plan["isNew"], &plan["position"]), (&json!(true), &json!(after)));
            assert_eq!(plan["begins"], Value::Null);
        }
    }

    /// The object may have the task already, created by another client.
    #[test]
    fn a_send_with_a_chosen_id_begins_with_whatever_its_object_has() {
        let mut named = following(Operation::SendStreamingMessage, None, None);
        named.command = named.command.of_chosen_id(TaskId::new("mine").unwrap());
        let (plan, hello) = planned(named);
        assert_eq!(hello.after, None);
        assert_eq!((&plan["isNew"], &plan["begins"]), (&json!(true), &Value::Null));
        let resumed: StreamCommand =
            read_json(&resume(&plan, Some(Generation(3)))).expect("a hello");
        assert_eq!(resumed.command.chosen_id, TaskId::new("mine"));
        let answer = refusal(&resume(&plan, Some(Generation(3))), "failed", true, 5);
        assert!(answer.contains("mine"), "{answer}");
    }

    #[test]
    fn follow_ups_and_subscriptions_begin_with_a_task_that_exists() {
        for (operation, is_turn) in
            [(Operation::SendStreamingMessage, true), (Operation::SubscribeToTask, false)]
        {
            let (plan, hello) = planned(following(operation, Some("t"), None));
            assert_eq!(hello, following(operation, Some("t"), None));
            assert_eq!((plan["isTurn"] == true, &plan["isNew"]), (is_turn, &Value::Null));
            assert_eq!(plan["begins"], Value::Null);
        }
    }

    /// The object refuses such a position, and says which one it was.
    #[test]
    fn a_position_that_javascript_would_round_is_in_the_first_message() {
        for position in [MAX_EXACT, MAX_EXACT + 1, u64::MAX] {
            let hello =
                following(Operation::SubscribeToTask, Some("t"), Some(Generation(position)));
            let text = plan(String::new(), hello.clone()).expect("plain data");
            let (_, first) = text.split_once('\n').expect("two lines");
            assert_eq!(first.is_empty(), position == MAX_EXACT, "{position}");
            assert_eq!(planned(hello).1.after, Some(Generation(position)));
        }
    }

    #[test]
    fn a_stream_is_resumed_as_a_subscription_from_its_position() {
        let mut hello = following(Operation::SendStreamingMessage, None, None);
        hello.command.reply = Reply::json_rpc(RequestId::NULL);
        hello.command.terms.shows_generation = true;
        let (plan, _) = planned(hello.clone());
        for position in [None, Some(Generation(7))] {
            let resumed: StreamCommand = read_json(&resume(&plan, position)).expect("a hello");
            let FollowCall::SubscribeToTask(request) = &resumed.command.call else {
                panic!("{resumed:?}")
            };
            assert_eq!((request.id.as_str(), resumed.after), ("t", position));
            assert_eq!(resumed.command.reply, hello.command.reply);
            assert_eq!(resumed.command.terms, hello.command.terms);
        }
    }

    #[test]
    fn events_and_headers_are_in_the_form_of_the_client() {
        let mut hello = following(Operation::SubscribeToTask, Some("t"), Some(Generation(3)));
        let uris = vec!["urn:a".to_owned(), "urn:b".to_owned()];
        hello.command.reply = Reply::json_rpc(RequestId::NULL).with_extensions(uris);
        let (plan, _) = planned(hello);
        let before = r#"{"jsonrpc":"2.0","id":null,"result":"#;
        assert_eq!((&plan["before"], &plan["behind"]), (&json!(before), &json!("}")));
        assert_eq!(plan["position"], 3);
        let header = |name: &str| plan["headers"][name].as_str().map(str::to_owned);
        assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
        assert_eq!(header("a2a-extensions").as_deref(), Some("urn:a, urn:b"));
        assert_eq!(
            header("access-control-allow-origin"),
            None,
            "js/hop.js adds the headers of all answers"
        );
    }

    #[test]
    fn only_streams_of_older_versions_have_their_events_worded_here() {
        let form = |dialect: Dialect| {
            let mut hello = following(Operation::SubscribeToTask, Some("t"), None);
            hello.command.reply = Reply::json_rpc(RequestId::NULL).in_dialect(dialect);
            let (plan, _) = planned(hello);
            (plan["form"].clone(), plan["refusesByStream"] == true)
        };
        assert_eq!(form(Dialect::V1), (Value::Null, false));
        for dialect in [Dialect::V0_3, Dialect::Legacy] {
            let (form, refuses_by_stream) = form(dialect);
            let read: Reply = read_json(form.as_str().expect("text")).expect("a reply");
            assert_eq!((read.dialect(), refuses_by_stream), (dialect, true));
        }
        for (form, event) in [("", "{}"), ("{}", "{}"), ("null", "")] {
            assert_eq!(event_text(form, event, Some(1), ""), "");
        }
    }

    #[test]
    fn refusals_are_in_the_form_of_the_client() {
        let resume = |reply: Reply| {
            let mut hello = following(Operation::SubscribeToTask, Some("t"), None);
            hello.command.reply = reply;
            resume(&planned(hello).0, None)
        };
        let (rest, rpc) = (Reply::rest(MediaType::Json), Reply::json_rpc(RequestId::NULL));
        for (reply, failure, has_begun, status, told) in [
            (&rest, "over-quota", false, 429, "you have 5 open streams with this agent"),
            (&rest, "failed", false, 500, "INTERNAL"),
            (&rest, "failed", true, 500, "\"t\""),
            (&rest, "other-version", false, 503, "UNAVAILABLE"),
            (&rest, "too-many", false, 429, "5 streams"),
            (&rpc, "too-many", false, 200, r#""id":null"#),
            (&rpc, "failed", true, 200, "-32603"),
        ] {
            let answer = refusal(&resume(reply.clone()), failure, has_begun, 5);
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            assert_eq!(answer["status"], status, "{failure}");
            assert_eq!(answer["headers"]["content-type"], "application/json");
            let body = answer["body"].as_str().expect("text");
            assert!(body.contains(told), "{failure}: {body}");
        }
    }

    #[test]
    fn the_first_event_of_a_task_tells_its_generation() {
        let task =
            r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}"#;
        assert!(
            opening(task.to_owned()).contains(r#"/generation":1"#),
            "{}",
            opening(task.to_owned())
        );
        assert_eq!(opening("{}".to_owned()), "{}");
    }
}
