//! Deviations of servers from the API's documentation, and streams that end badly.

use a2a::http::HttpError;
use chat::{ChatErrorKind, ChatMessage, Endpoint, ToolCall};

use crate::support::{
    answer, asked, chunk, endpoint, events, read, read_pieces, request, streamed,
};

/// The id, the name and the arguments of each call in a stream of these deltas.
fn calls(deltas: &[&str]) -> Vec<(String, String, String)> {
    let answer = read(&streamed(deltas, "tool_calls")).answer();
    let all = answer.calls.into_iter();
    all.map(|ToolCall { id, name, arguments, .. }| (id, name, arguments)).collect()
}

fn expected(calls: &[[&str; 3]]) -> Vec<(String, String, String)> {
    calls
        .iter()
        .map(|[id, name, arguments]| (id.to_string(), name.to_string(), arguments.to_string()))
        .collect()
}

#[test]
fn calls_are_put_together_however_servers_number_and_name_their_pieces() {
    for (why, deltas, wanted) in [
        (
            "an id that comes late",
            &[
                r#"{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"arguments":"}"}}]}"#,
            ][..],
            &[["x", "a", "{}"]][..],
        ),
        (
            "ids that never come",
            &[
                r#"{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{}"}}]}"#,
                r#"{"tool_calls":[{"index":1,"id":"","function":{"name":"b","arguments":"{}"}}]}"#,
            ],
            &[["call_1", "a", "{}"], ["call_2", "b", "{}"]],
        ),
        (
            "a name in two pieces",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"get_","arguments":""}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"name":"time","arguments":"{}"}}]}"#,
            ],
            &[["x", "get_time", "{}"]],
        ),
        (
            "id and name with every piece",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"1}"}}]}"#,
            ],
            &[["x", "a", "{\"n\":1}"]],
        ),
        (
            "a new id for every piece, and no name",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"y","function":{"arguments":"}"}}]}"#,
            ],
            &[["x", "a", "{}"]],
        ),
        (
            "all calls with the index 0",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}]}"#,
                r#"{"tool_calls":[{"index":0,"id":"y","function":{"name":"a","arguments":"{}"}}]}"#,
            ],
            &[["x", "a", "{}"], ["y", "a", "{}"]],
        ),
        (
            "all calls with the index 0 and without an id",
            &[
                r#"{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{}"}},{"index":0,"function":{"name":"a","arguments":"{}"}}]}"#,
                r#"{"tool_calls":[{"index":0,"function":{"name":"b","arguments":"{}"}}]}"#,
            ],
            &[["call_1", "a", "{}"], ["call_2", "a", "{}"], ["call_3", "b", "{}"]],
        ),
        (
            "no index at all",
            &[
                r#"{"tool_calls":[{"id":"x","function":{"name":"a","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"function":{"arguments":"}"}}]}"#,
                r#"{"tool_calls":[{"id":"y","function":{"name":"b","arguments":""}}]}"#,
                r#"{"tool_calls":[{"id":"y","function":{"arguments":"{}"}}]}"#,
            ],
            &[["x", "a", "{}"], ["y", "b", "{}"]],
        ),
        (
            "an index that does not begin at 0, and calls in another order",
            &[
                r#"{"tool_calls":[{"index":5,"id":"x","function":{"name":"a","arguments":"{"}}]}"#,
                r#"{"tool_calls":[{"index":2,"id":"y","function":{"name":"b","arguments":"{}"}}]}"#,
                r#"{"tool_calls":[{"index":5,"function":{"arguments":"}"}}]}"#,
            ],
            &[["x", "a", "{}"], ["y", "b", "{}"]],
        ),
        (
            "one id for two calls",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}]}"#,
                r#"{"tool_calls":[{"index":1,"id":"x","function":{"name":"b","arguments":"{}"}}]}"#,
            ],
            &[["x", "a", "{}"], ["call_2", "b", "{}"]],
        ),
        (
            "arguments that are an object, or nothing",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":{"n":1}}}]}"#,
                r#"{"tool_calls":[{"index":1,"id":"y","function":{"name":"b","arguments":null}}]}"#,
                r#"{"tool_calls":[{"index":2,"id":"z","function":{"name":"c"}}]}"#,
            ],
            &[["x", "a", "{\"n\":1}"], ["y", "b", ""], ["z", "c", ""]],
        ),
        (
            "a call without anything, and what is none",
            &[
                r#"{"tool_calls":[{"index":0,"id":"x","type":"function","function":{}}, 7, null]}"#,
                r#"{"tool_calls":[{"index":1,"id":"y","function":{"name":"a","arguments":"{}"}}]}"#,
                r#"{"tool_calls":null}"#,
            ],
            &[["y", "a", "{}"]],
        ),
    ] {
        assert_eq!(calls(deltas), expected(wanted), "{why}");
    }
}

