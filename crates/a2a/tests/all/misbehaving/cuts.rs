//! Streams that break off, and servers to which the client reconnects.

use a2a::client::Outcome::{Completed, Failed, Timeout};
use a2a::client::simulation::SimulatedAnswer;
use serde_json::json;

use super::case::{Case, case};
use super::said::{
    artifact, bare, chunk, completed, error, numbered, refused, rpc, snapshot, status, stream, task,
};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = beginnings();
    cases.extend(middles());
    cases.extend(returns());
    cases.extend(silence());
    cases
}

/// Streams that break off before the first event.
fn beginnings() -> Vec<Case> {
    vec![
        case("the connection is refused once", |request| match request.call_number {
            1 => SimulatedAnswer::refused("connection refused"),
            _ => completed("hello"),
        })
        .requests(2),
        case("the connection is refused for ever", |_| {
            SimulatedAnswer::refused("connection refused")
        })
        .holds(
            Failed,
            "submit failed: https://agent.example/a2a did not answer: connection refused",
        )
        .requests(4)
        .ends(3_500, 7_000),
        case("the stream is cut before its first event", |request| match request.call_number {
            1 => stream([]).cut("reset"),
            _ => completed("hello"),
        })
        .requests(2),
        case("the stream is cut in its first event", |request| match request.call_number {
            1 => stream([]).text("data: {\"jsonrpc\": \"2.0\", \"id\": \"1\", \"resu").cut("reset"),
            _ => completed("hello"),
        })
        .requests(2),
        case("the answer is empty once", |request| match request.call_number {
            1 => stream([]),
            _ => completed("hello"),
        })
        .requests(2),
        case("the answer is always empty", |_| stream([]))
            .is(Failed, "submit failed: the stream ended before the task did")
            .requests(4),
        case("the headers are slow once", |request| match request.call_number {
            1 => completed("late").after(45_000),
            _ => completed("hello"),
        })
        .requests(2)
        .ends(30_000, 32_000),
        case("the headers are always slow", |_| completed("late").after(45_000))
            .holds(Failed, "submit failed: ")
            .requests(4)
            .ends(120_000, 130_000),
    ]
}

/// Streams that break off during the task.
fn middles() -> Vec<Case> {
    let begun = || stream([snapshot("WORKING", &[]), artifact("hel")]);
    vec![
        case("the stream is cut, and numbered", |request| match request.header("last-event-id") {
            None => numbered(1, [snapshot("WORKING", &[]), artifact("hel")]).cut("reset"),
            Some("2") => numbered(3, [chunk("lo"), status("COMPLETED")]),
            Some(other) => refused(-32602, other),
        })
        .requests(2),
        case("the stream is cut, and not numbered", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => begun().cut("reset"),
                "SubscribeToTask" => {
                    stream([snapshot("WORKING", &[("a", "hel")]), chunk("lo"), status("COMPLETED")])
                }
                _ => SimulatedAnswer::json(&rpc(whole())),
            }
        })
        .requests(3),
        case("the stream ends too early", move |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => begun(),
            _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
        })
        .requests(2),
        case("the stream is cut in the middle of an event", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => begun().text("data: {\"jsonrpc\": \"2.0\", \"res"),
                _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
            }
        })
        .requests(2),
        case("the stream is cut in the middle of a letter", move |request| {
            let torn = [b"data: \"h".as_slice(), &[0xc3]].concat();
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    begun().piece(a2a::client::simulation::Piece::Bytes(torn)).cut("reset")
                }
                _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
            }
        })
        .requests(2),
        case("the events are numbered, and nobody can go on from them", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    numbered(1, [snapshot("WORKING", &[]), artifact("hel")]).cut("reset")
                }
                "SubscribeToTask" => {
                    // The numbers start again from the beginning.
                    let look = snapshot("WORKING", &[("a", "hel")]);
                    numbered(1, [look, chunk("lo"), status("COMPLETED")])
                }
                _ => SimulatedAnswer::json(&rpc(whole())),
            }
        })
        .requests(3),
        case("the server takes its own numbers no more", |request| {
            let is_numbered = request.header("last-event-id").is_some();
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    numbered(7, [snapshot("WORKING", &[]), artifact("hel")]).cut("reset")
                }
                "SubscribeToTask" if is_numbered => refused(-32602, "no such event"),
                _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
            }
        })
        .requests(3),
        case(
            "the server wants to be left alone before the stream goes on",
            |request| match request.call_number {
                1 => stream([snapshot("WORKING", &[])]).cut("reset"),
                2 => SimulatedAnswer::status(503).header("retry-after", "120"),
                _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
            },
        )
        .requests(3)
        .ends(120_750, 120_750),
        case("the server wants to be left alone for an hour", |request| {
            match request.call_number {
                1 => stream([snapshot("WORKING", &[])]).cut("reset"),
                _ => SimulatedAnswer::status(503).header("retry-after", "3600"),
            }
        })
        .is(Failed, "following the task failed: HTTP 503")
        .requests(2),
        case("a look at the task is older than what was told", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    stream([snapshot("WORKING", &[]), artifact("hel"), chunk("lo")]).cut("reset")
                }
                "SubscribeToTask" => {
                    stream([snapshot("WORKING", &[("a", "hel")]), chunk("lo"), status("COMPLETED")])
                }
                _ => SimulatedAnswer::json(&rpc(whole())),
            }
        })
        .requests(3),
        case("an event stands in the look and behind it", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    stream([snapshot("WORKING", &[]), artifact("hel")]).cut("reset")
                }
                "SubscribeToTask" => stream([
                    rpc(json!({"task": whole_but_working()})),
                    chunk("lo"),
                    status("COMPLETED"),
                ]),
                _ => SimulatedAnswer::json(&rpc(whole())),
            }
        })
        .requests(3),
        case("a subscription begins without the task", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    stream([snapshot("WORKING", &[]), artifact("hel")]).cut("reset")
                }
                "SubscribeToTask" => stream([status("COMPLETED")]),
                _ => SimulatedAnswer::json(&rpc(whole())),
            }
        })
        .requests(3),
        case("the stream is cut again and again, and brings something each time", |request| {
            match request.header("last-event-id").and_then(|id| id.parse::<usize>().ok()) {
                None => numbered(1, [snapshot("WORKING", &[])]).cut("reset"),
                Some(12) => numbered(13, [artifact("hello"), status("COMPLETED")]),
                Some(id) => numbered(id + 1, [status("WORKING")]).cut("reset"),
            }
        })
        .requests(13),
    ]
}

