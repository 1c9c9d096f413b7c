//! The kind `remote`: an agent that forwards messages to another agent.

use super::KindTable;
#[cfg(any(test, feature = "checker"))]
use super::{Kind, KindContext};
#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::table::{Keys, Reader, keys};

/// `[executor.remote]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteTable {
    /// The name of the remote agent: a table of `remotes.toml`.
    pub remote: String,
    /// The time without data from the remote agent after which the run is parked, in milliseconds: 1,000 to 240,000.
    pub silence_ms: u64,
    /// True if the remote agent is requested to send webhooks to a run that is parked.
    pub webhooks: bool,
}

impl KindTable for RemoteTable {
    const KEYS: &'static Keys = &keys! {
        /// The remote agent: the name of a table `[remote.<name>]` of `remotes.toml`, or the slug of an agent of this Worker.
        "remote",
        /// The time without news from the remote agent after which the run is parked, in milliseconds; 60000 unless given.
        "silence_ms",
        /// True if the remote agent is asked to send webhooks to a parked run; true unless given.
        "webhooks",
    };

    fn read(keys: &mut Reader<'_>) -> Self {
        keys.need("remote", REMOTE_RULE);
        let default = Self::default();
        Self {
            remote: keys.text("remote").unwrap_or_default(),
            silence_ms: keys.number("silence_ms", 1_000, 240_000).unwrap_or(default.silence_ms),
            webhooks: keys.flag("webhooks").unwrap_or(default.webhooks),
        }
    }
}

#[cfg(any(test, feature = "checker"))]
impl Kind for RemoteTable {
    fn problems(&self, _: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.remote.is_empty() {
            let fix =
                "must be the name of a remote agent: a table `[remote.<name>]` of remotes.toml";
            problems.push(Problem::at("remote", fix));
        }
        problems
    }

    fn remotes(&self) -> Vec<(String, &str)> {
        vec![("remote".to_owned(), &self.remote)]
    }

    fn front_of(&self) -> Option<&str> {
        Some(&self.remote)
    }

    fn resumes_because(&self) -> Option<&'static str> {
        Some("a front goes on with the remote task after a crash")
    }

    fn skills_hint(&self) -> &'static str {
        ", or `skills_from = [\"remote\"]`: those of the remote agent"
    }
}

impl Default for RemoteTable {
    fn default() -> Self {
        Self { remote: String::new(), silence_ms: 60_000, webhooks: true }
    }
}

const REMOTE_RULE: &str =
    ": the name of a remote agent, which is a table `[remote.<name>]` of remotes.toml";
