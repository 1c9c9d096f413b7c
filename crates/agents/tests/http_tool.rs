//! HTTP tools as their files describe them, called in memory.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::http::memory::{MemoryHttp, ok, status};
use a2a::http::{HttpAnswer, HttpRequest};
use a2a_agents::tool::testing::TestCall;
use a2a_agents::tool::{Tool, ToolError, ToolOutput};
use a2a_agents::{HttpTool, HttpToolDefinition};
use serde_json::{Value, json};

/// A tool of an agent of the end-to-end tests.
fn tool_of(agent: &str, name: &str) -> HttpTool {
    #[derive(serde::Deserialize)]
    struct Agent {
        tools: Vec<HttpToolDefinition>,
    }

    let Agent { tools } = toml::from_str(agent).unwrap();
    let definition = tools.iter().find(|tool| tool.name == name);
    HttpTool::new(definition.expect(name)).unwrap()
}

fn http_tool(name: &str) -> HttpTool {
    tool_of(include_str!("../../../tests/agents/http.toml"), name)
}

fn tool(text: &str) -> HttpTool {
    let text = format!("name = 'a'\ndescription = 'b'\n{text}");
    HttpTool::new(&toml::from_str::<HttpToolDefinition>(&text).unwrap()).unwrap()
}

/// A request as it was sent, with its body.
type Sent = Rc<RefCell<Vec<(HttpRequest, String)>>>;

/// A call whose server answers with these answers, the last one again and again.
fn call_with(answers: Vec<HttpAnswer<String>>) -> (TestCall, Sent) {
    let call = TestCall::default().with_variable("SINK", "https://api.example.com");
    let call = call.with_variable("SINK_PORT", "8080");
    let (sent, count) = (Sent::default(), Cell::new(0));
    let kept = sent.clone();
    call.http.answer_with(move |request, body| {
        let copy = HttpRequest {
            headers: request.headers.clone(),
            is_guarded: request.is_guarded,
            ..HttpRequest::new(request.method, &request.url)
        };
        kept.borrow_mut().push((copy, body.to_owned()));
        let index = count.get();
        count.set(index + 1);
        Ok(answers[index.min(answers.len() - 1)].clone())
    });
    (call, sent)
}

fn json_answer(body: &Value) -> HttpAnswer<String> {
    with_header(ok(body.to_string()), "content-type", "application/json")
}

