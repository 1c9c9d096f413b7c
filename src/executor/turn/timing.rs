//! The durations of the work of a run, and the spans of that work in the trace of the run.
//!
//! The span that contains a piece of work follows from who polls it: while [`Timing::in_span`] polls a future, requests and work
//! that the future begins are in the span of that future. So work at the same time needs no span to be passed on.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::Turn;
use crate::port::{Clock, Moment, Observation, Observer, Random, SpanId, SpanPlace, Work, WorkEnd};
use crate::trail::Trail;
use a2a::http::trace::TraceContext;
use a2a::model::UnixMillis;

/// The time of the runs of one task, and the trace of the present one.
pub struct Timing {
    observer: Rc<dyn Observer>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    trail: RefCell<Trail>,
    /// The spans of the present run.
    run: Cell<Option<RunSpans>>,
    /// The span of the work that is polled now, if it is not the run's own.
    scope: Cell<Option<SpanId>>,
}

/// The spans of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSpans {
    /// The span of the run.
    pub run: SpanId,
    /// From this id those of the run's work follow. It is the same for all runs that continue each other: work that was under way when
    /// a process ended is one span with the work that goes on, so what the lost process has reported below it has its parent.
    pub turn: SpanId,
}

/// Work that has begun.
#[derive(Clone, Debug)]
pub struct TimedWork {
    at: UnixMillis,
    place: Option<SpanPlace>,
}

impl TimedWork {
    /// The work with the span of the work that it continues.
    #[must_use]
    pub fn following(mut self, before: Option<SpanId>) -> Self {
        if let Some(place) = &mut self.place {
            place.follows = before;
        }
        self
    }

    /// The work in the span of the request that asked for it, instead of the run's.
    #[must_use]
    pub fn in_request(mut self) -> Self {
        if let Some(place) = &mut self.place {
            place.parent = SpanId::parse(place.trace.span_id());
        }
        self
    }

    /// The span of the work.
    fn span(&self) -> Option<SpanId> {
        self.place.as_ref().map(|place| place.id)
    }

    /// The trace for requests that are part of the work.
    pub fn trace(&self) -> Option<TraceContext> {
        self.place.as_ref().map(|place| place.trace.within(&place.id.to_string()))
    }
}

impl Timing {
    /// No run yet.
    pub fn new(observer: Rc<dyn Observer>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Self {
        let (trail, run, scope) = (RefCell::default(), Cell::default(), Cell::default());
        Self { observer, clock, random, trail, run, scope }
    }

    /// Sets the trail of the run that begins, and its spans.
    pub fn follow(&self, trail: Trail, run: Option<RunSpans>) {
        self.trail.replace(trail);
        self.run.set(run);
        self.scope.set(None);
    }

    /// The span of the present run; `None` if it has none.
    pub fn run(&self) -> Option<SpanId> {
        self.run.get().map(|spans| spans.run)
    }

    /// The span of this work of the present run: a kind of work, its key among those of the kind, and how often it was begun in the turn.
    fn span_of(&self, kind: &str, key: &str, nth: u32) -> Option<SpanId> {
        let RunSpans { turn, .. } = self.run.get()?;
        Some(SpanId::of(&[&turn.to_string(), kind, key, &nth.to_string()]))
    }

    /// True if durations are used.
    pub fn is_used(&self) -> bool {
        self.observer.times()
    }

    /// The id of the request that began the run.
    pub fn request(&self) -> Option<String> {
        self.trail.borrow().request.clone()
    }

    /// The trace of the run, for a request of it: within the span of the work that is polled now, or where spans are not recorded, in a new one.
    pub fn trace(&self) -> Option<TraceContext> {
        let trace = self.trail.borrow().trace.clone()?;
        let scope = self.scope.get().or(self.run()).filter(|_| self.records(&trace));
        Some(trace.within(&scope.unwrap_or_else(|| self.new_span()).to_string()))
    }

    /// Work that begins now, with a span of this id, or a new one. `None` if durations are not used.
    pub fn begin(&self, id: Option<SpanId>) -> Option<TimedWork> {
        if !self.is_used() {
            return None;
        }
        let trace = self.trail.borrow().trace.clone().filter(|trace| self.records(trace));
        let place = trace.map(|trace| SpanPlace {
            id: id.unwrap_or_else(|| self.new_span()),
            parent: self.scope.get().or(self.run()).or_else(|| SpanId::parse(trace.span_id())),
            trace: *trace,
            follows: None,
        });
        Some(TimedWork { at: self.clock.now(), place })
    }

    /// As [`begin`](Self::begin), for work with a span that follows from the turn: see [`RunSpans::turn`].
    pub fn begin_work(&self, kind: &str, key: &str, nth: u32) -> Option<TimedWork> {
        if self.is_used() { self.begin(self.span_of(kind, key, nth)) } else { None }
    }

    /// The moment of work that ends now.
    pub fn end(&self, begun: TimedWork) -> Moment {
        Moment { begun: begun.at, ended: self.clock.now(), place: begun.place }
    }

    /// Reports an observation.
    pub fn observe(&self, observation: &Observation<'_>) {
        self.observer.observe(observation);
    }

    /// The span of the work that is polled now, for work that is called from elsewhere later.
    pub fn span(&self) -> Option<SpanId> {
        self.scope.get()
    }

    /// Polls a future in this span; without one, in that of the work that polls it.
    pub async fn in_span<T>(&self, span: Option<SpanId>, mut future: LocalBoxFuture<'_, T>) -> T {
        poll_fn(|context| {
            let outer = self.enter(span);
            let polled = future.as_mut().poll(context);
            self.scope.set(outer);
            polled
        })
        .await
    }

    /// Calls a function in this span.
    pub fn call_in<T>(&self, span: Option<SpanId>, function: impl FnOnce() -> T) -> T {
        let outer = self.enter(span);
        let result = function();
        self.scope.set(outer);
        result
    }

    /// Makes this the span of the work that is polled now. Returns the one before.
    fn enter(&self, span: Option<SpanId>) -> Option<SpanId> {
        let outer = self.scope.get();
        self.scope.set(span.or(outer));
        outer
    }

    fn records(&self, trace: &TraceContext) -> bool {
        trace.is_sampled() && self.is_used()
    }

    fn new_span(&self) -> SpanId {
        SpanId::random(self.random.as_ref())
    }
}

impl Turn {
    /// Work that begins now: a kind of work, its key among those of the kind, and how often it was begun in the turn. `None` if
    /// durations are not used.
    pub(crate) fn begin_timed(&self, kind: &str, key: &str, nth: u32) -> Option<TimedWork> {
        self.run_outside.timing().begin_work(kind, key, nth)
    }

