//! What runs the object of a task.

use std::future::poll_fn;
use std::mem;
use std::task::Poll;

use futures_util::future::LocalBoxFuture;

use a2a::model::UnixMillis;

/// Background work and the alarm of one object.
pub trait Runtime {
    /// Runs a future to its end, whether or not the present request goes on.
    fn spawn(&self, future: LocalBoxFuture<'static, ()>);

    /// Wakes the task at this instant or later, even if it is not in memory then. Replaces an
    /// earlier alarm. Takes effect together with the writes around it.
    fn set_alarm(&self, at: UnixMillis);

    /// For when the alarm is set, if it is. Where that cannot be said, it counts as not set.
    fn alarm(&self) -> LocalBoxFuture<'static, Option<UnixMillis>>;

    /// Keeps the object until everything written so far is durable.
    fn keep_until_durable(&self);
}

/// Those who follow the task of one object.
pub trait Followers {
    /// Sends a frame, made only if anybody follows the task, to all who do. With `is_over` it is the
    /// last one, and their streams end.
    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool);
}

/// Lets everybody else go on once.
pub async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
