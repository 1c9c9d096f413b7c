//! Models that ask the user questions.

use a2a::model::TaskState::{Completed, Failed, InputRequired};
use serde_json::json;

use super::case::{Case, case};
use crate::support::model::{Answer, Fate};
use crate::support::modeled::{Modeled, Setup};

fn asking(setup: Setup) -> Setup {
    setup.with(json!({"ask_user": true}))
}

fn ask(id: &str, question: &str) -> Answer {
    Answer::call(id, "ask_user", &json!({"question": question}).to_string())
}

fn hello() -> Answer {
    Answer::say("hello")
}

/// Answers the questions in order.
fn answers<const COUNT: usize>(answers: [&'static str; COUNT]) -> impl Fn(&Modeled) {
    move |modeled| {
        modeled.ask("hi");
        for answer in answers {
            if modeled.state() == InputRequired {
                modeled.ask(answer);
            }
        }
    }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("it asks", [ask("q", "Which seat?")]).setup(asking).is(InputRequired, "Which seat?"),
        case("the answer is the result of its question", [ask("q", "Which seat?"), hello()])
            .setup(asking)
            .act(answers(["4A"]))
            .told([&["4A"]])
            .check(|modeled| {
                let lines = modeled.model.last().lines();
                let begins = ["system: ", "user: hi", "assistant: ask_user(", "tool: 4A"];
                let are = lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin));
                (are && lines.len() == 4).then_some(()).ok_or_else(|| format!("{lines:?}"))
            }),
        case("it asks twice", [ask("q", "Which seat?"), ask("q", "Are you sure?"), hello()])
            .setup(asking)
            .act(answers(["4A", "yes"]))
            .told([&["yes"]]),
        case(
            "it asks beside other calls, which are done first",
            [
                Answer::call("c1", "pay", "{}")
                    .and_call("q", "ask_user", r#"{"question": "Which seat?"}"#)
                    .and_call("c2", "ship", "{}"),
                hello(),
            ],
        )
        .setup(asking)
        .act(answers(["4A"]))
        .orders(["pay", "ship"])
        .told([&["pay "], &["ship "], &["4A"]]),
        case(
            "it asks two things at once",
            [
                ask("q1", "Which seat?").and_call(
                    "q2",
                    "ask_user",
                    r#"{"question": "Which meal?"}"#,
                ),
                hello(),
            ],
        )
        .setup(asking)
        .act(|modeled| {
            modeled.ask("hi");
            assert!(modeled.status().contains("Which seat?"), "{}", modeled.status());
            while modeled.state() == InputRequired {
                modeled.ask("the best");
            }
        })
        .told([&[""], &[""]]),
        case("it asks nothing", [Answer::call("q", "ask_user", "{}"), hello()])
            .setup(asking)
            .told([&["error", "question"]]),
        case("it asks an empty question", [ask("q", " "), hello()])
            .setup(asking)
            .told([&["error"]]),
        case("it may not ask", [ask("q", "Which seat?"), hello()])
            .told([&["error", "ask_user"]])
            .check(|modeled| {
                let asked = modeled.model.asked();
                let is_offered = asked[0].tools().contains(&"ask_user");
                (!is_offered).then_some(()).ok_or_else(|| "it is offered".to_owned())
            }),
        case(
            "it asks behind a round of calls",
            [
                Answer::call("c1", "pay", "{}"),
                ask("q", "Which seat?"),
                Answer::call("c2", "ship", "{}"),
                hello(),
            ],
        )
        .setup(asking)
        .act(answers(["4A"]))
        .orders(["pay", "ship"])
        .check(|modeled| {
            let lines = modeled.model.last().lines();
            let order = ["user: hi", "pay(", "tool: ", "ask_user(", "tool: 4A", "ship(", "tool: "];
            let are = lines[1..].iter().zip(order).all(|(line, word)| line.contains(word));
            (are && lines.len() == 8).then_some(()).ok_or_else(|| format!("{lines:?}"))
        }),
        case(
            "the rounds of each turn are counted anew",
            [
                Answer::call("c1", "pay", "{}"),
                ask("q", "Which seat?"),
                Answer::call("c2", "ship", "{}"),
                hello(),
            ],
        )
        .setup(|setup| asking(setup).with(json!({"limits": {"rounds": 3}})))
        .act(answers(["4A"]))
        .orders(["pay", "ship"]),
        case("the answer to a question is a file", [ask("q", "Which picture?"), hello()])
            .setup(asking)
            .act(|modeled| {
                modeled.ask("hi");
                modeled.ask_parts(vec![a2a::model::Part::raw(b"png", "image/png")]);
            }),
        case(
            "text stands beside a question",
            [
                Answer::said(&["Let me see."]).and_call(
                    "q",
                    "ask_user",
                    r#"{"question": "Which seat?"}"#,
                ),
                hello(),
            ],
        )
        .setup(asking)
        .act(answers(["4A"])),
        case("the client cancels instead of an answer", [ask("q", "Which seat?")])
            .setup(asking)
            .act(|modeled| {
                modeled.ask("hi");
                modeled.front.cancel();
                modeled.front.finish();
            })
            .is(a2a::model::TaskState::Canceled, "")
            .check(|modeled| {
                let fates: Vec<Fate> = modeled.model.asked().iter().map(|one| one.fate()).collect();
                (fates == [Fate::Whole]).then_some(()).ok_or_else(|| format!("{fates:?}"))
            }),
        case(
            "a model that asks for ever comes to no end but the client's",
            [ask("q", "Why?"), ask("q", "Why?"), ask("q", "Why?")],
        )
        .setup(asking)
        .act(answers(["a", "b"]))
        .is(InputRequired, "Why?"),
        case(
            "a refusal behind an answer",
            [ask("q", "Which seat?"), Answer::refuse("Not that one.")],
        )
        .setup(asking)
        .act(answers(["13"]))
        .holds(Failed, ["Not that one."]),
        case(
            "the answer stands in the conversation though the task is long",
            [ask("q", "Which seat?"), hello()],
        )
        .setup(asking)
        .act(answers(["the seat that I said"]))
        .holds(Completed, ["hello"]),
    ]
}
