//! Simulated time: a timer is counted only while it is being awaited.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::LocalBoxFuture;

use super::{Simulation, State};
use crate::model::UnixMillis;
use crate::port::Clock;

impl Clock for Simulation {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.now.get())
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        let due = self.now().after(millis).0;
        Box::pin(Timer { due, is_waited_for: false, state: Rc::clone(&self.0) })
    }
}

struct Timer {
    due: i64,
    is_waited_for: bool,
    state: Rc<State>,
}

impl Timer {
    fn forget(&mut self) {
        if !std::mem::take(&mut self.is_waited_for) {
            return;
        }
        let mut timers = self.state.timers.borrow_mut();
        if let Some(count) = timers.get_mut(&self.due) {
            *count -= 1;
            if *count == 0 {
                timers.remove(&self.due);
            }
        }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.state.now.get() >= self.due {
            self.forget();
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut self.is_waited_for, true) {
            *self.state.timers.borrow_mut().entry(self.due).or_default() += 1;
        }
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.forget();
    }
}

/// A waker that records that it was woken.
#[derive(Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    /// True if the flag was woken since the last call.
    pub(super) fn was_woken(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn flag() -> (Arc<Flag>, Waker) {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(Arc::clone(&flag));
    (flag, waker)
}
