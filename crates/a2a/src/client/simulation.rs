//! Time and servers in memory, for tests: time moves when everybody waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;

use super::Ports;
use crate::http::memory::MemoryHttp;
use crate::model::UnixMillis;
use crate::port::{Clock, Random};

/// A machine in memory. Clones share it.
#[derive(Clone, Default)]
pub struct Simulation(Rc<State>);

#[derive(Default)]
struct State {
    http: MemoryHttp,
    now: Cell<i64>,
    /// The instants of timers, and how many each has.
    timers: RefCell<BTreeMap<i64, usize>>,
    ids: Cell<u64>,
}

impl Simulation {
    /// The other servers.
    pub fn http(&self) -> &MemoryHttp {
        &self.0.http
    }

    /// What a client gets of this machine.
    pub fn ports(&self) -> Ports {
        let http = Rc::new(self.0.http.clone());
        Ports { http, clock: Rc::new(self.clone()), random: Rc::new(self.clone()) }
    }

    /// Runs a future to its end. Whenever it waits, time moves on to the next timer.
    ///
    /// # Panics
    ///
    /// If it waits for something that is no timer.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            let next = self.0.timers.borrow().keys().next().copied();
            let Some(next) = next else { panic!("it waits for ever") };
            self.0.now.set(self.0.now.get().max(next));
        }
    }
}

impl Clock for Simulation {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.now.get())
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        let due = self.now().after(millis).0;
        *self.0.timers.borrow_mut().entry(due).or_default() += 1;
        Box::pin(Timer { due, state: Rc::clone(&self.0) })
    }
}

struct Timer {
    due: i64,
    state: Rc<State>,
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.state.now.get() >= self.due { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut timers = self.state.timers.borrow_mut();
        if let Some(count) = timers.get_mut(&self.due) {
            *count -= 1;
            if *count == 0 {
                timers.remove(&self.due);
            }
        }
    }
}

impl Random for Simulation {
    fn new_id(&self) -> String {
        self.0.ids.set(self.0.ids.get() + 1);
        format!("00000000-0000-4000-8000-{:012x}", self.0.ids.get())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        [7; 32]
    }

    fn chance(&self) -> f64 {
        0.5
    }
}
