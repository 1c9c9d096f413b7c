//! Streams that are complete but unusual.

use a2a::client::Outcome::{AuthRequired, Completed, Failed, InputRequired, Timeout};
use a2a::client::simulation::{Piece, SimulatedAnswer};
use serde_json::json;

use super::case::{Case, case};
use super::said::{
    artifact, artifact_of, bare, chunk, completed, error, message, numbered, rpc, saying, snapshot,
    status, status_of, stream, task,
};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = whole();
    cases.extend(ends());
    cases.extend(events());
    cases.extend(kinds());
    cases
}

/// The content of the stream.
fn whole() -> Vec<Case> {
    vec![
        case("all is well", |_| completed("hello")).requests(1).ends(0, 0),
        case("the first task event is missing", |_| {
            stream([status("WORKING"), artifact("hello"), status("COMPLETED")])
        })
        .requests(1),
        case("a message comes instead of a task", |_| stream([message("hello")])).requests(1),
        case("a message comes, and the stream stays open", |_| stream([message("hello")]).hang())
            .requests(1)
            .ends(0, 0),
        case("a final task comes after the end", |_| {
            let last = snapshot("COMPLETED", &[("a", "hello")]);
            stream([snapshot("WORKING", &[]), artifact("hello"), status("COMPLETED"), last])
        })
        .requests(1),
        case("the result is in the final task alone", |_| {
            stream([
                status("WORKING"),
                status("COMPLETED"),
                snapshot("COMPLETED", &[("a", "hello")]),
            ])
        })
        .requests(1),
        case("the states are streamed, and the result must be fetched", |request| {
            match request.rpc_method().as_str() {
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => stream([snapshot("SUBMITTED", &[]), status("WORKING"), status("COMPLETED")]),
            }
        })
        .requests(2),
        case("the result comes after the end", |_| {
            stream([snapshot("WORKING", &[]), status("COMPLETED"), artifact("hello")])
        })
        .requests(1),
        case("the text comes in chunks", |_| {
            stream([
                snapshot("WORKING", &[]),
                artifact("hel"),
                chunk("l"),
                chunk("o"),
                status("COMPLETED"),
            ])
        })
        .requests(1),
        case("the text comes in chunks and then whole", |_| {
            stream([
                snapshot("WORKING", &[]),
                artifact("hel"),
                chunk("lo"),
                artifact("hello"),
                status("COMPLETED"),
            ])
        })
        .requests(1),
        case("the first chunk is to be appended to nothing", |_| {
            stream([snapshot("WORKING", &[]), chunk("hello"), status("COMPLETED")])
        })
        .requests(1),
        case("an empty artifact says that it is complete", |_| {
            let end = json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "lastChunk": true,
                "artifact": {"artifactId": "a", "parts": []}}});
            stream([snapshot("WORKING", &[]), artifact("hello"), rpc(end), status("COMPLETED")])
        }),
        case("the text stands in the status alone", |_| {
            stream([
                snapshot("WORKING", &[]),
                saying("WORKING", "wait"),
                saying("COMPLETED", "hello"),
            ])
        })
        .requests(1),
        case("the text stands in the history alone", |_| {
            let mut done = task("COMPLETED", &[]);
            done["history"] = json!([
                {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "say hello"}]},
                {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}
            ]);
            stream([rpc(json!({"task": done}))])
        })
        .requests(1),
        case("the task is rejected", |_| {
            stream([snapshot("SUBMITTED", &[]), saying("REJECTED", "not for you")])
        })
        .is(Failed, "not for you"),
        case("the task fails without a word", |_| stream([snapshot("FAILED", &[])]))
            .is(Failed, "the task failed"),
    ]
}