fn with_header(mut answer: HttpAnswer<String>, name: &str, value: &str) -> HttpAnswer<String> {
    answer.headers.push((name.to_owned(), value.to_owned()));
    answer
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let found = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

#[test]
fn another_worker_is_called_by_its_binding_alone() {
    let tool =
        tool("service = 'SHOP'\npath = '/v1/{item}?key=${KEY}'\n[arguments]\nitem = 'An item.'");
    assert_eq!(tool.needs(), ["KEY"]);
    let shop = MemoryHttp::default();
    shop.answer_with(|request, _| match request.url.as_str() {
        "https://service.internal/v1/tea%2Fgreen?key=s3cr3t-key" => Ok(ok("in stock: s3cr3t-key")),
        url => Ok(HttpAnswer { body: url.to_owned(), ..status(404) }),
    });
    let mut call = TestCall::default().with_secret("KEY", "s3cr3t-key");
    call.services.push(("SHOP".to_owned(), shop.clone()));
    assert_eq!(call.call(&tool, json!({"item": "tea/green"})), Ok("in stock: [KEY]".into()));
    let refused = call.call(&tool, json!({"item": "ink"})).unwrap_err();
    let ToolError::Upstream(told) = refused else { panic!("{refused:?}") };
    let name = "GET /v1/{item}?key=${KEY} of the service SHOP answered 404: ";
    assert!(told.starts_with(name) && !told.contains("s3cr3t"), "{told}");
    assert!(call.http.called().is_empty(), "nothing leaves the Worker");

    call.services.clear();
    let unbound = call.call(&tool, json!({"item": "ink"})).unwrap_err();
    let ToolError::Upstream(told) = unbound else { panic!("{unbound:?}") };
    let missing = "of the service SHOP was not called: this Worker has no service binding \"SHOP\": add [[services]]";
    assert!(told.contains(missing), "{told}");
}

#[test]
fn no_argument_leaves_its_place() {
    let table = include_str!("../../../tests/e2e/tool-injections.json");
    let table: Vec<Value> = serde_json::from_str(table).unwrap();
    assert!(table.len() >= 90, "the table has become short");
    for row in table {
        let place = row["place"].as_str().unwrap();
        let (call, sent) = call_with(vec![ok("fine")]);
        call.http.guard_with(|_| Err("must be somewhere else".to_owned()));
        let result =
            call.call(&http_tool(&format!("into_{place}")), json!({"value": row["value"]}));
        if let Some(refused) = row["refused"].as_str() {
            let error = result.expect_err(&row.to_string());
            let ToolError::Arguments(text) = &error else { panic!("{row}: {error:?}") };
            assert!(text.contains(refused), "{row}: {text}");
            assert!(sent.borrow().is_empty(), "{row}");
            continue;
        }
        result.unwrap_or_else(|error| panic!("{row}: {error}"));
        let sent = sent.borrow();
        let (request, body) = &sent[0];
        let target = request.url.strip_prefix("https://api.example.com").expect("the server");
        let found = match place {
            "path" | "query" => json!(target),
            "header" => json!(header(request, "x-value")),
            "json" => serde_json::from_str(body).unwrap(),
            _ => json!(body),
        };
        assert_eq!(found, row["sent"], "{row}");
        assert_eq!(header(request, "x-fixed"), (place == "header").then_some("1"), "{row}");
    }
}

#[test]
fn a_request_is_what_the_file_says() {
    let (call, sent) = call_with(vec![json_answer(&json!({"found": [{"name": "x"}]}))]);
    let pick = http_tool("pick");
    let output = call.call(&pick, json!({"name": "a b"})).unwrap();
    assert_eq!(output.text(), Some("x"));
    call.call(&pick, json!({"name": "c", "page": 2, "lang": "pt"})).unwrap();
    let sent = sent.borrow();
    let found: Vec<_> = sent
        .iter()
        .map(|(request, _)| {
            (
                request.method,
                request.url.as_str(),
                header(request, "x-lang"),
                header(request, "user-agent"),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("GET", "https://api.example.com/pick/a%20b?page=1", None, Some("a2a-edge")),
            ("GET", "https://api.example.com/pick/c?page=2&lang=pt", Some("pt"), Some("a2a-edge")),
        ]
    );
    assert!(!sent[0].0.is_guarded, "the author chose the server");
}

#[test]
fn a_body_has_the_media_type_of_its_kind_unless_a_header_says_otherwise() {
    for (text, media_type) in [
        ("body = { a = 1 }", "application/json"),
        ("body = ['a']", "application/json"),
        ("form = { a = 'b' }", "application/x-www-form-urlencoded"),
        ("body = 'a'", "text/plain; charset=utf-8"),
        ("body = '<a/>'\nheaders = { content-type = 'application/xml' }", "application/xml"),
    ] {
        let (call, sent) = call_with(vec![ok("fine")]);
        let tool = tool(&format!("method = 'POST'\nurl = '${{SINK}}/x'\n{text}"));
        call.call(&tool, json!({})).unwrap();
        assert_eq!(header(&sent.borrow()[0].0, "content-type"), Some(media_type), "{text}");
    }
}

#[test]
fn what_may_succeed_later_is_tried_again_and_nothing_else() {
    let once = |status| vec![status, ok("fine")];
    for (answers, attempts, outcome) in [
        (once(status(503)), 2, Ok("fine")),
        (once(status(429)), 2, Ok("fine")),
        (once(with_header(status(429), "retry-after", "60")), 2, Ok("fine")),
        (
            once(with_header(status(503), "retry-after", "Mon, 05 Jan 2026 09:00:31 GMT")),
            2,
            Ok("fine"),
        ),
        (
            once(with_header(status(429), "retry-after", "61")),
            1,
            Err("GET ${SINK}/{first}/{second} answered 429"),
        ),
        (once(status(404)), 1, Err("GET ${SINK}/{first}/{second} answered 404")),
        (vec![status(500)], 3, Err("GET ${SINK}/{first}/{second} answered 500")),
    ] {
        let (call, sent) = call_with(answers);
        let result = call.call(&http_tool("get"), json!({"first": "a", "second": "b"}));
        let expected = outcome.map(ToolOutput::from).map_err(ToolError::upstream);
        assert_eq!((result, sent.borrow().len()), (expected, attempts));
    }
}

#[test]
fn every_attempt_at_a_call_has_one_key_and_a_call_that_was_answered_is_not_made_again() {
    let (call, sent) = call_with(vec![status(500), status(503), json_answer(&json!({"id": 7}))]);
    let order = http_tool("order");
    let arguments = json!({"item": "book"});
    assert_eq!(call.call(&order, arguments.clone()), Ok(json!({"id": 7}).into()));
    assert_eq!(call.resume(&order, arguments), Ok(json!({"id": 7}).into()));
    let sent = sent.borrow();
    let keys: Vec<_> = sent.iter().map(|(request, _)| header(request, "idempotency-key")).collect();
    assert_eq!(keys, [Some("task-1-1"); 3]);
    assert_eq!(sent[0].1, r#"{"item":"book","count":1}"#);
}

#[test]
fn an_error_names_the_url_of_the_file_and_begins_with_what_the_server_said() {
    let get = |answer: HttpAnswer<String>| {
        let (call, _) = call_with(vec![answer]);
        let tool = tool("url = '${SINK}/a/{b}'\nmax_bytes = 1000\n[arguments]\nb = 'c'");
        call.call(&tool, json!({"b": "hidden"})).unwrap_err()
    };
    let said = |status: u16, body: &str| HttpAnswer { status, ..ok(body) };
    for (answer, told) in [
        (said(400, " no\n such\t\u{1b}[0m thing "), "answered 400: no such [0m thing"),
        (
            with_header(said(302, "x"), "location", "https://me@other.example/x"),
            "answered 302, a redirect to other.example; redirects are not followed",
        ),
        (
            with_header(said(301, "x"), "location", "/x"),
            "answered 301, a redirect to the same host; redirects are not followed",
        ),
        (said(304, ""), "answered 304"),
        (
            with_header(ok("{"), "content-type", "application/json"),
            "answered 200, but its body is not JSON (application/json): {",
        ),
        (ok("x".repeat(1001)), "gave an answer of more than 1000 bytes"),
    ] {
        let expected = format!("GET ${{SINK}}/a/{{b}} {told}");
        assert_eq!(get(answer), ToolError::Upstream(expected));
    }
    let long = get(said(400, &"ü".repeat(400)));
    assert!(long.text().ends_with("ü…") && long.text().chars().count() < 350, "{long}");
}

#[test]
fn secrets_stay_out_of_what_a_server_gives_back() {
    let secrets = include_str!("../../../tests/agents/secrets.toml");
    let markers = ["segment/marker 1", "query&marker 2", "header-marker-3", "body\"marker\\4"];
    let call_of = |answer: fn(&HttpRequest, &str) -> HttpAnswer<String>| {
        let call = TestCall::default().with_variable("SINK", "https://api.example.com");
        let names = ["SEGMENT_KEY", "QUERY_KEY", "HEADER_KEY", "BODY_KEY"];
        let call = names
            .iter()
            .zip(markers)
            .fold(call, |call, (name, marker)| call.with_secret(name, marker));
        call.http.answer_with(move |request, body| Ok(answer(request, body)));
        let told = match call.call(&tool_of(secrets, "send"), json!({"path": "echo"})) {
            Ok(output) => serde_json::to_string(output.parts()).unwrap(),
            Err(error) => error.text().to_owned(),
        };
        for marker in markers {
            assert!(!told.contains(marker), "{told}");
        }
        told
    };
    let echo = call_of(|request, body| {
        let headers: Vec<&str> = request.headers.iter().map(|(_, value)| value.as_str()).collect();
        ok(format!("{} {} {body}", request.url, headers.join(" ")))
    });
    for name in ["SEGMENT_KEY", "QUERY_KEY", "HEADER_KEY", "BODY_KEY"] {
        assert!(echo.contains(&format!("[{name}]")), "{echo}");
    }
    assert!(
        echo.contains("https://api.example.com/echo/"),
        "the server itself is no secret: {echo}"
    );
    let failed = call_of(|request, _| HttpAnswer { status: 500, ..ok(request.url.clone()) });
    assert!(failed.contains("[QUERY_KEY]"), "{failed}");
    let as_json = call_of(|_, body| json_answer(&serde_json::from_str(body).unwrap()));
    assert_eq!(as_json, r#"[{"data":{"key":"[BODY_KEY]"}}]"#);
}

#[test]
fn a_tool_says_what_it_needs_and_fails_where_that_is_missing() {
    let secrets = include_str!("../../../tests/agents/secrets.toml");
    let send = tool_of(secrets, "send");
    assert_eq!(send.needs(), ["BODY_KEY", "HEADER_KEY", "QUERY_KEY", "SEGMENT_KEY", "SINK"]);
    let call = TestCall::default()
        .with_variable("SINK", "https://api.example.com")
        .with_secret("EMPTY_KEY", " ")
        .with_secret("BROKEN_KEY", "hidden\nhidden");
    for (name, told) in [
        ("send_missing", "MISSING_KEY is not set"),
        ("send_empty", "EMPTY_KEY is not set"),
        ("send_in_header", "the secret or variable BROKEN_KEY may hold only visible ASCII"),
    ] {
        let error = call.call(&tool_of(secrets, name), json!({})).unwrap_err();
        let ToolError::Tool(text) = &error else { panic!("{error:?}") };
        assert!(text.contains(told) && !text.contains("hidden"), "{text}");
    }
    assert!(call.http.called().is_empty());
}

#[test]
fn a_url_that_is_itself_a_secret_is_kept_out_of_answers() {
    for (url, told) in [
        ("https://hooks.example.com/T01/B02/abcdefghijklmnopqrst", "[HOOK_URL]"),
        ("https://api.example.com/v1", "https://api.example.com/v1"),
    ] {
        let call = TestCall::default().with_variable("HOOK_URL", url);
        call.http.answer_with(|request, _| Ok(ok(request.url.clone())));
        let tool = tool("method = 'POST'\nurl = '${HOOK_URL}'");
        assert_eq!(call.call(&tool, json!({})), Ok(told.into()));
    }
}
