//! The model in memory of other tests: its records of requests, and the wire form of its answers.

use crate::support::model::{Answer, BASE_URL, Fate, Model, delta};
use a2a::http::{Http, HttpAnswer, HttpError, HttpRequest};
use a2a_edge::port::Clock;
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

fn ask(stream: bool) -> HttpRequest {
    let body = json!({"model": "m", "stream": stream, "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}]},
    ]});
    HttpRequest::post(format!("{BASE_URL}/chat/completions"))
        .with_header("Authorization", "Bearer k")
        .with_json(&body)
}

fn model() -> (MemoryPlatform, Model) {
    let platform = MemoryPlatform::default();
    let model = Model::new(&platform);
    (platform, model)
}

fn send(
    platform: &MemoryPlatform,
    model: &Model,
    stream: bool,
) -> Result<HttpAnswer<String>, HttpError> {
    platform.run_until(async { model.send(ask(stream)).await?.text().await })
}

/// The data of a stream's events.
fn data(body: &str) -> Vec<Value> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|data| serde_json::from_str(data).unwrap_or(json!(data))).collect()
}

#[test]
fn a_request_is_noted_as_it_came() {
    let (platform, model) = model();
    model.answers([Answer::say("hello")]);
    send(&platform, &model, false).unwrap();
    let asked = model.last();
    assert_eq!(asked.number, 1);
    assert_eq!(asked.header("authorization"), Some("Bearer k"));
    assert_eq!(asked.lines(), ["system: be kind", "user: hi[image_url]"]);
    assert_eq!(asked.said_by("user"), "hi[image_url]");
    assert_eq!((asked.wants_stream(), asked.fate()), (false, Fate::Whole));
    assert!(asked.mistakes().is_empty());
    assert_eq!(send(&platform, &model, false).unwrap().status, 500);
}

#[test]
fn what_is_said_goes_whole_or_as_a_stream() {
    let (platform, model) = model();
    model.answer_with(|_| {
        Answer::said(&["hel", "lo"]).and_call("c", "clock", r#"{"zone": "ü"}"#).usage(3, 4)
    });
    let whole: Value = send(&platform, &model, false).unwrap().json().unwrap();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "hello");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"zone": "ü"}"#);
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(whole["usage"]["total_tokens"], 7);
    let streamed = data(&send(&platform, &model, true).unwrap().body);
    assert_eq!(streamed.last().unwrap(), "[DONE]");
    let arguments = streamed.iter().filter_map(|one| {
        one["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str()
    });
    assert_eq!(arguments.collect::<String>(), r#"{"zone": "ü"}"#);
    let text = streamed.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str());
    assert_eq!(text.collect::<String>(), "hello");
    assert_eq!(streamed[streamed.len() - 2]["usage"]["prompt_tokens"], 3);
}

#[test]
fn the_same_bytes_come_however_they_are_cut() {
    let (platform, model) = model();
    model.answer_with(|_| Answer::said(&["grüße ", "an ", "alle"]));
    let whole = send(&platform, &model, true).unwrap().body;
    model.answer_with(|asked| Answer::said(&["grüße ", "an ", "alle"]).split_every(asked.number));
    for _ in 0..8 {
        assert_eq!(send(&platform, &model, true).unwrap().body, whole);
    }
    model.answer_with(|_| Answer::said(&["grüße ", "an ", "alle"]).split_at(&[1, 30, 31]));
    let mut body = platform.run_until(model.send(ask(true))).unwrap().body;
    let first = platform.run_until(body.next()).unwrap().unwrap();
    assert_eq!(first.len(), 1);
}

#[test]
fn time_passes_between_events_and_before_the_head() {
    let (platform, model) = model();
    model.answers([Answer::said(&["a", "b"]).after(1_000).pace(100)]);
    send(&platform, &model, true).unwrap();
    // The role, two pieces of text, the end, the usage, [DONE].
    assert_eq!(platform.now().0, 1_500);
    model.answers([Answer::say("late").after(30_000)]);
    let late = send(&platform, &model, true).unwrap_err();
    assert!(matches!(late, HttpError::Silent { .. }), "{late:?}");
    assert_eq!((platform.now().0, model.last().fate()), (31_500, Fate::Broken));
}

#[test]
fn a_stream_breaks_ends_or_hangs_where_it_is_told_to() {
    let (platform, model) = model();
    let said = || Answer::said(&["one", "two", "three"]);
    model.answers([
        said().cut_after(3),
        said().end_after(3),
        said().hang_after(3),
        Answer::down("gone"),
    ]);
    let cut = send(&platform, &model, true).unwrap_err();
    assert!(matches!(cut, HttpError::Failed { .. }), "{cut:?}");
    assert_eq!(data(&send(&platform, &model, true).unwrap().body).len(), 3);
    assert!(matches!(send(&platform, &model, true), Err(HttpError::Silent { .. })));
    assert!(matches!(send(&platform, &model, true), Err(HttpError::Failed { .. })));
    let fates: Vec<Fate> = model.asked().iter().map(|asked| asked.fate()).collect();
    assert_eq!(fates, [Fate::Broken, Fate::Whole, Fate::Broken, Fate::Broken]);
}

#[test]
fn who_leaves_is_noticed() {
    let (platform, model) = model();
    model.answers([Answer::said(&["a", "b"]), Answer::say("c").after(10)]);
    let mut answer = platform.run_until(model.send(ask(true))).unwrap();
    platform.run_until(answer.body.next()).unwrap().unwrap();
    assert_eq!(model.last().fate(), Fate::UnderWay);
    drop(answer);
    assert_eq!(model.last().fate(), Fate::Left);
    let waiting = model.send(ask(true));
    platform.run_until(async {
        let gives_up = platform.sleep(5);
        futures_util::future::select(waiting, gives_up).await;
    });
    assert_eq!(model.last().fate(), Fate::Left);
}

#[test]
fn a_body_beyond_what_the_request_takes_is_too_large() {
    let (platform, model) = model();
    model.answers([
        Answer::raw(200, "text/plain", "x".repeat(100)),
        Answer::stream([delta(json!({})); 1]),
    ]);
    let request = HttpRequest { max_bytes: 99, ..ask(false) };
    let large = platform.run_until(async { model.send(request).await?.text().await });
    assert!(matches!(large, Err(HttpError::TooLarge { max_bytes: 99, .. })), "{large:?}");
    assert!(send(&platform, &model, false).unwrap().body.starts_with("data: {"));
}

#[test]
fn conversations_that_no_provider_takes_are_found() {
    let (platform, model) = model();
    model.answer_with(|_| Answer::say("ok"));
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let assistant =
        |calls: Value| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "1"});
    let mistakes = |messages: Value| {
        let body = json!({"messages": messages});
        let request = HttpRequest::post(BASE_URL).with_json(&body);
        platform.run_until(async { model.send(request).await.unwrap().text().await }).unwrap();
        model.last().mistakes()
    };
    let good =
        json!([assistant(json!([call("a", "{}"), call("b", "{}")])), result("b"), result("a")]);
    assert!(mistakes(good).is_empty());
    assert_eq!(model.last().results().len(), 2);
    assert_eq!(mistakes(json!([result("a")])), ["the result \"a\" has no call"]);
    assert_eq!(mistakes(json!([assistant(json!([call("a", "{}")]))])).len(), 1);
    assert_eq!(mistakes(json!([assistant(json!([call("a", "{")])), result("a")])).len(), 1);
    let twice =
        json!([assistant(json!([call("a", "{}"), call("a", "{}")])), result("a"), result("a")]);
    assert_eq!(mistakes(twice).len(), 1);
}
