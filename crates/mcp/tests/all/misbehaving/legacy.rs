//! Legacy servers: sessions, requests in streams, resumed streams.

use std::cell::Cell;

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest};
use mcp::client::Settings;
use mcp::model::Revision;
use serde_json::{Value, json};

use super::case::{Case, any_case};
use super::said::{
    answer, hello, initialized, page, plain, progress, raw, refusal, result, stream,
};

/// A legacy server with sessions and this answer to calls. The client knows its era.
fn old(name: &'static str, serve: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static) -> Case {
    let sessions = Cell::new(0);
    let case = any_case(name, move |request| match request.rpc_method().as_str() {
        "initialize" => {
            sessions.set(sessions.get() + 1);
            initialized(request, "2025-11-25", Some(&format!("s-{}", sessions.get())))
        }
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ if is_standing(request) => SimulatedAnswer::status(405),
        _ => serve(request),
    });
    case.known(Revision::V2025_11_25)
}

/// True if this is the client's request for the separate stream.
fn is_standing(request: &SimulatedRequest) -> bool {
    request.method == "GET" && request.header("last-event-id").is_none()
}

/// A legacy server with a session and this separate stream.
fn beside(
    name: &'static str,
    standing: impl Fn() -> SimulatedAnswer + 'static,
    serve: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    let case = any_case(name, move |request| match request.rpc_method().as_str() {
        "initialize" => initialized(request, "2025-06-18", Some("s-1")),
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ if is_standing(request) => standing(),
        _ => serve(request),
    });
    case.known(Revision::V2025_06_18)
}

fn session(request: &SimulatedRequest) -> &str {
    request.header("mcp-session-id").unwrap_or("none")
}

/// A request of the server.
fn asks(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = sessions();
    cases.extend(requests());
    cases.extend(resumed());
    cases.extend(besides());
    cases
}

fn sessions() -> Vec<Case> {
    vec![
        old("a session", |request| plain(&answer(request, result(session(request))))).is("s-1").requests(4),
        old("a session that is lost, with 404", |request| match session(request) {
            "s-1" => plain(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_001, "message": "Session not found"}})).with_status(404),
            other => plain(&answer(request, result(other))),
        })
        .is("s-2")
        .requests(8),
        old("a session that is lost, with 404 and nothing", |request| match session(request) {
            "s-1" => SimulatedAnswer::status(404),
            other => plain(&answer(request, result(other))),
        })
        .is("s-2")
        .requests(8),
        old("a session that is lost, with 400", |request| match session(request) {
            "s-1" => SimulatedAnswer::status(400).text("Bad Request: No valid session ID provided"),
            other => plain(&answer(request, result(other))),
        })
        .is("s-2")
        .requests(8),
        old("sessions that never hold", |_| SimulatedAnswer::status(404))
            .is("error: the server has lost its session, and a new one as well")
            .requests(8),
        old("a bad request that is not about the session", |request| {
            plain(&refusal(request, -32_600, "the arguments are wrong")).with_status(400)
        })
        .is("error: the server refused: the arguments are wrong (-32600)")
        .requests(4),
        old("a session that is lost between two pages", |request| match session(request) {
            "s-1" if request.json()["params"]["cursor"] == "next" => SimulatedAnswer::status(404),
            _ if request.json()["params"]["cursor"] == "next" => page(request, &[], None),
            _ => page(request, &[super::said::listed("a")], Some("next")),
        })
        .listed()
        .is("a")
        .requests(7),
        any_case("an id of a session that no header can hold", |request| match request.rpc_method().as_str() {
            "initialize" => initialized(request, "2025-06-18", Some("s\u{e9}ssion")),
            "notifications/initialized" => SimulatedAnswer::status(202),
            _ => plain(&answer(request, result(session(request)))),
        })
        .known(Revision::V2025_06_18)
        .is("none"),
        any_case("a refusal of the notification that all is ready", |request| match request.rpc_method().as_str() {
            "initialize" => initialized(request, "2025-06-18", None),
            "notifications/initialized" => SimulatedAnswer::status(400),
            _ => plain(&hello(request)),
        })
        .known(Revision::V2025_06_18)
        .requests(3),
        old("results as in 2026-07-28", |request| {
            plain(&answer(request, json!({"resultType": "complete", "content": [{"type": "text", "text": "hello"}]})))
        }),
    ]
}

