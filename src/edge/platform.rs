//! Time, timers, background work and identifiers inside a task object.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use uuid::Uuid;
use worker::{Date, Delay, Env, State, console_error};

use super::counters::D1Counters;
use super::followers;
use crate::model::UnixMillis;
use crate::port::Platform;
use crate::tool::Counters;

/// The platform of one task object.
pub(super) struct ObjectPlatform {
    state: Rc<State>,
    counters: D1Counters,
}

impl ObjectPlatform {
    pub(super) fn new(state: Rc<State>, env: Env) -> Self {
        Self { state, counters: D1Counters { env } }
    }
}

impl Platform for ObjectPlatform {
    fn now(&self) -> UnixMillis {
        let millis = Date::now().as_millis();
        UnixMillis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        Box::pin(Delay::from(Duration::from_millis(millis)))
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.state.wait_until(future);
    }

    fn new_id(&self) -> String {
        Uuid::new_v4().to_string()
    }

    fn counters(&self) -> &dyn Counters {
        &self.counters
    }

    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool) {
        followers::publish(&self.state, frame, is_over);
    }

    fn log_error(&self, text: &str) {
        console_error!("{text}");
    }
}
