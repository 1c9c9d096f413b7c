//! The settings for the place of the index.

use super::ConfigError;
use super::variables::{GIBIBYTE, MEBIBYTE, Variables};

/// Where the index of tasks is, with the sums of usage, the hours of the overview and the webhooks in trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// `INDEX`: the place from which it is read.
    pub kind: IndexKind,
    /// `INDEX_COPY`: a second place to which it is written, too, while it moves there.
    pub also: Option<IndexKind>,
    /// When an owner has more objects.
    pub shards: Shards,
}

/// A place of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexKind {
    /// `d1` (the default): the database of the deployment, which has one writer and 10 GB.
    #[default]
    D1,
    /// `objects`: objects, at least one for each owner.
    Objects,
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

impl Default for Shards {
    fn default() -> Self {
        Self { writes_per_second: 200, bytes: 4 * GIBIBYTE }
    }
}

impl Index {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        let Shards { writes_per_second, bytes } = Shards::default();
        let least = MEBIBYTE as u64;
        let kind = read_kind(variables, "INDEX")?.unwrap_or_default();
        Ok(Self {
            kind,
            also: read_kind(variables, "INDEX_COPY")?.filter(|also| *also != kind),
            shards: Shards {
                writes_per_second: variables.number(
                    "INDEX_SHARD_WRITES",
                    writes_per_second,
                    1..=1_000,
                )?,
                bytes: variables.number("INDEX_SHARD_BYTES", bytes, least..=8 * GIBIBYTE)?,
            },
        })
    }

    /// True if rows are written to this place.
    pub fn writes_to(&self, kind: IndexKind) -> bool {
        self.kind == kind || self.also == Some(kind)
    }

    /// The names of the places to which rows are written, the one that is read first.
    pub const fn names(&self) -> &'static str {
        match (self.kind, self.also) {
            (IndexKind::D1, None | Some(IndexKind::D1)) => "d1",
            (IndexKind::D1, Some(IndexKind::Objects)) => "d1 objects",
            (IndexKind::Objects, None | Some(IndexKind::Objects)) => "objects",
            (IndexKind::Objects, Some(IndexKind::D1)) => "objects d1",
        }
    }
}

impl IndexKind {
    /// The name, as in the settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::D1 => "d1",
            Self::Objects => "objects",
        }
    }
}

fn read_kind(
    variables: Variables<'_>,
    name: &'static str,
) -> Result<Option<IndexKind>, ConfigError> {
    match variables.text(name).as_deref().map(str::trim) {
        None => Ok(None),
        Some("d1") => Ok(Some(IndexKind::D1)),
        Some("objects") => Ok(Some(IndexKind::Objects)),
        Some(_) => Err(ConfigError { name, wanted: "d1 or objects".to_owned() }),
    }
}
