//! The clock, and timers.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::*;

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
        Box::pin(Sleep { until: now().after(millis), timer: None })
    }
}

/// The current instant. The platform's clock advances only while the code waits.
pub(in crate::edge) fn now() -> UnixMillis {
    // A whole number of milliseconds, far below 2^53.
    UnixMillis(js_sys::Date::now() as i64)
}

/// Completes at an instant.
///
/// The timer is set at the first poll, so a sleep that is never polled costs nothing. Unlike `worker::Delay`, a sleep
/// wakes the future that polled it last: different futures may poll the same sleep.
struct Sleep {
    until: UnixMillis,
    timer: Option<Timer>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        let timer = self.timer.get_or_insert_with(|| Timer::set(until.millis_since(now())));
        timer.poll(context.waker())
    }
}

/// A timer of the platform. Dropping this clears the timer.
struct Timer {
    id: f64,
    state: Rc<TimerState>,
    /// The callback for the platform.
    _ring: Closure<dyn FnMut()>,
}

#[derive(Default)]
struct TimerState {
    has_rung: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Timer {
    /// Sets a timer that fires after this time, but no later than after [`LONGEST_MS`].
    fn set(millis: u64) -> Self {
        let state = Rc::new(TimerState::default());
        let ringing = state.clone();
        let ring = move || {
            ringing.has_rung.set(true);
            if let Some(waker) = ringing.waker.take() {
                waker.wake();
            }
        };
        let ring = Closure::wrap(Box::new(ring) as Box<dyn FnMut()>);
        let id = set_timeout(&ring, millis.min(LONGEST_MS) as f64);
        Self { id, state, _ring: ring }
    }

    fn poll(&self, waker: &Waker) -> Poll<()> {
        if self.state.has_rung.get() {
            return Poll::Ready(());
        }
        let mut known = self.state.waker.borrow_mut();
        match &mut *known {
            Some(known) => known.clone_from(waker),
            None => *known = Some(waker.clone()),
        }
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if !self.state.has_rung.get() {
            clear_timeout(self.id);
        }
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(ring: &Closure<dyn FnMut()>, millis: f64) -> f64;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(id: f64);
}

/// The longest time that a timer of the platform accepts, in milliseconds. A longer timer would fire at once.
const LONGEST_MS: u64 = i32::MAX as u64;
