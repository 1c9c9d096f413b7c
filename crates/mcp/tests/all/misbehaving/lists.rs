//! Lists of tools.

use a2a::client::simulation::SimulatedRequest;
use mcp::client::Settings;
use mcp::model::Revision;
use serde_json::{Value, json};

use super::case::{Case, any_case, case};
use super::said::{answer, initialized, listed, page, plain, refusal};

/// The number of a page, from its cursor.
fn number(request: &SimulatedRequest) -> usize {
    let cursor = &request.json()["params"]["cursor"];
    cursor.as_str().and_then(|cursor| cursor.strip_prefix("page-")?.parse().ok()).unwrap_or(0)
}

fn with_header(name: &str, header: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": header}}}})
}

pub(crate) fn cases() -> Vec<Case> {
    let few = |settings| Settings { max_pages: 3, max_tools: 5, ..settings };
    vec![
        case("pages", |request| match number(request) {
            0 => page(request, &[listed("a")], Some("page-1")),
            _ => page(request, &[listed("b")], None),
        })
        .listed()
        .is("a; b")
        .requests(3),
        case("a cursor that is empty", |request| match request.json()["params"]["cursor"].as_str() {
            None => page(request, &[listed("a")], Some("")),
            Some(_) => page(request, &[listed("b")], None),
        })
        .listed()
        .is("a; b"),
        case("endless pages", |request| {
            let next = number(request) + 1;
            page(request, &[listed(&format!("t{next}"))], Some(&format!("page-{next}")))
        })
        .listed()
        .set(few)
        .is("t1; t2; t3; cut: it has more than 3 pages")
        .requests(4),
        case("pages that hold too many values altogether", |request| {
            let next = number(request) + 1;
            let large = |name: String| json!({"name": name, "inputSchema": {"type": "object", "enum": vec![0; 40_000]}});
            page(request, &[large(format!("t{next}"))], Some(&format!("page-{next}")))
        })
        .listed()
        .is("t1; t2; cut: its tools are too large altogether")
        .requests(4),
        case("pages in a circle", |request| {
            let next = (number(request) + 1) % 3;
            page(request, &[], Some(&format!("page-{next}")))
        })
        .listed()
        .is("cut: its pages lead in a circle")
        .requests(5),
        case("a page that leads to itself", |request| page(request, &[listed("a")], Some("page-7")))
            .listed()
            .is("a; not a: another tool of the server has the same name; cut: its pages lead in a circle")
            .requests(3),
        case("pages in a minute each", |request| {
            page(request, &[listed("a")], Some(&format!("page-{}", number(request) + 1))).after(29_000)
        })
        .listed()
        .is("error: the server has not finished within 300000 ms")
        .ends(300_000, 300_000),
        case("too many tools", |request| {
            let tools: Vec<Value> = (0..9).map(|number| listed(&number.to_string())).collect();
            page(request, &tools, Some("page-1"))
        })
        .listed()
        .set(few)
        .is("0; 1; 2; 3; 4; cut: it has more than 5 tools")
        .requests(2),
        case("a list that changes between its pages", |request| match (request.call_number, number(request)) {
            (2, _) => page(request, &[listed("old")], Some("page-1")),
            (3, _) => plain(&refusal(request, -32_602, "unknown cursor")),
            (_, 0) => page(request, &[listed("a")], Some("page-2")),
            _ => page(request, &[listed("b")], None),
        })
        .listed()
        .is("a; b")
        .requests(5),
        case("a list whose cursors never hold", |request| match number(request) {
            0 => page(request, &[listed("a")], Some("page-1")),
            _ => plain(&refusal(request, -32_602, "unknown cursor")),
        })
        .listed()
        .is("error: the server refused: unknown cursor (-32602)")
        .requests(5),
        case("a schema of 1 MB", |request| {
            let large = json!({"name": "large", "inputSchema": {"type": "object", "description": "x".repeat(1_000_000)}});
            page(request, &[large, listed("a")], None)
        })
        .listed()
        .is("a; not large: its definition has more than 262144 bytes"),
        case("tools that are too large altogether", |request| {
            let tool = |number: usize| json!({"name": format!("t{number}"), "description": "x".repeat(1_000), "inputSchema": {"type": "object"}});
            page(request, &(0..4).map(tool).collect::<Vec<_>>(), None)
        })
        .listed()
        .set(|settings| Settings { max_bytes: 3_500, ..settings })
        .is("error: the answer has more than 3500 bytes"),
        case("pages that are too large altogether", |request| {
            let number = number(request);
            let tool = json!({"name": format!("t{number}"), "description": "x".repeat(1_000), "inputSchema": {"type": "object"}});
            page(request, &[tool], Some(&format!("page-{}", number + 1)))
        })
        .listed()
        .set(|settings| Settings { max_bytes: 3_500, ..settings })
        .is("t0; t1; t2; cut: its tools are too large altogether"),
        case("names that collide", |request| page(request, &[listed("a"), listed("A"), listed("a")], None))
            .listed()
            .is("a; A; not a: another tool of the server has the same name"),
        case("names that are no identifiers", |request| {
            page(request, &[listed("r\u{e9}d m\u{e9}"), listed("a/b.c"), listed(&"x".repeat(2_000)), listed("")], None)
        })
        .listed()
        .holds("r\u{e9}d m\u{e9}; a/b.c; not xxx"),
        case("tools that are none", |request| {
            page(request, &[json!(7), json!({"name": 7}), json!({"name": "b", "inputSchema": true}), listed("a")], None)
        })
        .listed()
        .is("a; not : it has no name, or its inputSchema is no object; not : it has no name, or its inputSchema is no object; not b: it has no name, or its inputSchema is no object"),
        case("schemas with wrong headers", |request| {
            page(request, &[with_header("b", json!("two words")), with_header("a", json!("Region"))], None)
        })
        .listed()
        .is("a; not b: the x-mcp-header of \"a\" is no name of a header"),
        any_case("schemas with wrong headers, of a legacy server", |request| match request.rpc_method().as_str() {
            "initialize" => initialized(request, "2025-06-18", None),
            "tools/list" => {
                let mut task = listed("slow");
                task["execution"] = json!({"taskSupport": "required"});
                page(request, &[with_header("b", json!("two words")), task], None)
            }
            _ => plain(&refusal(request, -32_601, "unknown")),
        })
        .listed()
        .is("b")
        .requests(4),
        case("a list that is none", |request| plain(&answer(request, json!({"tools": {"a": 1}}))))
            .listed()
            .is("error: the answer is none of MCP: the list of tools has no member \"tools\" that is a list"),
        any_case("a server without tools", |request| match request.rpc_method().as_str() {
            "server/discover" => plain(&answer(request, json!({"supportedVersions": ["2026-07-28"], "capabilities": {}}))),
            _ => plain(&refusal(request, -32_601, "no tools here")).with_status(404),
        })
        .listed()
        .is("")
        .requests(2),
        case("tools that were promised and are not there", |request| {
            plain(&refusal(request, -32_601, "no tools here")).with_status(404)
        })
        .listed()
        .is("error: the server refused: no tools here (-32601)"),
        case("a list for another era", |request| page(request, &[listed("a")], None)).listed().known(Revision::V2026_07_28).is("a").requests(1),
    ]
}
