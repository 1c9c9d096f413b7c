//! Correct and wrong calls of tools.

use a2a::model::TaskState::Failed;
use a2a_edge::tool::prelude::{Value, json, tool};

use super::answers::deep;
use super::case::{Case, case, case_with};
use crate::support::model::{Answer, delta, finished};

/// Looks a city up.
#[tool]
fn lookup(
    /// Which.
    city: String,
    #[limit(1..=7)]
    #[default(1)]
    days: u8,
) -> Value {
    json!({"city": city, "days": days})
}

/// Says much.
#[tool]
fn recite(lines: usize) -> String {
    "all work and no play\n".repeat(lines)
}

fn hello() -> Answer {
    Answer::say("hello")
}

fn pay() -> Answer {
    Answer::call("c1", "pay", r#"{"what": "tea"}"#)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = made();
    cases.extend(arguments());
    cases.extend(ids());
    cases.extend(odd());
    cases
}

fn made() -> Vec<Case> {
    vec![
        case("a tool is called, and its result told", [pay(), hello()])
            .orders(["pay"])
            .told([&["pay 1"]]),
        case("tools are offered with their schemas", [hello()]).check(|modeled| {
            let asked = modeled.model.last();
            let what = &asked.body["tools"][0]["function"]["parameters"]["properties"]["what"];
            match (asked.tools(), what["type"].as_str()) {
                (tools, Some("string")) if tools[..2] == ["pay", "ship"] => Ok(()),
                other => Err(format!("{other:?}")),
            }
        }),
        case(
            "two calls of one answer run side by side",
            [pay().and_call("c2", "ship", "{}"), hello()],
        )
        .before(|modeled| {
            modeled.shop.delay("pay", 1_000);
            modeled.shop.delay("ship", 1_000);
        })
        .orders(["pay", "ship"])
        .ends(1_000, 1_900)
        .told([&["pay 1"], &["ship 2"]]),
        case(
            "results are told in the order of the calls",
            [pay().and_call("c2", "ship", "{}"), hello()],
        )
        .before(|modeled| modeled.shop.delay("pay", 5_000))
        .orders(["pay", "ship"])
        .told([&["pay 1"], &["ship 2"]]),
        case(
            "one round follows the other",
            [
                pay(),
                Answer::call("c2", "ship", "{}"),
                Answer::call("c3", "pay", r#"{"what": "cake"}"#),
                hello(),
            ],
        )
        .orders(["pay", "ship", "pay"])
        .told([&["pay 3"]]),
        case("a tool fails, and the model goes on", [pay(), hello()])
            .before(|modeled| modeled.shop.fail("pay", 500))
            .orders(["pay"])
            .told([&["error", "500"]]),
        case("one of two calls fails", [pay().and_call("c2", "ship", "{}"), hello()])
            .before(|modeled| modeled.shop.fail("ship", 404))
            .orders(["pay", "ship"])
            .told([&["pay 1"], &["error", "404"]]),
        case(
            "text stands beside a call",
            [Answer::said(&["I will ", "pay."]).and_call("c1", "pay", "{}"), hello()],
        )
        .orders(["pay"])
        .check(|modeled| {
            let lines = modeled.model.last().lines();
            let is_kept = lines.iter().any(|line| line.starts_with("assistant: I will pay. pay("));
            is_kept.then_some(()).ok_or_else(|| format!("{lines:?}"))
        }),
        case(
            "twenty calls are made by one answer",
            [
                (2..=20)
                    .fold(pay(), |answer, nth| answer.and_call(&format!("c{nth}"), "pay", "{}")),
                hello(),
            ],
        )
        .orders(["pay"; 20]),
        case(
            "a tool of the Worker is called",
            [Answer::call("c1", "lookup", r#"{"city": "Bern", "days": 2}"#), hello()],
        )
        .setup(|setup| setup.tool(lookup()))
        .told([&[r#"{"city":"Bern","days":2}"#]]),
        case("the answers come whole", [pay().whole(), hello().whole()]).orders(["pay"]),
        case(
            "a result is larger than the model takes",
            [Answer::call("c1", "recite", r#"{"lines": 100000}"#), hello()],
        )
        .setup(|setup| setup.tool(recite()))
        .check(|modeled| {
            let size = modeled.model.last().body.to_string().len();
            (size < 400_000).then_some(()).ok_or_else(|| format!("{size} bytes were sent"))
        }),
    ]
}

fn arguments() -> Vec<Case> {
    let given = |arguments: &str| [Answer::call("c1", "pay", arguments), hello()];
    vec![
        case("the arguments are not JSON", given(r#"{"what": "#)).told([&["error", "JSON"]]),
        case("the arguments are a list", given("[1]")).told([&["error", "object"]]),
        case("the arguments are a number", given("7")).told([&["error", "object"]]),
        case("the arguments hold too many JSON values", given(&format!(r#"{{"what": [{}0]}}"#, "0,".repeat(110_000))))
            .told([&["error", "more than 100000 JSON values"]]),
        case("the arguments are nested too deep", given(&format!(r#"{{"what": {}}}"#, deep())))
            .told([&["error", "more than 100 levels deep"]]),
        case("the arguments are empty", given("")).orders(["pay"]),
        case("the arguments are quoted JSON", given(r#""{\"what\": \"tea\"}""#)).check(|modeled| {
            // The arguments are either corrected or refused; nothing is ordered without its argument.
            let orders = modeled.shop.orders();
            orders.iter().all(|order| order.body["what"] == "tea").then_some(()).ok_or_else(|| format!("{orders:?}"))
        }).told([&["error", "object"]]),
        case("the arguments do not fit the schema", [
            Answer::call("c1", "lookup", r#"{"days": 9, "town": "Bern"}"#),
            Answer::call("c2", "lookup", r#"{"city": "Bern"}"#),
            hello(),
        ])
        .setup(|setup| setup.tool(lookup()))
        .check(|modeled| {
            let told = modeled.model.asked()[1].results();
            let holds = |word: &str| told[0].1.contains(word);
            (holds("error") && holds("city") && holds("days") && holds("town"))
                .then_some(())
                .ok_or_else(|| format!("{told:?}"))
        }),
        case("the arguments are an object, not its text", [
            Answer::json(200, &json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message":
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "pay", "arguments": {"what": "tea"}}}]}}]})),
            hello(),
        ])
        .orders(["pay"])
        .check(|modeled| {
            let orders = modeled.shop.orders();
            (orders[0].body["what"] == "tea").then_some(()).ok_or_else(|| format!("{orders:?}"))
        }),
        case("there is no such tool", [Answer::call("c1", "steal", "{}"), hello()])
            .told([&["error", "steal", "pay", "ship"]]),
        case("the tool has no name", [Answer::call("c1", "", "{}"), hello()])
            .told([&["error", "pay"]]),
        case("the tool is not for this caller", [Answer::call("c1", "ship", "{}"), hello()])
            .setup(|setup| setup.restricts("ship", "deliver"))
            .told([&["error", "ship"]])
            .check(|modeled| {
                let asked = modeled.model.asked();
                let tools = asked[0].tools();
                let is_hidden = !tools.contains(&"ship") && tools.contains(&"pay");
                is_hidden.then_some(()).ok_or_else(|| format!("{tools:?} were offered"))
            }),
    ]
}

fn ids() -> Vec<Case> {
    vec![
        case("two calls have one id", [pay().and_call("c1", "ship", "{}"), hello()])
            .orders(["pay", "ship"])
            .told([&["pay 1"], &["ship 2"]]),
        case("each round calls with the same id", [pay(), pay(), pay(), hello()])
            .orders(["pay", "pay", "pay"])
            .told([&["pay 3"]]),
        case(
            "the calls have no ids",
            [pay().without_id().and_call("x", "ship", "{}").without_id(), hello()],
        )
        .orders(["pay", "ship"])
        .told([&["pay 1"], &["ship 2"]]),
        case(
            "the calls have no ids, and the answers come whole",
            [pay().without_id().and_call("x", "ship", "{}").without_id().whole(), hello()],
        )
        .orders(["pay", "ship"])
        .told([&["pay 1"], &["ship 2"]]),
        case("the id is empty", [Answer::call("", "pay", "{}"), hello()]).orders(["pay"]),
    ]
}

fn odd() -> Vec<Case> {
    let call = |index: Value, id: &str, name: &str, arguments: &str| {
        delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]}))
    };
    let stream = |events: Vec<Value>| {
        let data =
            events.into_iter().chain([finished("tool_calls")]).map(|event| event.to_string());
        Answer::stream(data.chain(["[DONE]".to_owned()]))
    };
    vec![
        case("an endless loop comes to the limit of rounds", [pay(), pay(), pay()])
            .setup(|setup| setup.with(json!({"limits": {"rounds": 3}})))
            .holds(Failed, ["3", "rounds"])
            .orders(["pay", "pay"]),
        case_with("an endless loop ends without a setting, too", |_| pay())
            .holds(Failed, ["rounds"])
            .requests(DEFAULT_ROUNDS)
            .orders(["pay"; DEFAULT_ROUNDS - 1]),
        case("the reason of the end is stop, and there is a call", [pay().finish("stop"), hello()])
            .orders(["pay"]),
        case("the reason of the end is that of calls, and there is none", [hello().finish("tool_calls")]),
        case("the calls of a stream have no index", [
            stream(vec![
                call(json!(null), "c1", "pay", "{}"),
                call(json!(null), "c2", "ship", "{}"),
            ]),
            hello(),
        ])
        .orders(["pay", "ship"]),
        case("two calls of a stream have one index", [
            stream(vec![call(json!(0), "c1", "pay", "{}"), call(json!(0), "c2", "ship", "{}")]),
            hello(),
        ])
        .orders(["pay", "ship"]),
        case("the index of a call is negative", [
            stream(vec![call(json!(-1), "c1", "pay", "{}")]),
            hello(),
        ])
        .orders(["pay"]),
        case("the index of a call is huge", [
            stream(vec![call(json!(4_000_000_000_u64), "c1", "pay", "{}")]),
            hello(),
        ])
        .orders(["pay"]),
        case("the pieces of two calls are mixed", [
            stream(vec![
                call(json!(1), "c2", "ship", r#"{"wh"#),
                call(json!(0), "c1", "pay", r#"{"what""#),
                delta(json!({"tool_calls": [{"index": 1, "function": {"arguments": r#"at": "b"}"#}},
                    {"index": 0, "function": {"arguments": r#": "a"}"#}}]})),
            ]),
            hello(),
        ])
        .check(|modeled| {
            let mut orders: Vec<_> = modeled.shop.orders();
            orders.sort_by(|one, other| one.name.cmp(&other.name));
            let whats: Vec<&Value> = orders.iter().map(|order| &order.body["what"]).collect();
            (whats == ["a", "b"]).then_some(()).ok_or_else(|| format!("{orders:?}"))
        })
        .orders(["pay", "ship"]),
        case("a call says its name in each piece", [
            stream(vec![call(json!(0), "c1", "pay", ""), call(json!(0), "c1", "pay", "{}")]),
            hello(),
        ])
        .orders(["pay"]),
        case("the name of a call comes in pieces of an old kind", [
            Answer::json(200, &json!({"choices": [{"index": 0, "finish_reason": "function_call", "message":
                {"role": "assistant", "content": null, "function_call": {"name": "pay", "arguments": "{}"}}}]})),
        ])
        .holds(Failed, ["model"]),
    ]
}

/// The default for the largest number of rounds.
pub(crate) const DEFAULT_ROUNDS: usize = 10;
