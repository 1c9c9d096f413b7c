//! The description of the functions, as `js/api` gives it.

use serde_json::Value;

use crate::task::Recovery;
use a2a::model::decode::{Decode, read_json};
use a2a_agents::Misfit;

/// The functions of the entry module.
#[derive(Debug, Decode)]
pub(super) struct Described {
    pub(super) tools: Vec<DescribedTool>,
    pub(super) executors: Vec<DescribedExecutor>,
}

/// A tool.
#[derive(Debug, Decode)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescribedTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    #[serde(default)]
    pub(super) needs: Vec<String>,
}

/// A kind of executors.
#[derive(Clone, Debug, Decode)]
pub(super) struct DescribedExecutor {
    pub(super) kind: String,
    pub(super) recovery: Recovery,
    pub(super) cancels: Cancels,
}

/// Whether the executor has a cancel hook, and with what certainty the hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Decode)]
#[serde(rename_all = "lowercase")]
pub(super) enum Cancels {
    Never,
    Once,
    Sure,
}

impl Described {
    /// Reads the description.
    ///
    /// # Errors
    ///
    /// If the description has another form.
    pub(super) fn read(text: &str) -> Result<Self, Misfit> {
        read_json(text).map_err(|error| {
            Misfit(format!("the functions of the entry module cannot be read: {error}"))
        })
    }
}
