//! The runtime of a task's object.

use std::future::poll_fn;
use std::mem;
use std::task::Poll;

use futures_util::future::LocalBoxFuture;

use a2a::model::UnixMillis;

/// Background work and the alarm of one object.
pub trait Runtime {
    /// Runs a future to its end, independent of the current request.
    fn spawn(&self, future: LocalBoxFuture<'static, ()>);

    /// Sets an alarm that wakes the task at this instant or later, even if the task is not in memory then. Replaces an earlier
    /// alarm. The alarm becomes durable together with the writes before and after this call.
    fn set_alarm(&self, at: UnixMillis);

    /// The instant for which the alarm is set; `None` if no alarm is set, or if the platform does not answer.
    fn alarm(&self) -> LocalBoxFuture<'static, Option<UnixMillis>>;

    /// Keeps the object until everything written so far is durable.
    fn keep_until_durable(&self);

    /// Waits until everything written so far is durable. The platform commits writes when the event loop of the object continues, so a
    /// computation that never ends also keeps the writes before it from being durable.
    fn durable(&self) -> LocalBoxFuture<'static, ()>;
}

/// The followers of the task of one object.
pub trait Followers {
    /// Sends a frame to all followers; the frame is built only if there is a follower. If `is_over` is true, this is the last
    /// frame, and the streams end.
    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool);
}

/// Yields once, so that other futures are polled.
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
