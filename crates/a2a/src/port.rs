//! What a program of this crate asks of the machine that it runs on, besides [`Http`](crate::http::Http): time and chance.

use futures_util::future::LocalBoxFuture;

use crate::model::UnixMillis;

/// What time it is, and timers.
pub trait Clock {
    /// The present instant. On some platforms it advances only while waiting.
    fn now(&self) -> UnixMillis;

    /// Completes `millis` milliseconds after this call; dropping it cancels the timer. One that is never polled costs no
    /// timer. It wakes whoever polled it last.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;
}

/// Identifiers, secrets and numbers that nobody can foresee.
pub trait Random {
    /// A new random id (UUID v4).
    fn new_id(&self) -> String;

    /// Random bytes that nobody can guess, at least 240 bits of them.
    fn secret_bytes(&self) -> [u8; 32];

    /// A random number from 0 to 1. Good enough to spread retries, not for secrets.
    fn chance(&self) -> f64;
}
