//! The events of a task elsewhere as a stream of server-sent events, with what goes over the wire between them.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream;
use serde_json::{Value, json};

use super::said::{answered, failed};
use super::tap::{MAX_BYTES, Noted};
use crate::port::Clock;
use a2a::client::{ClientError, TaskEvent, TaskStream};
use a2a::http::HttpError;
use a2a::model::UnixMillis;

/// A stream that is under way. Dropping it ends the exchange with the other server.
pub(super) struct Streaming {
    /// The id of the request.
    pub(super) id: Value,
    pub(super) events: TaskStream,
    pub(super) noted: Rc<Noted>,
    pub(super) clock: Rc<dyn Clock>,
    /// When it has to end.
    pub(super) until: UnixMillis,
    /// Whether an event was told.
    pub(super) has_told: bool,
    pub(super) is_over: bool,
}

/// What has happened.
enum Arrived {
    Event(Box<Option<Result<TaskEvent, ClientError>>>),
    /// Something went over the wire.
    News,
    /// Nothing for a while.
    Silence,
}

impl Streaming {
    /// The next piece of the stream; `None` at its end.
    pub(super) async fn next(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        let left_ms = self.until.millis_since(self.clock.now());
        let (events, noted) = (&mut self.events, &self.noted);
        let next = poll_fn(|context: &mut Context<'_>| match events.poll_next_unpin(context) {
            Poll::Ready(event) => Poll::Ready(Arrived::Event(Box::new(event))),
            // What passes is noted while the events are polled.
            Poll::Pending if noted.has_news() => Poll::Ready(Arrived::News),
            Poll::Pending => Poll::Pending,
        });
        let arrived = match select(next, self.clock.sleep(left_ms.min(SILENCE_MS))).await {
            Either::Left((arrived, _)) => arrived,
            Either::Right(_) => Arrived::Silence,
        };
        let last = match arrived {
            Arrived::Event(event) => match *event {
                Some(Ok(event)) => {
                    self.has_told = true;
                    self.event(&event)
                }
                _ if self.noted.is_spent() => self.too_large(),
                Some(Err(error)) => self.end(Some(&error)),
                None => self.end(None),
            },
            _ if self.noted.is_spent() => self.too_large(),
            Arrived::News => String::new(),
            Arrived::Silence if self.until.millis_since(self.clock.now()) > 0 => WAITING.to_owned(),
            // Who knows the task comes back to it.
            Arrived::Silence if self.has_told => format!("{}{OVER}", self.end(None)),
            Arrived::Silence => self.end(Some(&ClientError::Timeout)),
        };
        let wire = self.noted.take();
        let wire = wire.iter().map(|entry| format!("event: wire\ndata: {entry}\n\n"));
        Some(wire.collect::<String>() + &last)
    }

    /// The end of a stream that has brought more than may be received.
    fn too_large(&mut self) -> String {
        let too_large = HttpError::TooLarge { url: String::new(), max_bytes: MAX_BYTES };
        self.end(Some(&too_large.into()))
    }

    fn event(&self, TaskEvent { event, id }: &TaskEvent) -> String {
        let result = serde_json::to_value(event).unwrap_or_else(|_| json!({}));
        let answer = Value::Object(answered(&self.id, &result)).to_string();
        let answer = self.noted.without_secrets(&answer);
        let is_plain = |id: &&String| !id.is_empty() && !id.contains(['\n', '\r', '\0']);
        let id = id.as_ref().filter(is_plain).map(|id| format!("id: {id}\n"));
        format!("{}data: {answer}\n\n", id.unwrap_or_default())
    }

    /// Ends the exchange. Gives the last event, if the stream has failed.
    fn end(&mut self, error: Option<&ClientError>) -> String {
        self.is_over = true;
        self.events = stream::empty().boxed_local();
        let Some(error) = error else { return String::new() };
        let answer = Value::Object(failed(&self.id, error)).to_string();
        format!("data: {}\n\n", self.noted.without_secrets(&answer))
    }
}

