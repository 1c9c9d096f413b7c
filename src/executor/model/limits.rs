//! Counts the usage of a turn, and compares it with the limits.

use crate::usage::micros;
use a2a::model::number_text;
use a2a_agents::{ModelLimits, Price};
use chat::{ChatAnswer, Usage};

/// The usage of a turn so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    /// The number of answers.
    pub(super) rounds: u64,
    /// The number of tokens in all requests and answers.
    pub(super) tokens: u64,
    /// The cost, in millionths of the price's currency unit.
    pub(super) cost_micros: u64,
}

impl Spent {
    /// Adds one more answer.
    pub(super) fn add(&mut self, usage: Usage, price: Option<&Price>) {
        self.rounds += 1;
        self.tokens = self.tokens.saturating_add(usage.total());
        self.cost_micros = self.cost_micros.saturating_add(cost_micros(usage, price));
    }

    /// The limit that forbids another request to the model; `None` if no limit is reached.
    pub(super) fn over(&self, limits: &ModelLimits) -> Option<String> {
        let Self { rounds, tokens, cost_micros } = *self;
        if let Some(limit) = limits.tokens.filter(|limit| tokens >= *limit) {
            return Some(format!(
                "it has taken {tokens} tokens; the limit is {limit} (limits.tokens)"
            ));
        }
        if let Some(limit) = limits.cost.filter(|limit| cost_micros >= micros(*limit)) {
            let (cost, limit) = (number_text(cost_micros as f64 / 1e6), number_text(limit));
            return Some(format!("it has cost {cost}; the limit is {limit} (limits.cost)"));
        }
        let limit = limits.rounds;
        (rounds >= limit).then(|| {
            format!("it was asked {limit} times, which is the limit (limits.rounds), and still calls tools")
        })
    }
}

/// The usage of an answer. If the provider does not report it, a token counts as three bytes.
pub(super) fn usage_of(answer: &ChatAnswer, request_bytes: usize) -> Usage {
    let written = answer.calls.iter().map(|call| call.name.len() + call.arguments.len());
    let written = answer.text.len() + written.sum::<usize>();
    let refusal = answer.refusal.as_ref().map_or(0, String::len);
    answer.usage.unwrap_or_else(|| Usage {
        input: tokens_of(request_bytes),
        output: tokens_of(written + refusal),
        ..Usage::default()
    })
}

/// The approximate number of tokens in a text of this size.
fn tokens_of(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(3)).unwrap_or(u64::MAX)
}

/// The cost of an answer, in millionths of the currency unit. The price of a million tokens, in the unit, is also the
/// price of one token in millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "prices are not negative, and what does not fit is cut to what does"
)]
pub(super) fn cost_micros(usage: Usage, price: Option<&Price>) -> u64 {
    let Some(Price { input, cached_input, output }) = price else { return 0 };
    let cached = usage.cached.min(usage.input);
    let fresh = usage.input - cached;
    let cost = fresh as f64 * input + cached as f64 * cached_input + usage.output as f64 * output;
    cost.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> ModelLimits {
        ModelLimits {
            rounds: 3,
            tokens: Some(1_000),
            cost: Some(0.01),
            delegations: 1,
            parallel: 1,
            caller_tokens_per_day: None,
            caller_cost_per_day: None,
        }
    }

    #[test]
    fn an_answer_costs_what_its_tokens_cost() {
        let price = Price { input: 0.25, cached_input: 0.025, output: 2.0 };
        let usage = Usage { input: 1_000_000, output: 1_000, cached: 400_000, reasoning: 0 };
        assert_eq!(cost_micros(usage, Some(&price)), 150_000 + 10_000 + 2_000);
        assert_eq!(
            cost_micros(Usage { input: 1, ..Usage::default() }, Some(&price)),
            1,
            "rounded up"
        );
        assert_eq!(cost_micros(usage, None), 0);
    }

    #[test]
    fn a_turn_is_over_when_a_limit_is_reached() {
        let price = Price { input: 1.0, cached_input: 1.0, output: 1.0 };
        let mut spent = Spent::default();
        assert_eq!(spent.over(&limits()), None);
        spent.add(Usage { input: 900, output: 99, ..Usage::default() }, Some(&price));
        assert_eq!(spent.over(&limits()), None);
        spent.add(Usage { input: 1, ..Usage::default() }, Some(&price));
        assert!(spent.over(&limits()).unwrap().starts_with("it has taken 1000 tokens"));
        let without = ModelLimits { tokens: None, ..limits() };
        assert_eq!(spent.over(&without), None);
        spent.add(Usage { input: 9_000, ..Usage::default() }, Some(&price));
        assert!(spent.over(&without).unwrap().starts_with("it has cost 0.01"));
        let without = ModelLimits { cost: None, ..without };
        assert!(spent.over(&without).unwrap().starts_with("it was asked 3 times"));
    }
}
