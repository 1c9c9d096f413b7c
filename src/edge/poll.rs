//! Polls futures once when they are created. A future that does not wait then needs no promise and no turn of the event
//! loop, each of which costs more than most computations here.

use std::future::{Future, pending};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

/// Polls a future once. Returns its output if it is ready.
///
/// # Errors
///
/// The rest of the future, which the caller has to poll to its end.
pub(super) fn poll_now<T: 'static>(
    future: impl Future<Output = T> + 'static,
) -> Result<T, LocalBoxFuture<'static, T>> {
    // The set has a waker of its own, which stays the same when another task polls the rest. Some futures, such as the
    // delays of the `worker` crate, keep the waker of their first poll.
    let mut begun: FuturesUnordered<_> = [future].into_iter().collect();
    match begun.next().now_or_never() {
        Some(Some(output)) => Ok(output),
        Some(None) | None => Err(Box::pin(async move {
            match begun.next().await {
                Some(output) => output,
                None => pending().await,
            }
        })),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::task::{Poll, Waker};

    use futures_executor::block_on;
    use futures_util::future::{join, poll_fn};

    use super::*;
    use crate::port::yield_once;

    #[test]
    fn a_future_that_does_not_wait_is_over_at_once() {
        assert_eq!(poll_now(async { 7 }).ok(), Some(7));
    }

    #[test]
    fn one_that_waits_goes_on_where_its_rest_is_polled() {
        let rest = poll_now(async {
            yield_once().await;
            yield_once().await;
            7
        });
        assert_eq!(block_on(rest.expect_err("it waits")), 7);
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
        let rest = poll_now(keeps_first_waker).expect_err("it waits");
        let wake = async {
            yield_once().await;
            if let Some(waker) = kept.take() {
                waker.wake();
            }
        };
        assert_eq!(block_on(join(rest, wake)).0, 7);
    }
}
