//! Answers that are wrong before their first verb: statuses, types, timeouts.

use a2a::model::TaskState;
use serde_json::json;

use super::case::{Case, case};
use crate::support::http_agent::Answer;

pub(crate) fn cases() -> Vec<Case> {
    let done = || Answer::json(&json!({"do": "complete", "text": "done"}));
    vec![
        case("answers 400 with a text", Answer::status(400, "no such field: turn"))
            .tells("https://agent.example/turn answered 400: no such field: turn"),
        case("answers 401", Answer::status(401, "")).tells("answered 401"),
        case("answers 404 with a page", Answer::status(404, "<html>\n  <h1>Not found</h1>"))
            .tells("answered 404: <html> <h1>Not found</h1>"),
        case("answers 422 with a text of a megabyte", Answer::status(422, &"x ".repeat(500_000)))
            .tells("answered 422: x x x"),
        case("answers 403 and never ends its text", Answer::status(403, "no").then_hangs())
            .tells("answered 403"),
        case("tells the token that it was called with", Answer::status(403, "bad token-4f1d0c"))
            .tells("bad [AGENT_TOKEN]"),
        case("redirects", Answer::status(307, "").header("location", "https://other.example/turn"))
            .tells("answered 307, a redirect to https://other.example/turn"),
        case(
            "redirects to a URL with secrets",
            Answer::status(307, "").header("location", "https://me:pass@other.example/turn?key=k3y#k3y"),
        )
        .tells("answered 307, a redirect to https://other.example/turn; redirects are not followed"),
        case("redirects nowhere", Answer::status(302, "")).tells("redirects are not followed"),
        case("answers 500 each time", Answer::status(500, "oops"))
            .tells("answered 500: oops (asked 3 times)")
            .asked(3),
        case("answers 500 once", Answer::status(500, "oops"))
            .then(done())
            .ends(TaskState::Completed)
            .asked(2),
        case("answers 500 once, and is to be asked once", Answer::status(500, "oops"))
            .with(json!({"attempts": 1}))
            .tells("answered 500: oops"),
        case("answers 429 each time", Answer::status(429, "slow down").header("retry-after", "2"))
            .tells("answered 429: slow down (asked 3 times)")
            .asked(3),
        case("answers 429 once", Answer::status(429, "").header("retry-after", "20"))
            .then(done())
            .ends(TaskState::Completed)
            .asked(2),
        case("wants to be left alone for an hour", Answer::status(503, "").header("retry-after", "3600"))
            .tells("answered 503"),
        case("answers 503 twice", Answer::status(503, ""))
            .then(Answer::status(503, "").header("retry-after", "1"))
            .then(done())
            .ends(TaskState::Completed)
            .asked(3),
        case("cannot be reached", Answer::down("connection refused"))
            .tells("the agent's program at agent.example cannot be reached (connection refused), 10 times in 60 s; is it running?")
            .asked(10),
        case("cannot be reached once", Answer::down("connection refused"))
            .then(done())
            .ends(TaskState::Completed)
            .asked(2),
        case("never begins its answer", done().after(3_600_000))
            .tells("did not begin its answer within 120000 ms (timeout_ms)"),
        case("begins its answer too late", done().after(2_000))
            .with(json!({"timeout_ms": 1_000}))
            .tells("within 1000 ms"),
        case("takes its time, within the limit", done().after(90_000)).ends(TaskState::Completed),
        case("answers a page", Answer::raw("text/html; charset=utf-8", "<html>Welcome</html>"))
            .tells("its content-type is text/html; charset=utf-8; it must be application/json, text/event-stream or"),
        case("answers plain text", Answer::raw("text/plain", "hello")).tells("its content-type is text/plain"),
        case("names no content type", done().without_header("content-type"))
            .tells("it has no content-type"),
        case("answers nothing", Answer::raw("application/json", "")).tells("it is empty"),
        case("answers 204", Answer::status(204, "").header("content-type", "application/json"))
            .tells("it is empty"),
        case("answers spaces", Answer::raw("application/json", " \n ")).tells("it is empty"),
        case("answers an answer of A2A", Answer::json(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})))
            .tells("verb 1: it has no `do`, the name of a verb: working, artifact"),
        case("answers a text", Answer::json(&json!("hello"))).tells(r#"verb 1: it must be an object such as {"do": "complete"}"#),
        case("answers no JSON", Answer::raw("application/json", "hello\n{}")).tells("it is not JSON (expected value at line 1 column 1): hello {}"),
        case("answers two documents", Answer::raw("application/json", r#"{"do":"complete"}{"do":"complete"}"#))
            .tells("it is not JSON (trailing characters at line 1 column 18)"),
        case("ends its document in the middle", Answer::raw("application/json", r#"{"do":"compl"#))
            .tells("it is not JSON (EOF while parsing"),
        case("breaks off its document each time", Answer::raw("application/json", r#"{"do":"compl"#).then_breaks())
            .tells("broke off: the connection was reset (asked 3 times)")
            .asked(3),
        case("breaks off its document once", Answer::raw("application/json", r#"{"do":"#).then_breaks())
            .then(done())
            .ends(TaskState::Completed)
            .asked(2),
        case("answers what is no gzip", Answer::raw("application/json", b"\x1f\x8b\x08\x00nonsense"))
            .tells("it is not UTF-8 at byte 2"),
        case("answers an empty list", Answer::json(&json!([]))).tells("it has no end"),
        case("answers a list in a list", Answer::json(&json!([[{"do": "complete"}]])))
            .tells("verb 1: it must be an object"),
        case("answers a document of 10 MB", Answer::json(&json!({"do": "complete", "text": "x".repeat(10_000_000)})))
            .tells("it has more than 8388608 bytes; answer with a stream instead"),
        case("answers JSON of 200 levels", Answer::raw("application/json", format!(r#"{{"do":"reply","data":{}{}}}"#, "[".repeat(200), "]".repeat(200))))
            .tells("it is nested more than 100 levels"),
        case("answers a million values", Answer::raw("application/json", format!(r#"{{"do":"reply","data":[{}0]}}"#, "0,".repeat(1_000_000))))
            .tells("it holds more than 100000 JSON values"),
    ]
}
