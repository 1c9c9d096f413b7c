//! By which names a request is found again in logs and traces.

use a2a::http::trace::TraceContext;
use a2a::model::decode::{Decode, Fields};
use serde::Serialize;

/// What a request is found again by: its id, and the trace that it belongs to.
///
/// Travels with the command of the request; stored with the run that it begins if it belongs to a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trail {
    /// The id of the request: what the platform calls it, as `8f2d0c1b7a3e5d64-FRA`, or a random one. None in commands
    /// of older front Workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The trace, if the client named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

impl Trail {
    /// The trail of a request of this id. An id that may not stand in logs and headers as it is counts as none.
    pub fn new(request: Option<&str>, trace: Option<TraceContext>) -> Self {
        let is_made = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_id =
            |id: &&str| !id.is_empty() && id.len() <= MAX_ID_BYTES && id.chars().all(is_made);
        Self { request: request.filter(is_id).map(str::to_owned), trace: trace.map(Box::new) }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.request.is_none() && self.trace.is_none()
    }
}

impl Decode for Trail {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let request = fields.string("request");
        Some(Self::new(request.as_deref(), fields.object("trace")))
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
        for (trail, text) in [
            (Trail::default(), "{}".to_owned()),
            (Trail::new(Some("8f2d-FRA"), None), r#"{"request":"8f2d-FRA"}"#.to_owned()),
            (
                Trail::new(Some("r"), trace),
                format!(r#"{{"request":"r","trace":{{"parent":"{parent}"}}}}"#),
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
