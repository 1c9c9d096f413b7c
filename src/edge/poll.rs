//! Polls futures once when they are created. A future that does not wait then needs no promise and no turn of the event
//! loop, each of which costs more than most computations here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::LocalBoxFuture;
use futures_util::task::AtomicWaker;

/// Polls a future once. Returns its output if it is ready.
///
/// # Errors
///
/// The rest of the future, which the caller has to poll to its end.
pub(super) fn poll_now<T: 'static>(
    mut future: LocalBoxFuture<'static, T>,
) -> Result<T, LocalBoxFuture<'static, T>> {
    let relay = Arc::new(Relay::default());
    let waker = Waker::from(relay.clone());
    match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(Box::pin(Rest { future, relay, waker })),
    }
}

/// Wakes the task that polls the rest of a future. The future's waker stays the same when another task polls the rest: some
/// futures, such as the delays of the `worker` crate, keep the waker of their first poll.
#[derive(Default)]
struct Relay {
    task: AtomicWaker,
    /// True if the future has something to do.
    is_woken: AtomicBool,
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

/// A future that was polled once.
struct Rest<T> {
    future: LocalBoxFuture<'static, T>,
    relay: Arc<Relay>,
    waker: Waker,
}

impl<T> Future for Rest<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let rest = self.get_mut();
        rest.relay.task.register(context.waker());
        // The task that polls the rest begins with a poll, which the future does not need unless it was woken since its own first.
        if !rest.relay.is_woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        rest.future.as_mut().poll(&mut Context::from_waker(&rest.waker))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::task::{Poll, Waker};

    use futures_executor::block_on;
    use futures_util::future::{join, poll_fn};

    use super::*;
    use crate::port::yield_once;

    #[test]
    fn a_future_that_does_not_wait_is_over_at_once() {
        assert_eq!(poll_now(Box::pin(async { 7 })).ok(), Some(7));
    }

    #[test]
    fn one_that_waits_goes_on_where_its_rest_is_polled() {
        let rest = poll_now(Box::pin(async {
            yield_once().await;
            yield_once().await;
            7
        }));
        assert_eq!(block_on(rest.expect_err("it waits")), 7);
    }

    #[test]
    fn a_future_that_was_not_woken_is_not_polled_again() {
        let polls = Rc::new(Cell::new(0));
        let (count, kept) = (polls.clone(), Rc::new(RefCell::new(None::<Waker>)));
        let waker = kept.clone();
        let waiting = poll_fn(move |context| {
            count.set(count.get() + 1);
            *waker.borrow_mut() = Some(context.waker().clone());
            if count.get() == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut rest = poll_now(Box::pin(waiting)).expect_err("it waits");
        let mut context = Context::from_waker(Waker::noop());
        assert!(rest.as_mut().poll(&mut context).is_pending());
        assert_eq!(polls.get(), 1);
        kept.take().unwrap().wake();
        assert!(rest.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn the_waker_of_the_first_poll_wakes_the_rest() {
        let kept: Rc<RefCell<Option<Waker>>> = Rc::default();
        let first = kept.clone();
        let mut is_over = false;
        let keeps_first_waker = poll_fn(move |context| {
            first.borrow_mut().get_or_insert_with(|| context.waker().clone());
            if std::mem::replace(&mut is_over, true) { Poll::Ready(7) } else { Poll::Pending }
        });
        let rest = poll_now(Box::pin(keeps_first_waker)).expect_err("it waits");
        let wake = async {
            yield_once().await;
            if let Some(waker) = kept.take() {
                waker.wake();
            }
        };
        assert_eq!(block_on(join(rest, wake)).0, 7);
    }
}
