//! Time.

use futures_util::future::LocalBoxFuture;

use a2a::model::UnixMillis;

/// What time it is, and timers.
pub trait Clock {
    /// The present instant. On Cloudflare it advances only while waiting.
    fn now(&self) -> UnixMillis;

    /// Completes `millis` milliseconds after this call; dropping it cancels the timer. One that is never polled costs no
    /// timer. It wakes whoever polled it last.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;
}
