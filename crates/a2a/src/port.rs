//! The services that this crate needs from its platform, in addition to [`Http`](crate::http::Http): time and random
//! numbers.

use futures_util::future::LocalBoxFuture;

use crate::model::{UnixMillis, Uuid};

/// The present time, and timers.
pub trait Clock {
    /// The present instant. On some platforms it advances only while the program waits.
    fn now(&self) -> UnixMillis;

    /// Completes `millis` milliseconds after this call. Dropping the future cancels the timer, and a future that is never
    /// polled starts no timer. The timer wakes the task of the latest poll.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;
}

/// Unpredictable identifiers, secrets and numbers.
pub trait Random {
    /// A new random id (UUID v4).
    fn new_id(&self) -> Uuid;

    /// Unpredictable random bytes, with at least 240 bits of entropy.
    fn secret_bytes(&self) -> [u8; 32];

    /// A random number from 0 to 1. Suitable for spreading retries, not for secrets.
    fn chance(&self) -> f64;
}