/// How long a stream is silent at most, in milliseconds.
const SILENCE_MS: u64 = 10_000;

/// What a silent stream says.
const WAITING: &str = ": waiting\n\n";

/// What a stream says that has to end before its task does.
const OVER: &str = ": the time of this request is over\n\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Redaction;
    use a2a::client::create_message;
    use a2a::client::simulation::Simulation;
    use a2a::model::{Message, Secret, StreamResponse};

    fn streaming(
        simulation: &Simulation,
        events: Vec<Result<TaskEvent, ClientError>>,
        stays: bool,
    ) -> Streaming {
        let secrets = Redaction::default();
        secrets.note("authorization", &Secret::new("s3cret-of-letters"));
        let clock = simulation.ports().clock;
        let rest =
            if stays { stream::pending().boxed_local() } else { stream::empty().boxed_local() };
        Streaming {
            id: json!(7),
            events: stream::iter(events).chain(rest).boxed_local(),
            noted: Rc::new(Noted::new(secrets, true)),
            until: clock.now().after(60_000),
            clock,
            has_told: false,
            is_over: false,
        }
    }

    fn said(simulation: &Simulation, text: &str, id: Option<&str>) -> TaskEvent {
        let message: Message = create_message(text, &simulation.ports());
        TaskEvent { event: StreamResponse::Message(message), id: id.map(str::to_owned) }
    }

    fn all(simulation: &Simulation, mut streaming: Streaming) -> String {
        simulation.run(async move {
            let mut text = String::new();
            while let Some(piece) = streaming.next().await {
                text.push_str(&piece);
            }
            text
        })
    }

    #[test]
    fn events_have_their_ids_and_no_secrets() {
        let simulation = Simulation::default();
        let events = vec![
            Ok(said(&simulation, "one", Some("3"))),
            Ok(said(&simulation, "I know s3cret-of-letters", Some("4\nevent: wire"))),
            Err(ClientError::Ended),
        ];
        let text = all(&simulation, streaming(&simulation, events, true));
        let frames: Vec<&str> = text.split("\n\n").collect();
        assert!(frames[0].starts_with("id: 3\ndata: {"), "{text}");
        let first: Value = serde_json::from_str(frames[0].split_once("data: ").unwrap().1).unwrap();
        assert_eq!(
            (&first["id"], &first["result"]["message"]["parts"][0]["text"]),
            (&json!(7), &json!("one"))
        );
        assert!(frames[1].starts_with("data: ") && frames[1].contains("[authorization]"), "{text}");
        assert!(!text.contains("s3cret"));
        assert!(frames[2].contains("REMOTE_STREAM_ENDED"), "{text}");
        assert_eq!(frames.len(), 4);
    }

    #[test]
    fn the_time_ends_a_stream_as_a_cut_if_its_client_knows_the_task() {
        for (events, last) in [(true, OVER), (false, "")] {
            let simulation = Simulation::default();
            let events = if events { vec![Ok(said(&simulation, "one", None))] } else { Vec::new() };
            let begun = simulation.ports().clock.now();
            let text = all(&simulation, streaming(&simulation, events, true));
            assert_eq!(simulation.ports().clock.now().millis_since(begun), 60_000);
            assert!(text.contains(WAITING));
            match last {
                "" => assert!(text.contains("REMOTE_TIMEOUT"), "{text}"),
                last => assert!(text.ends_with(last) && !text.contains("error"), "{text}"),
            }
        }
    }

    #[test]
    fn what_goes_over_the_wire_is_told_before_what_it_brings() {
        let simulation = Simulation::default();
        let streaming = streaming(&simulation, vec![Ok(said(&simulation, "one", None))], false);
        streaming.noted.note(|| json!({"kind": "request"}));
        let text = all(&simulation, streaming);
        assert!(text.starts_with("event: wire\ndata: {\"kind\":\"request\"}\n\ndata: {"), "{text}");
    }
}
