//! Tests of the client with correct servers: the requests of each era, tasks, cancellation, credentials, and streams in any
//! pieces.

use std::cell::Cell;
use std::rc::Rc;

use a2a::client::simulation::{Piece, SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{ClientError, Credentials, DEPTH_KEY};
use a2a::http::HttpRequest;
use a2a::http::trace::TraceContext;
use futures_util::future::{Either, LocalBoxFuture, select};
use mcp::client::{
    Call, CallEvent, Client, McpError, Progress, Settings, TaskHandle, TaskState, ToolRequest,
    Verdict,
};
use mcp::model::{Answer, CallResult, Content, Revision, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

const URL: &str = "https://tools.example/mcp";

fn answer(request: &SimulatedRequest, result: Value) -> SimulatedAnswer {
    SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}))
}

fn hello() -> Value {
    json!({"content": [{"type": "text", "text": "hello"}]})
}

fn tool() -> Tool {
    Tool::read(&json!({"name": "say", "inputSchema": {"type": "object"}})).expect("a tool")
}

/// A client that knows the revision of its server.
fn client(simulation: &Simulation, revision: Revision) -> Client {
    client_with(simulation, revision, Settings::new(URL))
}

fn client_with(simulation: &Simulation, revision: Revision, settings: Settings) -> Client {
    let verdict = Verdict::read(&json!({"revision": revision.as_str(), "at": 0}));
    Client::new(settings, simulation.ports()).with_verdict(verdict)
}

/// A legacy server with a session.
fn legacy(simulation: &Simulation, serve: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static) {
    simulation.serve("tools.example", move |request| match request.rpc_method().as_str() {
        "initialize" => {
            let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}});
            answer(request, result).header("mcp-session-id", "s-1")
        }
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ if request.method == "GET" => SimulatedAnswer::status(405),
        _ => serve(request),
    });
}

async fn events(mut call: Call) -> Result<Vec<CallEvent>, McpError> {
    let mut events = Vec::new();
    while let Some(event) = call.next().await {
        events.push(event?);
    }
    Ok(events)
}

fn finished(text: &str) -> CallEvent {
    let content = vec![Content::Text(text.to_owned())];
    CallEvent::Finished(CallResult { content, ..CallResult::default() })
}

#[test]
fn a_call_says_what_its_era_wants_to_hear() {
    let simulation = Simulation::default();
    simulation.serve("tools.example", |request| answer(request, hello()));
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let settings = Settings {
        depth: 3,
        trace: TraceContext::read(parent, Some("a=1")),
        name: "me".to_owned(),
        version: "7".to_owned(),
        takes_urls: false,
        headers: vec![("X-Team".to_owned(), "blue".to_owned())],
        ..Settings::new(URL)
    };
    let client = client_with(&simulation, Revision::V2026_07_28, settings);
    let tool = tool();
    let key = Some("k-1".to_owned());
    let request = ToolRequest {
        key,
        ..ToolRequest::new(&tool, json!({"n": 12345678901234567_u64, "b": [1.5]}))
    };
    assert_eq!(simulation.run(events(client.call(request))), Ok(vec![finished("hello")]));
    let sent = &simulation.requests()[0];
    let expected = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "say", "arguments": {"n": 12345678901234567_u64, "b": [1.5]}, "_meta": {
            "progressToken": 1, DEPTH_KEY: 3, "traceparent": parent, "tracestate": "a=1",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "7"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        },
    }});
    assert_eq!(sent.json(), expected);
    for (name, value) in [
        ("accept", Some("application/json, text/event-stream")),
        ("content-type", Some("application/json")),
        ("mcp-protocol-version", Some("2026-07-28")),
        ("mcp-method", Some("tools/call")),
        ("mcp-name", Some("say")),
        ("mcp-session-id", None),
        ("idempotency-key", Some("k-1")),
        ("x-team", Some("blue")),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
}

#[test]
fn a_legacy_server_hears_nothing_of_the_newer_era() {
    let simulation = Simulation::default();
    legacy(&simulation, |request| answer(request, hello()));
    let client = client(&simulation, Revision::V2025_11_25);
    let tool = tool();
    let request = ToolRequest { has_progress: false, ..ToolRequest::new(&tool, json!({})) };
    assert_eq!(simulation.run(events(client.call(request))), Ok(vec![finished("hello")]));
    simulation.run(client.close());
    simulation.run(client.close());
    let sent = simulation.requests();
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    let info = json!({"name": "a2a-edge", "version": env!("CARGO_PKG_VERSION")});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    assert_eq!(
        sent[0].json(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    );
    assert_eq!(
        (sent[0].header("mcp-protocol-version"), sent[0].header("mcp-session-id")),
        (None, None)
    );
    assert_eq!(sent[1].json(), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!((sent[2].method, sent[2].header("accept")), ("GET", Some("text/event-stream")));
    assert_eq!(
        sent[3].json(),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "say", "arguments": {}}})
    );
    assert_eq!((sent[4].method, sent.len()), ("DELETE", 5));
    for request in &sent[1..] {
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(request.header("mcp-session-id"), Some("s-1"));
        assert_eq!(request.header("mcp-method"), None);
    }
}