fn requests() -> Vec<Case> {
    let form = || json!({"message": "Really?", "requestedSchema": {"type": "object"}});
    vec![
        old("a ping in the stream", |request| match request.rpc_method().as_str() {
            "tools/call" => stream([asks(json!("p"), "ping", json!({})), hello(request)]),
            _ if request.json() == json!({"jsonrpc": "2.0", "id": "p", "result": {}}) => SimulatedAnswer::status(202),
            _ => SimulatedAnswer::status(500),
        })
        .requests(5),
        old("requests for what was not offered", |request| match request.rpc_method().as_str() {
            "tools/call" => stream([
                asks(json!(1), "sampling/createMessage", json!({"messages": []})),
                asks(json!(2), "roots/list", json!({})),
                asks(json!(3), "elicitation/create", json!({"mode": "dance"})),
                hello(request),
            ]),
            _ => SimulatedAnswer::status(202),
        })
        .requests(7),
        old("pings without end", |_| {
            let ping = format!("data: {}\n\n", asks(json!(1), "ping", json!({})));
            raw(ping.repeat(200))
        })
        .is("error: the server made more than 100 requests during one call")
        .requests(104),
        old("a question in the stream", move |request| match request.rpc_method().as_str() {
            "tools/call" => stream([asks(json!(0), "elicitation/create", form())]).wait(5).text(format!("data: {}\n\n", hello(request))),
            _ => SimulatedAnswer::status(202),
        })
        .is("asked Really?; hello")
        .requests(5),
        old("a question whose answer it does not take", move |request| match request.rpc_method().as_str() {
            "tools/call" => stream([asks(json!("q"), "elicitation/create", form())]).wait(5).text(format!("data: {}\n\n", hello(request))),
            _ => SimulatedAnswer::status(403),
        })
        .is("asked Really?, in vain; hello"),
        old("a question that was not offered", move |request| match request.rpc_method().as_str() {
            "tools/call" => stream([asks(json!("q"), "elicitation/create", form()), hello(request)]),
            _ => SimulatedAnswer::status(202),
        })
        .set(|settings| Settings { takes_forms: false, takes_urls: false, ..settings })
        .is("hello")
        .requests(4),
        old("a question during a list", move |request| match request.rpc_method().as_str() {
            "tools/list" => stream([asks(json!("q"), "elicitation/create", form()), answer(request, json!({"tools": []}))]),
            _ => SimulatedAnswer::status(202),
        })
        .listed()
        .is("")
        .requests(4),
        old("a URL that must be visited first", |request| {
            let elicitation = json!({"mode": "url", "elicitationId": "e", "url": "https://tools.example/connect", "message": "Connect!"});
            let error = json!({"code": -32_042, "message": "URL", "data": {"elicitations": [elicitation]}});
            match request.call_number {
                3 => plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error})),
                _ => plain(&hello(request)),
            }
        })
        .is("asked Connect!; hello")
        .requests(5),
        old("a URL that is none", |request| plain(&refusal(request, -32_042, "URL")))
            .is("error: the server refused: URL (-32042)"),
        old("a server that does not hear that its call is over", |request| {
            match request.rpc_method().as_str() {
                "notifications/cancelled" => SimulatedAnswer::status(202).after(u64::MAX),
                _ => stream([]).hang(),
            }
        })
        .is("error: the server has not finished within 300000 ms")
        .ends(305_000, 305_000),
        old("a call that is not answered in time", |request| match request.rpc_method().as_str() {
            "notifications/cancelled" => SimulatedAnswer::status(202),
            _ => stream([progress(request, 1.0)]).hang(),
        })
        .is("1; error: the server has not finished within 300000 ms")
        .requests(5)
        .ends(300_000, 300_000),
    ]
}

