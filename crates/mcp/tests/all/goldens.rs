//! Recorded answers of servers by other authors, and the client's results for them. Each row names the package of the
//! server.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest, Simulation};
use mcp::client::{CallEvent, Client, McpError, Settings, TaskState, ToolRequest, Verdict};
use mcp::model::{QuestionKind, Revision, Tool};
use serde_json::json;

const URL: &str = "https://tools.example/mcp";
const SDK: &str = "npm @modelcontextprotocol/server 2.4.0";
const EVERYTHING: &str = "npm @modelcontextprotocol/server-everything 2026.8.31";
const PYTHON: &str = "PyPI mcp 2.3.0";
const FASTMCP: &str = "PyPI fastmcp 4.1.2";

/// A recorded answer: its status, its content type, its body.
#[derive(Clone, Copy)]
struct Seen(u16, &'static str, &'static str);

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

impl Seen {
    fn answer(self) -> SimulatedAnswer {
        SimulatedAnswer::status(self.0).header("content-type", self.1).text(self.2)
    }
}

/// A client of a server with this answer, and with a known revision. The next request of the client has the id 2.
fn client(simulation: &Simulation, revision: Revision, seen: Seen) -> Client {
    simulation.serve("tools.example", move |request: &SimulatedRequest| {
        let result = match request.rpc_method().as_str() {
            "initialize" => json!({"protocolVersion": "2025-11-25"}),
            "tools/list" => json!({"tools": []}),
            "notifications/initialized" => return SimulatedAnswer::status(202),
            _ => return seen.answer(),
        };
        let id = &request.json()["id"];
        let answer = SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        answer.header("mcp-session-id", "s-1")
    });
    let verdict = Verdict::read(&json!({"revision": revision.as_str(), "at": 0}));
    let client = Client::new(Settings::new(URL), simulation.ports()).with_verdict(verdict);
    simulation.run(client.list_tools()).expect("the first request");
    client
}

fn call(revision: Revision, seen: Seen) -> Result<Vec<CallEvent>, McpError> {
    let simulation = Simulation::default();
    let client = client(&simulation, revision, seen);
    let tool = Tool::read(&json!({"name": "say", "inputSchema": {"type": "object"}})).unwrap();
    let mut call = client.call(ToolRequest::new(&tool, json!({})));
    simulation.run(async {
        let mut events = Vec::new();
        while let Some(event) = call.next().await {
            events.push(event?);
        }
        Ok(events)
    })
}

const MODERN: Revision = Revision::V2026_07_28;

#[test]
fn the_era_of_servers_is_found() {
    for (package, seen, revision) in [
        (
            SDK,
            Seen(
                200,
                JSON,
                r#"{"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"1"}}},"jsonrpc":"2.0","id":1}"#,
            ),
            MODERN,
        ),
        (
            EVERYTHING,
            Seen(
                400,
                JSON,
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
            ),
            Revision::V2025_11_25,
        ),
    ] {
        let simulation = Simulation::default();
        simulation.serve("tools.example", move |request| match request.rpc_method().as_str() {
            "server/discover" => seen.answer(),
            // The reference server answers with a stream whose first event is empty.
            "initialize" => Seen(200, EVENTS, concat!(
                "id: 1fa8f2d7-cd58-4625-ab14-45ce3a5aa2e1\ndata: \n\nevent: message\nid: 8af3b372-f02a-4cab-9b98-f5d439e216d4\ndata: ",
                r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mcp-servers/everything","title":"Everything Reference Server","version":"2.0.0"}},"jsonrpc":"2.0","id":2}"#,
                "\n\n")).answer(),
            _ => SimulatedAnswer::status(202),
        });
        let client = Client::new(Settings::new(URL), simulation.ports());
        let verdict = simulation.run(client.discover()).expect(package);
        assert_eq!((verdict.revision, verdict.is_settled), (revision, true), "{package}");
    }
}

#[test]
fn calls_bring_progress_and_results() {
    for (package, body) in [
        (
            SDK,
            concat!(
                "event: message\ndata: ",
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":3,"total":3,"message":"step 3"}}"#,
                "\n\nevent: message\ndata: ",
                r#"{"result":{"content":[{"type":"text","text":"counted"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"1"}}},"jsonrpc":"2.0","id":2}"#,
                "\n\n"
            ),
        ),
        (
            PYTHON,
            concat!(
                "event: message\r\ndata: ",
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":3,"total":3,"message":"step 3"}}"#,
                "\r\n\r\nevent: message\r\ndata: ",
                r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"counted","type":"text"}],"isError":false,"resultType":"complete","structuredContent":{"result":"counted"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"py","version":""}}}}"#,
                "\r\n\r\n"
            ),
        ),
        (
            FASTMCP,
            concat!(
                "event: message\r\ndata: ",
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":3.0,"total":3.0,"message":"step 3"}}"#,
                "\r\n\r\nevent: message\r\ndata: ",
                r#"{"jsonrpc":"2.0","id":2,"result":{"_meta":{"fastmcp":{"wrap_result":true}},"content":[{"text":"counted","type":"text"}],"isError":false,"resultType":"complete","structuredContent":{"result":"counted"}}}"#,
                "\r\n\r\n"
            ),
        ),
    ] {
        let events = call(MODERN, Seen(200, EVENTS, body)).expect(package);
        let [CallEvent::Progress(progress), CallEvent::Finished(result)] = &events[..] else {
            panic!("{package}: {events:?}");
        };
        let (done, total) = (progress.progress, progress.total);
        assert_eq!(
            (done, total, progress.message.as_deref()),
            (3.0, Some(3.0), Some("step 3")),
            "{package}"
        );
        assert_eq!((result.text().as_str(), result.is_error), ("counted", false), "{package}");
    }
}

