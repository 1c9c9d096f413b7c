//! What a task's log holds.

use serde::Serialize;
use serde_json::Value;

use super::{CallbackCall, CallbackRecord, Park, WaitEnd};
use crate::auth::Caller;
use crate::trail::Trail;
use crate::usage::StepUsage;
use a2a::Allowance;
use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{
    Json, Message, Metadata, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
    UnixMillis,
};

/// One entry of a task's log.
///
/// `Task` opens the log. `StatusUpdate` and `ArtifactUpdate` are events; these and the opening carry
/// the generations 1, 2, 3 … by their order, and are written as they go on the wire. The others are no
/// events and have no generation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LogEntry {
    /// The task as it was created.
    Task(Task),
    /// A message of the client, kept for the history.
    Message(Message),
    /// The task entered a state.
    StatusUpdate(TaskStatusUpdateEvent),
    /// An artifact began, grew or was replaced.
    ArtifactUpdate(TaskArtifactUpdateEvent),
    /// The next artifact update does not tell all that the run has said.
    Held(HeldText),
    /// A run of the executor begins.
    Run(RunStart),
    /// A step of the run is done, and is not done again.
    Step(StepRecord),
    /// The run took the oldest message that came while it was under way.
    Taken,
    /// The run waits outside of memory.
    Parked(Park),
    /// A wait of the run is over.
    Woken(WaitEnd),
    /// The run is over that has waited so, and leaves a task that waits for its client.
    Ended,
    /// The run has made a URL for somebody else to post to.
    Callback(CallbackRecord),
    /// Somebody has posted to it.
    Called(CallbackCall),
}

impl LogEntry {
    /// Whether the entry is an event, and so has a generation of its own.
    pub fn is_event(&self) -> bool {
        match self {
            Self::Task(_) | Self::StatusUpdate(_) | Self::ArtifactUpdate(_) => true,
            Self::Message(_)
            | Self::Held(_)
            | Self::Run(_)
            | Self::Step(_)
            | Self::Taken
            | Self::Parked(_)
            | Self::Woken(_)
            | Self::Ended
            | Self::Callback(_)
            | Self::Called(_) => false,
        }
    }

    /// Reads a line of the log.
    ///
    /// # Errors
    ///
    /// If this version cannot read it.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        match line {
            r#""taken""# => Ok(Self::Taken),
            r#""ended""# => Ok(Self::Ended),
            line => read_json(line),
        }
    }
}

impl Decode for LogEntry {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if let Some(held) = fields.object("held") {
            return Some(Self::Held(held));
        }
        if let Some(start) = fields.object("run") {
            return Some(Self::Run(start));
        }
        if let Some(step) = fields.object("step") {
            return Some(Self::Step(step));
        }
        if let Some(park) = fields.object("parked") {
            return Some(Self::Parked(park));
        }
        if let Some(end) = fields.object("woken") {
            return Some(Self::Woken(end));
        }
        if let Some(record) = fields.object("callback") {
            return Some(Self::Callback(record));
        }
        if let Some(call) = fields.object("called") {
            return Some(Self::Called(call));
        }
        Some(match StreamResponse::decode(fields)? {
            StreamResponse::Task(task) => Self::Task(task),
            StreamResponse::Message(message) => Self::Message(message),
            StreamResponse::StatusUpdate(event) => Self::StatusUpdate(event),
            StreamResponse::ArtifactUpdate(event) => Self::ArtifactUpdate(event),
        })
    }
}

/// Text that was held back: how much, and never what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeldText {
    /// How many characters at the end of what the run has said of the artifact are not in the update. 0 in front of one that the
    /// run has not said: it lets out what was held back.
    pub chars: usize,
}

/// A run of the executor as it began: all that it takes to run it again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// Which attempt at this turn it is, from 1. Counts anew when a parked run goes on.
    pub attempt: u32,
    /// Whether it goes on where the attempt before was interrupted, instead of beginning anew.
    pub resumes: bool,
    /// Which of the client's messages it handles, counted from 1.
    pub message: usize,
    /// When the first attempt at this turn began, moved by the time for which the run was parked. The time for a run
    /// counts from here.
    pub begun_ms: i64,
    /// Who asked, and how.
    pub request: RunRequest,
}