/// The end of the stream.
fn ends() -> Vec<Case> {
    vec![
        case("the stream is not closed at the end", |_| completed("hello").hang())
            .requests(1)
            .ends(0, 1_000),
        case("a state comes after the end", |_| {
            stream([
                snapshot("WORKING", &[]),
                artifact("hello"),
                status("COMPLETED"),
                status("WORKING"),
            ])
        })
        .requests(1),
        case("another end comes after the end", |_| {
            stream([artifact("hello"), status("COMPLETED"), saying("FAILED", "no")])
        })
        .requests(1),
        case("events go on and on after the end", |_| {
            let more = format!("data: {}\n\n", status("WORKING")).into_bytes();
            let pieces = std::iter::repeat([Piece::Wait(100), Piece::Bytes(more)]).flatten();
            completed("hello").pieces(pieces)
        })
        .requests(1)
        .ends(0, 1_000),
        case("the agent asks, and closes the stream", |_| {
            stream([snapshot("WORKING", &[]), saying("INPUT_REQUIRED", "what for?")])
        })
        .is(InputRequired, "what for?")
        .requests(1),
        case("the agent asks, and leaves the stream open", |_| {
            stream([snapshot("WORKING", &[]), saying("INPUT_REQUIRED", "what for?")]).hang()
        })
        .is(InputRequired, "what for?")
        .requests(1)
        .ends(0, 0),
        case("the agent wants credentials", |_| {
            stream([snapshot("WORKING", &[]), saying("AUTH_REQUIRED", "log in")]).hang()
        })
        .is(AuthRequired, "log in")
        .requests(1)
        .ends(0, 0),
        case("an answer meets the old question first", |_| {
            let old = snapshot("INPUT_REQUIRED", &[]);
            stream([old, status("WORKING"), artifact("hello"), status("COMPLETED")])
        })
        .answers("t-1")
        .requests(1),
        case("an answer gets a new task", |_| {
            let renamed = completed_as("t-2");
            stream(renamed)
        })
        .answers("t-1")
        .requests(1),
        case("the stream never ends, with events", |request| match request.rpc_method().as_str() {
            "CancelTask" => bare("CANCELED", &[]),
            _ => {
                let more = format!("data: {}\n\n", status("WORKING")).into_bytes();
                let pieces = std::iter::repeat([Piece::Bytes(more), Piece::Wait(1_000)]).flatten();
                stream([snapshot("WORKING", &[])]).pieces(pieces)
            }
        })
        .is(Timeout, "timed out after 300000 ms")
        .requests(2)
        .ends(300_000, 300_000),
        case("the stream never ends, with signs of life", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => bare("CANCELED", &[]),
                _ => {
                    let pieces = std::iter::repeat([
                        Piece::Bytes(b": ping\n\n".to_vec()),
                        Piece::Wait(20_000),
                    ]);
                    stream([snapshot("WORKING", &[])]).pieces(pieces.flatten())
                }
            }
        })
        .is(Timeout, "timed out after 300000 ms")
        .requests(2)
        .ends(300_000, 300_000),
    ]
}

fn completed_as(id: &str) -> Vec<serde_json::Value> {
    vec![status_of(id, "WORKING"), artifact_of(id, "hello", false), status_of(id, "COMPLETED")]
}

/// Wrong events.
fn events() -> Vec<Case> {
    vec![
        case("an event comes twice", |_| {
            let twice = format!("id: 2\ndata: {}\n\n", artifact("hel"));
            let chunk = format!("id: 3\ndata: {}\n\n", chunk("!"));
            let begin = numbered(1, [snapshot("WORKING", &[])]).text(&twice).text(&twice);
            let middle = begin.text(&chunk).text(&chunk);
            middle.text(format!("id: 4\ndata: {}\n\n", status("COMPLETED")))
        })
        .is(Completed, "hel!")
        .requests(1),
        case("ids go backwards", |_| {
            let event = |id: u8, event| format!("id: {id}\ndata: {event}\n\n");
            let begin = SimulatedAnswer::events([]).text(event(9, snapshot("WORKING", &[])));
            begin.text(event(5, artifact("hello"))).text(event(1, status("COMPLETED")))
        })
        .requests(1),
        case("events of another task come in between", |_| {
            let other = [artifact_of("t-2", "not this", false), status_of("t-2", "FAILED")];
            let own = [artifact("hello"), status("COMPLETED")];
            stream([snapshot("WORKING", &[])].into_iter().chain(other).chain(own))
        })
        .requests(1),
        case("an event is not JSON", |request| match request.rpc_method().as_str() {
            "GetTask" => bare("COMPLETED", &[("a", "hello")]),
            _ => stream([snapshot("WORKING", &[])])
                .text("data: {\"half\": \n\n")
                .text(format!("data: {}\n\n", status("COMPLETED"))),
        })
        .requests(2),
        case("an event is of a kind that nobody knows", |request| {
            match request.rpc_method().as_str() {
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => stream([
                    snapshot("WORKING", &[]),
                    rpc(json!({"news": {}})),
                    status("COMPLETED"),
                ]),
            }
        })
        .requests(2),
        case("no event makes sense", |_| stream((0..50).map(|number| json!({"number": number}))))
            .holds(Failed, "submit failed: ")
            .requests(1),
        case("frames of another name keep the stream alive", |_| {
            stream([snapshot("WORKING", &[])])
                .text("event: ping\ndata: {}\n\n")
                .text("event: heartbeat\ndata: now\n\n")
                .text(format!("data: {}\n\ndata: {}\n\n", artifact("hello"), status("COMPLETED")))
        })
        .requests(1),
        case("an event has 10 MB", |_| {
            stream([snapshot("WORKING", &[]), artifact(&"x".repeat(10_000_000))])
        })
        .holds(Failed, "more than 4194304 bytes")
        .requests(1),
        case("the context is missing everywhere", |_| {
            let task = json!({"id": "t-1", "status": {"state": "TASK_STATE_WORKING"}});
            let artifact = json!({"artifactId": "a", "parts": [{"text": "hello"}]});
            let done = json!({"taskId": "t-1", "status": {"state": "TASK_STATE_COMPLETED"}});
            stream([
                rpc(json!({"task": task})),
                rpc(json!({"artifactUpdate": {"taskId": "t-1", "artifact": artifact}})),
                rpc(json!({"statusUpdate": done})),
            ])
        })
        .requests(1),
        case("timestamps lack the zone", |_| {
            let mut done = task("COMPLETED", &[("a", "hello")]);
            done["status"]["timestamp"] = json!("2026-01-05T09:00:01.250123");
            stream([rpc(json!({"task": done}))])
        })
        .requests(1),
        case("the id of the answer is that of another request", |_| {
            let mut event = snapshot("COMPLETED", &[("a", "hello")]);
            event["id"] = json!(99);
            stream([event])
        })
        .requests(1),
        case("the result is null", |_| stream([rpc(json!(null))]))
            .holds(Failed, "submit failed: ")
            .requests(1),
        case("the stream begins with an error", |_| stream([error(-32603, "out of order")]))
            .holds(Failed, "out of order")
            .requests(1),
    ]
}

