//! Deletes the tasks of a job: each object clears its storage, and the rows of those that did are taken out of the index by
//! one statement. A row that is left behind is found again by the next trigger.
//!
//! # A deletion
//!
//! ```text
//! cron trigger (edge/jobs/expiry.rs) ── {delete: up to 100 tasks} ──> queue ──> consumer (edge/jobs/deletion.rs)
//!   walks the old tasks of each caller and agent in D1                            1 clear yourself ──> object: if its task is finished
//!                                                                                 2 DELETE the rows of those that did: one statement
//! ```
//!
//! - Nothing is remembered between two triggers. A task is found as long as it has a row, so whatever fails is found again, and a job that waited for more than
//!   an hour is dropped: the next trigger has found its tasks.
//! - The object decides. It clears its storage first, so a row may outlive its task until the next trigger, but no object is left that nobody would find.
//! - A trigger goes through up to 2,000 pages of 1,000 tasks, two statements and one call of the queue each. A consumer asks six objects at a time.

use worker::Env;

use crate::edge::objects::{AskError, Object};
use crate::edge::service::clock::now;
use crate::edge::service::index::D1Index;
use crate::edge::service::observer::ConsoleObserver;
use crate::forms::address::TaskAddress;
use crate::forms::ask::Refusal;
use crate::forms::queue::{Deletion, DeletionJob};
use crate::port::{Observation, Observer};
use a2a::model::TaskId;

/// Carries a job out, one object after the other. Whether that came to its end; a task that could not be deleted is no
/// reason to do it again.
pub(super) async fn delete(env: &Env, job: &DeletionJob, observer: ConsoleObserver) -> bool {
    if job.until <= now().0 {
        return true;
    }
    let mut gone: Vec<&TaskId> = Vec::new();
    for deletion in &job.delete {
        if is_gone(env, deletion, observer).await {
            gone.push(&deletion.task);
        }
    }
    if gone.is_empty() {
        return true;
    }
    let index = D1Index { env: env.clone() };
    match index.remove_all(&gone).await {
        Ok(()) => {
            observer.observe(&Observation::TasksDeleted { count: gone.len() });
            true
        }
        Err(error) => {
            let reason = error.to_string();
            observer.observe(&Observation::CleanUpFailed { reason: &reason });
            false
        }
    }
}

/// Lets the object of a task clear its storage. Whether nothing of the task is left there.
async fn is_gone(env: &Env, deletion: &Deletion, observer: ConsoleObserver) -> bool {
    let ask = async || Object::at(env, &TaskAddress::of_task(&deletion.task))?.clear().await;
    match ask().await {
        // An object that was never given out holds nothing.
        Ok(()) | Err(AskError::Unknown) => true,
        Err(AskError::Refused(Refusal::NotDeleted)) => false,
        Err(error) => {
            let (task, reason) = (Some(&deletion.task), error.to_string());
            observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
            false
        }
    }
}
