//! Answers that must match a schema.

use a2a::model::TaskState::{Completed, Failed, Rejected};
use serde_json::{Value, json};

use super::answers::deep;
use super::case::{Case, case_with};
use crate::support::model::{Answer, Asked};
use crate::support::modeled::{Modeled, Setup};

const GOOD: &str = r#"{"city": "Bern", "celsius": 21}"#;

fn weather(setup: Setup) -> Setup {
    let properties = json!({"city": {"type": "string"}, "celsius": {"type": "number"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["city", "celsius"],
        "additionalProperties": false});
    setup.with(json!({"output_schema": schema}))
}

fn given(data: Value) -> impl Fn(&Modeled) -> Result<(), String> {
    move |modeled| {
        let found = modeled.data();
        (found == [data.clone()]).then_some(()).ok_or_else(|| format!("{found:?}"))
    }
}

/// Checks that the model receives an error with these words.
fn told(words: &'static str) -> impl Fn(&Modeled) -> Result<(), String> {
    move |modeled| {
        let lines = modeled.model.last().lines();
        let last = lines.last().cloned().unwrap_or_default();
        last.contains(words).then_some(()).ok_or(last)
    }
}

/// Checks that nothing is sent before it is validated.
fn nothing_shown(modeled: &Modeled) -> Result<(), String> {
    let seen = modeled.seen();
    (!seen.contains("Zurich"))
        .then_some(())
        .ok_or_else(|| "what was not checked is shown".to_owned())
}

pub(crate) fn cases() -> Vec<Case> {
    let wrong = || Answer::say(r#"{"city": "Zurich"}"#);
    let good = || Answer::said(&[r#"{"city": "Be"#, r#"rn", "celsius": 21}"#]);
    let bern = || json!({"city": "Bern", "celsius": 21});
    let row = |name, answers: Vec<Answer>| {
        let count = answers.len();
        let plan = move |asked: &Asked| {
            let unscripted = || Answer::error(418, "unscripted", "nothing is left to say");
            answers.get(asked.number - 1).cloned().unwrap_or_else(unscripted)
        };
        case_with(name, plan).setup(weather).requests(count).is(Completed, "")
    };
    vec![
        row("the data fit", vec![good()]).check(given(bern())),
        row("the data fit, whole", vec![good().whole()]).check(given(bern())),
        row("the schema is asked for", vec![good()]).check(|modeled| {
            let asked = modeled.model.last();
            let format = &asked.body["response_format"];
            let schema = &format["json_schema"]["schema"]["properties"]["city"];
            (format["type"] == "json_schema" && schema["type"] == "string")
                .then_some(())
                .ok_or_else(|| format!("{format}"))
        }),
        row("the data do not fit, then they do", vec![wrong(), good()])
            .check(given(bern()))
            .check(nothing_shown)
            .check(|modeled| {
                let said = modeled.model.last().lines().join(" | ");
                (said.contains("Zurich") && said.contains("celsius"))
                    .then_some(())
                    .ok_or_else(|| format!("the model is not told what is wrong: {said}"))
            }),
        row("the data do not fit twice", vec![wrong(), wrong()])
            .holds(Failed, ["schema", "celsius"])
            .check(given_nothing)
            .check(nothing_shown),
        row("the text is not JSON, then it is", vec![Answer::say("It is warm in Zurich."), good()])
            .check(given(bern()))
            .check(nothing_shown),
        row(
            "the text is not JSON twice",
            vec![Answer::say("It is warm."), Answer::say("Very warm.")],
        )
        .holds(Failed, ["JSON"])
        .check(given_nothing),
        row(
            "the data hold too many JSON values, then they fit",
            vec![Answer::say(&format!("[{}0]", "0,".repeat(110_000))), good()],
        )
        .check(given(bern()))
        .check(told("more than 100000 JSON values")),
        row(
            "the data are nested too deep, then they fit",
            vec![Answer::say(&deep().to_string()), good()],
        )
        .check(given(bern()))
        .check(told("more than 100 levels deep")),
        row("the data stand in a fence", vec![Answer::say(&format!("```json\n{GOOD}\n```"))])
            .check(given(bern())),
        row(
            "the data are asked for behind a call",
            vec![Answer::call("c1", "pay", "{}"), wrong(), good()],
        )
        .orders(["pay"])
        .check(given(bern())),
        row(
            "a call is made instead of the repair",
            vec![wrong(), Answer::call("c1", "pay", "{}"), good()],
        )
        .orders(["pay"])
        .check(given(bern())),
        row("the stream of the data breaks", vec![good().cut_after(2), good()])
            .check(given(bern())),
        row("the model refuses to give data", vec![Answer::refuse("No weather today.")])
            .is(Rejected, "No weather today."),
        row("the data are cut", vec![Answer::say(r#"{"city": "Zur"#).finish("length")])
            .holds(Failed, ["cut"])
            .check(given_nothing),
    ]
}

fn given_nothing(modeled: &Modeled) -> Result<(), String> {
    let found = modeled.data();
    found.is_empty().then_some(()).ok_or_else(|| format!("{found:?}"))
}