/// Other bodies in place of a stream.
fn kinds() -> Vec<Case> {
    vec![
        case("the stream says that it is plain text", |_| {
            let begin = SimulatedAnswer::status(200).header("content-type", "text/plain");
            begin.text(format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")])))
        })
        .requests(1),
        case("the stream does not say what it is", |_| {
            let text = format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")]));
            SimulatedAnswer::status(200).text(text)
        })
        .requests(1),
        case("lines end as on other machines, without an empty line at the end", |_| {
            let (begin, end) = (snapshot("WORKING", &[]), snapshot("COMPLETED", &[("a", "hello")]));
            let text = format!("\u{feff}: hi\r\n\r\ndata: {begin}\r\n\r\ndata: {end}");
            SimulatedAnswer::events([]).text(text)
        })
        .requests(1),
        case("a letter is torn in two pieces", |_| {
            let text = format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "héllo")]));
            let middle = text.find('é').expect("it is there") + 1;
            let (begin, end) = text.as_bytes().split_at(middle);
            let pieces =
                [Piece::Bytes(begin.to_vec()), Piece::Wait(10), Piece::Bytes(end.to_vec())];
            SimulatedAnswer::events([]).pieces(pieces)
        })
        .is(Completed, "héllo")
        .requests(1),
        case("bytes come one by one", |_| {
            let text = format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")]));
            let pieces = text.into_bytes().into_iter().map(|byte| Piece::Bytes(vec![byte]));
            SimulatedAnswer::events([]).pieces(pieces)
        })
        .requests(1),
        case("a task comes instead of a stream", |_| {
            SimulatedAnswer::json(&snapshot("COMPLETED", &[("a", "hello")]))
        })
        .requests(1),
        case("the stream says that it is JSON", |_| {
            let begin = SimulatedAnswer::status(200).header("content-type", "application/json");
            begin.text("\n").text(format!("data: {}\n\n", snapshot("COMPLETED", &[("a", "hello")])))
        })
        .requests(1),
        case("a task comes instead of a stream, and says that it is plain text", |_| {
            let begin = SimulatedAnswer::status(200).header("content-type", "text/plain");
            begin.text(" ").text(snapshot("COMPLETED", &[("a", "hello")]).to_string())
        })
        .requests(1),
        case("an error comes instead of a stream, and says that it is one", |_| {
            SimulatedAnswer::events([]).text(error(-32602, "no such thing").to_string())
        })
        .holds(Failed, "submit failed: the agent refused: no such thing (-32602)")
        .requests(1),
        case("a task comes instead of a stream, and says that it is one", |_| {
            let (begin, end) = ("\n {\"jsonrpc\": \"2.0\", \"result\": ", "}\n");
            let task = json!({"task": task("COMPLETED", &[("a", "hello")])}).to_string();
            SimulatedAnswer::events([]).text(begin).text(task).text(end)
        })
        .requests(1),
        case("a page of HTML comes instead of a stream, and says that it is one", |_| {
            SimulatedAnswer::events([]).text("<html>Log in</html>")
        })
        .holds(Failed, "submit failed: ")
        .requests(1),
        case("a page of HTML comes instead of a stream, and does not say what it is", |_| {
            SimulatedAnswer::status(200).text("<!doctype html><title>Log in</title>")
        })
        .holds(Failed, "submit failed: ")
        .requests(1),
        case("a task that is under way comes instead of a stream", |request| {
            match request.rpc_method().as_str() {
                "GetTask" => bare("COMPLETED", &[("a", "hello")]),
                _ => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            }
        })
        .requests(2),
        case("a page of HTML comes instead of a stream", |_| {
            let page =
                SimulatedAnswer::status(200).header("content-type", "text/html; charset=utf-8");
            page.text("<html>Log in</html>")
        })
        .holds(Failed, "submit failed: ")
        .requests(1),
    ]
}