/// Streams that end before the result.
fn resumed() -> Vec<Case> {
    let first = || "id: e-1\nretry: 700\ndata:\n\n";
    let is_get = |request: &SimulatedRequest| request.method == "GET";
    vec![
        old("a stream that the server closes early", move |request| {
            match request.header("last-event-id") {
                None => raw(first()),
                Some("e-1") => {
                    raw(format!("id: e-2\ndata: {}\n\n", answer(&call(), result("hello"))))
                }
                Some(_) => SimulatedAnswer::status(500),
            }
        })
        .requests(5)
        .ends(700, 700),
        old("a stream that breaks and goes on, twice", move |request| {
            match request.header("last-event-id") {
                None => raw(first()).cut("the line broke"),
                Some("e-1") => raw("id: e-2\ndata:\n\n"),
                Some(_) => raw(format!("data: {}\n\n", answer(&call(), result("hello")))),
            }
        })
        .requests(6)
        .ends(1_400, 1_400),
        old("a stream that goes on after failures", move |request| match request.call_number {
            _ if !is_get(request) => raw(first()),
            2 => SimulatedAnswer::refused("no route"),
            3 => SimulatedAnswer::status(503),
            _ => raw(format!("data: {}\n\n", answer(&call(), result("hello")))),
        })
        .requests(7),
        old("a stream that never goes on", move |request| {
            if is_get(request) { SimulatedAnswer::status(503) } else { raw(first()) }
        })
        .holds("it ended without an answer to the request 2")
        .requests(9),
        old("a stream that always ends", move |request| {
            if is_get(request) { raw(": nothing yet\n\n") } else { raw(first()) }
        })
        .holds("it ended without an answer to the request 2")
        .requests(104)
        .ends(70_000, 70_000),
        old("a stream that may not go on", move |request| {
            if is_get(request) { SimulatedAnswer::status(405) } else { raw(first()) }
        })
        .holds("it ended without an answer to the request 2")
        .requests(5),
        old("a stream without ids that ends", |_| raw("retry: 10\n\ndata:\n\n"))
            .holds("it ended without an answer to the request 2")
            .requests(4),
        old("a stream that is to be left alone for a year", move |request| {
            if is_get(request) {
                raw(format!("data: {}\n\n", answer(&call(), result("hello"))))
            } else {
                raw("id: e-1\nretry: 31536000000\ndata:\n\n")
            }
        })
        .ends(60_000, 60_000),
    ]
}

/// Separate streams.
fn besides() -> Vec<Case> {
    let form = || json!({"message": "Really?", "requestedSchema": {"type": "object"}});
    let question = move || format!("data: {}\n\n", asks(json!(0), "elicitation/create", form()));
    let called = |request: &SimulatedRequest| match request.rpc_method().as_str() {
        "tools/call" => plain(&hello(request)).after(5_000),
        _ => SimulatedAnswer::status(202),
    };
    vec![
        beside(
            "a question besides the answer",
            move || raw("").wait(10).text(question()).hang(),
            move |request| match request.rpc_method().as_str() {
                "tools/call" => {
                    raw(": at work\n\n").wait(50).text(format!("data: {}\n\n", hello(request)))
                }
                _ => SimulatedAnswer::status(202),
            },
        )
        .is("asked Really?; hello")
        .requests(5)
        .ends(50, 50),
        beside("a question besides an answer that is whole", || raw("").hang(), called)
            .requests(4)
            .ends(5_000, 5_000),
        beside("a stream besides whose head does not come", || raw("").after(u64::MAX), called)
            .requests(4)
            .ends(5_500, 5_500),
        beside("a stream besides that ends", || raw(": bye\n\n"), called).requests(4),
        beside("a stream besides that breaks", || raw(": bye\n\n").cut("the line broke"), called)
            .requests(4),
        beside(
            "a stream besides that is HTML",
            || SimulatedAnswer::status(200).header("content-type", "text/html"),
            called,
        )
        .requests(4),
        beside("a stream besides that somebody else has", || SimulatedAnswer::status(409), called)
            .requests(4),
        beside(
            "a stream besides that floods",
            || raw("data: {\"a\": 1}\n\n".repeat(10_000)),
            called,
        )
        .requests(4),
    ]
}

/// The request that the resumed streams answer, which is the second one of the client.
fn call() -> SimulatedRequest {
    SimulatedRequest {
        at_ms: 0,
        method: "POST",
        url: String::new(),
        headers: Vec::new(),
        body: json!({"id": 2}).to_string(),
        call_number: 1,
    }
}
