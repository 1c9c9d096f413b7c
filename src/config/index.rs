//! The setting for the place of the index.

use super::ConfigError;
use super::variables::{KIBIBYTE, Variables};

/// Where the index of tasks is, with the sums of usage, the hours of the overview and the webhooks in trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// `d1` (the default): in the database of the deployment, which has one writer and 10 GB.
    D1,
    /// `objects`: in objects, at least one for each owner.
    Objects(Shards),
}

/// When the index of an owner is divided among twice as many objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards {
    /// `INDEX_SHARD_WRITES`: the largest number of statements that write to one object in a second, on the average of ten
    /// seconds (200).
    pub writes_per_second: u32,
    /// `INDEX_SHARD_BYTES`: the largest size of one object (4 GiB); the platform allows 10 GB.
    pub bytes: u64,
}

impl IndexKind {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        let shards = Shards {
            writes_per_second: variables.number("INDEX_SHARD_WRITES", 200, 1..=1_000)?,
            bytes: variables.number("INDEX_SHARD_BYTES", 4 * GIBIBYTE, 1_048_576..=8 * GIBIBYTE)?,
        };
        match variables.text("INDEX").as_deref().map(str::trim) {
            None | Some("d1") => Ok(Self::D1),
            Some("objects") => Ok(Self::Objects(shards)),
            Some(_) => Err(ConfigError { name: "INDEX", wanted: "d1 or objects".to_owned() }),
        }
    }

    /// True if the index is in objects.
    pub const fn is_in_objects(self) -> bool {
        matches!(self, Self::Objects(_))
    }
}

const GIBIBYTE: u64 = 1024 * 1024 * KIBIBYTE as u64;
