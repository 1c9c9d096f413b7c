//! Reads the overview of an agent from D1.

use worker::Env;

use crate::edge::service::overview::OverviewTables;
use crate::front::facts::OverviewNeed;
use crate::overview::Overview;
use crate::port::{Observation, Observer};

/// The overview; `None` if D1 does not answer. `counts` is true if the overview includes the statistics of finished
/// tasks.
pub(super) async fn find(
    env: &Env,
    need: &OverviewNeed,
    counts: bool,
    observer: &dyn Observer,
) -> Option<Box<Overview>> {
    let OverviewNeed { agent, hours } = need;
    match OverviewTables::of(env).overview(agent, *hours, counts).await {
        Ok(overview) => Some(Box::new(overview)),
        Err(error) => {
            let reason = format!("the overview of {agent}: {error}");
            observer.observe(&Observation::ListingFailed { reason: &reason });
            None
        }
    }
}
