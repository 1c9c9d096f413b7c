//! What metrics count of an observation. `js/metrics.js` has the table of metrics, with the names of their labels.

use crate::port::{Observation, Severity, Work};

/// A count: of a metric, for an agent (empty if it belongs to none), with the values of up to two labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The metric.
    pub metric: &'static str,
    /// The slug of the agent.
    pub agent: &'a str,
    /// The values of the labels; empty beyond those that the metric has.
    pub labels: [&'a str; 2],
    /// The duration in milliseconds; of a metric without durations the number to add.
    pub value: u64,
}

/// Calls a function for each count of an observation.
pub fn samples_of(observation: &Observation<'_>, take: &mut dyn FnMut(Sample<'_>)) {
    let mut sample = |metric, agent: &str, labels: [&str; 2], value| {
        take(Sample { metric, agent, labels, value });
    };
    match observation {
        Observation::RequestAnswered { request, at } => {
            let (agent, operation) = (request.agent.unwrap_or_default(), request.operation);
            let outcome = match (request.code, request.status) {
                (Some(code), _) => code.to_string(),
                (None, status @ 400..) => status.to_string(),
                (None, _) => OK.to_owned(),
            };
            let operation = operation.unwrap_or(request.route);
            sample("requests", agent, [operation, &outcome], at.millis());
        }
        Observation::RunEnded { agent, ending, at, .. } => {
            sample("runs", agent, [ending, ""], at.millis());
        }
        Observation::WorkDone { agent, work, end, at, .. } => {
            let (outcome, millis) = (end.failure.unwrap_or(OK), at.millis());
            match *work {
                Work::Model { model, .. } => {
                    sample("model_requests", agent, [model, outcome], millis);
                    if let Some(usage) = end.usage {
                        sample("model_tokens", agent, [model, "input"], usage.input_tokens);
                        sample("model_tokens", agent, [model, "output"], usage.output_tokens);
                    }
                }
                Work::Tool(tool) | Work::McpTool { tool, .. } => {
                    sample("tool_calls", agent, [tool, outcome], millis);
                }
                Work::Agent(to) => sample("agent_calls", agent, [to, outcome], millis),
                // Executors may have any number of steps.
                Work::Step(_) => {}
            }
        }
        Observation::NotificationAttempted { agent, status, at, .. } => {
            let outcome = match status {
                None => "no_answer".to_owned(),
                Some(200..300) => OK.to_owned(),
                Some(status) => status.to_string(),
            };
            sample("webhook_attempts", agent, [&outcome, ""], at.millis());
        }
        Observation::NotificationGivenUp { agent, .. } => {
            sample("notifications_given_up", agent, ["", ""], 1);
        }
        Observation::IndexWritten { has_failed, at, .. } => {
            let outcome = if *has_failed { "failed" } else { OK };
            sample("index_writes", "", [outcome, ""], at.millis());
        }
        _ => {}
    }
    if observation.severity() == Severity::Error {
        sample("errors", "", [observation.name(), ""], 1);
    }
}

/// The outcome of what has not failed.
const OK: &str = "ok";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{AnsweredRequest, Moment, WorkEnd};
    use crate::usage::Usage;
    use a2a::model::{TaskId, UnixMillis};

    /// The counts of an observation, as text.
    fn counts(observation: &Observation<'_>) -> Vec<String> {
        let mut counts = Vec::new();
        samples_of(observation, &mut |Sample { metric, agent, labels: [first, second], value }| {
            counts.push(format!("{metric} {agent} {first} {second} {value}"));
        });
        counts
    }

    const AT: Moment = Moment { begun: UnixMillis(1_000), ended: UnixMillis(1_250), place: None };

    #[test]
    fn requests_are_counted_by_operation_and_outcome() {
        let request = AnsweredRequest {
            route: "/{agent}",
            agent: Some("demo"),
            operation: Some("GetTask"),
            status: 200,
            ..AnsweredRequest::default()
        };
        for (request, expected) in [
            (request, "requests demo GetTask ok 250"),
            (AnsweredRequest { code: Some(-32001), ..request }, "requests demo GetTask -32001 250"),
            (
                AnsweredRequest { operation: None, status: 401, ..request },
                "requests demo /{agent} 401 250",
            ),
        ] {
            assert_eq!(counts(&Observation::RequestAnswered { request, at: &AT }), [expected]);
        }
    }

    #[test]
    fn a_request_to_a_model_counts_its_tokens_and_a_step_counts_nothing() {
        let task = TaskId::new("t").unwrap();
        let usage = Usage { requests: 1, input_tokens: 7, output_tokens: 2, cost_micros: 0 };
        let done = |work, end| {
            counts(&Observation::WorkDone { agent: "a", task: &task, work, end, at: &AT })
        };
        let model = Work::Model { provider: "openai", model: "m" };
        assert_eq!(
            done(model, WorkEnd { failure: None, usage: Some(usage) }),
            ["model_requests a m ok 250", "model_tokens a m input 7", "model_tokens a m output 2"]
        );
        let failed = WorkEnd { failure: Some("rate_limited"), usage: None };
        assert_eq!(done(model, failed), ["model_requests a m rate_limited 250"]);
        assert_eq!(done(Work::Tool("x"), WorkEnd::of(true)), ["tool_calls a x failed 250"]);
        assert_eq!(done(Work::Step("x"), WorkEnd::of(true)), Vec::<String>::new());
    }

    #[test]
    fn errors_are_counted_by_kind() {
        let error = Observation::QuotaUnknown { reason: "no" };
        assert_eq!(counts(&error), ["errors  QuotaUnknown  1"]);
        assert_eq!(counts(&Observation::TasksDeleted { count: 3 }), Vec::<String>::new());
    }
}
