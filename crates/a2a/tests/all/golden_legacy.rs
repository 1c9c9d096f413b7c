//! Requests, answers, streams and notifications of A2A 0.1, compared with files: `golden/legacy/*.json`. A file is a list of
//! cases, each with a description (`about`) and members of one of these kinds:
//!
//! | members | compared values |
//! |---|---|
//! | `method` or `operation`, `params`; `call`, and other members of the dialect | the decoded parameters |
//! | `method` or `operation`, `params`; `refused` | the violations in the parameters, by field |
//! | `outcome`; `result` | the outcome of an operation, and the answer |
//! | `events`; `pieces` | events of 1.0, and the frames of the stream for each event |
//! | `event`, `task`, `now`; `body` | a notification |
//!
//! `binding` is JSON-RPC by default, or `rest`; `habits` are those of [`Habits`].

use a2a::binding::jsonrpc::RequestId;
use a2a::binding::{Binding, MediaType, Reply};
use a2a::dialect::{Dialect, Dialects, Habits, ReadCall, Spoken, StreamState};
use a2a::error::Error;
use a2a::model::decode::{decode, read_json};
use a2a::model::{ShownWebhook, TaskStatus, UnixMillis};
use a2a::{Call, Operation, Outcome, ShownTask};
use serde_json::{Map, Value, json};

#[test]
fn legacy_is_as_in_its_files() {
    let folder = format!("{}/tests/golden/legacy", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for file in std::fs::read_dir(&folder).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
        for case in cases {
            let about = format!("{}: {}", path.display(), case["about"]);
            check(&case, &about);
            count += 1;
        }
    }
    assert!(count > 0, "no case in {folder}");
}

fn check(case: &Value, about: &str) {
    let habits = decode::<Habits>(case.get("habits").cloned().unwrap_or_else(|| json!({})));
    let mut reply = match case["binding"].as_str() {
        Some("rest") => Reply::rest(MediaType::Json),
        _ => Reply::json_rpc(RequestId::NULL),
    };
    reply.speak(Dialect::Legacy, habits.expect("habits"));
    if let Some(params) = case.get("params") {
        let found = read(reply.binding(), case, params.clone());
        let expected = json!({"call": case.get("call"), "chosenId": case.get("chosenId"),
            "runTimeoutMs": case.get("runTimeoutMs"), "answerWithinMs": case.get("answerWithinMs"),
            "refused": case.get("refused")});
        assert_eq!(shown(found), expected, "{about}");
    } else if let Some(outcome) = case.get("outcome") {
        let answer = reply.outcome(&outcome_of(outcome)).expect(about);
        let body: Value = serde_json::from_str(&answer.body).expect(about);
        let found = if reply.binding() == Binding::JsonRpc { &body["result"] } else { &body };
        assert_eq!(found, &case["result"], "{about}");
    } else if let Some(events) = case.get("events") {
        let mut state = StreamState::default();
        let mut found = Vec::new();
        for event in events.as_array().expect("a list of events") {
            let text = reply.stream_text(&event.to_string(), None, &mut state).expect(about);
            let last =
                text.text.split("\n\n").filter(|frame| !frame.is_empty()).map(frame).collect();
            found.push(json!({"frames": Value::Array(last), "isLast": text.is_last}));
        }
        assert_eq!(Value::Array(found), case["pieces"], "{about}");
    } else {
        let task = || read_json(&case["task"].to_string()).ok();
        let now = UnixMillis::parse(case["now"].as_str().expect("an instant")).expect("an instant");
        let event = case["event"].to_string();
        let body = Dialect::Legacy.notification(&event, task, now).expect(about);
        assert_eq!(serde_json::from_str::<Value>(&body).expect(about), case["body"], "{about}");
    }
}

/// Decodes the parameters of a case.
fn read(binding: Binding, case: &Value, params: Value) -> Result<ReadCall, Error> {
    let operation = match case["operation"].as_str() {
        Some(name) => Operation::named(name).expect("an operation"),
        None => {
            let method = case["method"].as_str().expect("a method");
            let spoken = Spoken::method(method, None, true, &Dialects::ALL)
                .expect("a method of an older dialect");
            assert_eq!(spoken.dialect_for(&Dialects::ALL, true), Ok(Dialect::Legacy), "{method}");
            spoken.operation
        }
    };
    Dialect::Legacy.decode(binding, operation, params)
}

/// The decoded call, in the form of the cases.
fn shown(read: Result<ReadCall, Error>) -> Value {
    let read = match read {
        Ok(read) => read,
        Err(Error::InvalidParams(violations)) => {
            let told = violations.into_iter().map(|told| (told.field, told.description.into()));
            let told = Value::Object(told.collect::<Map<_, _>>());
            return json!({"call": null, "chosenId": null, "runTimeoutMs": null, "answerWithinMs": null, "refused": told});
        }
        Err(other) => panic!("{other:?}"),
    };
    let call = match read.call {
        Call::Task(call) => serde_json::to_value(call),
        Call::Follow(call) => serde_json::to_value(call),
        Call::List(request) => serde_json::to_value(json!({"ListTasks": request})),
        Call::Webhooks(request) => serde_json::to_value(json!({"ListWebhooks": request})),
        Call::Context(request) => serde_json::to_value(json!({"DeleteContext": request})),
        Call::Card => Ok(json!({"GetExtendedAgentCard": {}})),
    };
    json!({"call": call.expect("JSON"), "chosenId": read.chosen_id, "runTimeoutMs": read.run_timeout_ms,
        "answerWithinMs": read.answer_within_ms, "refused": null})
}

/// The outcome of a case.
fn outcome_of(case: &Value) -> Outcome {
    let (kind, value) = case.as_object().and_then(|members| members.iter().next()).expect("a kind");
    let webhook = |value: &Value| ShownWebhook {
        config: decode(value.clone()).expect("a webhook"),
        has: None,
    };
    let task = || {
        let created = case["created"].as_str().and_then(UnixMillis::parse);
        let statuses = case["statuses"].as_array().cloned().unwrap_or_default();
        let status = |status: Value| decode::<TaskStatus>(status).expect("a status");
        let statuses = statuses.into_iter().map(status).collect();
        ShownTask { json: value.to_string().into(), generation: 1, created, statuses }
    };
    match kind.as_str() {
        "sentTask" => Outcome::SentTask(task()),
        "task" => Outcome::Task(task()),
        "sentMessage" => Outcome::SentMessage(Box::new(decode(value.clone()).expect("a message"))),
        "webhook" => Outcome::PushConfig(Box::new(webhook(value))),
        other => panic!("{other} is no outcome"),
    }
}

/// A frame of a stream: its name, if there is one, and its data.
fn frame(text: &str) -> Value {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    };
    let data: Value = serde_json::from_str(&field("data").expect("data")).expect("JSON");
    json!({"event": field("event"), "data": data.get("result").unwrap_or(&data)})
}
