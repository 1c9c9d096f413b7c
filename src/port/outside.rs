//! What executors and tools get of the outside when they are made.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Clock, Http, Observer};
use a2a::model::Secret;

/// The outside as an executor gets it, once, when it is made. Clones share it.
///
/// A run has more: its turn knows the task, fetches within its bounds, and keeps the
/// results of steps.
#[derive(Clone)]
pub struct Outside {
    /// Other servers.
    pub http: Rc<dyn Http>,
    /// The secrets of the deployment.
    pub secrets: Rc<dyn Secrets>,
    /// Who is told what operators want to know.
    pub observer: Rc<dyn Observer>,
    /// What time it is.
    pub clock: Rc<dyn Clock>,
}

/// The secrets of a deployment, each by its name (`npx wrangler secret put NAME`).
pub trait Secrets {
    /// The secret of this name; `None` if it is not set. Never show it or write it to a log.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// For tests.
impl Secrets for BTreeMap<String, Secret> {
    fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).cloned()
    }
}
