//! Tools for the tests of the Worker. The tests must not depend on the tools in [`local`](super::local()), which may
//! change. Only the agents in `tests/agents` may name these probes.

use serde_json::Number;

use a2a_edge::tool::Fault;
use a2a_edge::tool::prelude::*;

/// Every probe.
pub(super) fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(probe_text()),
        Box::new(probe_sum()),
        Box::new(probe_call()),
        Box::new(probe_count()),
        Box::new(probe_parts()),
        Box::new(probe_steps()),
    ]
}

/// Gives back the text, `times` times.
#[tool]
fn probe_text(
    text: String,
    #[limit(1..=3)]
    #[default(1)]
    times: usize,
) -> String {
    text.repeat(times)
}

/// Adds two numbers.
#[tool]
fn probe_sum(a: Number, b: Number) -> Result<Number, ToolError> {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return Ok(a.saturating_add(b).into());
    }
    let sum = a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN);
    Number::from_f64(sum).ok_or_else(|| ToolError::arguments("the sum is too large for a number"))
}

/// Tells what a tool may know of its call.
#[tool]
fn probe_call(call: &dyn ToolCall) -> String {
    format!("{} {} [{}]", call.now(), call.caller_id(), call.permissions().join(", "))
}

/// Counts its calls by the same caller.
#[tool]
async fn probe_count(call: &dyn ToolCall) -> Result<u64, ToolError> {
    call.counters().increment(call.owner(), "probe_count").await.map_err(ToolError::Tool)
}

/// Gives parts of every kind, or fails by this fault.
#[tool]
fn probe_parts(fault: Option<String>) -> Result<Vec<Part>, ToolError> {
    match fault.as_deref().and_then(Fault::named) {
        Some(fault) => Err(fault.error("as told".to_owned())),
        None => Ok(vec![
            Part::text("text"),
            Part::data(json!({"a": [1]})),
            Part::raw(b"\x00\xff", "application/octet-stream").with_filename("two.bytes"),
            Part::url("https://example.com/a").with_media_type("text/html"),
        ]),
    }
}

/// Posts to `<url>/1`, `<url>/2` and so on, each a step.
#[tool]
async fn probe_steps(
    /// Where to.
    url: String,
    #[limit(1..=9)] count: u8,
    call: &dyn ToolCall,
) -> Result<String, ToolError> {
    let mut answers = String::new();
    for number in 1..=count {
        call.progress(&format!("step {number}"))?;
        let request = || HttpRequest::post(format!("{url}/{number}"));
        let body: String =
            call.step("post", async || Ok(call.fetch(request()).await?.success()?.body)).await?;
        answers.push_str(&format!("{number} {body}\n"));
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;
    use a2a_edge::tool::{Fault, ToolError};

    #[test]
    fn probes_answer() {
        let tools = super::all();
        let named = |name| tools.iter().find(|tool| tool.name() == name).unwrap().as_ref();
        for (name, arguments, answer) in [
            ("probe_text", json!({"text": "hi"}), json!("hi")),
            ("probe_text", json!({"text": "hi", "times": 2}), json!("hihi")),
            ("probe_sum", json!({"a": 2, "b": 3}), json!(5)),
            ("probe_sum", json!({"a": 0.5, "b": -2}), json!(-1.5)),
            ("probe_call", json!({}), json!("2026-01-05T09:00:01.250Z c []")),
            ("probe_count", json!({}), json!(1)),
        ] {
            assert_eq!(call(named(name), arguments), Ok(answer.into()), "{name}");
        }
        let parts = call(named("probe_parts"), json!({})).unwrap();
        assert_eq!(parts.parts().len(), 4);
        let told = call(named("probe_parts"), json!({"fault": "upstream"})).unwrap_err();
        assert_eq!(told, ToolError::upstream("as told"));
        let nobody = json!({"url": "http://nobody", "count": 2});
        assert_eq!(call(named("probe_steps"), nobody).unwrap_err().fault(), Fault::Upstream);
        let too_large = call(named("probe_sum"), json!({"a": 1e308, "b": 1e308})).unwrap_err();
        assert_eq!(too_large.text(), "the sum is too large for a number");
    }
}
