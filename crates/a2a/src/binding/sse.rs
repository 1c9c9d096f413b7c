//! Server-sent events (spec §9.4.2, §11.7): the text of a stream, and the headers before it.

use super::http::HttpResponse;

/// Writes the events of one stream. What stands around every result is made once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventWriter {
    before: String,
    behind: &'static str,
}

impl EventWriter {
    /// For a stream whose results stand between these two.
    pub(super) fn new(before: String, behind: &'static str) -> Self {
        Self { before, behind }
    }

    /// An event with a result that is JSON text already, and the generation as its id if it has one.
    pub fn event(&self, generation: Option<u64>, json: &str) -> String {
        let id = generation.map(|generation| format!("id: {generation}\n")).unwrap_or_default();
        let Self { before, behind } = self;
        format!("{id}data: {before}{json}{behind}\n\n")
    }
}

/// The last event of a stream that breaks off, with the body of an error answer.
pub fn error_event(body: &str) -> String {
    format!("event: error\ndata: {body}\n\n")
}

/// A stream of one event with the body of an answer.
pub(super) fn single_event(body: &str) -> HttpResponse {
    let stream =
        HttpResponse { status: 200, headers: Vec::new(), body: format!("data: {body}\n\n") };
    HEADERS.iter().fold(stream, |stream, (name, value)| stream.with_header(name, *value))
}

/// A comment, which clients ignore: shows that a silent stream is alive.
pub const HEARTBEAT: &str = ": keep-alive\n\n";

/// The headers of an event stream.
pub const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
];
