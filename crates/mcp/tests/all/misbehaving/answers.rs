//! Answers that are not MCP answers, unusual answers, and redirects.

use a2a::client::simulation::{Piece, SimulatedAnswer};
use mcp::client::Settings;
use serde_json::{Value, json};

use super::case::{Case, case};
use super::said::{answer, hello, plain, raw, refusal, result, stream};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = statuses();
    cases.extend(bodies());
    cases.extend(streams());
    cases.extend(ends());
    cases
}

/// A result with the text `hello` and an unexpected list of this number of values.
fn many(values: usize) -> Value {
    let mut all = result("hello");
    all["rest"] = vec![0; values].into();
    all
}

/// JSON with 120 levels.
fn deep() -> Value {
    (0..120).fold(json!(0), |inner, _| json!([inner]))
}

fn html(status: u16) -> SimulatedAnswer {
    SimulatedAnswer::status(status)
        .header("content-type", "text/html; charset=utf-8")
        .text("<html>Bad\r\nGateway</html>")
}

fn statuses() -> Vec<Case> {
    let redirect = |status: u16, to: &str| SimulatedAnswer::status(status).header("location", to);
    vec![
        case("a redirect to a private host", move |_| redirect(307, "http://10.0.0.1/mcp?key=1"))
            .is("error: the server answered 307, a redirect to http://10.0.0.1/mcp, which is not followed; if that is right, it must be the URL")
            .requests(2),
        case("a redirect to another host", move |_| redirect(308, "https://other.example/mcp"))
            .holds("a redirect to https://other.example/mcp, which is not followed")
            .requests(2),
        case("a redirect that would make it a GET", move |_| redirect(302, "/mcp/")).holds("a redirect to /mcp/, ").requests(2),
        case("a redirect within the origin", move |request| match request.path() {
            "/mcp" => redirect(307, "/mcp/"),
            _ => plain(&hello(request)),
        })
        .requests(3),
        case("a redirect within the origin, with a key in the query", move |request| {
            if request.path().starts_with("/mcp/") {
                plain(&hello(request))
            } else {
                redirect(307, "https://tools.example/mcp/")
            }
        })
        .with_query()
        .requests(3),
        case("redirects in a circle", move |_| redirect(307, "/mcp")).holds("a redirect to /mcp, ").requests(5),
        case("a redirect to nowhere", |_| SimulatedAnswer::status(307)).holds("a redirect to no URL").requests(2),
        case("a gateway in front of it that fails", |_| html(502)).is("error: the server answered 502: <html>Bad Gateway</html>").requests(2),
        case("no body and no success", |_| SimulatedAnswer::status(500)).is("error: the server answered 500"),
        case("credentials that are not enough", |_| {
            let wants = "Bearer error=\"insufficient_scope\", scope=\"tools:call\"";
            SimulatedAnswer::status(403).header("www-authenticate", wants)
        })
        .is("error: the server forbids the request (403): it wants Bearer error=\"insufficient_scope\", scope=\"tools:call\""),
        case("credentials that are refused", |request| {
            let wants = "Bearer resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource\"";
            plain(&refusal(request, -32_001, "the token has\nexpired")).with_status(401).header("www-authenticate", wants)
        })
        .is("error: the server refused the credentials (401): it wants Bearer resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource\"; it says: the token has expired")
        .requests(2),
        case("an error as an event, with a status of failure", |request| {
            stream([refusal(request, -32_602, "no such tool")]).with_status(400)
        })
        .is("error: the server refused: no such tool (-32602)"),
        case("an error for another id, with a status of failure", |_| {
            plain(&json!({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32_600, "message": "wrong"}})).with_status(406)
        })
        .is("error: the server refused: wrong (-32600)"),
        case("accepted, and nothing said", |_| SimulatedAnswer::status(202)).is("error: the answer is none of MCP: it has status 202, and nothing in it"),
    ]
}