impl RunStart {
    /// When the run must be over, all attempts together.
    pub fn deadline(&self) -> UnixMillis {
        let timeout = i64::try_from(self.request.timeout_ms).unwrap_or(i64::MAX);
        UnixMillis(self.begun_ms.saturating_add(timeout))
    }
}

/// What a request to run an agent says besides its message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRequest {
    /// Who asks.
    pub caller: Caller,
    /// Media types that the client can take; none named means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// The metadata of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The origin under which the request reached the server, for URLs that lead back to it; none where it is not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What the caller could still use of models in the day, where that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Box<Allowance>>,
    /// What the request is found again by. Stored if it belongs to a trace.
    #[serde(skip_serializing_if = "is_untraced")]
    pub trail: Box<Trail>,
    /// How long the run may take, in milliseconds.
    pub timeout_ms: u64,
    /// Whether the client has named the conversation of its message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub joins_context: bool,
}

#[cfg(test)]
impl RunRequest {
    /// One of an anonymous caller, for tests.
    pub(crate) fn anonymous() -> Self {
        Self {
            caller: Caller::anonymous(),
            accepted_output_modes: Vec::new(),
            metadata: None,
            origin: None,
            allowance: None,
            trail: Default::default(),
            timeout_ms: 1,
            joins_context: false,
        }
    }
}

/// A step that is done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRecord {
    /// The name that the executor gave it.
    pub name: String,
    /// Which step of that name in its run, from 1.
    pub nth: u32,
    /// What it came to.
    pub outcome: Result<Json, String>,
    /// Whether it failed though its outcome is kept as a result: the error that a model is told of a call that it has made. An
    /// outcome that is an error needs no such word.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// What it has used of models, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<StepUsage>,
    /// How long it took, in milliseconds. None for usage outside of a step.
    #[serde(rename = "durationMs", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl StepRecord {
    /// The record of what was used outside of a step, or by one that was dropped. No step has its name.
    pub fn of_usage(usage: StepUsage) -> Self {
        let outcome = Ok(Json::from(&Value::Null));
        let (name, failed, duration_ms) = (String::new(), false, None);
        Self { name, nth: 0, outcome, failed, usage: Some(usage), duration_ms }
    }

    /// Whether it failed.
    pub fn has_failed(&self) -> bool {
        self.failed || self.outcome.is_err()
    }
}

#[allow(clippy::borrowed_box, reason = "serde gives the field as it is")]
fn is_untraced(trail: &Box<Trail>) -> bool {
    trail.trace.is_none()
}

impl Decode for HeldText {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { chars: fields.number("chars")? })
    }
}

impl Decode for RunStart {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            attempt: fields.number("attempt")?,
            resumes: fields.boolean("resumes").unwrap_or_default(),
            message: fields.number("message")?,
            begun_ms: fields.number("begunMs")?,
            request: fields.object("request")?,
        })
    }
}

impl Decode for RunRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            caller: fields.object("caller")?,
            accepted_output_modes: fields.strings("acceptedOutputModes"),
            metadata: fields.metadata("metadata"),
            origin: fields.string("origin"),
            allowance: fields.object("allowance").map(Box::new),
            trail: fields.object("trail").map(Box::new).unwrap_or_default(),
            timeout_ms: fields.number("timeoutMs")?,
            joins_context: fields.boolean("joinsContext").unwrap_or_default(),
        })
    }
}

