//! Streams that break off, stall, or are cut at any position.

use a2a::model::StreamResponse;
use a2a::model::TaskState::Failed;
use serde_json::{Value, json};

use super::answers::deep;
use super::case::{Case, case, case_with};
use super::errors::ATTEMPTS;
use crate::support::model::{Answer, chunk, delta, finished};
use crate::support::modeled::Modeled;

fn hello() -> Answer {
    Answer::said(&["he", "ll", "o"])
}

/// An answer that breaks off before `hello`.
fn other() -> Answer {
    Answer::said(&["good", "by", "e to all of you"]).pace(200)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = broken();
    cases.extend(framing());
    cases.extend(pace());
    cases
}

fn broken() -> Vec<Case> {
    vec![
        case("a stream breaks behind its text, and is asked for again", [other().cut_after(4), hello()])
            .check(begun_anew(2)),
        case("a stream breaks before its text", [other().cut_after(1), hello()]),
        case("a stream breaks before anything", [other().cut_after(0), hello()]),
        case("a stream breaks three times", [
            other().cut_after(2),
            Answer::said(&["fare", "well"]).pace(300).cut_after(3),
            other().cut_after(3),
            hello(),
        ])
        .check(begun_anew(4)),
        case("a stream breaks each time", [
            other().cut_after(2),
            other().cut_after(3),
            other().cut_after(2),
            other().cut_after(3),
        ])
        .requests(ATTEMPTS)
        .holds(Failed, ["the model"]),
        case("a stream breaks in the middle of a call", [
            Answer::call("c1", "pay", r#"{"what": "tea"}"#).cut_after(2),
            hello(),
        ]),
        case("a stream breaks behind a call, before its end", [
            Answer::call("c1", "pay", r#"{"what": "tea"}"#).cut_after(3),
            hello(),
        ]),
        case("a stream ends in the middle of its text", [other().end_after(3), hello()])
            .check(begun_anew(2)),
        case("a stream ends behind a whole call, without its end", [
            Answer::call("c1", "pay", r#"{"what": "tea"}"#).end_after(3),
            hello(),
        ]),
        case("a stream has no [DONE]", [hello().without_done()]),
        case("a stream has neither an end nor [DONE]", [other().without_finish().without_done(), hello()]),
        case("a stream breaks behind its end", [hello().cut_after(5)]),
        case("a stream breaks behind its end, before its usage", [hello().without_usage().cut_after(5)]),
        case("a stream breaks behind [DONE]", [hello().cut_after(7)]),
        case("a stream stays open behind [DONE]", [hello().hang_after(7)]).ends(0, 0),
        case("a stream stalls, and is asked for again", [other().hang_after(3), hello()])
            .check(begun_anew(2)),
        case("a stream stalls behind its end", [hello().hang_after(5)]).ends(0, 130_000),
        case("an error comes in the stream", [
            Answer::stream([
                delta(json!({"content": "goodbye"})).to_string(),
                json!({"error": {"message": "The server had an error.", "type": "server_error"}}).to_string(),
            ]),
            hello(),
        ]),
        case("an error comes in the stream that would come again", [Answer::stream([
            json!({"error": {"message": "Filtered.", "code": "content_filter", "type": "invalid_request_error"}}),
        ])])
        .holds(Failed, ["Filtered."]),
        case("an error comes in the stream as a text", [
            Answer::stream([json!({"error": "the engine is overloaded"})]),
            hello(),
        ]),
        case("an event is not JSON", [Answer::stream(["{\"choices\": [", "[DONE]"])])
            .holds(Failed, ["the model"]),
        case("an event holds more JSON values than are read", [event_with(vec![0; 150_000].into())])
            .holds(Failed, ["the model", "more than 100000 JSON values"]),
        case("an event holds many JSON values", [event_with(vec![0; 90_000].into())]),
        case("an event is nested too deep", [event_with(deep())])
            .holds(Failed, ["the model", "more than 100 levels deep"]),
        case("events that are kept hold more JSON values than are read, altogether", [
            Answer::stream((0..3).map(|index| call_with(index, vec![0; 40_000].into()))),
        ])
        .holds(Failed, ["the model", "more than 100000 JSON values"]),
        case("an event is a page", [Answer::stream(["<h1>Hello!</h1>"])]).holds(Failed, ["the model"]),
        case_with("the answer that is begun anew is shorter", |asked| match asked.number {
            1 => Answer::said(&["hello, ", "hello ", "and ", "hello"]).pace(200).cut_after(5),
            _ => hello(),
        })
        .requests(2)
        .check(begun_anew(2)),
    ]
}

/// A stream with the text `hello`, and this in its first event.
fn event_with(more: Value) -> Answer {
    let mut event = delta(json!({"content": "hello"}));
    event["more"] = more;
    Answer::stream([event.to_string(), finished("stop").to_string(), "[DONE]".to_owned()])
}

/// An event with a call and this extra content.
fn call_with(index: usize, extra: Value) -> Value {
    let function = json!({"name": "pay", "arguments": "{}"});
    delta(
        json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "function": function, "extra_content": extra}]}),
    )
}

