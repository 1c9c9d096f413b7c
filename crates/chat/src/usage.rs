//! The usage of an answer.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use a2a::model::decode::{Decode, Fields};

/// The number of tokens of a request and its answer, as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The tokens of the request, including the cached ones.
    pub input: u64,
    /// The tokens of the answer, including the reasoning.
    pub output: u64,
    /// The tokens of the request that the provider had cached; 0 if it does not report them.
    pub cached: u64,
    /// The tokens of the answer that are reasoning; 0 if the provider does not report them.
    pub reasoning: u64,
}

impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl Decode for Usage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("a usage", Self::from_json)
    }
}

impl Usage {
    /// The sum of input and output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The usage in its stored form.
    pub fn to_json(&self) -> Value {
        let Self { input, output, cached, reasoning } = self;
        json!({"input": input, "output": output, "cached": cached, "reasoning": reasoning})
    }

    /// Reads the usage from its stored form; `None` if `json` is not a usage.
    pub fn from_json(json: &Value) -> Option<Self> {
        let number = |name| json.get(name)?.as_u64();
        Some(Self {
            input: number("input")?,
            output: number("output")?,
            cached: number("cached").unwrap_or(0),
            reasoning: number("reasoning").unwrap_or(0),
        })
    }

    /// Reads the usage that a provider reports.
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

/// A number of tokens. Some servers write it with a decimal point.
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