impl Decode for StepRecord {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let mut outcome = fields.free_form("outcome")?;
        let outcome = match (outcome.remove("Ok"), outcome.remove("Err")) {
            (Some(result), _) => Ok(Json::from(&result)),
            (None, Some(Value::String(reason))) => Err(reason),
            (None, _) => return None,
        };
        let name = fields.any_string("name")?;
        let (nth, usage) = (fields.number("nth")?, fields.object("usage"));
        let failed = fields.boolean("failed").unwrap_or_default();
        Some(Self { name, nth, outcome, failed, usage, duration_ms: fields.number("durationMs") })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::{CallbackName, Unanswered, WokenBy};
    use crate::usage::Usage;
    use a2a::http::trace::TraceContext;
    use a2a::model::{Part, Secret};

    #[test]
    fn entries_are_read_as_they_were_written() {
        let trace = TraceContext::read(
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            Some("a=1"),
        );
        let request = RunRequest {
            caller: Caller::anonymous(),
            accepted_output_modes: vec!["text/plain".to_owned()],
            metadata: json!({"a": 1}).as_object().cloned().map(Metadata::from),
            origin: Some("https://a.example".to_owned()),
            allowance: Some(Box::new(Allowance { tokens: Some(7), cost_micros: None })),
            trail: Box::new(Trail::new(Some("r"), trace)),
            timeout_ms: 5,
            joins_context: true,
        };
        let start = RunStart { attempt: 2, resumes: true, message: 1, begun_ms: 7, request };
        assert_eq!(start.deadline(), UnixMillis(12));
        let name = CallbackName { name: String::new(), nth: 3 };
        let called =
            |body, key| LogEntry::Called(CallbackCall { name: name.clone(), number: 1, key, body });
        let step = |outcome| StepRecord {
            name: "n".to_owned(),
            nth: 1,
            outcome,
            failed: false,
            usage: None,
            duration_ms: None,
        };
        let used = Usage { requests: 1, input_tokens: 2, output_tokens: 3, cost_micros: 4 };
        let usage = StepUsage { at_ms: 5, used, repeated: used };
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
        for entry in [
            LogEntry::Run(start),
            LogEntry::Step(step(Ok(Json::from(&json!({"x": [1]}))))),
            LogEntry::Step(step(Ok(Json::from(&json!(null))))),
            LogEntry::Step(step(Err("no".to_owned()))),
            LogEntry::Step(StepRecord {
                failed: true,
                ..step(Ok(Json::from(&json!("error: no"))))
            }),
            LogEntry::Step(StepRecord { usage: Some(usage), ..step(Err("no".to_owned())) }),
            LogEntry::Step(StepRecord { duration_ms: Some(250), ..step(Err("no".to_owned())) }),
            LogEntry::Step(StepRecord::of_usage(usage)),
            LogEntry::Held(HeldText { chars: 3 }),
            LogEntry::Taken,
            LogEntry::Ended,
            LogEntry::Parked(Park {
                nth: 1,
                at_ms: 5,
                until_ms: 9,
                or_message: true,
                callback: Some(name.clone()),
                unanswered: None,
            }),
            LogEntry::Parked(Park {
                nth: 2,
                at_ms: -1,
                until_ms: i64::MAX,
                or_message: false,
                callback: None,
                unanswered: Some(Unanswered { times: 5, since_ms: 3, asked: 7, faulty: 1 }),
            }),
            LogEntry::Woken(WaitEnd { nth: 3, by: WokenBy::Callback }),
            LogEntry::Callback(CallbackRecord {
                name: name.clone(),
                token: Secret::new("t"),
                origin: "https://a.example".to_owned(),
                uses: 2,
                expires_ms: 7,
            }),
            called(Part::data(json!(null)), Some("k".to_owned())),
            called(Part::text(""), None),
            called(Part::raw(b"\xff", "image/png"), None),
            LogEntry::Woken(WaitEnd { nth: 1, by: WokenBy::Time }),
            LogEntry::Woken(WaitEnd { nth: 2, by: WokenBy::Message }),
            LogEntry::Message(serde_json::from_value(message).unwrap()),
        ] {
            let line = serde_json::to_string(&entry).unwrap();
            assert_eq!(LogEntry::parse(&line).unwrap(), entry, "{line}");
        }
        assert!(LogEntry::parse(r#"{"other":{}}"#).is_err());
    }
}
