//! The ids under which a request is found in logs and traces.

use a2a::http::trace::TraceContext;
use a2a::model::TaskId;
use a2a::model::decode::{Decode, Fields};
use serde::Serialize;

/// The ids under which a request is found: its request id, and the trace that it belongs to.
///
/// Sent with the command of the request. If there is a trace, or another task asks, also stored with the run that the request begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trail {
    /// The id of the request: the platform's id, such as `8f2d0c1b7a3e5d64-FRA`, or a random id. `None` in commands of
    /// older front Workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The trace, if the client named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
    /// The task whose run sends the request, if that is a task of an agent of this Worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<Box<AskedBy>>,
}

/// A task of an agent of this Worker whose run asks another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskedBy {
    /// The slug of the agent that asks.
    pub agent: String,
    /// Its task.
    pub task: TaskId,
}

impl Decode for AskedBy {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { agent: fields.required_string("agent")?, task: fields.required_id("task")? })
    }
}

impl Trail {
    /// The trail of a request with this id. An id that is not allowed in logs and headers is ignored.
    pub fn new(request: Option<&str>, trace: Option<TraceContext>) -> Self {
        let is_made = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_id =
            |id: &&str| !id.is_empty() && id.len() <= MAX_ID_BYTES && id.chars().all(is_made);
        let request = request.filter(is_id).map(str::to_owned);
        Self { request, trace: trace.map(Box::new), asked_by: None }
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.request.is_none() && !self.is_kept()
    }

    /// True if it is stored with the run that the request begins.
    pub fn is_kept(&self) -> bool {
        self.trace.is_some() || self.asked_by.is_some()
    }
}

impl Decode for Trail {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let request = fields.string("request");
        let asked_by = fields.object("asked_by").map(Box::new);
        Some(Self { asked_by, ..Self::new(request.as_deref(), fields.object("trace")) })
    }
}

/// The longest id of a request.
const MAX_ID_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    #[test]
    fn trails_are_read_as_they_were_written() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace = TraceContext::read(parent, None);
        assert!(trace.is_some());
        let by = AskedBy { agent: "a".to_owned(), task: TaskId::new("t").unwrap() };
        for (trail, text) in [
            (Trail::default(), "{}".to_owned()),
            (Trail::new(Some("8f2d-FRA"), None), r#"{"request":"8f2d-FRA"}"#.to_owned()),
            (
                Trail::new(Some("r"), trace),
                format!(r#"{{"request":"r","trace":{{"parent":"{parent}"}}}}"#),
            ),
            (
                Trail { asked_by: Some(Box::new(by)), ..Trail::default() },
                r#"{"asked_by":{"agent":"a","task":"t"}}"#.to_owned(),
            ),
        ] {
            assert_eq!(serde_json::to_string(&trail).unwrap(), text);
            assert_eq!(read_json::<Trail>(&text).unwrap(), trail);
        }
    }

    #[test]
    fn an_id_that_does_not_fit_a_log_is_none() {
        let long = "a".repeat(65);
        for id in ["", "a b", "a\nb", "a\"", "é", long.as_str()] {
            assert_eq!(Trail::new(Some(id), None), Trail::default(), "{id}");
        }
    }
}
