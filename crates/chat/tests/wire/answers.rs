//! Answers in the form of the API's documentation.

use chat::{Delta, End, ToolCall, Usage};

use crate::support::{chunk, events, read, streamed};

const USAGE: &str = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763800000,"model":"small-2026","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":16,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":5,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}"#;

fn texts(deltas: &[Delta]) -> Vec<&str> {
    fn text(delta: &Delta) -> &str {
        let (Delta::Text(text) | Delta::Refusal(text)) = delta;
        text
    }
    deltas.iter().map(text).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
    ToolCall { id, name, arguments, extra: None }
}

#[test]
fn a_streamed_text_is_heard_in_pieces_and_has_usage_behind_it() {
    let body = events(&[
        &chunk(r#"{"role":"assistant","content":"","refusal":null}"#, "null"),
        &chunk(r#"{"content":"Hel"}"#, "null"),
        &chunk(r#"{"content":"lo"}"#, "null"),
        &chunk("{}", r#""stop""#),
        USAGE,
        "[DONE]",
    ]);
    let outcome = read(&body);
    assert_eq!(texts(&outcome.deltas), ["Hel", "lo"]);
    let answer = outcome.answer();
    assert_eq!((answer.text.as_str(), &answer.end), ("Hello", &End::Stop));
    assert_eq!(answer.model.as_deref(), Some("small-2026"));
    let usage = Usage { input: 20, output: 9, cached: 16, reasoning: 5 };
    assert_eq!((answer.usage, usage.total()), (Some(usage), 29));
    assert_eq!((answer.refusal, answer.reasoning, answer.calls), (None, None, vec![]));
}

#[test]
fn calls_are_put_together_by_their_index() {
    let body = streamed(
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"time","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"\"Bonn\"}"}}]}"#,
        ],
        "tool_calls",
    );
    let outcome = read(&body);
    assert_eq!(outcome.deltas, []);
    let answer = outcome.answer();
    let expected = [call("call_a", "weather", r#"{"city":"Bonn"}"#), call("call_b", "time", "{}")];
    assert_eq!((answer.calls.as_slice(), answer.end), (&expected[..], End::ToolCalls));
}

#[test]
fn a_refusal_is_told_from_text() {
    let body = streamed(&[r#"{"refusal":"I can"}"#, r#"{"refusal":"not."}"#], "stop");
    let outcome = read(&body);
    let expected = ["I can", "not."].map(|text| Delta::Refusal(text.to_owned()));
    assert_eq!(outcome.deltas, expected);
    let answer = outcome.answer();
    assert_eq!((answer.text.as_str(), answer.refusal.as_deref()), ("", Some("I cannot.")));
}

#[test]
fn an_answer_that_is_whole_says_the_same_as_a_stream() {
    let whole = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1763800000,"model":"small-2026","choices":[
        {"index":0,"message":{"role":"assistant","content":"Hello","refusal":null,"annotations":[],"tool_calls":[
            {"id":"call_a","type":"function","function":{"name":"weather","arguments":"{}"}}]},
         "logprobs":null,"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,
            "prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":5}},
        "service_tier":"default"}"#;
    let stream = events(&[
        &chunk(r#"{"role":"assistant","content":"Hello"}"#, "null"),
        &chunk(
            r#"{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#,
            "null",
        ),
        &chunk("{}", r#""tool_calls""#),
        USAGE,
        "[DONE]",
    ]);
    assert_eq!(read(whole), read(&stream));
    assert_eq!(read(whole).answer().text, "Hello");
}

#[test]
fn each_end_has_its_name() {
    for (reason, end) in [
        ("stop", End::Stop),
        ("length", End::Length),
        ("max_tokens", End::Length),
        ("content_filter", End::ContentFilter),
        ("tool_calls", End::ToolCalls),
        ("odd", End::Other("odd".to_owned())),
    ] {
        assert_eq!(read(&streamed(&[r#"{"content":"a"}"#], reason)).answer().end, end);
        let whole = format!(
            r#"{{"choices":[{{"index":0,"message":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#
        );
        assert_eq!(read(&whole).answer().end, end);
    }
    let unsaid = r#"{"choices":[{"message":{"content":"a"},"finish_reason":null}]}"#;
    assert_eq!(read(unsaid).answer().end, End::Unsaid);
    let unsaid = events(&[&chunk(r#"{"content":"a"}"#, "null"), "[DONE]"]);
    assert_eq!(read(&unsaid).answer().end, End::Unsaid);
}

#[test]
fn an_end_that_cuts_calls_is_kept() {
    let delta =
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{\"a\":"}}]}"#;
    let answer = read(&streamed(&[delta], "length")).answer();
    assert_eq!((answer.end, answer.calls.len()), (End::Length, 1));
}

#[test]
fn only_the_first_of_several_choices_is_heard() {
    let choices = |zero: &str, one: &str| {
        format!(
            r#"{{"choices":[{{"index":1,"delta":{{"content":"{one}"}},"finish_reason":"length"}},{{"index":0,"delta":{{"content":"{zero}"}},"finish_reason":"stop"}}]}}"#
        )
    };
    let answer = read(&events(&[&choices("a", "x"), &choices("b", "y"), "[DONE]"])).answer();
    assert_eq!((answer.text.as_str(), answer.end), ("ab", End::Stop));
    let alone = r#"{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    assert!(read(&events(&[alone, "[DONE]"])).error().text.contains("without choices"));
}

#[test]
fn what_a_model_thinks_is_not_heard_and_kept_only_for_calls() {
    let thinks = r#"{"role":"assistant","content":null,"reasoning_content":"Hm."}"#;
    let calls = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}}]}"#;
    let text = r#"{"content":"Hi","reasoning":"Hm.","reasoning_details":[{"text":"Hm."}]}"#;
    let outcome = read(&streamed(&[thinks, text], "stop"));
    assert_eq!(texts(&outcome.deltas), ["Hi"]);
    assert_eq!(outcome.answer().reasoning, None);
    let outcome = read(&streamed(&[thinks, calls], "tool_calls"));
    assert_eq!(outcome.deltas, []);
    assert_eq!(outcome.answer().reasoning.as_deref(), Some("Hm."));
}
