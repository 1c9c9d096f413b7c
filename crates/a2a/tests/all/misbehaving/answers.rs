//! Answers that are not streams: errors in every form, limits, and unusual results. The agents of most cases do not
//! stream.

use a2a::client::Outcome::{Completed, Failed, InputRequired};
use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest};
use a2a::client::{Settings, Streaming};
use a2a::model::UnixMillis;
use serde_json::{Value, json};

use super::case::{Case, case};
use super::said::{
    artifact, bare, card_at, card_json, completed, error, message, rpc, snapshot, status, task,
};

fn done() -> SimulatedAnswer {
    SimulatedAnswer::json(&snapshot("COMPLETED", &[("a", "hello")]))
}

/// A case whose agent does not stream, and fails for this number of requests.
fn troubled(
    name: &'static str,
    times: usize,
    trouble: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    let calls = move |request: &SimulatedRequest| match request.call_number {
        number if number <= times => trouble(request),
        _ => done(),
    };
    case(name, calls).polled()
}

/// A case whose agent supports HTTP+JSON and refuses with this status and body.
fn refusing(name: &'static str, status: u16, body: Value, version: &'static str) -> Case {
    let card = card_at("https://agent.example/a2a", "HTTP+JSON", version, false);
    case(name, move |_| SimulatedAnswer::json(&body).with_status(status))
        .card(move |_| SimulatedAnswer::json(&card))
        .holds(Failed, "no such thing")
        .requests(1)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = limits();
    cases.extend(values());
    cases.extend(errors());
    cases.extend(results());
    cases
}

/// An unexpected list of this number of values.
fn many(values: usize) -> Value {
    vec![0; values].into()
}

/// Answers and events with too many JSON values in only a few bytes each.
fn values() -> Vec<Case> {
    let padded = |mut message: Value, values: usize| {
        message["rest"] = many(values);
        message
    };
    let deep = || (0..120).fold(json!(0), |inner, _| json!([inner]));
    vec![
        case("it answers with a million small values", move |_| {
            SimulatedAnswer::json(&padded(bare_json("COMPLETED"), 1_000_000))
        })
        .polled()
        .holds(Failed, "it holds more than 100000 JSON values")
        .requests(1)
        .ends(0, 0),
        case("it answers with many values, within the bound", move |_| {
            SimulatedAnswer::json(&padded(bare_json("COMPLETED"), 90_000))
        })
        .polled()
        .requests(1),
        case("it answers with JSON of 120 levels", move |_| {
            let mut message = bare_json("COMPLETED");
            message["rest"] = deep();
            SimulatedAnswer::json(&message)
        })
        .polled()
        .holds(Failed, "it is nested more than 100 levels deep")
        .requests(1),
        case(
            "an event of a million small values is passed over, and the task looked at",
            move |request| match request.rpc_method().as_str() {
                "GetTask" => SimulatedAnswer::json(&rpc(task("COMPLETED", &[("a", "hello")]))),
                _ => SimulatedAnswer::events([
                    snapshot("WORKING", &[]),
                    padded(artifact("never"), 1_000_000),
                    status("COMPLETED"),
                ]),
            },
        )
        .requests(2),
        case("an event of 120 levels is passed over, and the task looked at", move |request| {
            match request.rpc_method().as_str() {
                "GetTask" => SimulatedAnswer::json(&rpc(task("COMPLETED", &[("a", "hello")]))),
                _ => {
                    let mut event = artifact("never");
                    event["rest"] = deep();
                    SimulatedAnswer::events([snapshot("WORKING", &[]), event, status("COMPLETED")])
                }
            }
        })
        .requests(2),
        case("the card is nested 120 levels deep", |_| completed("never"))
            .card(move |_| {
                let mut card = card_json("1.0", true);
                card["rest"] = deep();
                SimulatedAnswer::json(&card)
            })
            .holds(Failed, "submit failed: ")
            .requests(0),
        case("the card holds too many values", |_| completed("never"))
            .card(|_| {
                let mut card = card_json("1.0", true);
                card["rest"] = many(30_000);
                SimulatedAnswer::json(&card)
            })
            .holds(Failed, "submit failed: ")
            .requests(0),
    ]
}

/// A task in this state, as the answer to a send.
fn bare_json(state: &str) -> Value {
    snapshot(state, &[("a", "hello")])
}

