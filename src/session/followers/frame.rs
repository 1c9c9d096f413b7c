//! Frames: the texts that a task object sends to the followers of its task over a socket.
//!
//! A frame is built once and sent to every follower. A frame has events as 1.0 JSON with their generations;
//! `js/client-stream.js` reads the frame and writes its events in the form of the client. Code between the two reads only
//! the first letter of the frame, the number after that letter, and the mark of each line.
//!
//! | frame | meaning |
//! |---|---|
//! | `E<generation>` and a line per event | events, the first of this generation |
//! | `S<generation>` and one line | the task after the event of this generation |
//! | `M` and one line | a message instead of a task; the last frame |
//! | `R` | the follower has every event so far |
//! | `X<status>` and a body | a refusal or failure: the HTTP status and body of the answer; the last frame |
//! | `X<status> <headers>` and a body | the same with headers, as a JSON object of texts |

use serde_json::{Map, Value};

use crate::port::Batch;
use crate::session::journal::{Mark, NO_EVENT};
use a2a::model::{EventFilter, Generation, TaskState};

/// The frame with the events of a batch after the generation `after`; `None` if the batch has no such events.
pub fn events(batch: &Batch, after: Generation) -> Option<String> {
    let lines = batch.lines.lines().zip(batch.marks.chars());
    let events = lines.filter(|(_, mark)| *mark != NO_EVENT);
    let count = batch.marks.chars().filter(|mark| *mark != NO_EVENT).count();
    let first = batch.generation.next().before(count);
    let known = after.next().0.saturating_sub(first.0);
    let skipped = usize::try_from(known).unwrap_or(usize::MAX);
    if skipped >= count {
        return None;
    }
    let mut frame = format!("E{}", first.max(after.next()));
    for (line, mark) in events.skip(skipped) {
        frame.push('\n');
        frame.push(mark);
        frame.push_str(line);
    }
    Some(frame)
}

/// The events in a frame, each with its generation. Other frames have none.
pub(in crate::session) fn events_in(frame: &str) -> impl Iterator<Item = (Generation, &str)> {
    let (head, lines) = frame.split_once('\n').unwrap_or_default();
    let first = head.strip_prefix('E').and_then(|first| first.parse().ok());
    let events = lines.lines().filter_map(|line| line.get(1..));
    first.into_iter().flat_map(move |first: u64| (first..).map(Generation).zip(events.clone()))
}

/// True if the event matches the filter of a webhook. The JSON of an event begins with the kind of the event.
pub(in crate::session) fn passes(filter: EventFilter, json: &str) -> bool {
    let is_artifact = json.starts_with(r#"{"artifactUpdate""#);
    match filter {
        EventFilter::All => true,
        EventFilter::Status => !is_artifact,
        EventFilter::Artifacts => is_artifact,
    }
}

/// The frame with the present task.
pub fn snapshot(generation: Generation, state: TaskState, task: &str) -> String {
    let mark = Mark::of(state).letter();
    format!("S{generation}\n{mark}{{\"task\":{task}}}")
}

/// The frame with a message instead of a task.
pub fn message(message: &str) -> String {
    format!("M\n{}{{\"message\":{message}}}", Mark::Ended.letter())
}

/// The frame for a follower that has every event, so that its stream opens before the next event.
pub fn ready() -> String {
    "R\n".to_owned()
}

/// The last frame for a refusal or failure: the status, headers and body of the answer. The content type is JSON and is not among the
/// headers.
pub fn refusal<N: AsRef<str>>(status: u16, headers: &[(N, String)], body: &str) -> String {
    let mut told: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_ref(), value.as_str())).collect();
    told.retain(|(name, _)| *name != CONTENT_TYPE);
    match told.as_slice() {
        [] => format!("X{status}\n{body}"),
        told => {
            let text = |value: &&str| Value::String((*value).to_owned());
            let told: Map<String, Value> =
                told.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
            format!("X{status} {}\n{body}", Value::Object(told))
        }
    }
}

const CONTENT_TYPE: &str = "content-type";

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch {
            generation: Generation(7),
            marks: ".-.T".to_owned(),
            times: String::new(),
            lines: "a\nm\nb\nc\n".to_owned(),
        }
    }

    #[test]
    fn a_frame_holds_the_events_after_a_generation() {
        for (after, expected) in [
            (0, Some("E5\n.a\n.b\nTc")),
            (4, Some("E5\n.a\n.b\nTc")),
            (5, Some("E6\n.b\nTc")),
            (6, Some("E7\nTc")),
            (7, None),
            (u64::MAX, None),
        ] {
            assert_eq!(events(&batch(), Generation(after)).as_deref(), expected, "after {after}");
        }
    }

    #[test]
    fn the_events_in_a_frame_have_their_generations() {
        let frame = events(&batch(), Generation(5)).unwrap();
        assert_eq!(
            events_in(&frame).collect::<Vec<_>>(),
            [(Generation(6), "b"), (Generation(7), "c")]
        );
        for frame in [ready(), message("{}"), String::new()] {
            assert_eq!(events_in(&frame).count(), 0, "{frame}");
        }
    }

    #[test]
    fn a_batch_without_events_is_no_frame() {
        let batch = Batch {
            generation: Generation(3),
            marks: "-".to_owned(),
            lines: "m\n".to_owned(),
            ..Batch::default()
        };
        assert_eq!(events(&batch, Generation::NONE), None);
        assert_eq!(events(&batch, Generation(3)), None);
    }

    #[test]
    fn a_frame_says_what_the_follower_has_to_know() {
        for (frame, expected) in [
            (snapshot(Generation(4), TaskState::InputRequired, "{}"), "S4\nI{\"task\":{}}"),
            (snapshot(Generation(5), TaskState::Canceled, "{}"), "S5\nT{\"task\":{}}"),
            (message("{}"), "M\nT{\"message\":{}}"),
            (ready(), "R\n"),
        ] {
            assert_eq!(frame, expected);
        }
    }

    #[test]
    fn a_refusal_keeps_its_headers() {
        let owned = |headers: &[(&str, &str)]| -> Vec<(String, String)> {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            headers.iter().map(owned).collect()
        };
        for (headers, head) in [
            (&[] as &[_], "X401"),
            (&[("retry-after", "30")], r#"X401 {"retry-after":"30"}"#),
            (
                &[("retry-after", "5"), ("www-authenticate", "Bearer realm=\"a\"\n")],
                r#"X401 {"retry-after":"5","www-authenticate":"Bearer realm=\"a\"\n"}"#,
            ),
        ] {
            let mut given = owned(headers);
            given.push(("content-type".to_owned(), "application/json".to_owned()));
            let frame = refusal(401, &given, "a\nb");
            assert_eq!(frame, format!("{head}\na\nb"));
        }
    }
}
