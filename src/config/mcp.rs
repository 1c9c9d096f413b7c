//! What clients of MCP may do, besides what agents say.

use super::ConfigError;
use super::variables::{MINUTE_MS, Variables};

/// What clients of MCP may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mcp {
    /// `MCP_WAIT_MS`: how long a call waits for its agent before it is answered with the working task (45 s).
    pub wait_ms: u64,
}

impl Mcp {
    /// Reads what they may do.
    ///
    /// # Errors
    ///
    /// The first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        Ok(Self { wait_ms: variables.number("MCP_WAIT_MS", 45_000, 0..=10 * MINUTE_MS)? })
    }
}