/// The task with its text in two parts, as after two chunks.
fn whole() -> serde_json::Value {
    let mut task = task("COMPLETED", &[]);
    task["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "hel"}, {"text": "lo"}]}]);
    task
}

fn whole_but_working() -> serde_json::Value {
    let mut task = whole();
    task["status"]["state"] = json!("TASK_STATE_WORKING");
    task
}

/// Further failures after the client has reconnected.
fn returns() -> Vec<Case> {
    let begun = || stream([snapshot("WORKING", &[])]).cut("reset");
    vec![
        case("there are no subscriptions", move |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => begun(),
            "GetTask" if request.call_number > 4 => bare("COMPLETED", &[("a", "hello")]),
            "GetTask" => bare("WORKING", &[]),
            _ => refused(-32601, "Method not found"),
        })
        .requests(5),
        case("the task has ended meanwhile", move |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => begun(),
            "GetTask" => bare("COMPLETED", &[("a", "hello")]),
            _ => refused(-32004, "the task has ended"),
        })
        .requests(3),
        case("the refusal of a subscription is in its stream", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => begun(),
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => stream([error(-32004, "the task has ended")]),
            }
        })
        .requests(3),
        case("a subscription to a finished task has nothing to say", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => begun(),
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => SimulatedAnswer::status(204),
            }
        })
        .requests(3),
        case("nobody remembers the task", move |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => begun(),
            _ => refused(-32001, "Task not found"),
        })
        .holds(Failed, "following the task failed: ")
        .requests(3),
        case("the server asks for a pause", move |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => stream([snapshot("WORKING", &[])]).text("retry: 20000\n\n").cut("reset"),
            _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
        })
        .requests(2)
        .ends(20_000, 20_000),
        case("the subscription is of another task", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => begun(),
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => {
                    let mut other = task("COMPLETED", &[("a", "not this")]);
                    other["id"] = json!("t-2");
                    stream([rpc(json!({"task": other}))])
                }
            }
        }),
        case("an error breaks the stream, and the task goes on", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => stream([snapshot("WORKING", &[]), error(-32603, "lost the line")]),
                _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
            }
        })
        .requests(2),
        case("an error breaks the stream, and the task with it", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => stream([snapshot("WORKING", &[]), error(-32603, "the agent broke")]),
                "GetTask" => bare("WORKING", &[]),
                _ => refused(-32603, "no stream of it"),
            }
        })
        .holds(Failed, "the agent broke")
        .requests(3),
        case("an error comes as a frame of its own", move |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => stream([snapshot("WORKING", &[])])
                    .text("event: error\ndata: {\"error\": {\"code\": 500, \"message\": \"the agent broke\"}}\n\n"),
                "GetTask" => bare("WORKING", &[]),
                _ => refused(-32603, "no stream of it"),
            }
        })
        .holds(Failed, "the agent broke")
        .requests(3),
        case("every stream ends at once, and the task goes on", move |request| {
            match request.rpc_method().as_str() {
                "GetTask" if request.at_ms > 60_000 => bare("COMPLETED", &[("a", "hello")]),
                "GetTask" => bare("WORKING", &[]),
                _ => stream([snapshot("WORKING", &[])]),
            }
        })
        .ends(60_000, 62_000),
    ]
}

/// Streams without further events.
fn silence() -> Vec<Case> {
    vec![
        case("the stream falls silent", |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => stream([snapshot("WORKING", &[])]).hang(),
            _ => stream([snapshot("COMPLETED", &[("a", "hello")])]),
        })
        .requests(2)
        .ends(30_000, 32_000),
        case("the stream lives by comments alone", |_| {
            let begin = stream([snapshot("WORKING", &[])]);
            let alive = (0..6).fold(begin, |answer, _| answer.wait(25_000).text(":\n\n"));
            alive.text(format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")])))
        })
        .requests(1)
        .ends(150_000, 150_000),
        case("everything falls silent", |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => stream([snapshot("WORKING", &[])]).hang(),
            _ => SimulatedAnswer::status(200).after(u64::MAX),
        })
        .holds(Failed, "following the task failed: ")
        .ends(150_000, 300_000),
        case("the task never ends, and nobody streams it", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => bare("CANCELED", &[]),
                _ => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            }
        })
        .polled()
        .is(Timeout, "timed out after 300000 ms")
        .ends(300_000, 300_000),
        case("the result is there at the last moment", |_| {
            stream([snapshot("WORKING", &[])])
                .wait(29_000)
                .text(format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")])))
        })
        .set(|settings| a2a::client::Settings { timeout_ms: 29_001, ..settings })
        .is(Completed, "hello")
        .requests(1),
    ]
}
