//! The requests of a run that are under way. The run polls them, so they end with it.

use std::cell::RefCell;
use std::task::Context;

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;

/// The jobs of a run.
#[derive(Default)]
pub(super) struct Jobs {
    active: RefCell<FuturesUnordered<LocalBoxFuture<'static, ()>>>,
    /// The jobs that were added since the last poll.
    added: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
}

impl Jobs {
    /// Adds a job, for the next poll.
    pub(super) fn add(&self, job: LocalBoxFuture<'static, ()>) {
        self.added.borrow_mut().push(job);
    }

    /// Polls the jobs.
    pub(super) fn poll(&self, context: &mut Context<'_>) {
        let mut active = self.active.take();
        loop {
            active.extend(self.added.take());
            while let std::task::Poll::Ready(Some(())) = active.poll_next_unpin(context) {}
            if self.added.borrow().is_empty() {
                break;
            }
        }
        *self.active.borrow_mut() = active;
    }
}
