//! Limits the number of requests of a run that wait for the head of their answer at the same time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures_util::future::LocalBoxFuture;

use crate::port::{Http, HttpAnswer, HttpError, HttpRequest};

/// Sends requests, of which at most [`AT_ONCE`] wait for the head of their answer; further requests are queued in their order. An answer
/// whose head has arrived does not count. The platform allows an object six such connections; it would queue a seventh while
/// the request's timeout runs.
pub(super) struct Connections {
    http: Rc<dyn Http>,
    gate: Rc<Gate>,
}

impl Connections {
    pub(super) fn new(http: Rc<dyn Http>) -> Self {
        Self { http, gate: Rc::default() }
    }
}

impl Http for Connections {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        if let Some(permit) = Gate::enter(&self.gate) {
            let answer = self.http.send(request);
            return Box::pin(async move {
                let answer = answer.await;
                drop(permit);
                answer
            });
        }
        let (http, gate) = (self.http.clone(), self.gate.clone());
        Box::pin(async move {
            let _permit = Gate::wait(&gate).await;
            http.send(request).await
        })
    }
}

/// A semaphore with [`AT_ONCE`] permits.
#[derive(Default)]
struct Gate(RefCell<State>);

#[derive(Default)]
struct State {
    inside: usize,
    /// The waiting requests, oldest first.
    waiting: VecDeque<Ticket>,
    next: u64,
}

struct Ticket {
    number: u64,
    waker: Waker,
}

impl Gate {
    /// A permit without waiting, if a permit is free and no request waits.
    fn enter(gate: &Rc<Self>) -> Option<Permit> {
        let mut state = gate.0.borrow_mut();
        if state.inside >= AT_ONCE || !state.waiting.is_empty() {
            return None;
        }
        state.inside += 1;
        Some(Permit(gate.clone()))
    }

    /// Waits for a permit.
    async fn wait(gate: &Rc<Self>) -> Permit {
        let mut place = Place { gate: gate.clone(), number: None };
        poll_fn(|context| place.poll(context.waker())).await
    }
}

/// A place in the queue. Dropping the value leaves the queue.
struct Place {
    gate: Rc<Gate>,
    number: Option<u64>,
}

impl Place {
    fn poll(&mut self, waker: &Waker) -> Poll<Permit> {
        let mut state = self.gate.0.borrow_mut();
        let state = &mut *state;
        let number = *self.number.get_or_insert_with(|| {
            state.next += 1;
            state.waiting.push_back(Ticket { number: state.next, waker: waker.clone() });
            state.next
        });
        let is_first = state.waiting.front().is_some_and(|first| first.number == number);
        if is_first && state.inside < AT_ONCE {
            state.waiting.pop_front();
            state.inside += 1;
            self.number = None;
            // More than one permit may be free.
            state.wake_first();
            return Poll::Ready(Permit(self.gate.clone()));
        }
        if let Some(own) = state.waiting.iter_mut().find(|known| known.number == number) {
            own.waker.clone_from(waker);
        }
        Poll::Pending
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.gate.0.borrow_mut();
        state.waiting.retain(|known| known.number != number);
        state.wake_first();
    }
}

/// A permit. Dropping it lets the next request through.
struct Permit(Rc<Gate>);

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.0.borrow_mut();
        state.inside -= 1;
        state.wake_first();
    }
}

impl State {
    fn wake_first(&self) {
        if let Some(first) = self.waiting.front().filter(|_| self.inside < AT_ONCE) {
            first.waker.wake_by_ref();
        }
    }
}

/// The number of permits. Two of the platform's six connections are left for the rest of the object.
const AT_ONCE: usize = 4;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_executor::block_on;
    use futures_util::StreamExt;
    use futures_util::future::{join, join_all};
    use futures_util::stream::FuturesUnordered;

    use super::*;
    use crate::port::yield_once;
    use a2a::http::HttpBody;

    /// Servers that answer after a while, and count.
    #[derive(Clone, Default)]
    struct Slow {
        inside: Rc<Cell<usize>>,
        most: Rc<Cell<usize>>,
        begun: Rc<RefCell<Vec<String>>>,
    }

    impl Http for Slow {
        fn send(
            &self,
            request: HttpRequest,
        ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
            let slow = self.clone();
            Box::pin(async move {
                slow.begun.borrow_mut().push(request.url.clone());
                slow.inside.set(slow.inside.get() + 1);
                slow.most.set(slow.most.get().max(slow.inside.get()));
                for _ in 0..3 {
                    yield_once().await;
                }
                slow.inside.set(slow.inside.get() - 1);
                Ok(HttpAnswer {
                    status: 200,
                    headers: Vec::new(),
                    body: HttpBody::Empty,
                    url: request.url,
                })
            })
        }
    }

    fn requests(count: usize) -> impl Iterator<Item = HttpRequest> {
        (0..count).map(|number| HttpRequest::get(number.to_string()))
    }

    #[test]
    fn a_few_requests_wait_at_a_time_and_the_others_go_in_their_order() {
        let slow = Slow::default();
        let connections = Connections::new(Rc::new(slow.clone()));
        let all = join_all(requests(20).map(|request| connections.send(request)));
        let answers = block_on(all);
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(slow.most.get(), AT_ONCE);
        let order: Vec<String> = requests(20).map(|request| request.url).collect();
        assert_eq!(*slow.begun.borrow(), order);
    }

    #[test]
    fn an_answer_whose_body_is_read_keeps_nobody_waiting() {
        let connections = Connections::new(Rc::new(Slow::default()));
        let mut kept = Vec::new();
        for request in requests(3 * AT_ONCE) {
            kept.push(block_on(connections.send(request)).unwrap());
        }
        assert_eq!(kept.len(), 3 * AT_ONCE);
    }

    #[test]
    fn one_who_gives_up_while_it_waits_holds_nobody_up() {
        let slow = Slow::default();
        let connections = Connections::new(Rc::new(slow.clone()));
        let given_up = async {
            let mut waiting: FuturesUnordered<_> =
                requests(3 * AT_ONCE).map(|request| connections.send(request)).collect();
            // After the first answer, drop all other requests: those with a permit and those in the queue.
            let first = waiting.next().await;
            drop(waiting);
            first.is_some()
        };
        let (_, answers) = block_on(join(
            given_up,
            join_all(requests(2).map(|request| connections.send(request))),
        ));
        assert!(answers.iter().all(Result::is_ok));
        let last = join_all(requests(AT_ONCE).map(|request| connections.send(request)));
        assert_eq!(block_on(last).len(), AT_ONCE, "nobody inside was forgotten");
    }
}
