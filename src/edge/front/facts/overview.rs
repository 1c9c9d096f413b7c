//! The overview of an agent, asked of D1.

use worker::Env;

use crate::edge::service::overview::D1Overview;
use crate::front::facts::OverviewNeed;
use crate::overview::Overview;
use crate::port::{Observation, Observer};

/// The overview; `None` if it cannot be had at the moment. `counts` is true if finished tasks are counted.
pub(super) async fn find(
    env: &Env,
    need: &OverviewNeed,
    counts: bool,
    observer: &dyn Observer,
) -> Option<Box<Overview>> {
    let OverviewNeed { agent, hours } = need;
    match (D1Overview { env: env.clone() }).of(agent, *hours, counts).await {
        Ok(overview) => Some(Box::new(overview)),
        Err(error) => {
            let reason = format!("the overview of {agent}: {error}");
            observer.observe(&Observation::ListingFailed { reason: &reason });
            None
        }
    }
}
