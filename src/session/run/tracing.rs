//! The requests of a run to other servers belong to the trace of the message that began the run.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::port::{Http, HttpAnswer, HttpError, HttpRequest, Random};
use crate::trail::Trail;
use a2a::http::trace::TraceContext;

/// Sends the requests of a run to other servers, with the headers of the run's trace if it has one.
pub(super) struct Tracing {
    http: Rc<dyn Http>,
    random: Rc<dyn Random>,
    trail: RefCell<Trail>,
}

impl Tracing {
    /// A sender without a trace.
    pub(super) fn new(http: Rc<dyn Http>, random: Rc<dyn Random>) -> Self {
        Self { http, random, trail: RefCell::default() }
    }

    /// Sets the trail of the run that begins.
    pub(super) fn follow(&self, trail: Trail) {
        self.trail.replace(trail);
    }

    /// The id of the request that began the run.
    pub(super) fn request(&self) -> Option<String> {
        self.trail.borrow().request.clone()
    }

    /// The trace of the run with a new span.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        let trace = self.trail.borrow().trace.clone();
        trace.map(|trace| trace.within(&span(self.random.as_ref())))
    }

    /// A sender with the same trail that sends through `http`.
    pub(super) fn over(&self, http: Rc<dyn Http>) -> Self {
        let trail = self.trail.borrow().clone();
        Self { http, random: self.random.clone(), trail: RefCell::new(trail) }
    }
}

impl Http for Tracing {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let trace = self.trail.borrow().trace.clone();
        match trace {
            Some(trace) => self.http.send(traced(request, &trace, self.random.as_ref())),
            None => self.http.send(request),
        }
    }
}

/// Adds the headers of the trace, with a new span, unless the executor has set such headers itself.
fn traced(request: HttpRequest, trace: &TraceContext, random: &dyn Random) -> HttpRequest {
    let names_one = |(name, _): &(String, String)| {
        ["traceparent", "tracestate"].iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    if request.headers.iter().any(names_one) {
        return request;
    }
    trace
        .within(&span(random))
        .headers()
        .fold(request, |request, (name, value)| request.with_header(name, value))
}

/// A new span id: 16 hex digits.
pub(in crate::session) fn span(random: &dyn Random) -> String {
    let [a, b, c, d, e, f, g, h, ..] = random.secret_bytes();
    format!("{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twins::MemoryPlatform;
    use a2a::http::memory::{MemoryHttp, ok};

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// The headers with which two requests arrive.
    fn sent(
        trace: Option<TraceContext>,
        request: impl Fn() -> HttpRequest,
    ) -> [Vec<(String, String)>; 2] {
        let platform = MemoryPlatform::default();
        let http = MemoryHttp::default();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let noted = seen.clone();
        http.answer_with(move |request, _| {
            noted.borrow_mut().push(request.headers.clone());
            Ok(ok(""))
        });
        let tracing = Tracing::new(Rc::new(http), platform.ports().random);
        tracing.follow(Trail::new(None, trace));
        for _ in 0..2 {
            platform.run_until(tracing.send(request())).expect("an answer");
        }
        let seen: Vec<_> = seen.borrow().clone();
        seen.try_into().expect("two requests")
    }

    #[test]
    fn each_request_is_a_span_of_its_own_in_the_trace_of_the_run() {
        let trace = TraceContext::read(PARENT, Some("a=1"));
        let both = sent(trace, || HttpRequest::get("https://a.example/").with_header("x", "y"));
        let parents = both.map(|headers| {
            assert_eq!(headers[0], ("x".to_owned(), "y".to_owned()));
            assert_eq!(headers[2], ("tracestate".to_owned(), "a=1".to_owned()));
            let (name, parent) = headers[1].clone();
            assert_eq!(name, "traceparent");
            assert!(
                parent.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-")
                    && parent.ends_with("-01"),
                "{parent}"
            );
            parent
        });
        assert_ne!(parents[0], parents[1]);
        assert!(!parents.contains(&PARENT.to_owned()));
    }

    #[test]
    fn without_a_trace_none_is_made_and_that_of_an_agent_is_kept() {
        for headers in sent(None, || HttpRequest::get("https://a.example/")) {
            assert_eq!(headers, []);
        }
        let trace = TraceContext::read(PARENT, None);
        for headers in
            sent(trace, || HttpRequest::get("https://a.example/").with_header("Traceparent", "own"))
        {
            assert_eq!(headers, [("Traceparent".to_owned(), "own".to_owned())]);
        }
    }
}