fn limits() -> Vec<Case> {
    let busy = |wait: &'static str| {
        move |_: &SimulatedRequest| SimulatedAnswer::status(429).header("Retry-After", wait)
    };
    vec![
        troubled("it is overloaded twice", 2, |_| SimulatedAnswer::status(503))
            .requests(3)
            .ends(1_500, 3_000),
        troubled("it limits requests, and says for how long", 1, busy("7"))
            .requests(2)
            .ends(7_000, 7_000),
        troubled("it limits requests until an instant", 1, |_| {
            SimulatedAnswer::status(429).header("Retry-After", UnixMillis(9_000).http_date())
        })
        .requests(2)
        .ends(9_000, 9_000),
        troubled("it limits requests until an instant that is past", 1, |_| {
            SimulatedAnswer::status(429).header("Retry-After", UnixMillis(0).http_date())
        })
        .requests(2)
        .ends(750, 1_000),
        troubled("it limits requests for an hour", 9, busy("3600"))
            .is(Failed, "submit failed: HTTP 429")
            .requests(1)
            .ends(0, 0),
        troubled("it limits requests for ever", 99, busy("1"))
            .is(Failed, "submit failed: HTTP 429")
            .requests(4),
        troubled("the gateway has no answer once", 1, |_| SimulatedAnswer::status(504)).requests(2),
        troubled("the gateway is broken for ever", 99, |_| SimulatedAnswer::status(502))
            .is(Failed, "submit failed: HTTP 502")
            .requests(4),
        troubled("it is too early", 1, |_| SimulatedAnswer::status(425)).requests(2),
        troubled("it waited too long for the request", 1, |_| SimulatedAnswer::status(408))
            .requests(2),
        troubled("it is broken", 99, |_| SimulatedAnswer::status(500))
            .is(Failed, "submit failed: HTTP 500")
            .requests(1),
        troubled("the credentials are refused", 99, |_| SimulatedAnswer::status(401))
            .is(Failed, "submit failed: HTTP 401")
            .requests(1),
        troubled("the caller may not", 99, |_| SimulatedAnswer::status(403))
            .is(Failed, "submit failed: HTTP 403")
            .requests(1),
        troubled("a stream is limited", 1, busy("2"))
            .card(|_| super::said::card())
            .requests(2)
            .ends(2_000, 2_000),
        troubled("the answer takes a minute", 0, |_| done()).polled(),
        case("the server waits for the end before it answers", |_| done().after(60_000))
            .polled()
            .requests(1)
            .ends(60_000, 60_000),
        case("the answer to a send is cut", |request| match request.call_number {
            1 => SimulatedAnswer::status(200).text("{\"jsonrpc\": \"2.0\", ").cut("reset"),
            _ => done(),
        })
        .polled()
        .requests(2),
    ]
}

fn errors() -> Vec<Case> {
    let rpc_error = |status: u16| {
        move |_: &SimulatedRequest| {
            SimulatedAnswer::json(&error(-32602, "no such thing")).with_status(status)
        }
    };
    let status = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no such thing",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "X", "domain": "a2a-protocol.org"}]}});
    let problem = json!({"type": "about:blank", "title": "no such thing", "status": 400});
    vec![
        case("an error comes with status 200", rpc_error(200))
            .polled()
            .holds(Failed, "no such thing")
            .requests(1),
        case("an error comes with status 400", rpc_error(400))
            .polled()
            .holds(Failed, "no such thing")
            .requests(1),
        case("an error comes with status 500", rpc_error(500))
            .polled()
            .holds(Failed, "no such thing")
            .requests(1),
        case("an error comes with status 503, once", move |request| match request.call_number {
            1 => rpc_error(503)(request),
            _ => done(),
        })
        .polled()
        .requests(2),
        refusing("an error comes as a status of Google", 400, status, "1.0"),
        refusing("an error comes as a problem", 400, problem, "1.0"),
        refusing(
            "an error comes as in 0.3",
            400,
            json!({"code": -32602, "message": "no such thing"}),
            "0.3",
        ),
        refusing("an error comes as a word", 400, json!({"error": "no such thing"}), "1.0"),
        refusing(
            "an error comes with status 200 over HTTP+JSON",
            200,
            json!({"error": {"message": "no such thing"}}),
            "1.0",
        ),
        case("an error is null beside a result", |_| {
            let mut answer = snapshot("COMPLETED", &[("a", "hello")]);
            answer["error"] = Value::Null;
            SimulatedAnswer::json(&answer)
        })
        .polled()
        .requests(1),
        case("the answer is a page of HTML", |_| {
            SimulatedAnswer::status(200)
                .header("content-type", "text/html")
                .text("<html>Log in</html>")
        })
        .polled()
        .holds(Failed, "submit failed: ")
        .requests(1),
        case("the answer is empty, with status 200", |_| SimulatedAnswer::status(200))
            .polled()
            .holds(Failed, "submit failed: ")
            .requests(1),
        case("the answer has 10 MB", |_| {
            SimulatedAnswer::json(&snapshot("COMPLETED", &[("a", &"x".repeat(10_000_000))]))
        })
        .polled()
        .holds(Failed, "more than 4194304 bytes")
        .requests(1),
        case("the answer has no result", |_| {
            SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1"}))
        })
        .polled()
        .holds(Failed, "neither a result nor an error")
        .requests(1),
        case("the result is null, and there is no task", |_| {
            SimulatedAnswer::json(&rpc(Value::Null))
        })
        .polled()
        .holds(Failed, "submit failed: ")
        .requests(1),
        case("the answer is a list", |_| SimulatedAnswer::json(&json!([1, 2])))
            .polled()
            .holds(Failed, "submit failed: ")
            .requests(1),
    ]
}

