//! What an answer took.

use serde_json::{Value, json};

/// What an answer took, in tokens, as the provider counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Those of the request, the cached ones included.
    pub input: u64,
    /// Those of the answer, what the model thought included.
    pub output: u64,
    /// Those of the request that the provider knew already; 0 if it does not say.
    pub cached: u64,
    /// Those of the answer that the model thought; 0 if the provider does not say.
    pub reasoning: u64,
}

impl Usage {
    /// Both together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The usage as it is kept.
    pub fn to_json(&self) -> Value {
        let Self { input, output, cached, reasoning } = self;
        json!({"input": input, "output": output, "cached": cached, "reasoning": reasoning})
    }

    /// The usage that was kept; `None` if it is none.
    pub fn from_json(json: &Value) -> Option<Self> {
        let number = |name| json.get(name)?.as_u64();
        Some(Self {
            input: number("input")?,
            output: number("output")?,
            cached: number("cached").unwrap_or(0),
            reasoning: number("reasoning").unwrap_or(0),
        })
    }

    /// What a provider says.
    pub(crate) fn read(usage: &Value) -> Option<Self> {
        let within = |outer: &str, name: &str| count(usage.get(outer)?.get(name));
        let input = count(usage.get("prompt_tokens")).or(count(usage.get("input_tokens")));
        let output = count(usage.get("completion_tokens")).or(count(usage.get("output_tokens")));
        if input.is_none() && output.is_none() {
            return None;
        }
        let cached = within("prompt_tokens_details", "cached_tokens")
            .or(count(usage.get("prompt_cache_hit_tokens")));
        Some(Self {
            input: input.unwrap_or(0),
            output: output.unwrap_or(0),
            cached: cached.unwrap_or(0),
            reasoning: within("completion_tokens_details", "reasoning_tokens").unwrap_or(0),
        })
    }
}

/// A count of tokens. Some servers write it with a decimal point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count that is a float: what does not fit is cut to what does"
)]
fn count(number: Option<&Value>) -> Option<u64> {
    let number = number?;
    number
        .as_u64()
        .or_else(|| number.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64))
}
