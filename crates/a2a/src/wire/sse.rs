//! Server-sent events (spec §9.4.2, §11.7): the headers of a stream, and streams of one event.

use super::http::HttpResponse;

/// A stream with one event, whose data is the body of an answer.
pub(crate) fn single_event(body: &str) -> HttpResponse {
    let stream =
        HttpResponse { status: 200, headers: Vec::new(), body: format!("data: {body}\n\n") };
    HEADERS.iter().fold(stream, |stream, (name, value)| stream.with_header(*name, *value))
}

/// The headers of an event stream.
pub const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
];
