//! What goes over the wire between the Worker and an agent elsewhere: the door through which the client calls, which notes what
//! passes, and ends what is too much.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::{Value, json};

use crate::executor::Redaction;
use crate::port::{Clock, Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a::client::{SseEvent, SseReader};

/// The door.
pub(super) struct Tap {
    http: Rc<dyn Http>,
    clock: Rc<dyn Clock>,
    /// The names of the headers that the person gave, whose values nobody is told again.
    given: Vec<String>,
    noted: Rc<Noted>,
}

/// What has passed, and what of it was not told yet.
pub(super) struct Noted {
    /// The secrets that the person gave.
    secrets: Redaction,
    /// Whether anybody wants to know.
    is_told: bool,
    entries: RefCell<Vec<Value>>,
    /// How many bytes may still be received.
    left: Cell<usize>,
    /// How many bytes of text may still be noted.
    room: Cell<usize>,
    /// How many requests there were.
    count: Cell<u32>,
}

impl Noted {
    /// Nothing has passed yet.
    pub(super) fn new(secrets: Redaction, is_told: bool) -> Self {
        let (left, room) = (Cell::new(MAX_BYTES), Cell::new(MAX_NOTED_BYTES));
        let (entries, count) = (RefCell::default(), Cell::default());
        Self { secrets, is_told, entries, left, room, count }
    }

    /// What has passed since this was last asked.
    pub(super) fn take(&self) -> Vec<Value> {
        self.entries.take()
    }

    /// Whether all has been received that may be.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Whether there is anything to tell.
    pub(super) fn has_news(&self) -> bool {
        !self.entries.borrow().is_empty()
    }

    /// A text without the secrets that the person gave.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        self.secrets.text(text).into_owned()
    }

    pub(super) fn note(&self, entry: impl FnOnce() -> Value) {
        if self.is_told && self.entries.borrow().len() < MAX_ENTRIES {
            self.entries.borrow_mut().push(entry());
        }
    }

    /// A text to be noted, without secrets and cut where there is no more room; and whether it was cut.
    fn shown(&self, text: &str) -> (String, bool) {
        let text = self.without_secrets(text);
        let room = self.room.get().min(MAX_TEXT_BYTES);
        let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let end = end.unwrap_or_default();
        self.room.set(self.room.get() - end);
        (text.get(..end).unwrap_or_default().to_owned(), end < text.len())
    }
}

impl Tap {
    /// A door to what is behind `http`.
    pub(super) fn new(
        http: Rc<dyn Http>,
        clock: Rc<dyn Clock>,
        given: Vec<String>,
        noted: Rc<Noted>,
    ) -> Self {
        Self { http, clock, given, noted }
    }

    fn note_request(&self, nth: u32, request: &HttpRequest) {
        let body = match &request.body {
            HttpBody::Text(text) => text.as_str(),
            HttpBody::Bytes(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            HttpBody::Empty | HttpBody::Stream(_) => "",
        };
        self.noted.note(|| {
            let header = |(name, value): &(String, String)| {
                let name = name.to_ascii_lowercase();
                let is_given = self.given.contains(&name);
                let value = if is_given { HIDDEN.to_owned() } else { value.clone() };
                json!([name, self.noted.without_secrets(&value)])
            };
            let headers: Vec<Value> = request.headers.iter().map(header).collect();
            let (body, is_cut) = self.noted.shown(body);
            json!({
                "kind": "request", "n": nth, "at": self.clock.now().0, "method": request.method,
                "url": self.noted.without_secrets(&without_query(&request.url)), "headers": headers,
                "body": body, "isCut": is_cut,
            })
        });
    }
}

impl Http for Tap {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let noted = self.noted.clone();
        let nth = noted.count.get() + 1;
        noted.count.set(nth);
        let clock = self.clock.clone();
        let left = noted.left.get();
        let is_last = request.max_bytes >= left;
        request.max_bytes = request.max_bytes.min(left);
        if left == 0 {
            let error = HttpError::TooLarge { url: request.url, max_bytes: MAX_BYTES };
            return Box::pin(async move { Err(error) });
        }
        self.note_request(nth, &request);
        let sent = self.http.send(request);
        Box::pin(async move {
            let answer = match sent.await {
                Ok(answer) => answer,
                Err(error) => {
                    noted.note(|| {
                        let error = noted.without_secrets(&error.to_string());
                        json!({"kind": "end", "n": nth, "at": clock.now().0, "error": error})
                    });
                    return Err(error);
                }
            };
            let HttpAnswer { status, headers, body, url } = answer;
            let shown: Vec<Value> = headers
                .iter()
                .filter(|(name, _)| SHOWN.contains(&name.as_str()))
                .map(|(name, value)| json!([name, noted.without_secrets(value)]))
                .collect();
            let is_stream = headers.iter().any(|(name, value)| {
                name == "content-type" && value.starts_with("text/event-stream")
            });
            let reading = Reading {
                nth,
                status,
                headers: shown,
                noted,
                clock,
                text: Vec::new(),
                events: is_stream.then(|| SseReader::new(MAX_TEXT_BYTES)),
                is_last,
                is_over: false,
            };
            let reading = if is_stream { reading.begun() } else { reading };
            let body = passed(body, reading);
            Ok(HttpAnswer { status, headers, body, url })
        })
    }
}

