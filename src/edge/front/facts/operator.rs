//! Finds what an operator asks for: reads the overview or the usage of an agent, or copies or deletes rows of the index.

use serde_json::json;
use worker::Env;

use crate::edge::service::overview::OverviewTables;
use crate::edge::service::tables::Tables;
use crate::front::deployment::Deployment;
use crate::front::facts::{Asks, OperatorNeed};
use crate::front::terms::limits_of;
use crate::port::{Observation, Observer};
use crate::usage::CallerLimits;
use a2a::model::to_json;

/// The answer as JSON; `None` if the index does not answer.
pub(super) async fn find(
    env: &Env,
    need: &OperatorNeed,
    deployment: &Deployment,
    observer: &dyn Observer,
) -> Option<String> {
    let OperatorNeed { agent, asks } = need;
    let found = match asks {
        Asks::Overview { hours } => {
            let overview = OverviewTables::of(env);
            let counts = deployment.settings.task_statistics;
            let overview = overview.overview(agent, *hours, counts).await;
            // What is found contains only texts and numbers, so encoding cannot fail.
            overview.map(|overview| to_json(&overview).unwrap_or_default())
        }
        Asks::Usage { owner, from, to } => {
            let owner = owner.as_deref().unwrap_or_default();
            let limits = limits_of(deployment.agents.find(Some(agent)));
            let CallerLimits { tokens_per_day, cost_micros_per_day } = limits;
            let currency = &deployment.settings.currency;
            let terms = json!([currency, tokens_per_day, cost_micros_per_day]).to_string();
            Tables::of(env).usage(agent, owner, from, to, &terms).await
        }
        Asks::Copy { is_anew } => {
            let copied = Tables::of(env).copy(agent, *is_anew).await;
            copied.map(|copied| to_json(&copied).unwrap_or_default())
        }
        Asks::Forget { owner } => Tables::of(env).forget(agent, owner).await,
    };
    found.map_or_else(
        |error| {
            let reason = format!("what an operator of {agent} asked for: {error}");
            observer.observe(&Observation::ListingFailed { reason: &reason });
            None
        },
        Some,
    )
}
