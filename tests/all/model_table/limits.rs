//! Runs that reach a limit.

use a2a::model::TaskState::{Completed, Failed, InputRequired};
use a2a_agents::RunSettings;
use serde_json::json;

use super::case::{Case, case, case_with};
use crate::support::model::Answer;
use crate::support::modeled::Modeled;

fn hello() -> Answer {
    Answer::say("hello")
}

fn ask() -> Answer {
    Answer::call("q", "ask_user", r#"{"question": "Which seat?"}"#)
}

/// Answers the question of the agent.
fn answered(modeled: &Modeled) {
    assert_eq!(modeled.ask("hi"), InputRequired);
    modeled.ask("4A");
}

fn pay() -> Answer {
    Answer::call("c1", "pay", "{}")
}

pub(crate) fn cases() -> Vec<Case> {
    let limits = |limits: serde_json::Value| {
        move |setup: crate::support::modeled::Setup| setup.with(json!({"limits": limits}))
    };
    let priced = |limits: serde_json::Value| {
        move |setup: crate::support::modeled::Setup| {
            setup.with(json!({"limits": limits, "price": {"input": 2.0, "output": 10.0}}))
        }
    };
    vec![
        case("the tokens of all rounds are too many", [pay().usage(60, 10), pay().usage(60, 10)])
            .setup(limits(json!({"tokens": 100})))
            .holds(Failed, ["tokens", "100"])
            .orders(["pay"]),
        case(
            "the last answer goes beyond the tokens, and is given",
            [pay().usage(50, 10), hello().usage(90, 10)],
        )
        .setup(limits(json!({"tokens": 100})))
        .orders(["pay"]),
        case("the tokens are enough", [pay().usage(50, 10), hello().usage(30, 9)])
            .setup(limits(json!({"tokens": 100})))
            .orders(["pay"]),
        case_with("tokens are estimated where usage is missing", |_| pay().without_usage())
            .setup(limits(json!({"tokens": 1_000, "rounds": 100})))
            .any_requests()
            .holds(Failed, ["tokens"]),
        // 1000 tokens of the request cost 0.002, 100 tokens of the answer cost 0.001.
        case("the cost is too high", [pay().usage(1_000, 100), pay().usage(1_000, 100)])
            .setup(priced(json!({"cost": 0.005})))
            .holds(Failed, ["cost"])
            .orders(["pay"]),
        case("the cost is told", [hello().usage(1_000, 100)])
            .setup(priced(json!({"cost": 0.005})))
            .check(|modeled| {
                let task = serde_json::to_value(modeled.task()).unwrap();
                let cost = &task["metadata"]["urn:a2a-edge:usage"]["cost"];
                let is_so = cost.as_f64().is_some_and(|cost| (cost - 0.003).abs() < 1e-9);
                is_so.then_some(()).ok_or_else(|| format!("cost: {cost}"))
            }),
        case("the run takes too long in one answer", [Answer::said(&["a"; 100]).pace(1_000)])
            .setup(|setup| {
                setup.run(RunSettings { timeout_ms: Some(10_000), ..RunSettings::default() })
            })
            .holds(Failed, ["10"])
            .ends(10_000, 12_000),
        case("the run takes too long in a tool", [pay()])
            .setup(|setup| {
                setup.run(RunSettings { timeout_ms: Some(10_000), ..RunSettings::default() })
            })
            .before(|modeled| modeled.shop.delay("pay", 25_000))
            .holds(Failed, ["10"])
            .orders(["pay"])
            .ends(10_000, 12_000),
        case(
            "calls run side by side, as many as may",
            [
                (2..=6).fold(pay(), |answer, nth| answer.and_call(&format!("c{nth}"), "pay", "{}")),
                hello(),
            ],
        )
        .setup(limits(json!({"parallel": 2})))
        .before(|modeled| modeled.shop.delay("pay", 1_000))
        .orders(["pay"; 6])
        .ends(3_000, 3_900),
        case("one round is enough for an answer", [hello()]).setup(limits(json!({"rounds": 1}))),
        case("one round is not enough for a call", [pay()])
            .setup(limits(json!({"rounds": 1})))
            .holds(Failed, ["1", "round"]),
        case("the last round asks the user", [ask(), hello()])
            .setup(|setup| setup.with(json!({"ask_user": true, "limits": {"rounds": 1}})))
            .act(answered)
            .told([&["4A"]]),
        case(
            "the last round asks the user beside a call, which is made once",
            [ask().and_call("c1", "pay", "{}"), hello()],
        )
        .setup(|setup| setup.with(json!({"ask_user": true, "limits": {"rounds": 1}})))
        .act(answered)
        .orders(["pay"])
        .told([&["pay 1"], &["4A"]]),
        case("what has cost too much asks the user", [ask().usage(1_000, 100), hello()])
            .setup(|setup| {
                let price = json!({"input": 2.0, "output": 10.0});
                let limits = json!({"cost": 0.002, "tokens": 100});
                setup.with(json!({"ask_user": true, "limits": limits, "price": price}))
            })
            .act(answered)
            .told([&["4A"]]),
        case(
            "the last round asks the user nothing",
            [Answer::call("q", "ask_user", "{}").and_call("c1", "pay", "{}")],
        )
        .setup(|setup| setup.with(json!({"ask_user": true, "limits": {"rounds": 1}})))
        .holds(Failed, ["1", "round"]),
        case("a limit that is not reached does nothing", [hello()])
            .setup(priced(json!({"rounds": 5, "tokens": 1_000_000, "cost": 5.0, "parallel": 3})))
            .is(Completed, "hello"),
    ]
}
