//! The entries of a task's log.

use serde::Serialize;
use serde_json::Value;

use super::{CallbackCall, CallbackRecord, Park, WaitEnd};
use crate::auth::Caller;
use crate::trail::Trail;
use crate::usage::StepUsage;
use a2a::Allowance;
use a2a::model::decode::{Decode, Fields, Member, decode, read_json};
use a2a::model::{
    Json, Message, Metadata, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatus,
    TaskStatusUpdateEvent, UnixMillis,
};

/// One entry of a task's log.
///
/// `Task` opens the log. `StatusUpdate` and `ArtifactUpdate` are events; the opening entry and the events have the generations 1, 2, 3 … by
/// their order, and are stored in their wire format. The other entries are not events and have no generation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LogEntry {
    /// The task at its creation.
    Task(Task),
    /// A message of the client, stored for the history.
    Message(Message),
    /// The task entered a state.
    StatusUpdate(TaskStatusUpdateEvent),
    /// An artifact began, grew or was replaced.
    ArtifactUpdate(TaskArtifactUpdateEvent),
    /// The next artifact update omits a part of the text that the run has emitted.
    Held(HeldText),
    /// A run of the executor begins.
    Run(RunStart),
    /// A step of the run has ended; later attempts reuse its result.
    Step(StepRecord),
    /// The run has read the oldest unread message that had arrived during the run.
    Taken,
    /// The run waits outside of memory.
    Parked(Park),
    /// A wait of the run has ended.
    Woken(WaitEnd),
    /// A run that had waited has ended, and its task waits for the client.
    Ended,
    /// The run has created a URL for another system to post to.
    Callback(CallbackRecord),
    /// Another system has posted to the callback.
    Called(CallbackCall),
}

impl LogEntry {
    /// True if the entry is an event, which has its own generation.
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

    /// The status of an event that has one.
    pub fn status(&self) -> Option<&TaskStatus> {
        match self {
            Self::Task(task) => Some(&task.status),
            Self::StatusUpdate(event) => Some(&event.status),
            _ => None,
        }
    }

    /// Parses a line of the log.
    ///
    /// # Errors
    ///
    /// If this version cannot parse the line.
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

/// Text that was held back: its length, never the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeldText {
    /// The number of characters that the update omits from the end of the text that the run has emitted for the artifact. 0 marks
    /// an update that releases text held back earlier.
    pub chars: usize,
}

/// The beginning of a run of the executor, with everything needed to repeat the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// The number of this attempt at the turn, from 1. Restarts at 1 when a parked run continues.
    pub attempt: u32,
    /// True if the run continues where the attempt before was interrupted, instead of starting from the beginning.
    pub resumes: bool,
    /// The number of the client's message that the run handles, from 1.
    pub message: usize,
    /// The instant at which the first attempt at this turn began, plus the time for which the run was parked. The run's time
    /// limit counts from here.
    pub begun_ms: i64,
    /// The caller and the settings of the request.
    pub request: RunRequest,
}

impl RunStart {
    /// The instant at which the run must end, for all attempts together.
    pub fn deadline(&self) -> UnixMillis {
        let timeout = i64::try_from(self.request.timeout_ms).unwrap_or(i64::MAX);
        UnixMillis(self.begun_ms.saturating_add(timeout))
    }
}

/// The data of a request to run an agent, except its message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRequest {
    /// The caller of the request.
    pub caller: Caller,
    /// The media types that the client accepts; an empty list means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// The request's metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The origin at which the request reached the server, for URLs that lead back to the server; `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The rest of the caller's daily model budget, if there is such a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Box<Allowance>>,
    /// The id that connects the request with its logs and traces. Stored if the request belongs to a trace, or a task of this Worker
    /// has sent it.
    #[serde(skip_serializing_if = "is_not_kept")]
    pub trail: Box<Trail>,
    /// The longest duration of the run, in milliseconds.
    pub timeout_ms: u64,
    /// True if the client has set the `contextId` of its message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub joins_context: bool,
}

#[cfg(test)]
impl RunRequest {
    /// A request of an anonymous caller, for tests.
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

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRecord {
    /// The name that the executor has given the step.
    pub name: String,
    /// The number of the step among the run's steps of that name, from 1.
    pub nth: u32,
    /// The outcome of the step.
    pub outcome: Result<Json, String>,
    /// True if the step failed although its outcome is stored as a result, which is the error that a model receives for its call. An
    /// outcome that is itself an error does not set this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The step's usage of models, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<StepUsage>,
    /// The duration of the step, in milliseconds. `None` for usage outside of a step.
    #[serde(rename = "durationMs", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What the step was given, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<StepInput>,
}

/// What a step was given, if the agent's file asks for it. No run reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepInput {
    /// JSON, or its beginning.
    pub json: String,
    /// True if the end is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl StepRecord {
    /// The name of the record for usage outside of a step, or by a step that was dropped. No step has this name.
    pub fn of_usage(usage: StepUsage) -> Self {
        let outcome = Ok(Json::from(&Value::Null));
        let (name, failed, duration_ms) = (String::new(), false, None);
        Self { name, nth: 0, outcome, failed, usage: Some(usage), duration_ms, input: None }
    }

    /// The result of the step; `None` if the step failed, or its result is no `T`.
    pub(crate) fn result<T: Member>(&self) -> Option<T> {
        let result = self.outcome.as_ref().ok()?;
        decode(result.value()).ok()
    }

    /// True if the step failed.
    pub fn has_failed(&self) -> bool {
        self.failed || self.outcome.is_err()
    }
}

#[allow(clippy::borrowed_box, reason = "serde gives the field as it is")]
fn is_not_kept(trail: &Box<Trail>) -> bool {
    !trail.is_kept()
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
        let (duration_ms, input) = (fields.number("durationMs"), fields.object("input"));
        Some(Self { name, nth, outcome, failed, usage, duration_ms, input })
    }
}

impl Decode for StepInput {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let json = fields.any_string("json")?;
        Some(Self { json, is_cut: fields.boolean("isCut").unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::{CallbackName, Unanswered, WokenBy};
    use crate::usage::Usage;
    use crate::usage::models::NamedUsage;
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
            input: None,
        };
        let used = Usage { requests: 1, input_tokens: 2, output_tokens: 3, cost_micros: 4 };
        let mut named = NamedUsage::default();
        named.add("m", used);
        let usage = StepUsage { at_ms: 5, used, repeated: used, models: named.models };
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
            LogEntry::Step(StepRecord { usage: Some(usage.clone()), ..step(Err("no".to_owned())) }),
            LogEntry::Step(StepRecord { duration_ms: Some(250), ..step(Err("no".to_owned())) }),
            LogEntry::Step(StepRecord {
                input: Some(StepInput { json: r#"{"a":"x"#.to_owned(), is_cut: true }),
                ..step(Ok(Json::from(&json!(1))))
            }),
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
