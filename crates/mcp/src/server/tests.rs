//! Tests of the decisions about requests: goldens of both eras, each refusal, and random bytes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::{Answer, CallResult, Content, Question, QuestionKind, RpcError, meta};

const MODERN: &str = "2026-07-28";

/// A request of 2026-07-28 with its headers.
fn modern(method: &str, params: Value) -> (Vec<(&'static str, String)>, Value) {
    let mut params = params;
    params["_meta"] = json!({meta::PROTOCOL_VERSION: MODERN, meta::CLIENT_CAPABILITIES: {}});
    let name = ["name", "uri", "taskId"].iter().find_map(|name| params[*name].as_str());
    let mut headers =
        vec![("mcp-protocol-version", MODERN.to_owned()), ("mcp-method", method.to_owned())];
    headers.extend(name.map(|name| ("mcp-name", crate::header::encode(name))));
    (headers, json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
}

fn legacy(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

fn receive(headers: &[(&str, String)], body: &[u8]) -> Received {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    let incoming = Incoming { method: "POST", header: &header, body, max_values: 1_000 };
    read(&incoming, &ServerInfo::new("edge", "1"))
}

fn request(headers: &[(&str, String)], body: &Value) -> Request {
    match receive(headers, body.to_string().as_bytes()) {
        Received::Request(request) => *request,
        Received::Answer(answer) => panic!("{answer:?}"),
    }
}

/// The status, the code and the id of a refusal.
fn refused(headers: &[(&str, String)], body: &[u8]) -> (u16, i64, Value) {
    match receive(headers, body) {
        Received::Answer(answer) => {
            let json: Value = serde_json::from_str(&answer.body).unwrap();
            assert!(json["error"]["message"].is_string(), "{json}");
            (answer.status, json["error"]["code"].as_i64().unwrap(), json["id"].clone())
        }
        Received::Request(request) => panic!("{request:?}"),
    }
}

#[test]
fn both_eras_are_told_apart() {
    let (headers, body) = modern("tools/list", json!({}));
    assert!(matches!(request(&headers, &body).reply.era(), Era::Modern(_)));
    for version in [None, Some("2025-03-26"), Some("2025-06-18"), Some("2025-11-25")] {
        let headers = version.map(|version| ("mcp-protocol-version", version.to_owned()));
        let request = request(headers.as_slice(), &legacy("tools/list", json!({})));
        assert_eq!(request.reply.era(), Era::Legacy);
    }
}

#[test]
fn every_method_says_what_it_asks_for() {
    let answers = json!({"q": {"action": "accept", "content": {"a": 1}}, "r": {"action": "x"}});
    let call =
        json!({"name": "n", "arguments": {"a": 1}, "inputResponses": answers, "requestState": "s"});
    let called = ToolCall {
        name: "n".to_owned(),
        arguments: json!({"a": 1}).as_object().cloned().unwrap(),
        answers: vec![("q".to_owned(), Answer::Accept(Some(json!({"a": 1}))))],
        state: Some("s".to_owned()),
    };
    for (method, params, asked) in [
        ("server/discover", json!({}), Asked::Discover),
        ("tools/list", json!({}), Asked::ListTools),
        ("resources/list", json!({}), Asked::ListResources),
        ("resources/templates/list", json!({}), Asked::ListTemplates),
        ("resources/read", json!({"uri": "a://b"}), Asked::ReadResource("a://b".to_owned())),
        ("tools/call", call.clone(), Asked::CallTool(Box::new(called.clone()))),
    ] {
        let (headers, body) = modern(method, params);
        assert_eq!(request(&headers, &body).asked, asked);
    }
    // Parameters of modern clients are ignored in requests of legacy clients.
    let called = ToolCall { answers: Vec::new(), state: None, ..called };
    for (method, params, asked) in [
        (
            "initialize",
            json!({"protocolVersion": "2025-06-18"}),
            Asked::Initialize("2025-06-18".to_owned()),
        ),
        ("ping", json!({}), Asked::Ping),
        ("tools/call", call, Asked::CallTool(Box::new(called))),
    ] {
        assert_eq!(request(&[], &legacy(method, params)).asked, asked);
    }
    for (method, asked) in [
        ("tasks/get", Asked::GetTask("t".to_owned())),
        ("tasks/update", Asked::UpdateTask("t".to_owned(), Vec::new())),
        ("tasks/cancel", Asked::CancelTask("t".to_owned())),
    ] {
        let (headers, mut body) = modern(method, json!({"taskId": "t"}));
        assert_eq!(refused(&headers, body.to_string().as_bytes()), (400, -32_021, json!(7)));
        body["params"]["_meta"][meta::CLIENT_CAPABILITIES] =
            json!({"extensions": {crate::model::TASKS_EXTENSION: {}}});
        assert_eq!(request(&headers, &body).asked, asked);
    }
}

#[test]
fn a_request_says_more_in_its_meta() {
    let said = json!({"progressToken": 3, "urn:a2a-edge:depth": 2, "traceparent": "00-a", "tracestate": "b"});
    let request_ = request(&[], &legacy("ping", json!({"_meta": said})));
    let expected = Meta {
        progress_token: Some(json!(3)),
        depth: 2,
        traceparent: Some("00-a".to_owned()),
        tracestate: Some("b".to_owned()),
    };
    assert_eq!(request_.meta, expected);
    let odd =
        json!({"progressToken": {}, "urn:a2a-edge:depth": "x", "traceparent": "0".repeat(600)});
    assert_eq!(request(&[], &legacy("ping", json!({"_meta": odd}))).meta, Meta::default());
}

#[test]
fn capabilities_are_what_the_request_declares() {
    let none = Capabilities::default();
    for (declared, capabilities) in [
        (json!({}), none),
        (json!({"elicitation": {}}), Capabilities { forms: true, ..none }),
        (json!({"elicitation": {"form": {}}}), Capabilities { forms: true, ..none }),
        (json!({"elicitation": {"url": {}}}), Capabilities { urls: true, ..none }),
        (
            json!({"elicitation": {"form": {}, "url": {}}, "extensions": {crate::model::TASKS_EXTENSION: {}}}),
            Capabilities { forms: true, urls: true, tasks: true },
        ),
        (json!({"elicitation": true, "extensions": []}), none),
    ] {
        assert_eq!(Capabilities::read(&declared), capabilities, "{declared}");
    }
}

#[test]
fn what_is_no_request_is_refused() {
    for (body, status, code) in [
        ("", 400, -32_700),
        ("{", 400, -32_700),
        ("5", 400, -32_600),
        ("[]", 400, -32_600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 400, -32_600),
    ] {
        assert_eq!(refused(&[], body.as_bytes()), (status, code, Value::Null), "{body}");
    }
    for (body, status, code) in [
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel"}"#, 200, -32_601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, 200, -32_601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}"#, 200, -32_601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}"#, 200, -32_602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, 200, -32_602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            200,
            -32_602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read"}"#, 200, -32_602),
    ] {
        assert_eq!(refused(&[], body.as_bytes()), (status, code, json!(1)), "{body}");
    }
    let ping = legacy("ping", json!({})).to_string();
    let text = [("content-type", "text/plain".to_owned())];
    assert_eq!(refused(&text, ping.as_bytes()).0, 415);
    let json = [("content-type", "Application/JSON; charset=utf-8".to_owned())];
    assert_eq!(request(&json, &legacy("ping", json!({}))).asked, Asked::Ping);
    let old = [("mcp-protocol-version", "2024-11-05".to_owned())];
    assert_eq!(refused(&old, ping.as_bytes()), (400, -32_600, json!(7)));
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        let incoming = Incoming { method, header: &|_| None, body: b"", max_values: 9 };
        match read(&incoming, &ServerInfo::new("edge", "1")) {
            Received::Answer(answer) => {
                assert_eq!(answer.status, 405);
                assert!(answer.headers.contains(&("allow".into(), "POST, OPTIONS".to_owned())));
            }
            Received::Request(request) => panic!("{request:?}"),
        }
    }
}

#[test]
fn modern_requests_are_checked_in_order() {
    let (headers, body) = modern("tools/call", json!({"name": "größer"}));
    let without = |name: &str| {
        let kept = headers.iter().filter(|(known, _)| *known != name);
        kept.cloned().collect::<Vec<_>>()
    };
    let with = |name: &'static str, value: &str| {
        let mut headers = without(name);
        headers.push((name, value.to_owned()));
        headers
    };
    let text = body.to_string();
    for (headers, code) in [
        (without("mcp-protocol-version"), -32_020),
        (with("mcp-protocol-version", "2025-11-25"), -32_020),
        (without("mcp-method"), -32_020),
        (with("mcp-method", "tools/list"), -32_020),
        (with("mcp-method", "Tools/call"), -32_020),
        (without("mcp-name"), -32_020),
        (with("mcp-name", "other"), -32_020),
        (with("mcp-name", "=?base64?!?="), -32_020),
    ] {
        assert_eq!(refused(&headers, text.as_bytes()), (400, code, json!(7)), "{headers:?}");
    }
    for (member, value) in [
        (meta::PROTOCOL_VERSION, Value::Null),
        (meta::PROTOCOL_VERSION, json!(5)),
        (meta::CLIENT_CAPABILITIES, Value::Null),
        (meta::CLIENT_CAPABILITIES, json!("x")),
    ] {
        let mut body = body.clone();
        body["params"]["_meta"][member] = value;
        // The `_meta` of a request is checked before its headers.
        let headers = with("mcp-method", "x");
        assert_eq!(refused(&headers, body.to_string().as_bytes()), (400, -32_602, json!(7)));
    }
    for version in ["2027-01-01", "2025-11-25", "x"] {
        let mut body = body.clone();
        body["params"]["_meta"][meta::PROTOCOL_VERSION] = json!(version);
        body["method"] = json!("none/such");
        let headers =
            [("mcp-protocol-version", version.to_owned()), ("mcp-method", "none/such".to_owned())];
        let Received::Answer(answer) = receive(&headers, body.to_string().as_bytes()) else {
            panic!("{version}")
        };
        let error = &serde_json::from_str::<Value>(&answer.body).unwrap()["error"];
        assert_eq!((answer.status, &error["code"]), (400, &json!(-32_022)));
        assert_eq!(error["data"], json!({"supported": [MODERN], "requested": version}));
    }
    for method in ["initialize", "ping", "none/such", "logging/setLevel", "subscriptions/listen"] {
        let (headers, body) = modern(method, json!({}));
        assert_eq!(refused(&headers, body.to_string().as_bytes()), (404, -32_601, json!(7)));
    }
}

#[test]
fn notifications_are_taken_in_either_era() {
    for headers in [vec![], vec![("mcp-protocol-version", MODERN.to_owned())]] {
        for method in ["notifications/initialized", "notifications/cancelled", "x"] {
            let body = json!({"jsonrpc": "2.0", "method": method}).to_string();
            let answer = receive(&headers, body.as_bytes());
            let empty = a2a::binding::http::HttpResponse::empty(202);
            assert_eq!(answer, Received::Answer(empty));
        }
    }
}

fn json_of(answer: &a2a::binding::http::HttpResponse) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn answers_have_the_form_of_their_era() {
    let (headers, body) = modern("tools/list", json!({}));
    let modern = request(&headers, &body).reply;
    let legacy = request(&[], &legacy("ping", json!({}))).reply;
    let said = json!({meta::SERVER_INFO: {"name": "edge", "version": "1"}});
    for (answer, result) in [
        (modern.result(json!({})), json!({"resultType": "complete", "_meta": said})),
        (legacy.result(json!({})), json!({})),
        (
            modern.cacheable(json!({"tools": []}), 5, true),
            json!({"tools": [], "ttlMs": 5, "cacheScope": "private", "resultType": "complete", "_meta": said}),
        ),
        (legacy.cacheable(json!({"tools": []}), 5, false), json!({"tools": []})),
        (
            modern.introduction(None, &json!({"tools": {}}), "how", 9),
            json!({"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "instructions": "how", "ttlMs": 9,
                "cacheScope": "public", "resultType": "complete", "_meta": said}),
        ),
    ] {
        assert_eq!(json_of(&answer), json!({"jsonrpc": "2.0", "id": 7, "result": result}));
        assert_eq!(answer.status, 200);
    }
    for (wanted, given) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        (MODERN, "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let answer = legacy.introduction(Some(wanted), &json!({"tools": {}}), "how", 9);
        let result = json!({"protocolVersion": given, "capabilities": {"tools": {}}, "instructions": "how",
            "serverInfo": {"name": "edge", "version": "1"}});
        assert_eq!(json_of(&answer)["result"], result);
    }
    let result = CallResult {
        content: vec![Content::Text("5".to_owned())],
        structured: Some(json!(5)),
        is_error: false,
    };
    assert_eq!(modern.called(result.clone())["result"]["structuredContent"], json!(5));
    assert_eq!(legacy.called(result)["result"]["structuredContent"], json!({"result": 5}));
}

#[test]
fn questions_tasks_progress_and_errors_are_messages() {
    let (headers, body) = modern("tools/list", json!({}));
    let reply = request(&headers, &body).reply;
    let schema = json!({"type": "object"});
    let kind = QuestionKind::Form(schema.clone());
    let question = Question { key: "q".to_owned(), message: "?".to_owned(), kind };
    let asking = reply.asking(std::slice::from_ref(&question), "s");
    let params = json!({"mode": "form", "message": "?", "requestedSchema": schema});
    assert_eq!(asking["result"]["resultType"], "input_required");
    assert_eq!(asking["result"]["requestState"], "s");
    let requests = json!({"q": {"method": "elicitation/create", "params": params}});
    assert_eq!(asking["result"]["inputRequests"], requests);
    assert_eq!(reply.task(json!({"taskId": "t"}))["result"]["resultType"], "task");
    let none = Capabilities::default();
    assert!(!none.can_show(&question) && Capabilities { forms: true, ..none }.can_show(&question));
    assert_eq!(
        reply.progress(&json!("p"), 2, "half"),
        json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "p", "progress": 2, "message": "half"}})
    );
    assert_eq!(
        reply.progress(&json!(1), 1, "")["params"],
        json!({"progressToken": 1, "progress": 1})
    );
    let error = reply.refused(403, &RpcError::new(403, "no"));
    let told = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 403, "message": "no"}});
    assert_eq!((error.status, json_of(&error)), (403, told));
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), version in "[0-9-]{0,10}") {
        let headers = [("mcp-protocol-version", version)];
        let _ = receive(&headers, &bytes);
    }

    #[test]
    fn any_json_is_answered(
        method in "[a-z/]{0,20}|tools/call|tools/list|tasks/get|initialize|server/discover|resources/read",
        id in prop::option::of("[\"0-9a-z.{}-]{0,4}|null|1"),
        params in "\\{\\}|\\[\\]|null|\\{\"_meta\":[0-9{}\"]{0,3}\\}|\\{\"name\":\"a\",\"arguments\":[{}\\[\\]]{0,2}\\}",
        is_modern in any::<bool>(),
    ) {
        let id = id.map(|id| format!("\"id\":{id},")).unwrap_or_default();
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#);
        let headers = is_modern.then(|| ("mcp-protocol-version", MODERN.to_owned()));
        if let Received::Answer(answer) = receive(headers.as_slice(), body.as_bytes()) {
            prop_assert!([200, 202, 400, 404].contains(&answer.status));
            prop_assert_eq!(answer.body.is_empty(), answer.status == 202);
        }
    }
}
