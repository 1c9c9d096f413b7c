//! Answers that are complete but unusual.

use a2a::model::TaskState::{Failed, Rejected};
use serde_json::{Value, json};

use super::case::{Case, case, case_with};
use crate::support::model::{Answer, chunk, delta, finished, usage_of};

fn hello() -> Answer {
    Answer::say("hello")
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = ends();
    cases.extend(shapes());
    cases.extend(usage());
    cases.extend(bytes());
    cases
}

/// The reasons why the model stops.
fn ends() -> Vec<Case> {
    let refusal = || Answer::refuse("I cannot help with that.");
    vec![
        case("all is well", [hello()]).ends(0, 0),
        case("the text comes in pieces", [Answer::said(&["h", "el", "l", "o"])]),
        case("the answer comes whole though a stream was wanted", [hello().whole()]),
        case("the model refuses", [refusal()]).is(Rejected, "I cannot help with that."),
        case("the model refuses, whole", [refusal().whole()])
            .is(Rejected, "I cannot help with that."),
        case(
            "the model refuses in the middle of its text",
            [Answer::said(&["Take the "]).finish("stop").and_refusal("I cannot help with that.")],
        )
        .is(Rejected, "I cannot help with that."),
        case("the model refuses behind a call", [Answer::call("c1", "pay", "{}"), refusal()])
            .orders(["pay"])
            .holds(Failed, ["I cannot help with that."]),
        case("the answer reaches its largest length", [hello().finish("length")])
            .holds(Failed, ["the model", "cut"]),
        case(
            "the answer reaches its largest length, and has nothing",
            [Answer::say("").finish("length")],
        )
        .holds(Failed, ["the model", "cut"]),
        case("a filter ends the answer", [hello().finish("content_filter")])
            .holds(Failed, ["the model", "filter"]),
        case("the reason of the end is unknown", [hello().finish("eureka")]),
        case("the reason of the end is a number", [hello().finish(7)]),
        case("the reason of the end is missing", [hello().without_finish()]),
        case("the reason of the end is missing, whole", [hello().without_finish().whole()]),
        case(
            "a call is cut at the longest answer",
            [Answer::call("c1", "pay", r#"{"what": "te"#).finish("length")],
        )
        .holds(Failed, ["the model", "cut", "max_completion_tokens"]),
        case(
            "a whole call stands in an answer that is cut behind it",
            [Answer::said(&["Let me see."]).and_call("c1", "pay", "{}").finish("length")],
        )
        .holds(Failed, ["the model", "cut", "max_completion_tokens"])
        .check(|modeled| {
            let (answer, said) = (modeled.answer(), modeled.task().history.len());
            let stays = answer == "Let me see." && said == 1;
            stays.then_some(()).ok_or_else(|| format!("{answer:?}, {said} messages"))
        }),
        case(
            "a call stands in an answer that a filter ends",
            [Answer::call("c1", "pay", "{}").finish("content_filter")],
        )
        .holds(Failed, ["the model", "content_filter"]),
        case(
            "a call stands in an answer that fails in the provider's words",
            [Answer::call("c1", "pay", "{}").finish("malformed_function_call")],
        )
        .holds(Failed, ["the model", "malformed_function_call"]),
        case(
            "a question stands in an answer that is cut",
            [Answer::call("q", "ask_user", r#"{"question": "Which?"}"#).finish("length")],
        )
        .setup(|setup| setup.with(json!({"ask_user": true})))
        .holds(Failed, ["the model", "cut"]),
        case(
            "the last answer that may be is cut beside a call",
            [Answer::call("c1", "pay", "{}").finish("length")],
        )
        .setup(|setup| setup.with(json!({"limits": {"rounds": 1}})))
        .holds(Failed, ["the model", "cut", "max_completion_tokens"]),
        case("the answer has nothing", [Answer::say(""), Answer::say("")])
            .holds(Failed, ["the model", "empty"]),
        case("the answer has spaces alone, then text", [Answer::say(" \n"), hello()]),
    ]
}

/// JSON of another shape.
fn shapes() -> Vec<Case> {
    let whole = |message: Value| {
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        Answer::json(200, &json!({"choices": [choice]}))
    };
    let empty = |name, json: Value| {
        let answer = Answer::json(200, &json);
        case(name, [answer.clone(), answer]).holds(Failed, ["the model", "empty"])
    };
    let malformed =
        |name, json: Value| case(name, [Answer::json(200, &json)]).holds(Failed, ["the model"]);
    vec![
        malformed("there are no choices", json!({"id": "1", "usage": usage_of(1, 1)})),
        malformed("the choices are empty", json!({"choices": []})),
        malformed("the choices are no list", json!({"choices": {"0": "hello"}})),
        empty("the choice has no message", json!({"choices": [{"index": 0, "finish_reason": "stop"}]})),
        empty("the message is a text", json!({"choices": [{"index": 0, "message": "hello"}]})),
        malformed("the answer is a list", json!(["hello"])),
        malformed("the answer is null", json!(null)),
        case("an error comes with status 200, then well", [
            Answer::json(200, &json!({"error": {"message": "out of order", "code": 500}})),
            hello(),
        ]),
        case("a stream of no choices is no answer", [Answer::stream(["[DONE]"])])
            .holds(Failed, ["the model"]),
        case("the content is a list of parts", [
            whole(json!({"role": "assistant", "content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]})),
        ]),
        case("the content is a number, then a text", [
            whole(json!({"role": "assistant", "content": 42})),
            hello(),
        ]),
        case("the message has no role", [whole(json!({"content": "hello"}))]),
        case("there are two choices", [Answer::json(200, &json!({"choices": [
            {"index": 0, "message": {"content": "hello"}, "finish_reason": "stop"},
            {"index": 1, "message": {"content": "goodbye"}, "finish_reason": "stop"}]}))]),
        case("a stream has two choices", [Answer::stream([
            chunk(json!([{"index": 0, "delta": {"content": "hello"}}])).to_string(),
            chunk(json!([{"index": 1, "delta": {"content": "goodbye"}}])).to_string(),
            finished("stop").to_string(),
            "[DONE]".to_owned(),
        ])]),
        case("thoughts are not shown", [Answer::stream([
            delta(json!({"role": "assistant", "reasoning_content": "They want a greeting."})).to_string(),
            delta(json!({"content": "hello"})).to_string(),
            finished("stop").to_string(),
            "[DONE]".to_owned(),
        ])])
        .check(|modeled| {
            let seen = modeled.seen();
            (!seen.contains("greeting")).then_some(()).ok_or_else(|| "thoughts are shown".to_owned())
        }),
        case("members that nobody knows are let be", [Answer::stream([
            json!({"choices": [{"delta": {"content": "hello", "x": [1]}, "logprobs": null, "y": 1}], "z": {}}).to_string(),
            finished("stop").to_string(),
            "[DONE]".to_owned(),
        ])]),
    ]
}

/// The usage in answers.
fn usage() -> Vec<Case> {
    let counted = |input: u64, output: u64| {
        move |modeled: &crate::support::modeled::Modeled| {
            let task = serde_json::to_value(modeled.task()).unwrap();
            let usage = &task["metadata"]["urn:a2a-edge:usage"];
            let is_so = usage["inputTokens"] == input && usage["outputTokens"] == output;
            is_so.then_some(()).ok_or_else(|| format!("usage: {usage}"))
        }
    };
    vec![
        case("usage is counted", [hello().usage(11, 7)]).check(counted(11, 7)),
        case(
            "usage of all requests is summed",
            [Answer::call("c1", "pay", "{}").usage(11, 7), hello().usage(20, 1)],
        )
        .orders(["pay"])
        .check(counted(31, 8)),
        case("usage comes whole", [hello().usage(11, 7).whole()]).check(counted(11, 7)),
        case("usage is missing", [hello().without_usage()]),
        case(
            "usage is negative",
            [hello().with_usage(json!({"prompt_tokens": -5, "completion_tokens": -1}))],
        ),
        case("usage is no object", [hello().with_usage(json!("much"))]),
        case(
            "usage is huge",
            [hello().with_usage(json!({"prompt_tokens": 1e300, "completion_tokens": u64::MAX}))],
        ),
        case(
            "usage is told in each event, as it grows",
            [Answer::stream([
                told(json!({"content": "hel"}), 1).to_string(),
                told(json!({"content": "lo"}), 2).to_string(),
                finished("stop").to_string(),
                "[DONE]".to_owned(),
            ])],
        )
        .check(counted(9, 2)),
    ]
}

fn told(more: Value, output: u64) -> Value {
    let mut event = delta(more);
    event["usage"] = usage_of(9, output);
    event
}

/// Bytes that are not an answer.
fn bytes() -> Vec<Case> {
    let html = "<!doctype html><title>Welcome</title><h1>Hello!</h1>";
    let json = r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}"#;
    vec![
        case("the answer is a page", [Answer::raw(200, "text/html", html)])
            .holds(Failed, ["the model", "base_url"]),
        case("the answer is empty", [Answer::raw(200, "application/json", "")])
            .holds(Failed, ["the model"]),
        case("the answer is empty, without a type", [Answer::raw(204, "", "")])
            .holds(Failed, ["the model"]),
        case(
            "the answer is half a document, then whole",
            [Answer::json(200, &json!({"choices": []})).end_after(9), hello()],
        ),
        case("JSON comes with the type of text", [Answer::raw(200, "text/plain", json)]),
        case("JSON comes without a type", [Answer::raw(200, "", json)]),
        case(
            "a stream comes with the type of JSON",
            [Answer::stream(stream_of("hello")).header("content-type", "application/json")],
        ),
        case(
            "the text is no UTF-8",
            [Answer::raw(
                200,
                "application/json",
                [br#"{"choices":[{"message":{"content":""#.as_slice(), b"\xff\xfe", br#""}}]}"#]
                    .concat(),
            )],
        )
        .holds(Failed, ["the model"]),
        case("the answer is larger than any", [Answer::say(&"x".repeat(5_000_000)).whole()])
            .holds(Failed, ["the model", "more than"]),
        case("the answer holds more JSON values than are read", [padded(vec![0; 150_000].into())])
            .holds(Failed, ["the model", "more than 100000 JSON values"]),
        case("the answer holds many JSON values", [padded(vec![0; 90_000].into())]),
        case("the answer is nested too deep", [padded(deep())])
            .holds(Failed, ["the model", "more than 100 levels deep"]),
        case_with("a stream has no end", |_| {
            let piece = delta(json!({"content": "x".repeat(1_000_000)})).to_string();
            Answer::stream(vec![piece; 70])
        })
        .holds(Failed, ["the model", "more than"])
        .requests(1),
        case(
            "a line of a stream is huge",
            [Answer::stream([delta(json!({"content": "x".repeat(70_000_000)}))])],
        )
        .holds(Failed, ["the model", "more than"]),
    ]
}

/// An answer with the text `hello` and this additional member.
fn padded(more: Value) -> Answer {
    let message = json!({"role": "assistant", "content": "hello"});
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
    Answer::json(200, &json!({"choices": [choice], "more": more}))
}

/// JSON with 120 levels.
pub(super) fn deep() -> Value {
    (0..120).fold(json!(0), |inner, _| json!([inner]))
}

/// The data of a stream with this text.
fn stream_of(text: &str) -> [String; 3] {
    [delta(json!({"content": text})).to_string(), finished("stop").to_string(), "[DONE]".to_owned()]
}