/// The pieces of a body, which are noted as they pass.
fn passed(body: HttpBody, reading: Reading) -> HttpBody {
    HttpBody::stream(stream::unfold((body, reading), async |(mut body, mut reading)| {
        let piece = body.next().await;
        match &piece {
            Some(Ok(bytes)) => reading.push(bytes),
            Some(Err(error)) => reading.fail(error),
            None => reading.end(None),
        }
        piece.map(|piece| (piece, (body, reading)))
    }))
}

/// An answer that is being received.
struct Reading {
    nth: u32,
    status: u16,
    headers: Vec<Value>,
    noted: Rc<Noted>,
    clock: Rc<dyn Clock>,
    /// The beginning of the body, if it is no stream.
    text: Vec<u8>,
    /// What reads the events, if it is one.
    events: Option<SseReader>,
    /// Whether it may be as large as all that is left to receive.
    is_last: bool,
    is_over: bool,
}

impl Reading {
    /// Notes the head of a stream.
    fn begun(self) -> Self {
        self.note_answer("", false);
        self
    }

    fn note_answer(&self, body: &str, is_cut: bool) {
        self.noted.note(|| {
            json!({"kind": "answer", "n": self.nth, "at": self.clock.now().0, "status": self.status,
                "headers": self.headers, "body": body, "isCut": is_cut})
        });
    }

    fn push(&mut self, bytes: &[u8]) {
        let left = self.noted.left.get();
        self.noted.left.set(left.saturating_sub(bytes.len()));
        if !self.noted.is_told {
            return;
        }
        let Some(events) = &mut self.events else {
            // One byte more than is shown says that there was more.
            let room = (MAX_TEXT_BYTES + 1).saturating_sub(self.text.len());
            self.text.extend(bytes.iter().take(room));
            return;
        };
        if events.push(bytes).is_err() {
            self.events = Some(SseReader::new(MAX_TEXT_BYTES));
            return;
        }
        while let Some(event) = self.events.as_mut().and_then(SseReader::pop) {
            self.note_event(&event);
        }
    }

    fn note_event(&self, SseEvent { event, data, id }: &SseEvent) {
        self.noted.note(|| {
            let (data, is_cut) = self.noted.shown(data);
            json!({"kind": "event", "n": self.nth, "at": self.clock.now().0, "event": event,
                "id": id.as_deref().unwrap_or_default(), "data": data, "isCut": is_cut})
        });
    }

    fn fail(&mut self, error: &HttpError) {
        if self.is_last && matches!(error, HttpError::TooLarge { .. }) {
            self.noted.left.set(0);
        }
        self.end(Some(&error.to_string()));
    }

    fn end(&mut self, error: Option<&str>) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if self.events.is_none() {
            let (text, is_cut) = self.noted.shown(&String::from_utf8_lossy(&self.text));
            self.note_answer(&text, is_cut);
        }
        if self.events.is_some() || error.is_some() {
            let error = error.map(|error| self.noted.without_secrets(error));
            self.noted.note(
                || json!({"kind": "end", "n": self.nth, "at": self.clock.now().0, "error": error}),
            );
        }
    }
}

impl Drop for Reading {
    /// The client has heard enough.
    fn drop(&mut self) {
        self.end(None);
    }
}

/// A URL without what its query says, in which there may be keys.
fn without_query(url: &str) -> String {
    match url.split_once('?') {
        Some((url, _)) => format!("{url}?{HIDDEN}"),
        None => url.to_owned(),
    }
}

