//! Server-sent events (spec §9.4.2, §11.7): the text of a stream, and the headers before it.

use super::http::HttpResponse;
use crate::dialect::Dialect;

/// Writes the events of one stream. What stands around every result is made once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventWriter {
    dialect: Dialect,
    before: String,
    behind: &'static str,
}

impl EventWriter {
    /// For a stream in this dialect whose results stand between these two.
    pub(super) fn new(dialect: Dialect, before: String, behind: &'static str) -> Self {
        Self { dialect, before, behind }
    }

    /// An event with a result that is JSON text of 1.0, and the generation as its id if it has one.
    pub fn event(&self, generation: Option<u64>, json: &str) -> String {
        let id = generation.map(|generation| format!("id: {generation}\n")).unwrap_or_default();
        let Self { dialect, before, behind } = self;
        let json = dialect.event(json);
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
    HEADERS.iter().fold(stream, |stream, (name, value)| stream.with_header(*name, *value))
}

/// A comment, which clients ignore: shows that a silent stream is alive.
pub const HEARTBEAT: &str = ": keep-alive\n\n";

/// The headers of an event stream.
pub const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
];