#[test]
fn ids_of_the_conversation_are_not_given_again() {
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "a".to_owned(),
        arguments: "{}".to_owned(),
        extra: None,
    };
    let mut request = request();
    let calls = vec![call("x"), call("call_3")];
    request.messages.push(ChatMessage::Assistant { text: String::new(), calls, reasoning: None });
    let body = streamed(
        &[
            r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"a"}},{"index":1,"function":{"name":"b"}}]}"#,
        ],
        "tool_calls",
    );
    let outcome = asked(&endpoint(), &request, move |_| {
        Ok(answer(200, &[], vec![Ok(body.clone().into_bytes())]))
    });
    let ids: Vec<String> = outcome.answer().calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_4", "call_5"]);
}

#[test]
fn what_a_provider_wants_back_with_a_call_is_kept() {
    let answer = read(&streamed(
        &[
            r#"{"tool_calls":[{"index":0,"id":"x","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"a","arguments":"{}"}}]}"#,
        ],
        "stop",
    ));
    let call = answer.answer().calls.remove(0);
    assert_eq!(call.extra, Some(serde_json::json!({"google": {"thought_signature": "s"}})));
}

#[test]
fn streams_are_read_however_they_are_written() {
    let hi = &chunk(r#"{"content":"Hi"}"#, "null");
    let end = &chunk("{}", r#""stop""#);
    let both = chunk(r#"{"content":"Hi"}"#, r#""stop""#);
    for (why, body) in [
        ("as usual", events(&[hi, end, "[DONE]"])),
        ("CRLF", events(&[hi, end, "[DONE]"]).replace('\n', "\r\n")),
        ("CR", events(&[hi, end, "[DONE]"]).replace('\n', "\r")),
        ("no space behind data:", events(&[hi, end, "[DONE]"]).replace("data: ", "data:")),
        ("signs of life", format!(": ping\n\n{}:\n\nevent: ping\ndata: {{}}\n\ndata:\n\n{}", events(&[hi]), events(&[end, "[DONE]"]))),
        ("a byte order mark", format!("\u{feff}{}", events(&[hi, end, "[DONE]"]))),
        ("blank lines first", format!("\r\n\n \n{}", events(&[hi, end, "[DONE]"]))),
        ("events with a name and an id", format!("id: 1\nevent: message\n{}retry: 5\n\n{}", events(&[hi]), events(&[end, "[DONE]"]))),
        ("no [DONE]", events(&[hi, end])),
        ("no empty line behind the last event", events(&[hi, end]).trim_end().to_owned()),
        ("no empty line behind [DONE]", events(&[hi, end, "[DONE]"]).trim_end().to_owned()),
        ("text and end in one chunk", events(&[&both, "[DONE]"])),
        ("nothing that counts behind [DONE]", format!("{}data: {{oops", events(&[hi, end, "[DONE]"]))),
        ("a chunk of filters without choices first", events(&[r#"{"choices":[],"prompt_filter_results":[{}]}"#, hi, end, "[DONE]"])),
        ("choices that are null at the end", events(&[hi, end, r#"{"choices":null,"usage":null}"#, "[DONE]"])),
        ("an error that is null", events(&[&hi.replacen('{', r#"{"error":null,"#, 1), end, "[DONE]"])),
        ("a list around each chunk", events(&[&format!("[{both}]"), "[DONE]"])),
        ("the message so far beside the delta", events(&[&hi.replace(r#""delta""#, r#""message":{"content":"xx"},"delta""#), end, "[DONE]"])),
        ("one JSON object", r#"{"model":"small-2026","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#.to_owned()),
        ("one JSON object behind blanks", "\u{feff} \r\n{\"model\":\"small-2026\",\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n".to_owned()),
        ("text in parts", r#"{"model":"small-2026","choices":[{"message":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"H"},{"type":"text","text":"i"}]},"finish_reason":"stop"}]}"#.to_owned()),
        ("an empty error", r#"{"error":"","model":"small-2026","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#.to_owned()),
    ] {
        let answer = read(&body).answer;
        let answer = answer.unwrap_or_else(|error| panic!("{why}: {error}"));
        assert_eq!((answer.text.as_str(), answer.end.as_str()), ("Hi", "stop"), "{why}");
        assert_eq!(answer.model.as_deref(), Some("small-2026"), "{why}");
    }
}

#[test]
fn usage_is_found_where_servers_put_it() {
    let counts = r#"{"prompt_tokens":3,"completion_tokens":2}"#;
    let hi = &chunk(r#"{"content":"Hi"}"#, r#""stop""#);
    let with = |name: &str| hi.replacen("\"usage\":null", &format!("\"usage\":null,{name}"), 1);
    for (why, body) in [
        ("with each chunk", hi.replace(r#""usage":null"#, &format!("\"usage\":{counts}"))),
        ("of Groq", with(&format!(r#""x_groq":{{"usage":{counts}}}"#))),
        ("in the choice", hi.replace(r#""logprobs":null"#, &format!("\"usage\":{counts}"))),
        (
            "with decimal points",
            hi.replace(
                r#""usage":null"#,
                r#""usage":{"prompt_tokens":3.0,"completion_tokens":2.0}"#,
            ),
        ),
        (
            "by other names",
            hi.replace(r#""usage":null"#, r#""usage":{"input_tokens":3,"output_tokens":2}"#),
        ),
    ] {
        let usage = read(&events(&[&body, "[DONE]"])).answer().usage;
        let usage = usage.unwrap_or_else(|| panic!("{why}"));
        assert_eq!((usage.input, usage.output), (3, 2), "{why}");
    }
    for none in ["null", "{}", "7", r#"{"prompt_tokens":"3"}"#, r#"{"prompt_tokens":-1}"#] {
        let body = hi.replace(r#""usage":null"#, &format!("\"usage\":{none}"));
        assert_eq!(read(&events(&[&body, "[DONE]"])).answer().usage, None, "{none}");
    }
    let cached = hi.replace(
        r#""usage":null"#,
        r#""usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_cache_hit_tokens":1}"#,
    );
    assert_eq!(read(&events(&[&cached])).answer().usage.unwrap().cached, 1);
}

#[test]
fn answers_that_are_none_say_what_they_are() {
    use ChatErrorKind::{CutOff, Malformed};
    let hi = chunk(r#"{"content":"Hi"}"#, "null");
    for (body, kind, text) in [
        ("", Malformed, "it is empty"),
        (" \r\n", Malformed, "it is empty"),
        ("<html><title>Hello</title>", Malformed, "begins: <html><title>Hello</title>"),
        ("upstream is gone", Malformed, "begins: upstream is gone"),
        (r#"{"choices":[]}"#, Malformed, "it has no choices"),
        (r#"{"hello":"there"}"#, Malformed, r#"it begins: {"hello":"there"}"#),
        ("[]", Malformed, "it has no choices"),
        (r#"{"choices":"x"}"#, Malformed, "it has no choices"),
        (r#"{"choices": [}"#, Malformed, "it is not JSON"),
        (r#"{"choices":[{"mess"#, CutOff, "it ended in the middle"),
        ("data: [DONE]\n\n", Malformed, "it is a stream without choices"),
        ("data: {\"choices\":[]}\n\ndata: [DONE]\n\n", Malformed, "it is a stream without choices"),
        (": ping\n\n", Malformed, "it has no choices"),
        ("data: {oops}\n\n", Malformed, "an event of it is not JSON"),
        ("data: {\"choices\":[{\"del", CutOff, "it ended in the middle"),
    ] {
        let error = read(body).error();
        assert_eq!(error.kind, kind, "{body}: {error}");
        assert!(error.text.contains(text), "{body}: {error}");
    }
    for (body, text) in [
        (events(&[&hi]), "it ended in the middle"),
        (format!("{}data: {{\"choi", events(&[&hi])), "it ended in the middle"),
        (format!("{}: ping\n\n", events(&[&hi])), "it ended in the middle"),
    ] {
        let error = read(&body).error();
        assert_eq!(error.kind, CutOff, "{body}: {error}");
        assert!(error.text.contains(text) && error.is_retryable(), "{body}: {error}");
    }
    let broken = format!("{}data: {{oops}}\n\n", events(&[&hi]));
    assert_eq!(read(&broken).error().kind, Malformed);
    let typed = asked(&endpoint(), &request(), |_| {
        Ok(answer(200, &[("content-type", "text/html")], vec![Ok(b"<p>Hi".to_vec())]))
    });
    let text = "it has no choices; its content type is text/html, and it begins: <p>Hi";
    assert!(typed.error().text.ends_with(text));
}

#[test]
fn an_answer_of_too_many_values_is_refused_however_it_comes() {
    use ChatErrorKind::{Malformed, TooLarge};
    let large = Endpoint { max_bytes: 4 * 1024 * 1024, ..endpoint() };
    let list = |count: usize| format!("[{}0]", "0,".repeat(count));
    let whole = |rest: &str| {
        format!(
            r#"{{"rest":{rest},"choices":[{{"message":{{"content":"Hi"}},"finish_reason":"stop"}}]}}"#
        )
    };
    let extra = |rest: &str| {
        let call = |id: usize| {
            chunk(
                &format!(
                    r#"{{"tool_calls":[{{"id":"c{id}","function":{{"name":"f","arguments":"{{}}"}},"extra_content":{rest}}}]}}"#
                ),
                "null",
            )
        };
        events(&[&call(1), &call(2), &call(3)])
    };
    let deep = format!("{}0{}", "[".repeat(110), "]".repeat(110));
    for (body, kind, text) in [
        (
            whole(&list(1_000_000)),
            TooLarge,
            "the answer of the model holds more than 100000 JSON values",
        ),
        (
            events(&[&whole(&list(1_000_000))]),
            TooLarge,
            "the answer of the model holds more than 100000 JSON values",
        ),
        // Each chunk is within the limit, but the sum of the stored values is not.
        (
            extra(&list(40_000)),
            TooLarge,
            "the answer of the model holds more than 100000 JSON values",
        ),
        (whole(&deep), Malformed, "nested more than 100 levels deep"),
        (events(&[&whole(&deep)]), Malformed, "nested more than 100 levels deep"),
    ] {
        let outcome = asked(&large, &request(), move |_| {
            Ok(answer(200, &[], vec![Ok(body.clone().into_bytes())]))
        });
        let error = outcome.error();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.text.contains(text), "{error}");
    }
    let body = whole(&list(99_000));
    let outcome = asked(&large, &request(), move |_| {
        Ok(answer(200, &[], vec![Ok(body.clone().into_bytes())]))
    });
    assert_eq!(outcome.answer().text, "Hi");
}

#[test]
fn an_exchange_that_fails_in_the_middle_is_an_error_unless_the_model_had_finished() {
    let url = || "https://models.example/v1/chat/completions".to_owned();
    let failures = [
        (HttpError::Failed { url: url(), reason: "it left".to_owned() }, ChatErrorKind::CutOff),
        (HttpError::Silent { url: url(), timeout_ms: 7 }, ChatErrorKind::Silent),
        (HttpError::TooLarge { url: url(), max_bytes: 9 }, ChatErrorKind::TooLarge),
    ];
    for (failure, kind) in failures {
        let pieces = |body: String| vec![Ok(body.into_bytes()), Err(failure.clone())];
        let hi = events(&[&chunk(r#"{"content":"Hi"}"#, "null")]);
        let outcome = read_pieces(pieces(hi.clone()));
        assert_eq!(outcome.deltas.len(), 1, "what came before it is heard");
        assert_eq!(outcome.error().kind, kind);
        let finished = hi + &events(&[&chunk("{}", r#""stop""#)]);
        assert_eq!(read_pieces(pieces(finished)).answer().text, "Hi");
        let error = read_pieces(vec![Err(failure.clone())]).error();
        assert_eq!(error.kind, kind);
        let whole = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]"#;
        assert_eq!(read_pieces(pieces(whole.to_owned())).error().kind, kind);
    }
    // After the end of the stream, the body is not read any further.
    let done = events(&[&chunk(r#"{"content":"Hi"}"#, "null"), "[DONE]"]);
    let never = HttpError::Failed { url: url(), reason: "it left".to_owned() };
    assert_eq!(read_pieces(vec![Ok(done.into_bytes()), Err(never)]).answer().text, "Hi");
}

#[test]
fn errors_inside_a_stream_are_errors() {
    use ChatErrorKind::{BadRequest, ContextTooLong, Overloaded, RateLimited, ServerError};
    for (event, kind, text) in [
        (
            r#"data: {"error":{"message":"Slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}"#,
            RateLimited,
            "(rate_limit_exceeded): Slow down",
        ),
        (
            r#"data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#,
            ServerError,
            "The server had an error",
        ),
        (
            r#"data: {"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream died"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
            ServerError,
            "answered 502: Provider returned error: upstream died",
        ),
        (r#"data: {"error":{"code":429,"message":"Too many"}}"#, RateLimited, "Too many"),
        (
            r#"data: {"object":"error","message":"This model's maximum context length is 8 tokens","type":"BadRequestError","param":null,"code":400}"#,
            ContextTooLong,
            "BadRequestError",
        ),
        (
            r#"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            "(overloaded_error): Overloaded",
        ),
        (r#"data: {"error":{"message":"Bad","type":"invalid_request_error"}}"#, BadRequest, "Bad"),
        ("event: error\ndata: {\"message\":\"It broke\"}", ServerError, "It broke"),
        ("event: error\ndata: It broke", ServerError, "It broke"),
        (r#"data: {"error":"It broke"}"#, ServerError, "It broke"),
    ] {
        let body = format!("{}{event}\n\n", events(&[&chunk(r#"{"content":"Hi"}"#, "null")]));
        let outcome = read(&body);
        assert_eq!(outcome.deltas.len(), 1, "what came before it is heard");
        let error = outcome.error();
        assert_eq!(error.kind, kind, "{event}: {error}");
        assert!(error.text.contains(text), "{event}: {error}");
    }
    let whole = r#"{"error":{"message":"It broke","type":"server_error"}}"#;
    assert_eq!(read(whole).error().kind, ServerError);
    let finish = chunk("{}", r#""error""#);
    assert_eq!(read(&events(&[&finish, "[DONE]"])).error().kind, ServerError);
}

#[test]
fn an_answer_has_bounds() {
    let endpoint = Endpoint { max_bytes: 1_000, ..endpoint() };
    let too_large = |body: String| {
        let outcome = asked(&endpoint, &request(), move |_| {
            Ok(answer(
                200,
                &[],
                body.as_bytes().chunks(100).map(|piece| Ok(piece.to_vec())).collect(),
            ))
        });
        let error = outcome.error();
        assert_eq!(error.kind, ChatErrorKind::TooLarge, "{error}");
        assert!(error.text.contains("more than 1000 bytes") && !error.is_retryable());
    };
    let long = "x".repeat(1_000);
    too_large(format!(r#"{{"choices":[{{"message":{{"content":"{long}"}}}}]}}"#));
    too_large(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{long}\"}}}}]}}\n\n"));
    let piece = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(200)
    );
    too_large(piece.repeat(6));
    let thought = piece.replace("content", "reasoning_content");
    too_large(thought.repeat(6));
    let empty_calls = r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#;
    too_large(events(&[empty_calls]).repeat(100));
    too_large(": ping\n\n".repeat(2_001));
    too_large(format!("data: {}", "x".repeat(1_001)));
    too_large(" ".repeat(16_001));
}

#[test]
fn a_stream_that_is_not_read_to_its_end_is_no_answer() {
    use futures_executor::block_on;
    let http = a2a::http::memory::MemoryHttp::default();
    let body = streamed(&[r#"{"content":"Hi"}"#], "stop");
    http.answer_with(move |_, _| Ok(a2a::http::memory::ok(body.clone())));
    let (endpoint, request) = (endpoint(), request());
    let mut stream = block_on(chat::open(&http, &endpoint, &request)).unwrap();
    assert!(block_on(stream.next()).unwrap().is_some());
    // The whole answer arrived in one piece, so it is already complete; an answer that has not
    // begun is not complete.
    assert!(stream.into_answer().is_ok());
    let stream = block_on(chat::open(&http, &endpoint, &request)).unwrap();
    assert_eq!(stream.into_answer().unwrap_err().kind, ChatErrorKind::CutOff);
}
