//! Answers of `env.AI.run`: its own form, and the common form of newer models.

use chat::{ChatErrorKind, Delta, End, Endpoint, Usage, workers_ai_failure};

use crate::support::{answer, asked, events, read, request};

#[test]
fn an_answer_of_its_own_is_read_whole_and_in_chunks() {
    let whole = r#"{"response":"Hello","tool_calls":[{"name":"weather","arguments":{"city":"Bonn"}}],
        "usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29}}"#;
    let stream = events(&[
        r#"{"response":"Hel","p":"abdef"}"#,
        r#"{"response":"lo","p":"ab"}"#,
        r#"{"tool_calls":[{"name":"weather","arguments":{"city":"Bonn"}}],"p":"abc"}"#,
        r#"{"response":"","usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29}}"#,
        "[DONE]",
    ]);
    let (whole, stream) = (read(whole), read(&stream));
    let expected = ["Hel", "lo"].map(|text| Delta::Text(text.to_owned()));
    assert_eq!(stream.deltas, expected);
    assert_eq!(whole.answer, stream.answer);
    let answer = whole.answer();
    assert_eq!((answer.text.as_str(), &answer.end), ("Hello", &End::ToolCalls));
    assert_eq!(answer.usage, Some(Usage { input: 20, output: 9, cached: 0, reasoning: 0 }));
    let [call] = answer.calls.as_slice() else { panic!("{:?}", answer.calls) };
    let shown = (call.id.as_str(), call.name.as_str(), call.arguments.as_str());
    assert_eq!(shown, ("call_1", "weather", r#"{"city":"Bonn"}"#));
}

#[test]
fn several_calls_without_ids_and_numbers_are_told_apart() {
    let body = r#"{"response":null,"tool_calls":[{"name":"a","arguments":{}},{"name":"a","arguments":{}}]}"#;
    let calls = read(body).answer().calls;
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2"]);
}

#[test]
fn an_answer_with_a_schema_or_a_number_is_text() {
    for (body, text) in [
        (r#"{"response":{"name":"India","n":1},"usage":{}}"#, r#"{"name":"India","n":1}"#),
        (r#"{"response":42}"#, "42"),
        (r#"{"response":""}"#, ""),
    ] {
        let answer = read(body).answer();
        assert_eq!((answer.text.as_str(), answer.end), (text, End::Unsaid), "{body}");
    }
    let chunks = events(&[r#"{"response":4}"#, r#"{"response":"2"}"#, "[DONE]"]);
    assert_eq!(read(&chunks).answer().text, "42");
}

#[test]
fn an_answer_as_others_give_it_is_read_as_theirs() {
    let body = r#"{"id":"chatcmpl-1","object":"chat.completion","model":"@cf/openai/gpt-oss-120b","choices":[
        {"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm.","tool_calls":[]},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;
    let answer = read(body).answer();
    assert_eq!((answer.text.as_str(), answer.end), ("Hi", End::Stop));
}

#[test]
fn a_stream_that_ends_without_done_is_cut() {
    let error = read(&events(&[r#"{"response":"Hel"}"#])).error();
    assert_eq!(error.kind, ChatErrorKind::CutOff);
}

#[test]
fn what_the_binding_throws_has_a_kind() {
    for (thrown, kind) in [
        ("5007: No such model @cf/a/b or task", ChatErrorKind::NotFound),
        ("3040: Capacity temporarily exceeded, please try again.", ChatErrorKind::Overloaded),
        (
            "3036: you have used up your daily free allocation of 10,000 neurons",
            ChatErrorKind::QuotaExhausted,
        ),
        (
            "5021: The estimated number of tokens exceeded this model context window limit (24000)",
            ChatErrorKind::ContextTooLong,
        ),
        (
            "AiError: 5006: Error: required properties at '/' are 'prompt'",
            ChatErrorKind::BadRequest,
        ),
        ("5018: not allowed", ChatErrorKind::Unauthorized),
        ("3007: timed out", ChatErrorKind::ServerError),
    ] {
        let (status, body) = workers_ai_failure(thrown).expect("a failure");
        let outcome = asked(&Endpoint::workers_ai(), &request(), move |_| {
            Ok(answer(status, &[], vec![Ok(body.clone().into_bytes())]))
        });
        let error = outcome.error();
        assert_eq!(error.kind, kind, "{error}");
        let message = thrown.rsplit_once(": ").map_or("", |(_, message)| message);
        assert!(error.text.contains(message), "{error}");
    }
}