    /// Reports work that has ended.
    pub(crate) fn end_timed(&self, timed: Option<TimedWork>, work: Work<'_>, end: WorkEnd) {
        let Some(timed) = timed else { return };
        let timing = self.run_outside.timing();
        let (agent, task, at) = (&self.agent, &self.task_id, &timing.end(timed));
        timing.observe(&Observation::WorkDone { agent, task, work, end, at });
    }

    /// Polls work that was begun, in its span.
    pub(crate) async fn within<T>(
        &self,
        timed: Option<&TimedWork>,
        future: LocalBoxFuture<'_, T>,
    ) -> T {
        self.run_outside.timing().in_span(timed.and_then(TimedWork::span), future).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join;

    use super::*;
    use crate::port::{Ports, yield_once};
    use crate::twins::MemoryPlatform;

    /// An observer for which durations are measured.
    struct Timed;

    impl Observer for Timed {
        fn observe(&self, _: &Observation<'_>) {}

        fn times(&self) -> bool {
            true
        }
    }

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0";

    /// The timing of a run in a trace, which is recorded if its flag says so.
    fn timing(flag: &str, observer: Rc<dyn Observer>) -> (MemoryPlatform, Timing) {
        let platform = MemoryPlatform::default();
        let Ports { clock, random, .. } = platform.ports();
        let timing = Timing::new(observer, clock, random);
        let trace = TraceContext::read(&format!("{PARENT}{flag}"), None);
        let spans = RunSpans { run: SpanId::of(&["run"]), turn: SpanId::of(&["turn"]) };
        timing.follow(Trail::new(None, trace), Some(spans));
        (platform, timing)
    }

    fn parent(work: Option<TimedWork>) -> Option<SpanId> {
        work?.place?.parent
    }

    #[test]
    fn work_is_in_the_span_of_what_polls_it_also_at_the_same_time() {
        let (platform, timing) = timing("1", Rc::new(Timed));
        let timing = &timing;
        let run = Some(SpanId::of(&["run"]));
        assert_eq!(parent(timing.begin(None)), run);
        let of = |key: &'static str| async move {
            let outer = timing.begin_work("tool", key, 1).unwrap();
            let own = outer.span();
            let inner = timing.in_span(
                own,
                Box::pin(async {
                    let first = parent(timing.begin(None));
                    yield_once().await;
                    (first, parent(timing.begin(None)))
                }),
            );
            assert_eq!(inner.await, (own, own));
            assert_eq!(parent(timing.begin(None)), run, "the span ends with its work");
            own
        };
        let (one, other) = platform.run_until(join(of("1.1"), of("1.2")));
        assert_ne!(one, other);
        let again = timing.begin_work("tool", "1.1", 1).unwrap();
        assert_eq!(again.span(), one, "work that goes on after a crash is the same span");
    }

    #[test]
    fn requests_go_on_with_the_span_of_the_work_that_sends_them() {
        let (_, timing) = timing("1", Rc::new(Timed));
        let work = timing.begin_work("step", "a", 1).unwrap();
        let sent = timing.call_in(work.span(), || timing.trace()).unwrap();
        assert_eq!(sent.span_id(), work.span().unwrap().to_string());
        assert_eq!(timing.trace().unwrap().span_id(), SpanId::of(&["run"]).to_string());
    }

    #[test]
    fn a_trace_that_is_not_recorded_has_durations_and_no_spans() {
        let (_, unrecorded) = timing("0", Rc::new(Timed));
        let work = unrecorded.begin_work("step", "a", 1).expect("durations are used");
        assert_eq!((work.span(), work.trace()), (None, None));
        let unused = Rc::new(MemoryPlatform::default());
        let (_, unused) = timing("1", unused);
        assert!(unused.begin_work("step", "a", 1).is_none());
        let [one, other] = [(); 2].map(|()| unused.trace().unwrap().span_id().to_owned());
        assert_ne!(one, other, "each request is a span that only its server knows");
    }
}