/// Checks that the answers have started their artifact again this number of times.
fn begun_anew(times: usize) -> impl Fn(&Modeled) -> Result<(), String> {
    move |modeled| {
        let appends: Vec<bool> = modeled
            .events()
            .into_values()
            .filter_map(|event| match event {
                StreamResponse::ArtifactUpdate(event) => Some(event.append),
                _ => None,
            })
            .collect();
        let begun = appends.iter().filter(|append| !**append).count();
        (begun == times).then_some(()).ok_or_else(|| format!("appended: {appends:?}"))
    }
}

fn framing() -> Vec<Case> {
    let text = |text: &str| delta(json!({"content": text})).to_string();
    let bytes = |body: String| Answer::raw(200, "text/event-stream", body);
    let end = finished("stop").to_string();
    let crlf = format!("data: {}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n", text("hello"));
    let tight = format!("data:{}\n\ndata:{end}\n\ndata:[DONE]\n\n", text("hello"));
    let comments = format!(
        ": OPENROUTER PROCESSING\n\nevent: message\nid: 1\nretry: 10\ndata: {}\n\n: x\n\ndata: {end}\n\ndata: [DONE]\n\n",
        text("hello")
    );
    let marked = format!("\u{feff}data: {}\n\ndata: {end}\n\n", text("hello"));
    let unended = format!("data: {}\n\ndata: {end}\n\ndata: [DONE]", text("hello"));
    let lines =
        pretty(&text("hello")).lines().map(|line| format!("data: {line}\n")).collect::<String>();
    let lines = format!("{lines}\ndata: {end}\n\ndata: [DONE]\n\n");
    let empty =
        format!("data: \n\ndata: {}\n\ndata:\n\ndata: {end}\n\ndata: [DONE]\n\n", text("hello"));
    vec![
        case("lines end as in HTTP", [bytes(crlf)]),
        case("there is no space behind the colon", [bytes(tight)]),
        case("comments stand between the events", [bytes(comments)]),
        case("a stream begins with a mark of its order of bytes", [bytes(marked)]),
        case("the last line has no end", [bytes(unended)]),
        case("an event has many lines", [bytes(lines)]),
        case("events are empty", [bytes(empty)]),
        case("each byte comes alone", [Answer::said(&["hé", "llo"]).split_every(1)])
            .is(a2a::model::TaskState::Completed, "héllo"),
        case("a letter is cut in two", [Answer::said(&["grüße"]).split_every(7)])
            .is(a2a::model::TaskState::Completed, "grüße"),
        case("the pieces have no text", [Answer::stream([
            delta(json!({"role": "assistant", "content": null})).to_string(),
            delta(json!({"content": ""})).to_string(),
            text("hello"),
            delta(json!({})).to_string(),
            chunk(json!([])).to_string(),
            json!({}).to_string(),
            end.clone(),
            "[DONE]".to_owned(),
        ])]),
        case("text comes behind the end", [Answer::stream([
            text("hel"),
            end.clone(),
            text("lo"),
            "[DONE]".to_owned(),
        ])])
        .holds(a2a::model::TaskState::Completed, ["hel"]),
        case("the first event tells of filters", [Answer::stream([
            json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}).to_string(),
            text("hello"),
            end,
            "[DONE]".to_owned(),
        ])]),
    ]
}

fn pretty(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

/// The intervals in which a stream is sent.
fn pace() -> Vec<Case> {
    let long = || {
        let pieces: Vec<String> = (0..200).map(|nth| format!("{nth} ")).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        Answer::said(&pieces).pace(10)
    };
    let chunks = |modeled: &Modeled| {
        let events = modeled.events().into_values();
        events.filter(|event| matches!(event, StreamResponse::ArtifactUpdate(_))).count()
    };
    let between = move |from: usize, to: usize| {
        move |modeled: &Modeled| {
            let count = chunks(modeled);
            (from <= count && count <= to).then_some(()).ok_or_else(|| format!("{count} chunks"))
        }
    };
    let whole = |modeled: &Modeled| {
        let wanted: String = (0..200).map(|nth| format!("{nth} ")).collect();
        (modeled.answer() == wanted).then_some(()).ok_or_else(|| modeled.answer())
    };
    let words = ["0 1 2 ", "198 199"];
    let completed = a2a::model::TaskState::Completed;
    vec![
        // Two seconds of text.
        case("text is visible ten times a second", [long()])
            .holds(completed, words)
            .check(between(18, 24))
            .check(whole),
        case("text is visible as often as the agent says", [long()])
            .setup(|setup| setup.with(json!({"event_interval_ms": 1_000})))
            .holds(completed, words)
            .check(between(2, 5))
            .check(whole),
        case(
            "text that comes slowly is visible at once",
            [Answer::said(&["hel", "lo"]).pace(60_000)],
        )
        .check(between(2, 3)),
    ]
}
