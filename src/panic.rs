//! Panics end the call in which they occur, and nothing else.
//!
//! The Worker is compiled with `panic = "abort"`: a panic stops the WebAssembly code, and control returns to the JavaScript
//! that called it. [`catch`] calls through JavaScript (`js/panic.js`), so its caller continues. Compiled code that unwinds
//! would be 30 % larger, and needs a nightly compiler.
//!
//! The values on the stack of the stopped call are not dropped. Their memory is lost, and a `RefCell` that they had
//! borrowed stays borrowed, so nobody sees a change that is half done. What follows:
//!
//! - A future that has panicked is neither polled nor dropped again ([`Catching`]).
//! - An executor that panics fails its task. A panic elsewhere in a task object restarts the object, as a crash does; other
//!   objects are not affected (`scripts/shim/shim.js`, `src/edge/object/platform.rs`).
//! - Values of the instance are changed by [`Shared::change`], which notices a panic during the change. The instance is then
//!   replaced before its next event.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::LocalKey;

use futures_util::future::LocalBoxFuture;

/// A call has panicked. The log has the message of the panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Calls a function that may panic.
///
/// # Errors
///
/// [`Panicked`]. What the function owned is then lost, and what it had borrowed from a `RefCell` stays borrowed.
pub(crate) fn catch<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    let mut call = Some(call);
    let mut output = None;
    let is_done = ATTEMPT.get()(&mut || output = call.take().map(|call| call()));
    output.filter(|_| is_done).ok_or(Panicked)
}

/// A future that resolves to [`Panicked`] if a poll of the inner future panics.
pub(crate) struct Catching<'a, T>(Option<LocalBoxFuture<'a, T>>);

impl<'a, T> Catching<'a, T> {
    /// Wraps a future.
    pub(crate) fn new(future: LocalBoxFuture<'a, T>) -> Self {
        Self(Some(future))
    }
}

impl<T> Future for Catching<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = self.0.as_mut() else { return Poll::Ready(Err(Panicked)) };
        match catch(|| future.as_mut().poll(context)) {
            Ok(polled) => polled.map(Ok),
            Err(panicked) => {
                // The values that the poll has moved out of the future would be dropped twice.
                std::mem::forget(self.0.take());
                Poll::Ready(Err(panicked))
            }
        }
    }
}

/// A value of the instance.
pub(crate) trait Shared<T> {
    /// Changes the value. If `change` panics, the value cannot be used any more, and [`is_broken`] is true from then on.
    fn change<R>(&'static self, change: impl FnOnce(&mut T) -> R) -> R;
}

impl<T> Shared<T> for LocalKey<RefCell<T>> {
    #[allow(clippy::disallowed_methods, reason = "this is the method to use instead")]
    fn change<R>(&'static self, change: impl FnOnce(&mut T) -> R) -> R {
        CHANGES.set(CHANGES.get() + 1);
        let output = self.with_borrow_mut(change);
        CHANGES.set(CHANGES.get() - 1);
        output
    }
}

/// True if a panic has occurred during a change of a value of the instance. Valid while no Rust function is running.
pub(crate) fn is_broken() -> bool {
    CHANGES.get() > 0
}

/// Calls a function that may panic; returns false if it has panicked.
type Attempt = fn(&mut dyn FnMut()) -> bool;

/// Has [`catch`] call by this function from now on. Code that cannot unwind needs one.
pub(crate) fn catch_by(attempt: Attempt) {
    ATTEMPT.set(attempt);
}

thread_local! {
    /// The number of changes that have begun and not ended.
    static CHANGES: Cell<u32> = const { Cell::new(0) };

    /// How calls are tried: unless set, by unwinding.
    static ATTEMPT: Cell<Attempt> =
        const { Cell::new(|call| catch_unwind(AssertUnwindSafe(call)).is_ok()) };
}

#[cfg(test)]
#[allow(clippy::panic, reason = "panics are what is tested")]
mod tests {
    use std::rc::Rc;

    use futures_executor::block_on;

    use super::*;
    use crate::port::yield_once;

    #[test]
    fn a_call_that_panics_is_an_error_and_its_caller_continues() {
        assert_eq!(catch(|| 7), Ok(7));
        assert_eq!(catch(|| panic!("a test")), Err::<(), _>(Panicked));
    }

    #[test]
    fn a_future_that_panics_is_neither_polled_nor_dropped_again() {
        let held = Rc::new(());
        let kept = held.clone();
        let mut future = Box::pin(Catching::new(Box::pin(async move {
            let _kept = kept;
            yield_once().await;
            panic!("a test")
        })));
        assert_eq!(block_on(future.as_mut()), Err::<(), _>(Panicked));
        assert_eq!(block_on(future.as_mut()), Err(Panicked));
    }

    #[test]
    fn a_future_that_does_not_panic_gives_its_output() {
        let future = Catching::new(Box::pin(async {
            yield_once().await;
            7
        }));
        assert_eq!(block_on(future), Ok(7));
    }

    #[test]
    fn a_panic_during_a_change_of_the_instance_is_noticed() {
        thread_local! {
            static VALUE: RefCell<u32> = const { RefCell::new(0) };
        }
        VALUE.change(|value| *value += 1);
        assert!(!is_broken());
        assert!(catch(|| VALUE.change(|_| panic!("a test"))).is_err());
        assert!(is_broken());
    }
}
