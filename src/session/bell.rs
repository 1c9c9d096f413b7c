//! Wakes the requests and runs that wait for a change of the task.

use futures_util::future::{Either, LocalBoxFuture, select};
use tokio::sync::Notify;

/// Notifies at each change of the task for which a request or a run may wait.
#[derive(Default)]
pub(super) struct Bell(Notify);

impl Bell {
    /// Wakes all waiters.
    pub(super) fn ring(&self) {
        self.0.notify_waiters();
    }

    /// Completes at the next ring after this call.
    pub(super) fn rung(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.0.notified())
    }

    /// Waits until the condition is true or `limit` completes. The condition is evaluated at once and after each ring.
    /// Returns true if the condition became true before `limit` completed.
    pub(super) async fn until(
        &self,
        condition: &dyn Fn() -> bool,
        mut limit: LocalBoxFuture<'_, ()>,
    ) -> bool {
        loop {
            // Register before evaluating the condition, so that a change in between is not missed.
            let rung = self.rung();
            if condition() {
                return true;
            }
            match select(rung, limit).await {
                Either::Left(((), rest)) => limit = rest,
                Either::Right(_) => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_executor::block_on;
    use futures_util::future::join;

    use super::*;

    fn never() -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    #[test]
    fn a_condition_is_looked_at_first_and_after_each_ring() {
        let (bell, count) = (Bell::default(), Cell::new(0));
        let looks = Cell::new(0);
        let condition = || {
            looks.set(looks.get() + 1);
            count.get() == 2
        };
        let ring = async {
            for _ in 0..2 {
                count.set(count.get() + 1);
                bell.ring();
                crate::port::yield_once().await;
            }
        };
        let (held, ()) = block_on(join(bell.until(&condition, never()), ring));
        assert!(held);
        assert_eq!(looks.get(), 3);
        assert!(block_on(bell.until(&condition, never())), "without waiting");
    }

    #[test]
    fn a_wait_is_over_at_its_limit() {
        let bell = Bell::default();
        let limit = Box::pin(std::future::ready(()));
        assert!(!block_on(bell.until(&|| false, limit)));
    }
}
