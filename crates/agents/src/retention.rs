//! How long the finished tasks of an agent are kept: the table `[retention]` of its file.

use serde::Serialize;

#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use a2a::model::decode::Decode;

/// How long the finished tasks of an agent are kept, where that differs from the settings of the deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RetentionTable {
    /// The time after which a finished task is deleted, in milliseconds, up to ten years; 0 for never. Default: the setting
    /// `RETENTION_MS`.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(max = MAX_RETENTION_MS)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_ms: Option<u64>,
    /// The number of newest finished tasks that are kept, up to a billion; 0 for all. Default: the setting `MAX_FINISHED_TASKS`.
    #[cfg_attr(any(test, feature = "checker"), schemars(range(max = MAX_FINISHED)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_finished: Option<u64>,
}

impl RetentionTable {
    /// True if the agent file has no table `[retention]`, or an empty one.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The values that are out of range.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let values = [
            ("retention.retention_ms", self.retention_ms, MAX_RETENTION_MS),
            ("retention.max_finished", self.max_finished, MAX_FINISHED),
        ];
        let above = values.into_iter().filter_map(|(key, value, most)| {
            let value = value.filter(|value| *value > most)?;
            Some(Problem::at(key, format!("must be from 0 to {most}, got {value}")))
        });
        above.collect()
    }
}

/// The longest retention: ten years, in milliseconds. That of the setting `RETENTION_MS`.
pub const MAX_RETENTION_MS: u64 = 3_650 * 86_400_000;

/// The largest number of finished tasks to keep. That of the setting `MAX_FINISHED_TASKS`.
pub const MAX_FINISHED: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_problems() {
        let table = |retention_ms, max_finished| RetentionTable {
            retention_ms: Some(retention_ms),
            max_finished: Some(max_finished),
        };
        assert_eq!(table(0, 0).problems(), []);
        assert_eq!(table(MAX_RETENTION_MS, MAX_FINISHED).problems(), []);
        let problems = table(MAX_RETENTION_MS + 1, MAX_FINISHED + 1).problems();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(told[0].contains("must be from 0 to 315360000000, got 315360000001"), "{told:?}");
        assert!(told[1].contains("must be from 0 to 1000000000, got 1000000001"), "{told:?}");
    }

    #[test]
    fn other_keys_and_types_are_refused() {
        for text in
            ["retention_ms = -1", "retention_ms = '7 days'", "days = 7", "max_finished = 1.5"]
        {
            assert!(toml::from_str::<RetentionTable>(text).is_err(), "{text}");
        }
    }
}
