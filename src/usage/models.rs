//! The parts of a use by models: those whose names are known.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Usage;
use a2a::model::decode::Fields;

/// A use of models, with the parts of models whose names are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedUsage {
    /// The whole use.
    pub all: Usage,
    /// The parts of it.
    pub models: ByModel,
}

impl NamedUsage {
    /// Adds the use of a model; the name is empty if it is not known.
    pub fn add(&mut self, model: &str, used: Usage) {
        self.all = self.all.plus(used);
        if !model.is_empty() {
            self.models.add(model.chars().take(MODEL_CHARS).collect(), numbers(used));
        }
    }
}

/// The parts of a use by the names of models, as the log and the index have them: an array of requests, tokens read, tokens written, and the cost in
/// millionths. Names after the eighth have no part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ByModel(Map<String, Value>);

impl ByModel {
    /// True if no name is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the parts of another use.
    pub fn merge(&mut self, more: Self) {
        for (name, part) in more.0 {
            self.add(name, numbers_in(Some(&part)));
        }
    }

    fn add(&mut self, name: String, more: [u64; NUMBERS]) {
        let known = self.0.get(&name);
        if known.is_none() && self.0.len() >= MOST_MODELS {
            return;
        }
        let mut sum = numbers_in(known);
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.0.insert(name, sum.into_iter().map(Value::from).collect());
    }

    /// The parts as JSON.
    pub fn into_json(self) -> String {
        Value::Object(self.0).to_string()
    }

    /// Reads the parts from a member; none if it is missing.
    pub(super) fn read(fields: &mut Fields, member: &str) -> Self {
        Self(fields.free_form(member).unwrap_or_default())
    }
}

/// The numbers of a part; 0 for what is missing.
fn numbers_in(part: Option<&Value>) -> [u64; NUMBERS] {
    let number = |nth: usize| part.and_then(|part| part.get(nth)).and_then(Value::as_u64);
    [0, 1, 2, 3].map(|nth| number(nth).unwrap_or_default())
}

fn numbers(used: Usage) -> [u64; NUMBERS] {
    [used.requests, used.input_tokens, used.output_tokens, used.cost_micros]
}

/// The number of numbers of a use.
const NUMBERS: usize = 4;

/// The largest number of names in one turn.
const MOST_MODELS: usize = 8;

/// The largest number of characters of a name.
pub const MODEL_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::StepUsage;
    use a2a::model::decode::read_json;
    use serde_json::json;

    fn used(requests: u64) -> Usage {
        Usage { requests, input_tokens: 20, output_tokens: 3, cost_micros: 4 }
    }

    #[test]
    fn a_use_is_added_to_its_model_and_to_the_whole() {
        let mut sum = NamedUsage::default();
        for (model, requests) in [("a", 1), ("b", 2), ("a", 4), ("", 8)] {
            sum.add(model, used(requests));
        }
        assert_eq!((sum.all.requests, sum.all.input_tokens), (15, 80));
        assert_eq!(json!(sum.models), json!({"a": [5, 40, 6, 8], "b": [2, 20, 3, 4]}));
        let json = sum.models.into_json();
        assert_eq!(json, r#"{"a":[5,40,6,8],"b":[2,20,3,4]}"#);
    }

    #[test]
    fn names_are_bounded_and_so_is_their_number() {
        let mut sum = NamedUsage::default();
        sum.add(&"x".repeat(5_000), used(1));
        for nth in 0..20 {
            sum.add(&nth.to_string(), used(1));
        }
        assert_eq!(sum.all.requests, 21);
        assert_eq!(sum.models.0.len(), MOST_MODELS);
        assert!(sum.models.0.keys().all(|name| name.len() <= MODEL_CHARS));
    }

    #[test]
    fn the_parts_of_a_step_are_read_as_they_were_written() {
        let mut sum = NamedUsage::default();
        sum.add("a \"quoted\" one", used(1));
        let NamedUsage { all, models } = sum;
        let step = StepUsage { at_ms: 5, used: all, repeated: Usage::NOTHING, models };
        let line = serde_json::to_string(&step).unwrap();
        assert!(line.ends_with(r#","models":{"a \"quoted\" one":[1,20,3,4]}}"#), "{line}");
        assert_eq!(read_json::<StepUsage>(&line).unwrap(), step);
        // What is no number adds nothing.
        let unfit = line.replace("[1,20,3,4]", "[1,-20,\"3\"]");
        let mut parts = ByModel::default();
        parts.merge(read_json::<StepUsage>(&unfit).unwrap().models);
        assert_eq!(json!(parts), json!({"a \"quoted\" one": [1, 0, 0, 0]}));
    }
}
