//! The detection of a server's era.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest};
use mcp::client::Settings;
use mcp::model::Revision;
use serde_json::json;

use super::case::{Case, any_case};
use super::said::{answer, discovered, hello, initialized, plain, refusal};

/// A legacy server with this answer to `server/discover`.
fn probed(
    name: &'static str,
    discover: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    any_case(name, move |request| match request.rpc_method().as_str() {
        "server/discover" => discover(request),
        "initialize" => initialized(request, "2025-11-25", None),
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ => plain(&hello(request)),
    })
}

/// A server with this answer to `initialize`, which does not support `server/discover`.
fn begun(
    name: &'static str,
    initialize: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    any_case(name, move |request| match request.rpc_method().as_str() {
        "server/discover" => plain(&refusal(request, -32_601, "unknown")),
        "initialize" => initialize(request),
        "notifications/initialized" => SimulatedAnswer::status(202),
        _ => plain(&hello(request)),
    })
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = legacy();
    cases.extend(neither());
    cases.extend(changed());
    cases
}

/// The ways in which legacy servers refuse `server/discover`.
fn legacy() -> Vec<Case> {
    let unknown = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_000, "message": "Bad Request: no session"}});
    vec![
        probed("400 with an error for no id", move |_| plain(&unknown).with_status(400)).requests(4),
        probed("a method that is not known", |request| plain(&refusal(request, -32_601, "unknown"))).requests(4),
        probed("params that are wrong", |request| plain(&refusal(request, -32_602, "wrong"))).requests(4),
        probed("404 with HTML", |_| SimulatedAnswer::status(404).header("content-type", "text/html").text("<html>")).requests(4),
        probed("405 with nothing", |_| SimulatedAnswer::status(405)).requests(4),
        probed("406 with a text", |_| SimulatedAnswer::status(406).text("Not Acceptable")).requests(4),
        probed("a result without versions", |request| plain(&answer(request, json!({})))).requests(4),
        probed("older versions alone", |request| plain(&answer(request, json!({"supportedVersions": ["2025-11-25"]})))).requests(4),
        probed("a refusal that names older versions", |request| {
            let error = json!({"code": -32_022, "message": "no", "data": {"supported": ["2025-06-18"], "requested": "2026-07-28"}});
            plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error})).with_status(400)
        })
        .requests(4),
        probed("accepted as if it were a notification", |_| SimulatedAnswer::status(202)).requests(4),
        probed("silence to what it does not know", |_| SimulatedAnswer::status(200).after(u64::MAX))
            .requests(4)
            .ends(10_000, 10_000),
        probed("a stream without end to what it does not know", |_| {
            SimulatedAnswer::status(200).header("content-type", "text/event-stream").hang()
        })
        .requests(4)
        .ends(10_000, 10_000),
    ]
}

fn refused_and_supported(request: &SimulatedRequest) -> SimulatedAnswer {
    let error = json!({"code": -32_022, "message": "no", "data": {"supported": ["2026-07-28"]}});
    let refused = json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error});
    plain(&refused).with_status(400)
}

