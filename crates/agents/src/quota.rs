//! What each caller may have at a time with an agent, and use in a day: the table `[quota]` of its file.

use serde::Serialize;

#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use a2a::model::decode::Decode;

/// What each caller may have at a time with an agent, and use in a day. A missing limit means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QuotaTable {
    /// The number of unfinished tasks, from 1 to a million.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_ACTIVE)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_tasks: Option<u64>,
    /// The number of bytes that the logs of all tasks take, from 1 to 1 TB. A task that is under way counts with what it had when it
    /// entered its present state.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_STORED_BYTES)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes: Option<u64>,
    /// The number of open streams, from 1 to a million. Each instance of the Worker counts those that it serves.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_ACTIVE)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// The number of tokens in a day (UTC), read and written, as model agents count and other agents report them.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 1, max = MAX_TOKENS)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_day: Option<u64>,
    /// The cost in a day (UTC), by the prices of model agents and as other agents report it.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(min = 0.0, max = MAX_COST)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_day: Option<f64>,
}

impl QuotaTable {
    /// True if the agent file has no table `[quota]`, or an empty one.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The values that are out of range.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let values = [
            ("quota.active_tasks", self.active_tasks, MAX_ACTIVE),
            ("quota.stored_bytes", self.stored_bytes, MAX_STORED_BYTES),
            ("quota.streams", self.streams, MAX_ACTIVE),
            ("quota.tokens_per_day", self.tokens_per_day, MAX_TOKENS),
        ];
        let outside = values.into_iter().filter_map(|(key, value, most)| {
            let value = value.filter(|value| !(1..=most).contains(value))?;
            Some(Problem::at(key, format!("must be from 1 to {most}, got {value}")))
        });
        let cost = self.cost_per_day.filter(|cost| !(0.0..=MAX_COST).contains(cost));
        let cost = cost.map(|cost| {
            let told = format!("must be from 0 to {MAX_COST}, got {cost}");
            Problem::at("quota.cost_per_day", told)
        });
        outside.chain(cost).collect()
    }
}

/// The largest quota of unfinished tasks, that of the setting `MAX_ACTIVE_TASKS`, and of streams.
#[cfg(any(test, feature = "checker"))]
const MAX_ACTIVE: u64 = 1_000_000;

/// The largest quota of stored bytes.
#[cfg(any(test, feature = "checker"))]
const MAX_STORED_BYTES: u64 = 1_000_000_000_000;

/// The largest quota of tokens in a day.
#[cfg(any(test, feature = "checker"))]
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The largest quota of the cost in a day: its millionths are exact numbers.
#[cfg(any(test, feature = "checker"))]
const MAX_COST: f64 = 1_000_000_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_problems() {
        let table = |active_tasks, stored_bytes| QuotaTable {
            active_tasks: Some(active_tasks),
            stored_bytes: Some(stored_bytes),
            streams: Some(active_tasks),
            tokens_per_day: Some(stored_bytes),
            cost_per_day: Some(0.5),
        };
        assert_eq!(table(1, 1).problems(), []);
        assert_eq!(table(MAX_ACTIVE, MAX_STORED_BYTES).problems(), []);
        assert_eq!(QuotaTable::default().problems(), []);
        let told = |table: QuotaTable| -> Vec<String> {
            table.problems().iter().map(ToString::to_string).collect()
        };
        let none = told(table(0, 0));
        assert!(none[0].contains("must be from 1 to 1000000, got 0"), "{none:?}");
        let above = told(table(MAX_ACTIVE + 1, MAX_STORED_BYTES + 1));
        assert!(above[0].contains("must be from 1 to 1000000, got 1000001"), "{above:?}");
        assert!(above[1].contains("must be from 1 to 1000000000000, got"), "{above:?}");
        assert!(above[2].contains("quota.streams"), "{above:?}");
        assert!(above[3].contains("quota.tokens_per_day"), "{above:?}");
        for cost_per_day in [-0.1, MAX_COST + 1.0, f64::NAN, f64::INFINITY] {
            let table = QuotaTable { cost_per_day: Some(cost_per_day), ..QuotaTable::default() };
            let [told] = told(table).try_into().unwrap();
            assert!(told.contains("must be from 0 to 1000000000, got"), "{told}");
        }
    }

    #[test]
    fn other_keys_and_types_are_refused() {
        for text in [
            "active_tasks = -1",
            "active_tasks = '5'",
            "tasks = 7",
            "stored_bytes = 1.5",
            "cost_per_day = '1'",
        ] {
            assert!(toml::from_str::<QuotaTable>(text).is_err(), "{text}");
        }
    }
}