#[test]
fn a_client_learns_what_a_server_is_and_another_one_remembers_it() {
    let simulation = Simulation::default();
    simulation.serve("tools.example", |request| match request.rpc_method().as_str() {
        "server/discover" => answer(request, json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "instructions": "be kind",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "files", "version": "2"}},
        })),
        _ => answer(request, json!({"tools": [], "ttlMs": -5, "cacheScope": "private"})),
    });
    let first = Client::new(Settings::new(URL), simulation.ports());
    assert_eq!(first.verdict(), None);
    let verdict = simulation.run(first.discover()).unwrap();
    assert_eq!(verdict.server_name.as_deref(), Some("files"));
    assert_eq!(verdict.instructions.as_deref(), Some("be kind"));
    assert_eq!(first.verdict(), Some(verdict.clone()));
    let kept = Verdict::read(&verdict.to_json());
    let second = Client::new(Settings::new(URL), simulation.ports()).with_verdict(kept);
    let list = simulation.run(second.list_tools()).unwrap();
    assert_eq!((list.ttl_ms, list.is_private), (Some(0), true));
    assert_eq!(simulation.requests().len(), 2);
}

#[test]
fn a_silent_server_is_not_remembered() {
    let simulation = Simulation::default();
    simulation.serve("tools.example", |request| match request.rpc_method().as_str() {
        "initialize" => answer(request, json!({"protocolVersion": "2025-03-26"})),
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ => SimulatedAnswer::status(200).after(u64::MAX),
    });
    let client = Client::new(Settings::new(URL), simulation.ports());
    let verdict = simulation.run(client.discover()).unwrap();
    assert_eq!((verdict.revision, verdict.is_settled), (Revision::V2025_03_26, false));
    let next = Client::new(Settings::new(URL), simulation.ports()).with_verdict(Some(verdict));
    assert_eq!(next.verdict(), None);
}

#[test]
fn a_task_is_looked_at_answered_and_canceled() {
    let simulation = Simulation::default();
    let looks = Cell::new(0);
    simulation.serve("tools.example", move |request| {
        let task = |status: &str| json!({"resultType": "complete", "taskId": "t-1", "status": status, "pollIntervalMs": 50});
        let with = |status: &str, name: &str, value: Value| {
            let mut task = task(status);
            task[name] = value;
            task
        };
        let question = json!({"q": {"method": "elicitation/create", "params": {"message": "Sure?"}}});
        let result = match request.rpc_method().as_str() {
            "tools/call" => json!({"resultType": "task", "taskId": "t-1", "status": "working", "pollIntervalMs": 5_000, "ttlMs": 60_000}),
            "tasks/get" => {
                looks.set(looks.get() + 1);
                match looks.get() {
                    1 => with("working", "statusMessage", json!("half way")),
                    2 => with("input_required", "inputRequests", question),
                    3 => with("completed", "result", hello()),
                    4 => with("failed", "error", json!({"code": -32_603, "message": "it broke"})),
                    5 => task("cancelled"),
                    6 => task("completed"),
                    _ => task("asleep"),
                }
            }
            _ => json!({"resultType": "complete"}),
        };
        answer(request, result)
    });
    let client = client(&simulation, Revision::V2026_07_28);
    let tool = tool();
    let began = simulation.run(events(client.call(ToolRequest::new(&tool, json!({}))))).unwrap();
    let [CallEvent::Task(task)] = &began[..] else { panic!("{began:?}") };
    assert_eq!(
        task,
        &TaskHandle { id: "t-1".to_owned(), poll_interval_ms: 5_000, ttl_ms: Some(60_000) }
    );
    assert_eq!(TaskHandle::read(&task.to_json()).as_ref(), Some(task));
    let look = || simulation.run(client.task(task));
    let first = look().unwrap();
    assert_eq!(
        (first.state, first.message.as_deref(), first.poll_interval_ms),
        (TaskState::Working, Some("half way"), 1_000)
    );
    let TaskState::Asked(questions) = look().unwrap().state else { panic!("no question") };
    assert_eq!((questions[0].key.as_str(), questions[0].message.as_str()), ("q", "Sure?"));
    simulation.run(client.answer_task(task, &[("q".to_owned(), Answer::Decline)])).unwrap();
    assert!(
        matches!(look().unwrap().state, TaskState::Completed(result) if result.text() == "hello")
    );
    assert!(
        matches!(look().unwrap().state, TaskState::Failed(error) if error.message == "it broke")
    );
    assert_eq!(look().unwrap().state, TaskState::Cancelled);
    assert_eq!(
        look().unwrap_err().to_string(),
        "the answer is none of MCP: the task is completed, and has no result"
    );
    assert_eq!(
        look().unwrap_err().to_string(),
        "the task has the status \"asleep\", which is not known here"
    );
    simulation.run(client.cancel_task(task)).unwrap();
    let sent = simulation.requests();
    assert!(sent.iter().skip(1).all(|request| request.header("mcp-name") == Some("t-1")));
    let update = sent.iter().find(|request| request.rpc_method() == "tasks/update").unwrap();
    assert_eq!(update.json()["params"]["inputResponses"], json!({"q": {"action": "decline"}}));
    assert_eq!(sent.last().map(SimulatedRequest::rpc_method).as_deref(), Some("tasks/cancel"));
}