/// What stands for a secret.
const HIDDEN: &str = "…";

/// The headers of answers that are shown.
const SHOWN: [&str; 9] = [
    "content-type",
    "a2a-version",
    "a2a-extensions",
    "cache-control",
    "etag",
    "location",
    "retry-after",
    "server",
    "www-authenticate",
];

/// How much may be received for one request of the console, in bytes: 10 MB.
pub(super) const MAX_BYTES: usize = 10_000_000;

/// How much of a body or an event is noted, in bytes, and of all together.
const MAX_TEXT_BYTES: usize = 256 * 1024;
const MAX_NOTED_BYTES: usize = 2 * 1024 * 1024;

/// How many entries wait at most to be told.
const MAX_ENTRIES: usize = 2_000;

#[cfg(test)]
mod tests {
    use a2a::client::simulation::Simulation;
    use a2a::http::memory::{ok, status};
    use a2a::model::Secret;

    use super::*;

    fn tapped(simulation: &Simulation, is_told: bool) -> (Tap, Rc<Noted>) {
        let secrets = Redaction::default();
        secrets.note("x-key", &Secret::new("a-key-of-many-letters"));
        let noted = Rc::new(Noted::new(secrets, is_told));
        let ports = simulation.ports();
        (Tap::new(ports.http, ports.clock, vec!["x-key".to_owned()], noted.clone()), noted)
    }

    fn request(url: &str) -> HttpRequest {
        HttpRequest::post(url)
            .with_header("X-Key", "a-key-of-many-letters")
            .with_header("accept", "application/json")
            .with_body("{\"a\":1}")
    }

    #[test]
    fn requests_and_answers_are_noted_without_secrets() {
        let simulation = Simulation::default();
        simulation.http().answer_with(|_, _| Ok(ok("you said a-key-of-many-letters")));
        let (tap, noted) = tapped(&simulation, true);
        let answer = simulation.run(async {
            tap.send(request("https://a.example/x?key=k")).await.unwrap().text().await
        });
        assert_eq!(
            answer.unwrap().body,
            "you said a-key-of-many-letters",
            "the client reads what came"
        );
        let [sent, told] = <[Value; 2]>::try_from(noted.take()).unwrap();
        assert_eq!(
            (&sent["kind"], &sent["method"], &sent["url"]),
            (&json!("request"), &json!("POST"), &json!("https://a.example/x?…"))
        );
        assert_eq!(sent["headers"], json!([["x-key", "…"], ["accept", "application/json"]]));
        assert_eq!(sent["body"], "{\"a\":1}");
        assert_eq!(
            (&told["kind"], &told["status"], &told["body"]),
            (&json!("answer"), &json!(200), &json!("you said [x-key]"))
        );
        assert!(!noted.has_news());
    }

    #[test]
    fn nothing_is_noted_for_those_who_do_not_ask() {
        let simulation = Simulation::default();
        simulation.http().answer_with(|_, _| Ok(status(404)));
        let (tap, noted) = tapped(&simulation, false);
        simulation
            .run(async { tap.send(request("https://a.example/")).await.unwrap().text().await })
            .unwrap();
        assert!(!noted.has_news());
    }

    #[test]
    fn all_that_is_received_is_bounded_over_all_requests() {
        let simulation = Simulation::default();
        let allowed = Rc::new(RefCell::new(Vec::new()));
        let log = allowed.clone();
        simulation.http().answer_with(move |request, _| {
            log.borrow_mut().push(request.max_bytes);
            Ok(ok("x".repeat(3_000_000)))
        });
        let (tap, noted) = tapped(&simulation, true);
        let receive = || {
            let big = HttpRequest { max_bytes: usize::MAX, ..request("https://a.example/") };
            simulation.run(async { tap.send(big).await?.bytes().await })
        };
        for _ in 0..3 {
            receive().unwrap();
        }
        assert!(receive().is_err(), "a million bytes are left");
        assert_eq!(*allowed.borrow(), [10_000_000, 7_000_000, 4_000_000, 1_000_000]);
        let noted = noted.take();
        let bodies = noted.iter().filter(|entry| entry["kind"] == "answer");
        for answer in bodies.take(3) {
            assert_eq!(
                (answer["body"].as_str().unwrap().len(), &answer["isCut"]),
                (MAX_TEXT_BYTES, &json!(true))
            );
        }
    }
}