fn neither() -> Vec<Case> {
    vec![
        probed("an outage while it is asked", |_| SimulatedAnswer::status(503))
            .is("error: the server answered 503")
            .requests(1),
        probed("too many requests while it is asked", |request| {
            plain(&refusal(request, -32_000, "slow down")).with_status(429)
        })
        .is("error: the server refused: slow down (-32000)")
        .requests(1),
        probed("credentials that are refused while it is asked", |_| {
            SimulatedAnswer::status(401).header("www-authenticate", "Bearer")
        })
        .is("error: the server refused the credentials (401): it wants Bearer")
        .requests(1),
        probed("a redirect while it is asked", |_| {
            SimulatedAnswer::status(301).header("location", "http://192.168.0.1/")
        })
        .holds("a redirect to http://192.168.0.1/, which")
        .requests(1),
        any_case("a host that is not there", |_| SimulatedAnswer::refused("no route"))
            .is("error: https://tools.example/mcp did not answer: no route")
            .requests(1),
        any_case("newer versions alone", |request| {
            let error = json!({"code": -32_022, "message": "no", "data": {"supported": ["2027-01-01"]}});
            plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error})).with_status(400)
        })
        .is("error: the server speaks the revisions \"2027-01-01\" of MCP; this client speaks 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26")
        .requests(1),
        any_case("a refusal of the revision that it supports, once", |request| match request.call_number {
            1 => refused_and_supported(request),
            _ if request.rpc_method() == "server/discover" => discovered(request),
            _ => plain(&hello(request)),
        })
        .requests(3),
        any_case("a refusal of the revision that it supports, always", refused_and_supported)
            .is("error: the server refuses the revision 2026-07-28 of MCP, and says that it supports it")
            .requests(2),
        any_case("HTTP with SSE of 2024-11-05", |_| SimulatedAnswer::status(405).header("allow", "GET"))
            .is("error: there is no MCP server at this URL, or one of 2024-11-05 (HTTP with SSE), which is not spoken here: the server answered 405")
            .requests(2),
        any_case("a website", |_| SimulatedAnswer::status(200).header("content-type", "text/html").text("<html>hi"))
            .is("error: the answer is none of MCP: its content type is \"text/html\", and it begins: <html>hi")
            .requests(2),
        any_case("an agent of another protocol", |request| plain(&refusal(request, -32_601, "method not found")))
            .is("error: the server speaks none of the revisions of MCP that are spoken here (2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26): the server refused: method not found (-32601)")
            .requests(2),
        begun("a revision that is too old", |request| initialized(request, "2024-11-05", None))
            .is("error: the server wants to speak the revision \"2024-11-05\" of MCP; this client speaks 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26")
            .requests(2),
        begun("a revision that needs no beginning", |request| initialized(request, "2026-07-28", None))
            .holds("the server wants to speak the revision \"2026-07-28\"")
            .requests(2),
        begun("a revision that is none", |request| plain(&answer(request, json!({"protocolVersion": 7}))))
            .holds("the server wants to speak the revision \"\""),
        begun("an older revision that is spoken", |request| initialized(request, "2025-03-26", None)).requests(4),
    ]
}

/// Servers that have changed their era.
fn changed() -> Vec<Case> {
    vec![
        any_case("a server that was modern", |request| match request.rpc_method().as_str() {
            "initialize" => initialized(request, "2025-11-25", None),
            "notifications/initialized" => SimulatedAnswer::status(202),
            _ if request.header("mcp-protocol-version") == Some("2025-11-25") => plain(&hello(request)),
            _ => plain(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_000, "message": "Unsupported protocol version"}})).with_status(400),
        })
        .known(Revision::V2026_07_28)
        .requests(5),
        any_case("a server that was legacy", |request| match request.rpc_method().as_str() {
            "initialize" => plain(&refusal(request, -32_601, "unknown")).with_status(404),
            "server/discover" => discovered(request),
            _ => plain(&hello(request)),
        })
        .known(Revision::V2025_06_18)
        .requests(3),
        any_case("a server that speaks its era no more, whatever it is asked", |request| {
            let error = json!({"code": -32_022, "message": "no", "data": {"supported": ["2026-07-28"]}});
            match request.rpc_method().as_str() {
                "server/discover" => discovered(request),
                _ => plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error})).with_status(400),
            }
        })
        .known(Revision::V2026_07_28)
        .is("error: the server refused: no (-32022)")
        .requests(2),
        any_case("an error of a tool that looks like another era", |request| match request.rpc_method().as_str() {
            "server/discover" => discovered(request),
            _ => plain(&refusal(request, -32_600, "cannot send elicitation/create")).with_status(400),
        })
        .known(Revision::V2026_07_28)
        .is("error: the server refused: cannot send elicitation/create (-32600)")
        .requests(2),
        any_case("a server that is gone", |_| SimulatedAnswer::status(404))
            .known(Revision::V2026_07_28)
            .is("error: the server answered 404")
            .requests(3),
        any_case("a server that is known", |request| plain(&hello(request))).known(Revision::V2026_07_28).requests(1),
        any_case("a list of pages while time is short", |request| discovered(request).after(400))
            .set(|settings| Settings { call_timeout_ms: 300, ..settings })
            .is("error: the server has not finished within 300 ms")
            .ends(300, 300),
    ]
}
