//! The requests of a run to other servers belong to the trace of the message that began the run.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::executor::{TimedWork, Timing};
use crate::port::{Http, HttpAnswer, HttpError, HttpRequest, Observation};
use crate::push::host_of;
use a2a::http::trace::TraceContext;
use a2a::model::TaskId;

/// Sends the requests of a run to other servers, with the headers of the run's trace if it has one.
pub(super) struct Tracing {
    http: Rc<dyn Http>,
    of: Rc<Traced>,
}

/// What all requests of the runs of a task share.
pub(super) struct Traced {
    pub(super) timing: Timing,
    task: TaskId,
    agent: RefCell<String>,
}

impl Traced {
    /// For the runs of this task.
    pub(super) fn new(timing: Timing, task: TaskId) -> Self {
        Self { timing, task, agent: RefCell::default() }
    }

    /// Sets the agent of the run that begins.
    pub(super) fn follow(&self, agent: &str) {
        agent.clone_into(&mut self.agent.borrow_mut());
    }

    fn observe(&self, begun: TimedWork, method: &str, url: &str, status: Option<u16>) {
        let (task, at, agent) = (&self.task, &self.timing.end(begun), self.agent.borrow());
        let (agent, host) = (agent.as_str(), host_of(url));
        let observation = Observation::HttpRequested { agent, task, method, host, status, at };
        self.timing.observe(&observation);
    }
}

impl Tracing {
    /// Sends through `http`.
    pub(super) fn new(http: Rc<dyn Http>, of: Rc<Traced>) -> Self {
        Self { http, of }
    }
}

impl Http for Tracing {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let begun = self.of.timing.begin(None);
        let trace = begun.as_ref().and_then(TimedWork::trace).or_else(|| self.of.timing.trace());
        let request = match trace {
            Some(trace) => traced(request, &trace),
            None => request,
        };
        let Some(begun) = begun else { return self.http.send(request) };
        let (of, method, url) = (self.of.clone(), request.method, request.url.clone());
        let sent = self.http.send(request);
        Box::pin(async move {
            let answer = sent.await;
            of.observe(begun, method, &url, answer.as_ref().ok().map(|answer| answer.status));
            answer
        })
    }
}

/// Adds the headers of the trace, unless the executor has set such headers itself.
fn traced(request: HttpRequest, trace: &TraceContext) -> HttpRequest {
    let names_one = |(name, _): &(String, String)| {
        ["traceparent", "tracestate"].iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    if request.headers.iter().any(names_one) {
        return request;
    }
    trace.headers().fold(request, |request, (name, value)| request.with_header(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Ports;
    use crate::trail::Trail;
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
        let Ports { observer, clock, random, .. } = platform.ports();
        let timing = Timing::new(observer, clock, random);
        timing.follow(Trail::new(None, trace), None);
        let traced = Traced::new(timing, TaskId::new("t").unwrap());
        let tracing = Tracing::new(Rc::new(http), Rc::new(traced));
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
