//! Futures that are polled at the same time.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;

/// Waits for futures at the same time. Returns their outputs, in the order of the futures.
///
/// The functions of `futures_util` that do this are compiled for each type of future, 2 KB each. Here only the futures are.
pub(crate) fn join_all<'a, T: 'a>(
    futures: impl IntoIterator<Item = impl Future<Output = T> + 'a>,
) -> LocalBoxFuture<'a, Vec<T>> {
    join_some(usize::MAX, futures)
}

/// Like [`join_all`], of which at most `at_once` futures have begun and not ended at any time.
pub(crate) fn join_some<'a, T: 'a>(
    at_once: usize,
    futures: impl IntoIterator<Item = impl Future<Output = T> + 'a>,
) -> LocalBoxFuture<'a, Vec<T>> {
    let outputs: Rc<RefCell<Vec<Option<T>>>> = Rc::default();
    let mut jobs: Vec<LocalBoxFuture<'a, ()>> = Vec::new();
    for future in futures {
        let (at, all) = (jobs.len(), outputs.clone());
        jobs.push(Box::pin(async move {
            let output = future.await;
            if let Some(place) = all.borrow_mut().get_mut(at) {
                *place = Some(output);
            }
        }));
    }
    outputs.borrow_mut().resize_with(jobs.len(), || None);
    Box::pin(async move {
        run(jobs, at_once).await;
        outputs.take().into_iter().flatten().collect()
    })
}

/// Polls jobs to their ends, at most `at_once` of them at a time.
async fn run(jobs: Vec<LocalBoxFuture<'_, ()>>, at_once: usize) {
    let mut waiting = jobs.into_iter();
    let mut begun: FuturesUnordered<_> = waiting.by_ref().take(at_once).collect();
    while begun.next().await.is_some() {
        begun.extend(waiting.next());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_executor::block_on;

    use super::*;
    use crate::port::yield_once;

    #[test]
    fn outputs_are_in_the_order_of_the_futures() {
        let job = async |number: usize| {
            for _ in number..5 {
                yield_once().await;
            }
            number
        };
        assert_eq!(block_on(join_all((0..5).map(job))), [0, 1, 2, 3, 4]);
        assert_eq!(block_on(join_all((0..0).map(job))), [0; 0]);
    }

    #[test]
    fn at_most_so_many_have_begun_and_all_end() {
        let (now, most) = (Cell::new(0), Cell::new(0));
        let job = |_| async {
            now.set(now.get() + 1);
            most.set(now.get().max(most.get()));
            yield_once().await;
            now.set(now.get() - 1);
        };
        assert_eq!(block_on(join_some(3, (0..10).map(job))).len(), 10);
        assert_eq!((now.get(), most.get()), (0, 3));
    }
}