#[test]
fn refusals_are_told() {
    for (package, revision, seen, text) in [
        (
            SDK,
            MODERN,
            Seen(
                200,
                JSON,
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Tool nope not found"}}"#,
            ),
            "the server refused: Tool nope not found (-32602)",
        ),
        (
            SDK,
            MODERN,
            Seen(
                400,
                JSON,
                r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"Bad Request: the request headers and body disagree: the body carries city=\"Rome\" but the Mcp-Param-City header is absent","data":{"mismatch":{"header":"Mcp-Param-City"}}},"id":2}"#,
            ),
            "the server refused: Bad Request: the request headers and body disagree: the body carries city=\"Rome\" but the Mcp-Param-City header is absent (-32020)",
        ),
        (
            PYTHON,
            MODERN,
            Seen(
                400,
                JSON,
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests."}}"#,
            ),
            "the server refused: Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests. (-32600)",
        ),
        (
            EVERYTHING,
            Revision::V2025_11_25,
            Seen(
                400,
                JSON,
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#,
            ),
            "the server has lost its session, and a new one as well",
        ),
        (
            PYTHON,
            Revision::V2025_11_25,
            Seen(
                404,
                JSON,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}"#,
            ),
            "the server has lost its session, and a new one as well",
        ),
    ] {
        let refused = call(revision, seen).expect_err(package);
        assert_eq!(refused.to_string(), text, "{package}");
        assert!(refused.is_untouched(), "{package}");
    }
}

#[test]
fn a_tool_that_is_not_there_is_a_failed_one_for_some() {
    let seen = Seen(
        200,
        JSON,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"Unknown tool: nope","type":"text"}],"isError":true,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"py","version":""}}}}"#,
    );
    let events = call(MODERN, seen).expect(PYTHON);
    assert!(matches!(&events[..], [CallEvent::Finished(result)] if result.is_error), "{events:?}");
}

#[test]
fn a_question_has_its_form_and_its_state() {
    let seen = Seen(
        200,
        JSON,
        r#"{"result":{"resultType":"input_required","inputRequests":{"seat":{"method":"elicitation/create","params":{"message":"Which seat?","requestedSchema":{"type":"object","properties":{"seat":{"type":"string"}},"required":["seat"]},"mode":"form"}}},"requestState":"sealed é =","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"1"}}},"jsonrpc":"2.0","id":2}"#,
    );
    let events = call(MODERN, seen).expect(SDK);
    let [CallEvent::Asked { questions, state, round: 1 }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(state.as_deref(), Some("sealed é ="));
    let [question] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!((question.key.as_str(), question.message.as_str()), ("seat", "Which seat?"));
    assert!(
        matches!(&question.kind, QuestionKind::Form(schema) if schema["required"] == json!(["seat"]))
    );
}

#[test]
fn a_task_is_begun_and_completed() {
    let begun = Seen(
        200,
        JSON,
        r#"{"jsonrpc":"2.0","id":2,"result":{"taskId":"0xKjI15GN8OGPZ2yuF37QUoAPblnz-BwGeEsXjAcQLI","status":"working","createdAt":"2026-11-22T15:44:52.916708+00:00","lastUpdatedAt":"2026-11-22T15:44:52.916708+00:00","ttlMs":900000,"pollIntervalMs":5000,"resultType":"task","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fast","version":"4.1.2"}}}}"#,
    );
    let events = call(MODERN, begun).expect(FASTMCP);
    let [CallEvent::Task(task)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((task.id.len(), task.poll_interval_ms, task.ttl_ms), (43, 5_000, Some(900_000)));
    let completed = Seen(
        200,
        JSON,
        r#"{"jsonrpc":"2.0","id":2,"result":{"taskId":"0xKjI15GN8OGPZ2yuF37QUoAPblnz-BwGeEsXjAcQLI","status":"completed","createdAt":"2026-11-22T15:44:52.916708+00:00","lastUpdatedAt":"2026-11-22T15:44:56.963072+00:00","ttlMs":900000,"pollIntervalMs":5000,"resultType":"complete","result":{"_meta":{"fastmcp":{"wrap_result":true}},"content":[{"type":"text","text":"done"}],"structuredContent":{"result":"done"},"isError":false,"resultType":"complete"}}}"#,
    );
    let simulation = Simulation::default();
    let look = simulation.run(client(&simulation, MODERN, completed).task(task)).expect(FASTMCP);
    assert!(matches!(&look.state, TaskState::Completed(result) if result.text() == "done"));
    assert_eq!(look.poll_interval_ms, 5_000);
}
