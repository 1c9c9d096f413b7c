//! Conversations that are too long: the oldest content is left out, at the borders of messages.

use a2a::model::TaskState::{Completed, Failed};
use a2a_edge::tool::prelude::tool;
use serde_json::json;

use super::case::{Case, case, case_with};
use crate::support::model::{Answer, Asked};
use crate::support::modeled::{Modeled, Setup};

/// Says a line again and again.
#[tool]
fn recite(line: String, times: usize) -> String {
    format!("{line} ").repeat(times)
}

fn hello() -> Answer {
    Answer::say("hello")
}

/// An agent whose requests are limited to about 1000 tokens.
fn tight(setup: Setup) -> Setup {
    setup.tool(recite()).with(json!({"context_tokens": 1_000, "tools": ["recite"]}))
}

/// A result of 1500 bytes, different in each round.
fn result(round: usize) -> Answer {
    let arguments = json!({"line": format!("line of round {round}"), "times": 80});
    Answer::call(&format!("c{round}"), "recite", &arguments.to_string())
}

fn too_long() -> Answer {
    let text = "This model's maximum context length is 1000 tokens. However, your messages resulted in 1200 tokens.";
    Answer::error(400, "context_length_exceeded", text)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case_with("the oldest rounds are left out, each with its results", |asked| {
            match asked.number {
                number @ 1..=6 => result(number).without_usage(),
                _ => hello(),
            }
        })
        .setup(tight)
        .requests(7)
        .check(|modeled| {
            let last = modeled.model.last();
            keeps_frame(&last)?;
            let lines = last.lines().join("\n");
            let (old, new) = (lines.contains("of round 1 "), lines.contains("of round 6 "));
            (!old && new).then_some(()).ok_or(lines)
        }),
        case_with("the usage of the provider counts, not the bytes", |asked| match asked.number {
            // This model counts each byte as a token.
            number @ 1..=3 => {
                let size = asked.body["messages"].to_string().len() as u64;
                result(number).usage(size, 10)
            }
            _ => hello(),
        })
        .setup(tight)
        .requests(4)
        .check(|modeled| {
            let asked = modeled.model.asked();
            let size = asked[3].body["messages"].to_string().len();
            // The newest round is always included, independent of its size.
            (size < 3_000).then_some(()).ok_or_else(|| format!("{size} bytes"))
        }),
        case(
            "the provider finds it too long, and gets less",
            [result(1).usage(10, 5), result(2).usage(10, 5), too_long(), hello()],
        )
        .setup(|setup| tight(setup).with(json!({"context_tokens": 100_000})))
        .check(|modeled| {
            let asked = modeled.model.asked();
            let size = |at: usize| asked[at].body["messages"].to_string().len();
            keeps_frame(&asked[3])?;
            (size(3) < size(2)).then_some(()).ok_or_else(|| format!("{} then {}", size(2), size(3)))
        }),
        case_with("the provider finds everything too long", |asked| match asked.number {
            1 => result(1),
            _ => too_long(),
        })
        .setup(tight)
        .any_requests()
        .holds(Failed, ["context"])
        .check(|modeled| {
            let count = modeled.model.asked().len();
            (count <= 5).then_some(()).ok_or_else(|| format!("{count} requests"))
        }),
        case("the message alone is too long", [hello()])
            .setup(tight)
            .act(|modeled| {
                modeled.ask(&"word ".repeat(10_000));
            })
            .any_requests()
            .holds(Completed, [""])
            .check(|modeled| {
                let said = modeled.model.last().said_by("user");
                said.starts_with("word word").then_some(()).ok_or(said)
            }),
        case("the instructions are always there", [result(1), result(2), result(3), hello()])
            .setup(|setup| tight(setup).with(json!({"instructions": "Never swear."})))
            .check(|modeled| {
                let all = modeled.model.asked();
                let are = all.iter().all(|asked| asked.said_by("system").contains("Never swear."));
                are.then_some(()).ok_or_else(|| "the instructions are gone".to_owned())
            }),
        case(
            "a question and its answer stay one behind the other",
            [
                Answer::call("q", "ask_user", r#"{"question": "Which line?"}"#),
                result(1),
                result(2),
                hello(),
            ],
        )
        .setup(|setup| tight(setup).with(json!({"ask_user": true})))
        .act(|modeled| {
            modeled.ask("recite");
            modeled.ask("that of round one");
        })
        .check(keeps_newest),
    ]
}

/// Checks that the first message contains the instructions, and that a message of the user is included.
fn keeps_frame(asked: &Asked) -> Result<(), String> {
    let lines = asked.lines();
    let is_framed = lines[0].starts_with("system:");
    let is_asked = lines.iter().any(|line| line.starts_with("user:"));
    (is_framed && is_asked).then_some(()).ok_or_else(|| format!("{lines:?}"))
}

fn keeps_newest(modeled: &Modeled) -> Result<(), String> {
    let told = modeled.model.last().results();
    let is_there = told.iter().any(|(_, text)| text.contains("of round 2"));
    is_there.then_some(()).ok_or_else(|| format!("{told:?}"))
}
