//! Tools for the tests of the Worker, which must not depend on those in [`local`](super::local()): these come
//! and go. Only the agents in `tests/agents` may name them.

use async_trait::async_trait;
use serde_json::{Number, Value};

use a2a_agents::tool::{Tool, ToolCall, ToolError, ToolOutput};

/// Every probe.
pub(super) fn all() -> Vec<Box<dyn Tool>> {
    let probe = |(name, work, properties, required)| -> Box<dyn Tool> {
        // Parsed, since building JSON value by value is more code in an upload that never needs it.
        let schema = format!(
            r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
        );
        Box::new(Probe {
            name,
            work,
            input_schema: serde_json::from_str(&schema).unwrap_or_default(),
        })
    };
    let text = r#""text":{"type":"string"},"times":{"type":"integer","minimum":1,"maximum":3}"#;
    let numbers = r#""a":{"type":"number"},"b":{"type":"number"}"#;
    let probes = [
        ("probe_text", Work::Text, text, r#""text""#),
        ("probe_sum", Work::Sum, numbers, r#""a","b""#),
        ("probe_call", Work::Call, "", ""),
        ("probe_count", Work::Count, "", ""),
    ];
    probes.into_iter().map(probe).collect()
}

struct Probe {
    name: &'static str,
    work: Work,
    input_schema: Value,
}

enum Work {
    /// Gives back the text, `times` times.
    Text,
    /// Adds two numbers.
    Sum,
    /// Tells what a tool may know of its call.
    Call,
    /// Counts its calls by the same caller.
    Count,
}

#[async_trait(?Send)]
impl Tool for Probe {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Lets a test see what a tool gets and gives."
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError> {
        let argument = |name| arguments.get(name).unwrap_or(&Value::Null);
        match self.work {
            Work::Text => {
                let times =
                    argument("times").as_u64().and_then(|times| usize::try_from(times).ok());
                let text = argument("text").as_str().unwrap_or_default();
                Ok(text.repeat(times.unwrap_or(1)).into())
            }
            Work::Sum => {
                let (a, b) = (argument("a"), argument("b"));
                if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
                    return Ok(a.saturating_add(b).into());
                }
                let sum = a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN);
                let too_large = || ToolError::new("the sum is too large for a number");
                Number::from_f64(sum).map(ToolOutput::from).ok_or_else(too_large)
            }
            Work::Call => {
                let permissions = call.permissions().join(", ");
                let text = format!("{} {} [{permissions}]", call.now(), call.caller_id());
                Ok(text.into())
            }
            Work::Count => {
                let count = call.counters().increment(call.caller_id(), self.name).await;
                count.map(ToolOutput::from).map_err(ToolError::Tool)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

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
        let too_large = call(named("probe_sum"), json!({"a": 1e308, "b": 1e308})).unwrap_err();
        assert_eq!(too_large.text(), "the sum is too large for a number");
    }
}
