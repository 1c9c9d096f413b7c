//! The clock, and timers.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use worker::{Date, Delay};

use crate::port::Clock;
use a2a::model::UnixMillis;

/// The clock of the Workers runtime.
#[derive(Clone, Copy)]
pub(in crate::edge) struct WorkerClock;

impl Clock for WorkerClock {
    fn now(&self) -> UnixMillis {
        now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        Box::pin(Delay::from(Duration::from_millis(millis)))
    }
}

/// The present instant. It advances only while waiting.
pub(in crate::edge) fn now() -> UnixMillis {
    let millis = Date::now().as_millis();
    UnixMillis(i64::try_from(millis).unwrap_or(i64::MAX))
}