fn bodies() -> Vec<Case> {
    vec![
        case("HTML with success", |_| html(200)).is("error: the answer is none of MCP: its content type is \"text/html\", and it begins: <html>Bad Gateway</html>"),
        case("JSON that is called HTML", |request| {
            SimulatedAnswer::status(200).header("content-type", "text/html").text(hello(request).to_string())
        })
        .holds("its content type is \"text/html\""),
        case("JSON without a content type", |request| SimulatedAnswer::status(200).text(hello(request).to_string())),
        case("JSON with parameters in its content type", |request| {
            SimulatedAnswer::status(200).header("content-type", "Application/JSON; charset=utf-8").text(hello(request).to_string())
        }),
        case("HTML that is called JSON", |_| {
            SimulatedAnswer::status(200).header("content-type", "application/json").text("<html>")
        })
        .holds("it is not JSON (expected value at line 1 column 1), and begins: <html>"),
        case("nothing that is called JSON", |_| SimulatedAnswer::status(200).header("content-type", "application/json"))
            .is("error: the answer is none of MCP: it is empty"),
        case("JSON that is cut", |request| {
            let text = hello(request).to_string();
            SimulatedAnswer::status(200).header("content-type", "application/json").text(&text[..text.len() / 2])
        })
        .holds("it is not JSON (EOF"),
        case("a list of answers", |request| plain(&json!([answer(request, result("hello"))]))),
        case("the answer to another request", |_| plain(&json!({"jsonrpc": "2.0", "id": 99, "result": result("wrong")})))
            .is("error: the answer was lost: it ended without an answer to the request 2; the request may have been carried out"),
        case("the id as a text", |request| {
            plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"].to_string(), "result": result("wrong")}))
        })
        .holds("without an answer to the request 2"),
        case("a result that precedes its id, beside an error that is null", |request| {
            plain(&json!({"result": result("hello"), "error": null, "id": request.json()["id"]}))
        }),
        case("a result that is nothing", |request| plain(&answer(request, json!({}))))
            .is("error: the answer is none of MCP: the result has neither content nor structuredContent"),
        case("a result of an unknown type", |request| {
            plain(&answer(request, json!({"resultType": "partial", "content": []})))
        })
        .is("error: the result is of the type \"partial\", which is not known here"),
        case("content of unknown kinds", |request| {
            let content = json!([{"type": "smell", "data": "x"}, {"type": "text"}, 7, {"type": "text", "text": "hello"}]);
            plain(&answer(request, json!({"content": content})))
        }),
        case("a result of a million small values", |request| plain(&answer(request, many(1_000_000))))
            .is("error: the answer holds more than 100000 JSON values")
            .ends(0, 0),
        case("a result of many values, within the bound", |request| plain(&answer(request, many(99_000)))),
        case("a message of a million small values in a stream", |request| {
            stream([answer(request, many(1_000_000)), hello(request)])
        })
        .is("error: the answer holds more than 100000 JSON values"),
        case("a result that is nested 120 levels deep", |request| {
            plain(&answer(request, json!({"content": [], "structuredContent": deep()})))
        })
        .is("error: the answer is nested more than 100 levels deep"),
        case("a message of 120 levels in a stream", |request| {
            stream([answer(request, json!({"content": [], "structuredContent": deep()})), hello(request)])
        })
        .is("error: the answer is nested more than 100 levels deep"),
        case("a refusal that is nested 120 levels deep", |request| {
            let refused = json!({"code": -32_603, "message": "no", "data": deep()});
            plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": refused})).with_status(500)
        })
        .holds("error: the server answered 500: {\"jsonrpc\""),
        case("a refusal of many small values", |request| {
            let refused = json!({"code": -32_603, "message": "no", "data": vec![0; 30_000]});
            plain(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": refused})).with_status(500)
        })
        .is("error: the server refused: no (-32603)"),
        case("a result of 20 MB", |request| plain(&answer(request, result(&"x".repeat(20_000_000)))))
            .is("error: the answer has more than 4194304 bytes"),
        case("a result of 20 MB, announced", |_| {
            SimulatedAnswer::status(200).header("content-type", "application/json").header("content-length", "20000000").hang()
        })
        .is("error: the answer has more than 4194304 bytes")
        .ends(0, 0),
        case("an error of 1 MB", |request| {
            plain(&refusal(request, -32_603, &"x".repeat(1_000_000)))
        })
        .holds("error: the server refused: xxx"),
        case("JSON without end", |_| {
            let pieces = std::iter::repeat_with(|| Piece::Bytes(vec![b' '; 65_536]));
            SimulatedAnswer::status(200).header("content-type", "application/json").pieces(pieces)
        })
        .is("error: the answer has more than 4194304 bytes"),
    ]
}

fn streams() -> Vec<Case> {
    vec![
        case("empty events and comments", |request| {
            raw(format!(": hi\n\ndata:\n\nid: 1\ndata: \n\nretry: 10\n\ndata: {}\n\n", hello(request)))
        }),
        case("events of other kinds", |request| {
            raw(format!("event: ping\ndata: {{}}\n\nevent: message\ndata: {}\n\n", hello(request)))
        }),
        case("events that are not JSON", |request| raw(format!("data: [DONE]\n\ndata: {{\n\ndata: {}\n\n", hello(request)))),
        case("answers to other requests in between", |request| {
            let other = json!({"jsonrpc": "2.0", "id": 1, "result": result("wrong")});
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "wrong"}});
            stream([other, error, hello(request)])
        }),
        case("a stream that stays open behind the result", |request| stream([hello(request)]).hang()).ends(0, 0),
        case("an event without its empty line at the end", |request| raw(format!("data: {}", hello(request)))),
        case("data over several lines, with CR", |request| {
            let text = serde_json::to_string_pretty(&hello(request)).unwrap();
            raw(text.lines().map(|line| format!("data: {line}\r")).collect::<String>() + "\r")
        }),
        case("a stream that is cut at every byte", |request| {
            let text = format!("event: message\r\ndata: {}\r\n\r\n", answer(request, result("h\u{e9}llo \u{1f600}")));
            let bytes = text.into_bytes().into_iter().map(|byte| Piece::Bytes(vec![byte]));
            SimulatedAnswer::status(200).header("content-type", "text/event-stream").pieces(bytes)
        })
        .is("h\u{e9}llo \u{1f600}"),
        case("an event of 20 MB", |request| stream([answer(request, result(&"x".repeat(20_000_000)))]))
            .is("error: the answer has more than 4194304 bytes"),
        case("comments without end", |_| {
            let pieces = std::iter::repeat_with(|| Piece::Bytes(b": still here\n\n".repeat(5_000)));
            SimulatedAnswer::status(200).header("content-type", "text/event-stream").pieces(pieces)
        })
        .set(|settings| Settings { max_bytes: 100_000, ..settings })
        .is("error: the answer has more than 100000 bytes"),
        case("a stream without the result", |_| raw(": bye\n\n")).holds("it ended without an answer to the request 2"),
        case("a stream that breaks, with ids", |_| raw("id: 1\ndata:\n\n").cut("the line broke"))
            .is("error: the answer was lost: https://tools.example/mcp did not answer: the line broke; the request may have been carried out")
            .requests(2),
        case("requests of a server that may make none", |request| {
            let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
            stream([ping, hello(request)])
        })
        .requests(2),
    ]
}

fn ends() -> Vec<Case> {
    vec![
        case("a host that does not answer", |_| SimulatedAnswer::refused("no route"))
            .is("error: https://tools.example/mcp did not answer: no route"),
        case("a silent server", |_| SimulatedAnswer::status(200).after(u64::MAX))
            .is("error: the server has not finished within 300000 ms")
            .ends(300_000, 300_000),
        case("a tool that takes minutes, in silence", |request| {
            plain(&hello(request)).after(290_000)
        })
        .ends(290_000, 290_000),
        case("a server that gives a sign of life and no result", |_| {
            let pieces = [Piece::Bytes(b":\n\n".to_vec()), Piece::Wait(15_000)].into_iter().cycle();
            SimulatedAnswer::status(200).header("content-type", "text/event-stream").pieces(pieces)
        })
        .is("error: the server has not finished within 300000 ms")
        .ends(300_000, 300_000),
    ]
}
