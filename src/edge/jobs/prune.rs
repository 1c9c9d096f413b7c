//! The clean-up that the cron trigger starts: where `MAX_FINISHED_TASKS` is set, the newest finished tasks of each
//! agent are kept and older ones deleted.

use futures_util::{StreamExt, stream};
use worker::{Env, Result};

use crate::edge::address::TaskAddress;
use crate::edge::bindings::{self, ANSWERS_AT_ONCE};
use crate::edge::command::Refusal;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::index::D1Index;
use crate::edge::service::observer::ConsoleObserver;
use crate::port::{Observation, Observer};
use a2a::model::TaskId;

/// Deletes the oldest finished tasks of each agent beyond `MAX_FINISHED_TASKS`. The object of each task decides
/// whether it is finished. What could not be deleted is tried again the next time.
pub(in crate::edge) async fn prune(env: &Env) {
    let observer = ConsoleObserver::of(env);
    let misconfigured = |reason: String| {
        observer.observe(&Observation::Misconfigured { reason: &reason });
    };
    let settings = match bindings::settings(env) {
        Ok(settings) => settings,
        Err(error) => return misconfigured(error.to_string()),
    };
    if settings.max_finished_tasks == 0 {
        return;
    }
    let agents = match bindings::agents(env, &settings) {
        Ok(agents) => agents,
        Err(error) => return misconfigured(error.to_string()),
    };
    for agent in agents.slugs() {
        let mut count = 0;
        for _ in 0..MAX_BATCHES {
            match prune_batch(env, agent, settings.max_finished_tasks).await {
                Ok(0) => break,
                Ok(deleted) => count += deleted,
                Err(error) => {
                    let reason = error.to_string();
                    observer.observe(&Observation::PruningFailed { agent, reason: &reason });
                    break;
                }
            }
        }
        if count > 0 {
            observer.observe(&Observation::TasksPruned { agent, count });
        }
    }
}

/// Deletes one batch; gives the number of tasks that were deleted.
async fn prune_batch(env: &Env, agent: &str, keep: u64) -> Result<usize> {
    let index = D1Index { env: env.clone() };
    let found = index.finished_beyond(agent, keep, BATCH).await?;
    let deleted = stream::iter(&found);
    let deleted =
        deleted.map(|(id, address)| delete(env, id, address)).buffer_unordered(ANSWERS_AT_ONCE);
    let deleted = deleted.filter(|deleted| std::future::ready(*deleted)).count().await;
    Ok(deleted)
}

/// Lets the object of a task delete it, and says whether it did.
async fn delete(env: &Env, id: &TaskId, address: &TaskAddress) -> bool {
    let ask = async || Object::at(env, address)?.delete().await;
    match ask().await {
        Ok(()) => true,
        Err(AskError::Refused(Refusal::NotDeleted)) => false,
        Err(error) => {
            let (task, reason) = (Some(id), error.to_string());
            let unreachable = Observation::ObjectUnreachable { task, reason: &reason };
            ConsoleObserver::of(env).observe(&unreachable);
            false
        }
    }
}

/// The number of tasks in one batch.
const BATCH: u64 = 100;

/// The largest number of batches of one agent for one trigger. A Worker may make 10,000 subrequests.
const MAX_BATCHES: usize = 20;
