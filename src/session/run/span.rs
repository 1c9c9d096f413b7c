//! The span of a run, and of a run that its process has lost.

use super::super::TaskSession;
use crate::executor::{RunSpans, TimedWork};
use crate::port::{Moment, Observation, SpanId, SpanPlace};
use crate::task::{LogEntry, RunStart};
use a2a::model::UnixMillis;

/// What of the log tells apart the times at which runs of a task were in memory. The id of a run's span follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct RunKey {
    message: usize,
    attempt: u32,
    begun_ms: i64,
}

impl RunKey {
    /// The key of the run with this start.
    pub(in crate::session) fn of(start: &RunStart) -> Self {
        Self { message: start.message, attempt: start.attempt, begun_ms: start.begun_ms }
    }

    /// The run, if it is an earlier part of the turn of the run `self`.
    pub(in crate::session) fn before(self, before: Option<Self>) -> Option<Self> {
        before.filter(|before| before.message == self.message && *before != self)
    }

    /// The spans of the run, for the task of this object.
    pub(super) fn spans(self, resumes: bool, object: &str) -> RunSpans {
        // Runs that begin anew do their work again; those that resume go on with it.
        let attempt = if resumes { 1 } else { self.attempt };
        let numbers = [self.message.to_string(), attempt.to_string()];
        let turn = SpanId::of(&[object, "turn", &numbers[0], &numbers[1]]);
        RunSpans { run: self.span(object), turn }
    }

    /// The id of the run's span, for the task of this object.
    pub(in crate::session) fn span(self, object: &str) -> SpanId {
        let Self { message, attempt, begun_ms } = self;
        let numbers = [message.to_string(), attempt.to_string(), begun_ms.to_string()];
        SpanId::of(&[object, &numbers[0], &numbers[1], &numbers[2]])
    }
}

/// Reports the run that has ended.
pub(super) fn observe_end(
    session: &TaskSession,
    begun: TimedWork,
    agent: &str,
    attempt: u32,
    ending: &'static str,
) {
    let at = &session.outside.end(begun);
    observe(session, agent, attempt, ending, at);
}

/// Reports a run whose process has ended: the last one of the log.
#[cold]
pub(super) fn observe_loss(session: &TaskSession, log: &[LogEntry]) {
    let mut starts = log.iter().rev().filter_map(|entry| match entry {
        LogEntry::Run(start) => Some(start),
        _ => None,
    });
    let (Some(lost), before) = (starts.next(), starts.next()) else { return };
    let Some(facts) = session.life.facts() else { return };
    let trace = lost.request.trail.trace.as_deref().filter(|trace| trace.is_sampled());
    let (key, object) = (RunKey::of(lost), session.object());
    let place = trace.map(|trace| SpanPlace {
        trace: trace.clone(),
        id: key.span(object),
        parent: SpanId::parse(trace.span_id()),
        follows: key.before(before.map(RunKey::of)).map(|before| before.span(object)),
    });
    let at = Moment { begun: UnixMillis(lost.begun_ms), ended: session.now(), place };
    observe(session, &facts.agent, lost.attempt, "interrupted", &at);
}

fn observe(session: &TaskSession, agent: &str, attempt: u32, ending: &'static str, at: &Moment) {
    let known = session.life.with_task(|task| {
        (task.context_id.as_ref().map(|context| context.as_str().to_owned()), task.status.state)
    });
    let (context, state) = known.map_or((None, None), |(context, state)| (context, Some(state)));
    session.observe(&Observation::RunEnded {
        agent,
        task: session.id(),
        context: context.as_deref(),
        attempt,
        ending,
        state: state.map(a2a::model::TaskState::wire_name),
        at,
    });
}