#[test]
fn a_legacy_call_is_canceled_by_a_word_and_a_newer_one_by_silence() {
    for (revision, words) in [(Revision::V2025_06_18, 1), (Revision::V2026_07_28, 0)] {
        let simulation = Simulation::default();
        legacy(&simulation, |request| match request.rpc_method().as_str() {
            "tools/call" => {
                SimulatedAnswer::status(200).header("content-type", "text/event-stream").hang()
            }
            _ => SimulatedAnswer::status(202),
        });
        let client = client(&simulation, revision);
        let tool = tool();
        let mut call = client.call(ToolRequest::new(&tool, json!({})));
        simulation.run(async {
            let pause = simulation.ports().clock.sleep(50);
            let waited = select(Box::pin(call.next()), pause).await;
            assert!(matches!(waited, Either::Right(_)));
        });
        simulation.run(call.cancel());
        simulation.run(call.cancel());
        assert!(simulation.run(call.next()).is_none());
        let sent = simulation.requests();
        let told: Vec<Value> = sent
            .iter()
            .filter(|request| request.rpc_method() == "notifications/cancelled")
            .map(|request| request.json()["params"]["requestId"].clone())
            .collect();
        let id =
            sent.iter().find(|request| request.rpc_method() == "tools/call").unwrap().json()["id"]
                .clone();
        assert_eq!(told, vec![id; words], "{revision}");
    }
}

#[test]
fn what_is_dropped_sends_nothing() {
    let simulation = Simulation::default();
    legacy(&simulation, |_| {
        SimulatedAnswer::status(200).header("content-type", "text/event-stream").hang()
    });
    let client = client(&simulation, Revision::V2025_06_18);
    let tool = tool();
    let mut call = client.call(ToolRequest::new(&tool, json!({})));
    simulation.run(async {
        select(Box::pin(call.next()), simulation.ports().clock.sleep(50)).await;
    });
    let before = simulation.requests().len();
    drop((call, client));
    simulation.run(simulation.ports().clock.sleep(600_000));
    assert_eq!((before, simulation.requests().len()), (4, 4));
}

#[test]
fn waiting_for_an_event_may_be_given_up_at_any_time() {
    let simulation = Simulation::default();
    simulation.serve("tools.example", |request| {
        let event = |message: Value| format!("data: {message}\n\n");
        let id = request.json()["id"].clone();
        let step = |step: u8| json!({"method": "notifications/progress", "params": {"progressToken": id, "progress": step}});
        let last = json!({"id": id, "result": hello()});
        SimulatedAnswer::status(200)
            .header("content-type", "text/event-stream")
            .after(35)
            .wait(35)
            .text(event(step(1)))
            .wait(35)
            .text(event(step(2)))
            .wait(235)
            .text(event(last))
    });
    let client = client(&simulation, Revision::V2026_07_28);
    let tool = tool();
    let mut call = client.call(ToolRequest::new(&tool, json!({})));
    let heard = simulation.run(async {
        let mut heard = Vec::new();
        loop {
            match select(Box::pin(call.next()), simulation.ports().clock.sleep(10)).await {
                Either::Left((Some(event), _)) => heard.push(event.unwrap()),
                Either::Left((None, _)) => return heard,
                Either::Right(_) => {}
            }
        }
    });
    let progress =
        |progress: f64| CallEvent::Progress(Progress { progress, total: None, message: None });
    assert_eq!(heard, [progress(1.0), progress(2.0), finished("hello")]);
    assert_eq!(simulation.requests().len(), 1);
}

