//! Deletes the tasks of a job: each object clears its storage, and one statement removes the rows of the cleared tasks from the
//! index. A row that is left is found again by the next trigger.
//!
//! # A deletion
//!
//! ```text
//! cron trigger (edge/jobs/expiry.rs) ── {delete: up to 100 tasks} ──> queue ──> consumer (edge/jobs/deletion.rs)
//!   walks the old tasks of each caller and agent in D1                            1 "clear your storage" ──> object, which does if its task is finished
//!                                                                                 2 one statement that deletes the rows of the cleared tasks
//! ```
//!
//! - Nothing is remembered between two triggers. A task is found as long as it has a row, so a failed deletion is found again. A
//!   job that waited for more than an hour is dropped, because the next trigger has found its tasks again.
//! - The object of a task decides if the task may be deleted. The object clears its storage first, so a row may outlive its task
//!   until the next trigger, but no object is left without a row that leads to it.
//! - A trigger reads up to 2,000 pages of 1,000 tasks, each with two statements and one call of the queue. A consumer has six
//!   requests to objects open at a time.

use worker::Env;

use crate::edge::objects::{AskError, Object};
use crate::edge::service::clock::now;
use crate::edge::service::index::Index;
use crate::edge::service::observer::ConsoleObserver;
use crate::forms::address::TaskAddress;
use crate::forms::ask::Refusal;
use crate::forms::queue::{Deletion, DeletionJob, RowPlace};
use crate::port::{Observation, Observer};

/// Carries out a job, one object after the other. Returns false if the job has to be repeated; a task that could not be deleted
/// is no reason for that.
pub(super) async fn delete(env: &Env, job: &DeletionJob, observer: ConsoleObserver) -> bool {
    if job.until <= now().0 {
        return true;
    }
    let mut gone: Vec<RowPlace> = Vec::new();
    for deletion in &job.delete {
        // Without its place, the row is found again by the next trigger, which sends the place.
        if is_gone(env, deletion, observer).await {
            gone.extend(deletion.row());
        }
    }
    if gone.is_empty() {
        return true;
    }
    let index = Index::of(env);
    match index.remove(&gone, false).await {
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

/// Lets the object of a task clear its storage. Returns true if nothing of the task is left in the object.
async fn is_gone(env: &Env, deletion: &Deletion, observer: ConsoleObserver) -> bool {
    let ask = async || Object::at(env, &TaskAddress::of_task(&deletion.task))?.clear().await;
    match ask().await {
        // An object that was never created contains nothing.
        Ok(()) | Err(AskError::Unknown) => true,
        Err(AskError::Refused(Refusal::NotDeleted)) => false,
        Err(error) => {
            let (task, reason) = (Some(&deletion.task), error.to_string());
            observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
            false
        }
    }
}
