//! Calls: progress, results and errors, arguments in headers.

use a2a::client::simulation::{Piece, SimulatedAnswer, SimulatedRequest};
use mcp::client::Settings;
use serde_json::{Value, json};

use super::case::{Case, case, tool};
use super::said::{answer, hello, page, plain, progress, progress_for, refusal, result, stream};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = told();
    cases.extend(ended());
    cases.extend(headers());
    cases
}

/// The reports of progress.
fn told() -> Vec<Case> {
    let spread = |request: &SimulatedRequest, steps: &[f64]| {
        let event = |message: Value| Piece::Bytes(format!("data: {message}\n\n").into_bytes());
        let steps: Vec<Piece> = steps
            .iter()
            .flat_map(|step| [event(progress(request, *step)), Piece::Wait(1_000)])
            .collect();
        let last = event(hello(request));
        SimulatedAnswer::status(200)
            .header("content-type", "text/event-stream")
            .pieces(steps.into_iter().chain([last]))
    };
    vec![
        case("progress, then the result", move |request| spread(request, &[1.0, 2.0]))
            .is("1; 2; hello"),
        case("progress that falls or stays", move |request| spread(request, &[2.0, 1.0, 2.0, 2.5]))
            .is("2; 2.5; hello"),
        case("progress for others", |request| {
            let others = [json!(1), json!("2"), json!(null)];
            let others = others.iter().map(|token| progress_for(token, 5.0));
            stream(others.chain([hello(request)]))
        }),
        case("progress that says nothing", |request| {
            let token = request.json()["params"]["_meta"]["progressToken"].clone();
            let params = json!({"progressToken": token, "progress": "half"});
            stream([
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
                hello(request),
            ])
        }),
        case("a flood of progress", |request| {
            let flood: Vec<Value> =
                (1..=10_000).map(|step| progress(request, f64::from(step))).collect();
            let text: String = flood.iter().map(|event| format!("data: {event}\n\n")).collect();
            stream([]).text(text).wait(1_000).text(format!("data: {}\n\n", hello(request)))
        })
        .is("1; 10000; hello")
        .ends(1_000, 1_000),
        case("a flood of progress over time", |request| {
            let flood: Vec<Value> =
                (1..=300).map(|step| progress(request, f64::from(step))).collect();
            let pieces = flood.into_iter().flat_map(|event| {
                [Piece::Bytes(format!("data: {event}\n\n").into_bytes()), Piece::Wait(1)]
            });
            stream([])
                .pieces(pieces.collect::<Vec<_>>())
                .text(format!("data: {}\n\n", hello(request)))
        })
        .is("1; 101; 201; 300; hello"),
        case("progress after the result", |request| {
            stream([hello(request), progress(request, 1.0)])
        }),
        case("progress without end", |request| {
            let token = request.json()["params"]["_meta"]["progressToken"].clone();
            let pieces = (1..).flat_map(move |step| {
                let event = progress_for(&token, f64::from(step));
                [Piece::Bytes(format!("data: {event}\n\n").into_bytes()), Piece::Wait(70_000)]
            });
            stream([]).pieces(pieces)
        })
        .is("1; 2; 3; 4; 5; error: the server has not finished within 300000 ms"),
        case("notifications of other kinds", |request| {
            let note = |method: &str| json!({"jsonrpc": "2.0", "method": method, "params": {"level": "info", "data": "x"}});
            stream([
                note("notifications/message"),
                note("notifications/tools/list_changed"),
                hello(request),
            ])
        }),
    ]
}

/// The results and errors of calls.
fn ended() -> Vec<Case> {
    vec![
        case("a tool that fails", |request| {
            plain(&answer(
                request,
                json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}),
            ))
        })
        .is("failed: no such file"),
        case("a tool that is not there", |request| {
            plain(&refusal(request, -32_602, "unknown tool: say"))
        })
        .is("error: the server refused: unknown tool: say (-32602)"),
        case("a tool that is not there, with 404", |request| {
            plain(&refusal(request, -32_601, "tools/call is not known")).with_status(404)
        })
        .is("error: the server refused: tools/call is not known (-32601)")
        .requests(2),
        case("an error behind progress", |request| {
            stream([progress(request, 1.0), refusal(request, -32_603, "it broke")])
        })
        .is("1; error: the server refused: it broke (-32603)"),
        case("a capability that was not declared", |request| {
            plain(&refusal(request, -32_021, "sampling is needed")).with_status(400)
        })
        .is("error: the server refused: sampling is needed (-32021)")
        .requests(2),
        case("a task without an id", |request| {
            plain(&answer(request, json!({"resultType": "task", "status": "working"})))
        })
        .is("error: the server made a task without an id of 1 to 1024 bytes"),
        case("a task", |request| {
            plain(&answer(
                request,
                json!({"resultType": "task", "taskId": "t-1", "status": "working"}),
            ))
        })
        .is("task t-1"),
        case("a circle of agents", |request| plain(&hello(request)))
            .set(|settings| Settings { depth: 9, ..settings })
            .is("error: not sent: agents may call each other 8 deep, and this would be 9")
            .requests(0),
    ]
}

/// Headers that repeat the body.
fn headers() -> Vec<Case> {
    let schema = |name: &str| json!({"type": "object", "properties": {"where": {"type": "string", "x-mcp-header": name}}});
    let changed = move |request: &SimulatedRequest| match request.rpc_method().as_str() {
        "tools/list" => {
            page(request, &[json!({"name": "say", "inputSchema": schema("New")})], None)
        }
        _ if request.header("mcp-param-new") == Some("=?base64?S8O2bG4=?=") => {
            plain(&hello(request))
        }
        _ => {
            plain(&refusal(request, -32_020, "the header Mcp-Param-New is absent")).with_status(400)
        }
    };
    let arguments = json!({"where": "K\u{f6}ln"});
    vec![
        case("a tool whose headers have changed", changed)
            .called(tool(schema("Old")), arguments.clone())
            .requests(4),
        case("headers that never suit", move |request| match request.rpc_method().as_str() {
            "tools/list" => page(request, &[json!({"name": "say", "inputSchema": schema("New")})], None),
            _ => plain(&refusal(request, -32_020, "something is absent")).with_status(400),
        })
        .called(tool(schema("Old")), arguments.clone())
        .is("error: the server refused: something is absent (-32020)")
        .requests(4),
        case("a tool whose headers have changed, and that is listed no more", |request| match request.rpc_method().as_str() {
            "tools/list" => page(request, &[], None),
            _ => plain(&refusal(request, -32_020, "something is absent")).with_status(400),
        })
        .is("error: the server refused: something is absent (-32020)")
        .requests(3),
        case("headers that repeat the body", |request| {
            let told = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-param-where"];
            let told = told.map(|name| request.header(name).unwrap_or("none"));
            plain(&answer(request, result(&told.join(" "))))
        })
        .called(tool(schema("Where")), json!({"where": "here"}))
        .is("tools/call say 2026-07-28 here"),
        case("a tool that breaks the rules of headers", |request| plain(&hello(request)))
            .called(tool(schema("two words")), arguments)
            .is("error: the tool cannot be called: the x-mcp-header of \"where\" is no name of a header")
            .requests(1),
    ]
}
