//! What a task object tells those who follow its task: frames of text over a socket.
//!
//! A frame is made once and goes to every follower alike. It carries events as 1.0 JSON with their
//! generations; whoever holds the client's connection gives them the client's form. Only the first
//! letter, the number behind it and the mark of each line are ever looked at on the way.
//!
//! | frame | meaning |
//! |---|---|
//! | `E<generation>` and a line per event | events, the first of this generation |
//! | `S<generation>` and one line | the task as it stands, after the event of this generation |
//! | `M` and one line | a message instead of a task; nothing follows |
//! | `R` | the follower has every event; the next one follows when it happens |
//! | `X<status>` and a body | refused, or broken: the HTTP status and body of the answer |
//! | `X<status> <headers>` and a body | the same with headers, as a JSON object of texts |
//! | `X<status> <seconds>` and a body | the same with `Retry-After` alone, which version 0.1.0 reads too |

use serde_json::{Map, Value};

use crate::port::Batch;
use crate::task::LogEntry;
use a2a::model::{EventFilter, TaskState};

/// What a line means for those who follow: the first character before its JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// More may come.
    Open,
    /// The task waits for input: the turn is over, the task is not.
    InputRequired,
    /// The task has ended: this is the last event.
    Ended,
}

impl Mark {
    /// The mark of a state.
    pub fn of(state: TaskState) -> Self {
        match state {
            TaskState::InputRequired => Self::InputRequired,
            TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected => Self::Ended,
            TaskState::Submitted | TaskState::Working | TaskState::AuthRequired => Self::Open,
        }
    }

    /// The mark of a log entry as it is stored; `-` for an entry that is no event.
    pub fn of_entry(entry: &LogEntry) -> char {
        match entry {
            LogEntry::Task(task) => Self::of(task.status.state).letter(),
            LogEntry::StatusUpdate(event) => Self::of(event.status.state).letter(),
            LogEntry::ArtifactUpdate(_) => Self::Open.letter(),
            LogEntry::Message(_) | LogEntry::Run(_) | LogEntry::Step(_) | LogEntry::Taken => {
                NO_EVENT
            }
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Open => '.',
            Self::InputRequired => 'I',
            Self::Ended => 'T',
        }
    }

    fn from_letter(letter: char) -> Self {
        match letter {
            'I' => Self::InputRequired,
            'T' => Self::Ended,
            _ => Self::Open,
        }
    }
}

/// The frame with the events of a batch that come after the generation `after`, if there are any.
pub fn events(batch: &Batch, after: u64) -> Option<String> {
    let lines = batch.lines.lines().zip(batch.marks.chars());
    let events = lines.filter(|(_, mark)| *mark != NO_EVENT);
    let count = batch.marks.chars().filter(|mark| *mark != NO_EVENT).count();
    let first = (batch.generation + 1).saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
    let known = after.saturating_add(1).saturating_sub(first);
    let skipped = usize::try_from(known).unwrap_or(usize::MAX);
    if skipped >= count {
        return None;
    }
    let mut frame = format!("E{}", first.max(after.saturating_add(1)));
    for (line, mark) in events.skip(skipped) {
        frame.push('\n');
        frame.push(mark);
        frame.push_str(line);
    }
    Some(frame)
}

/// Whether a webhook that wants only some events wants this one. Each begins with its kind.
pub(super) fn passes(filter: EventFilter, json: &str) -> bool {
    let is_artifact = json.starts_with(r#"{"artifactUpdate""#);
    match filter {
        EventFilter::All => true,
        EventFilter::Status => !is_artifact,
        EventFilter::Artifacts => is_artifact,
    }
}

/// The frame with the task as it stands.
pub fn snapshot(generation: u64, state: TaskState, task: &str) -> String {
    let mark = Mark::of(state).letter();
    format!("S{generation}\n{mark}{{\"task\":{task}}}")
}

/// The frame with a message instead of a task.
pub fn message(message: &str) -> String {
    format!("M\n{}{{\"message\":{message}}}", Mark::Ended.letter())
}

/// The frame that says that a follower has missed nothing, so that its stream can open before the next
/// event.
pub fn ready() -> String {
    "R\n".to_owned()
}

/// The frame that says that nothing, or nothing more, will come, and why: the status, headers and body of the
/// answer. Its content type is JSON and goes without saying.
pub fn refusal<N: AsRef<str>>(status: u16, headers: &[(N, String)], body: &str) -> String {
    let mut told: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_ref(), value.as_str())).collect();
    told.retain(|(name, _)| *name != CONTENT_TYPE);
    match told.as_slice() {
        [] => format!("X{status}\n{body}"),
        [(RETRY_AFTER, seconds)] => format!("X{status} {seconds}\n{body}"),
        told => {
            let text = |value: &&str| Value::String((*value).to_owned());
            let told: Map<String, Value> =
                told.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
            format!("X{status} {}\n{body}", Value::Object(told))
        }
    }
}