/// Credentials of which only the second value is valid.
#[derive(Default)]
struct Rotating(Cell<u32>);

impl Credentials for Rotating {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        let token = format!("t-{}", self.0.get());
        request.headers.push(("authorization".to_owned(), token));
        Box::pin(std::future::ready(Ok(())))
    }

    fn refused(&self) -> bool {
        self.0.set(self.0.get() + 1);
        true
    }
}

#[test]
fn credentials_that_are_refused_are_replaced_once() {
    for (right, is_in) in [("t-1", true), ("t-2", false)] {
        let simulation = Simulation::default();
        simulation.serve("tools.example", move |request| match request.header("authorization") {
            Some(token) if token == right => answer(request, hello()),
            _ => SimulatedAnswer::status(401),
        });
        let client = client(&simulation, Revision::V2026_07_28);
        let client = client.with_credentials(Rc::new(Rotating::default()));
        let tool = tool();
        let called = simulation.run(events(client.call(ToolRequest::new(&tool, json!({})))));
        assert_eq!(called.is_ok(), is_in, "{called:?}");
        assert_eq!(simulation.requests().len(), 2);
    }
}

#[test]
fn an_answer_to_no_question_is_refused() {
    let simulation = Simulation::default();
    let client = client(&simulation, Revision::V2026_07_28);
    let tool = tool();
    let call = client.call(ToolRequest::new(&tool, json!({})));
    let answered = simulation.run(call.answer("q", &Answer::Cancel));
    assert_eq!(
        answered.unwrap_err().to_string(),
        "the call has no question q that waits for an answer"
    );
}

#[test]
fn errors_tell_whether_to_try_again_and_whether_a_tool_may_have_run() {
    for (status, body, may_pass, is_untouched) in [
        (400, json!({"error": {"code": -32_602, "message": "wrong"}}), false, true),
        (200, json!({"id": 1, "error": {"code": -32_602, "message": "wrong"}}), false, true),
        (200, json!({"id": 1, "error": {"code": -32_603, "message": "broken"}}), false, false),
        (500, json!({"error": {"code": -32_603, "message": "broken"}}), true, false),
        (429, json!(null), true, true),
        (503, json!(null), true, true),
        (502, json!(null), true, false),
        (403, json!(null), false, true),
        (200, json!({"id": 2, "result": {}}), true, false),
    ] {
        let simulation = Simulation::default();
        let said = body.clone();
        simulation
            .serve("tools.example", move |_| SimulatedAnswer::json(&said).with_status(status));
        let client = client(&simulation, Revision::V2026_07_28);
        let tool = tool();
        let call = client.call(ToolRequest::new(&tool, json!({})));
        let error = simulation.run(events(call)).expect_err("a failure");
        assert_eq!(
            (error.may_pass(), error.is_untouched()),
            (may_pass, is_untouched),
            "{status} {body}"
        );
    }
}

proptest! {
    /// The pieces of a stream do not affect the events.
    #[test]
    fn any_pieces_of_a_stream_give_the_same_events(
        cuts in prop::collection::vec(1_usize..60, 0..60),
        text in "[a-zäöü😀\\\\\" ]{0,20}",
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let id = json!(1);
        let step = json!({"method": "notifications/progress", "params": {"progressToken": id, "progress": 1, "message": text.clone()}});
        let other = json!({"id": "1", "result": {"content": []}});
        let last = json!({"id": id, "result": {"content": [{"type": "text", "text": text.clone()}]}});
        let lines = [format!("data: {step}"), String::new(), ": so so".to_owned(), "id: 7".to_owned(), "data:".to_owned(), String::new(), format!("data: {other}"), String::new(), "event: message".to_owned(), format!("data: {last}"), String::new()];
        let bytes = lines.map(|line| line + end).concat().into_bytes();
        let mut pieces = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts {
            let (piece, more) = rest.split_at(cut.min(rest.len()));
            pieces.push(Piece::Bytes(piece.to_vec()));
            rest = more;
        }
        pieces.push(Piece::Bytes(rest.to_vec()));
        let simulation = Simulation::default();
        simulation.serve("tools.example", move |_| {
            SimulatedAnswer::status(200).header("content-type", "text/event-stream").pieces(pieces.clone())
        });
        let client = client(&simulation, Revision::V2026_07_28);
        let tool = tool();
        let heard = simulation.run(events(client.call(ToolRequest::new(&tool, json!({}))))).unwrap();
        let message = Some(text.clone()).filter(|text| !text.trim().is_empty());
        let progress = CallEvent::Progress(Progress { progress: 1.0, total: None, message });
        prop_assert_eq!(heard, vec![progress, finished(&text)]);
    }
}
