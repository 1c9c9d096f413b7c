//! Streams that fail in the middle.

use a2a::model::TaskState;
use serde_json::json;

use super::case::{Case, case};
use crate::support::http_agent::Answer;

pub(crate) fn cases() -> Vec<Case> {
    let begun = || json!({"do": "artifact", "id": "a", "text": "half", "more": true});
    let more = || json!({"do": "append", "id": "a", "text": " of it"});
    let done = || json!({"do": "complete"});
    let whole = || Answer::events(&[json!({"do": "artifact", "id": "a", "text": "whole"}), done()]);
    let reply = |data: &str| format!("{{\"do\":\"reply\",\"data\":{data}}}\n");
    let many = reply(&format!("[{}0]", "0,".repeat(1_000_000)));
    let deep = reply(&format!("{}{}", "[".repeat(120), "]".repeat(120)));
    let lines = |text: &str| Answer::raw("application/x-ndjson", text);
    let events = |text: &str| Answer::raw("text/event-stream", text);
    vec![
        case("ends without an end", Answer::events(&[begun(), more()]))
            .tells("it has no end; one of complete, fail")
            .keeps(&["half of it"]),
        case("says nothing at all", Answer::events(&[])).tells("it has no end"),
        case("sends nothing but comments", events(": ping\n\n: ping\n\n")).tells("it has no end"),
        case("breaks off each time", Answer::lines(&[begun(), more()]).then_breaks())
            .tells("the answer of https://agent.example/turn broke off: the connection was reset (asked 3 times)")
            .asked(3)
            .keeps(&["half of it"]),
        case("breaks off once", Answer::lines(&[begun(), more()]).then_breaks())
            .then(whole())
            .ends(TaskState::Completed)
            .asked(2)
            .keeps(&["whole"]),
        case("breaks off once, and goes on", Answer::lines(&[begun()]).then_breaks())
            .then(Answer::lines(&[json!({"do": "append", "id": "a", "text": " and half", "last": true}), done()]))
            .ends(TaskState::Completed)
            .asked(2)
            .keeps(&["half and half"]),
        case("breaks off behind a whole artifact, and goes on with it", Answer::lines(&[json!({"do": "artifact", "id": "a", "text": "half"})]).then_breaks())
            .then(Answer::lines(&[json!({"do": "append", "id": "a", "text": " and"}), json!({"do": "append", "id": "a", "text": " half"}), done()]))
            .ends(TaskState::Completed)
            .asked(2)
            .keeps(&["half and half"]),
        case("breaks off behind its end", Answer::events(&[begun(), done()]).then_breaks())
            .ends(TaskState::Completed)
            .keeps(&["half"]),
        case("stays open behind its end", Answer::events(&[begun(), done()]).then_hangs())
            .ends(TaskState::Completed)
            .keeps(&["half"]),
        case("stops in the middle", Answer::events(&[begun()]).then_hangs())
            .tells("stopped: nothing came for 1000 ms (idle_timeout_ms)")
            .with(json!({"idle_timeout_ms": 1_000}))
            .keeps(&["half"]),
        case("sends comments while it thinks", events(": on it\n\n").then(800, ": still\n\n").then(800, "data: {\"do\":\"complete\"}\n\n"))
            .with(json!({"idle_timeout_ms": 1_000}))
            .ends(TaskState::Completed),
        case("talks behind its end", Answer::events(&[done(), begun()]))
            .tells("event 2: it stands behind the end of the answer"),
        case("ends twice", Answer::lines(&[done(), done()])).tells("line 2: it stands behind the end"),
        case("ends in two ways at once", Answer::json(&json!([done(), {"do": "fail", "text": "x"}])))
            .tells("verb 2: it stands behind the end"),
        case("talks behind its end, a moment later", Answer::events(&[done()]).then(300, "data: [DONE]\n\n"))
            .tells("event 2 is not JSON"),
        case("sends a line that is not JSON", lines("{\"do\":\"working\"}\nTraceback (most recent call last):\n"))
            .tells("line 2 is not JSON (expected value at line 1 column 1): Traceback (most recent call last):"),
        case("sends an event that is not JSON", events("data: {\"do\":\"working\"}\n\ndata: oops\n\n"))
            .tells("event 2 is not JSON (expected value at line 1 column 1): oops"),
        case("sends a line of too many values", lines(&many).split_every(65_536))
            .tells("line 1 holds more than 100000 JSON values"),
        case("sends an event of too many values", events(&format!("data: {many}\n\n")).split_every(65_536))
            .tells("event 1 holds more than 100000 JSON values"),
        case("sends a line of 120 levels", lines(&deep)).tells("line 1 is nested more than 100 levels"),
        case("sends an event of 120 levels", events(&format!("data: {deep}\n\n")))
            .tells("event 1 is nested more than 100 levels"),
        case("spreads an object over lines", lines("{\n  \"do\": \"complete\"\n}\n")).tells("line 1 is not JSON"),
        case("ends in the middle of a line", lines("{\"do\":\"working\"}\n{\"do\":\"comp"))
            .tells("it ends in the middle of line 2: {\"do\":\"comp"),
        case("ends in the middle of an event", events("data: {\"do\":\"working\"}\n\ndata: {\"do\":"))
            .tells("it ends in the middle of event 2"),
        case("forgets the end of its last line", lines("{\"do\":\"working\"}\n\n{\"do\":\"complete\"}")).ends(TaskState::Completed),
        case("forgets the end of its last event", events("data: {\"do\":\"complete\"}")).ends(TaskState::Completed),
        case("sends a line of 10 MB", lines(&format!("{}\n", json!({"do": "artifact", "text": "x".repeat(10_000_000)}))).split_every(65_536))
            .tells("line 1 has more than 8388608 bytes"),
        case("sends a line that never ends", lines(&"x".repeat(10_000_000)).split_every(65_536).then_hangs())
            .tells("line 1 has more than 8388608 bytes"),
        case("sends an event of 10 MB", events(&format!("data: {}\n\n", "x".repeat(10_000_000))).split_every(65_536))
            .tells("event 1 has more than 8388608 bytes"),
        case("sends more than an event may hold", Answer::lines(&[json!({"do": "artifact", "text": "x".repeat(5_000_000)}), done()]))
            .tells("line 1: the agent gave an event of 5000"),
        case("sends bytes that are no text", Answer::raw("application/x-ndjson", b"{\"do\":\"working\",\"text\":\"\xff\"}\n"))
            .tells("it is not UTF-8 at byte 25"),
        case("ends in the middle of a letter", Answer::raw("application/x-ndjson", b"{\"do\":\"complete\"}\n\xc3"))
            .tells("it is not UTF-8 at byte 19"),
        case("cuts letters in two", lines("{\"do\":\"artifact\",\"text\":\"äöü€😀\"}\n{\"do\":\"complete\"}\n").split_every(1))
            .ends(TaskState::Completed)
            .keeps(&["äöü€😀"]),
        case("speaks of events as lines", Answer::raw("application/x-ndjson", "data: {\"do\":\"complete\"}\n\n"))
            .tells("line 1 is not JSON"),
        case("speaks of lines as events", events("{\"do\":\"complete\"}\n")).tells("it has no end"),
        case("says too much", Answer::raw("application/x-ndjson", "{\"do\":\"working\"}\n".repeat(100_001)))
            .tells("line 100001: it is one too many: an answer has up to 100000 verbs"),
        case("gives more than a task holds", Answer::lines(&vec![json!({"do": "append", "text": "x".repeat(3_000_000)}); 12])
            .behind(Answer::lines(&[json!({"do": "artifact", "text": "", "more": true})])))
            .with(json!({"event_interval_ms": 0}))
            .tells("a task holds at most 33554432 bytes")
            .keeps_anything(),
    ]
}