/// The headers of a refusal, as its frame tells them; what is neither form is no header.
fn told(text: &str) -> Vec<(String, String)> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![(RETRY_AFTER.to_owned(), text.to_owned())];
    }
    let headers: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let header = |(name, value): (String, Value)| Some((name, value.as_str()?.to_owned()));
    headers.into_iter().filter_map(header).collect()
}

const CONTENT_TYPE: &str = "content-type";
const RETRY_AFTER: &str = "retry-after";

/// A frame as the follower reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Events: the generation of the first, and each with its mark.
    Events(u64, Vec<(Mark, &'a str)>),
    /// The task after the event of this generation.
    Snapshot(u64, Mark, &'a str),
    /// A message instead of a task.
    Message(&'a str),
    /// The follower has every event.
    Ready,
    /// Nothing more.
    Refusal {
        /// The HTTP status.
        status: u16,
        /// The headers besides the content type, their names in lower case.
        headers: Vec<(String, String)>,
        /// The body.
        body: &'a str,
    },
}

impl<'a> Frame<'a> {
    /// Reads a frame; `None` if it is none that this version knows.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (head, rest) = text.split_once('\n')?;
        let mut letters = head.chars();
        let kind = letters.next()?;
        let number = letters.as_str();
        match kind {
            'E' => Some(Self::Events(number.parse().ok()?, rest.lines().map(marked).collect())),
            'S' => {
                let (mark, task) = marked(rest);
                Some(Self::Snapshot(number.parse().ok()?, mark, task))
            }
            'M' => Some(Self::Message(marked(rest).1)),
            'R' => Some(Self::Ready),
            'X' => {
                let (status, headers) = number.split_once(' ').unwrap_or((number, ""));
                let status = status.parse().ok()?;
                Some(Self::Refusal { status, headers: told(headers), body: rest })
            }
            _ => None,
        }
    }
}

fn marked(line: &str) -> (Mark, &str) {
    let mut letters = line.chars();
    let mark = letters.next().map_or(Mark::Open, Mark::from_letter);
    (mark, letters.as_str())
}

const NO_EVENT: char = '-';

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch { generation: 7, marks: ".-.T".to_owned(), lines: "a\nm\nb\nc\n".to_owned() }
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
            assert_eq!(events(&batch(), after).as_deref(), expected, "after {after}");
        }
    }

    #[test]
    fn a_batch_without_events_is_no_frame() {
        let batch = Batch { generation: 3, marks: "-".to_owned(), lines: "m\n".to_owned() };
        assert_eq!(events(&batch, 0), None);
        assert_eq!(events(&batch, 3), None);
    }

    #[test]
    fn frames_are_read_as_they_were_made() {
        let frame = events(&batch(), 5).unwrap();
        let expected = vec![(Mark::Open, "b"), (Mark::Ended, "c")];
        assert_eq!(Frame::parse(&frame), Some(Frame::Events(6, expected)));
        assert_eq!(
            Frame::parse(&snapshot(4, TaskState::InputRequired, "{}")),
            Some(Frame::Snapshot(4, Mark::InputRequired, "{\"task\":{}}"))
        );
        assert_eq!(Frame::parse(&message("{}")), Some(Frame::Message("{\"message\":{}}")));
        assert_eq!(Frame::parse(&ready()), Some(Frame::Ready));
        for text in ["", "E1", "Ex\n", "Z1\nx", "Xx\n{}"] {
            assert_eq!(Frame::parse(text), None, "{text}");
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
            // Fronts of version 0.1.0 read the status behind `X`, and seconds behind a space.
            (&[("retry-after", "30")], "X401 30"),
            (
                &[("retry-after", "5"), ("www-authenticate", "Bearer realm=\"a\"\n")],
                r#"X401 {"retry-after":"5","www-authenticate":"Bearer realm=\"a\"\n"}"#,
            ),
        ] {
            let mut given = owned(headers);
            given.push(("content-type".to_owned(), "application/json".to_owned()));
            let frame = refusal(401, &given, "a\nb");
            assert_eq!(frame, format!("{head}\na\nb"));
            let read = Frame::Refusal { status: 401, headers: owned(headers), body: "a\nb" };
            assert_eq!(Frame::parse(&frame), Some(read));
        }
        let read = Frame::Refusal { status: 401, headers: Vec::new(), body: "" };
        assert_eq!(Frame::parse("X401 later\n"), Some(read));
    }
}