fn results() -> Vec<Case> {
    vec![
        case("the answer says that it is plain text", |_| {
            let text = snapshot("COMPLETED", &[("a", "hello")]).to_string();
            SimulatedAnswer::status(200).header("content-type", "text/plain").text(text)
        })
        .polled()
        .requests(1),
        case("the id is a number, and another one", |_| {
            let mut answer = snapshot("COMPLETED", &[("a", "hello")]);
            answer["id"] = json!(7);
            SimulatedAnswer::json(&answer)
        })
        .polled()
        .requests(1),
        case("a message comes instead of a task, without a stream", |_| SimulatedAnswer::json(&message("hello")))
            .polled()
            .requests(1),
        case("the task is not given at once", |_| done()).polled().requests(1),
        case("the task takes three looks", |request| match request.call_number {
            1 => SimulatedAnswer::json(&snapshot("SUBMITTED", &[])),
            2 => bare("WORKING", &[]),
            3 => bare("WORKING", &[("a", "hel")]),
            _ => bare("COMPLETED", &[("a", "hello")]),
        })
        .polled()
        .requests(4)
        .ends(3_000, 3_000),
        case("the settings want no stream", |request| match request.rpc_method().as_str() {
            "SendMessage" => done(),
            _ => completed("streamed"),
        })
        .set(|settings| Settings { streaming: Streaming::Never, ..settings })
        .requests(1),
        case("a look fails once", |request| match request.call_number {
            1 => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            2 => SimulatedAnswer::refused("reset"),
            _ => bare("COMPLETED", &[("a", "hello")]),
        })
        .polled()
        .requests(3),
        case("the task is forgotten while it is looked at", |request| match request.call_number {
            1 => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            _ => super::said::refused(-32001, "Task not found"),
        })
        .polled()
        .holds(Failed, "Task not found")
        .requests(2),
        case("the history is long although nobody wants it", |_| {
            let mut done = task("COMPLETED", &[]);
            let said = |number: u32| json!({"messageId": format!("m-{number}"), "role": "ROLE_AGENT", "parts": [{"text": format!("{number}")}]});
            done["history"] = (1..=500).map(said).collect();
            SimulatedAnswer::json(&rpc(json!({"task": done})))
        })
        .polled()
        .is(Completed, "500"),
        case("an answer is answered with the task as it was", |request| match request.call_number {
            1 => SimulatedAnswer::json(&snapshot("INPUT_REQUIRED", &[])),
            2 => bare("WORKING", &[]),
            _ => bare("COMPLETED", &[("a", "hello")]),
        })
        .polled()
        .answers("t-1")
        .requests(3),
        case("the question is in the history alone", |_| {
            let mut asking = task("INPUT_REQUIRED", &[]);
            asking["history"] = json!([{"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "what for?"}]}]);
            SimulatedAnswer::json(&rpc(json!({"task": asking})))
        })
        .polled()
        .is(InputRequired, "what for?")
        .requests(1),
        case("the task under that id becomes another one", |request| match request.call_number {
            1 => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            2 | 3 => {
                let mut other = task("COMPLETED", &[("a", "not this")]);
                other["id"] = json!("t-2");
                SimulatedAnswer::json(&rpc(other))
            }
            _ => bare("COMPLETED", &[("a", "hello")]),
        })
        .polled()
        .requests(4),
    ]
}
