//! The usage of requests whose answers are unusable.

use a2a::model::TaskState::{Canceled, Failed};
use a2a_agents::RunSettings;
use serde_json::{Value, json};

use super::cancels::canceled_at;
use super::case::{Case, case};
use crate::support::model::{Answer, delta, usage_of};
use crate::support::modeled::Modeled;

/// Checks the reported usage: the requests, the input tokens and the output tokens; and the same for requests whose
/// answers were unusable.
fn counted(all: [u64; 3], repeated: Option<[u64; 3]>) -> impl Fn(&Modeled) -> Result<(), String> {
    let told = |[requests, input, output]: [u64; 3]| -> Value {
        json!({"requests": requests, "inputTokens": input, "outputTokens": output})
    };
    let mut expected = told(all);
    if let Some(repeated) = repeated {
        expected["repeated"] = told(repeated);
    }
    move |modeled| {
        let task = serde_json::to_value(modeled.task()).unwrap();
        let usage = &task["metadata"]["urn:a2a-edge:usage"];
        let sum = modeled.front.platform.memory_usage().turns();
        let sum = sum.iter().map(|turn| turn.turn.usage).fold([0; 3], |[a, b, c], usage| {
            [a + usage.requests, b + usage.input_tokens, c + usage.output_tokens]
        });
        let is_so = *usage == expected && sum == all;
        is_so.then_some(()).ok_or_else(|| format!("usage: {usage}, summed: {sum:?}"))
    }
}

fn hello() -> Answer {
    Answer::say("hello").usage(20, 1)
}

/// A stream whose second event contains the usage until then.
fn telling() -> Answer {
    let mut told = delta(json!({"content": "bye"}));
    told["usage"] = usage_of(9, 2);
    let begin = delta(json!({"content": "good"})).to_string();
    Answer::stream([begin, told.to_string(), delta(json!({"content": "!"})).to_string()])
        .pace(1_000)
}

pub(crate) fn cases() -> Vec<Case> {
    let within = |timeout_ms: u64| {
        let run = RunSettings { timeout_ms: Some(timeout_ms), ..RunSettings::default() };
        move |setup: crate::support::modeled::Setup| setup.run(run)
    };
    vec![
        case("nothing is repeated", [hello()]).check(counted([1, 20, 1], None)),
        case("a stream breaks behind its usage", [telling().cut_after(2), hello()])
            .check(counted([2, 29, 3], Some([1, 9, 2]))),
        case("a stream breaks before its usage", [telling().cut_after(1), hello()])
            .check(counted([2, 20, 1], Some([1, 0, 0]))),
        case("a stream breaks twice", [telling().cut_after(2), telling().cut_after(3), hello()])
            .check(counted([3, 38, 5], Some([2, 18, 4]))),
        case("a stream stalls behind its usage", [telling().hang_after(2), hello()])
            .check(counted([2, 29, 3], Some([1, 9, 2]))),
        case(
            "each stream breaks behind its usage",
            [telling().cut_after(2), telling().cut_after(2), telling().cut_after(2), telling().cut_after(2)],
        )
        .holds(Failed, ["the model"])
        .check(counted([4, 36, 8], Some([4, 36, 8]))),
        case("an answer has nothing, then text", [Answer::say("").usage(11, 1), hello()])
            .check(counted([2, 31, 2], Some([1, 11, 1]))),
        case("an error with usage comes behind text", [
            Answer::stream([
                delta(json!({"content": "goodbye"})).to_string(),
                json!({"error": {"message": "It failed.", "type": "server_error"}, "usage": usage_of(9, 2)}).to_string(),
            ]),
            hello(),
        ])
        .check(counted([2, 29, 3], Some([1, 9, 2]))),
        case("an event behind usage is not JSON", [
            Answer::stream([json!({"choices": [], "usage": usage_of(9, 2)}).to_string(), "{\"choices\": [".to_owned(), "[DONE]".to_owned()]),
        ])
        .holds(Failed, ["the model"])
        .check(counted([1, 9, 2], Some([1, 9, 2]))),
        case("a request is refused, then well", [Answer::error(500, "x", "It failed."), hello()])
            .check(counted([1, 20, 1], None)),
        case("nobody answers, then well", [Answer::down("the network is down"), hello()])
            .check(counted([1, 20, 1], None)),
        case("an error comes instead of an answer", [
            Answer::json(200, &json!({"error": {"message": "It failed.", "code": 500}})),
            hello(),
        ])
        .check(counted([1, 20, 1], None)),
        case("it is canceled behind the usage", [telling().hang_after(2)])
            .act(canceled_at(20_000))
            .is(Canceled, "")
            .check(counted([1, 9, 2], Some([1, 9, 2]))),
        case("it is canceled while nothing has come", [telling().after(60_000)])
            .act(canceled_at(20_000))
            .is(Canceled, "")
            .check(counted([1, 0, 0], Some([1, 0, 0]))),
        case("its time is over behind the usage", [telling().hang_after(2)])
            .setup(within(5_000))
            .holds(Failed, ["5000 ms"])
            .check(counted([1, 9, 2], Some([1, 9, 2]))),
    ]
}
