//! Tasks and their states (spec §4.1.1 to §4.1.3).

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::decode::{Decode, Fields, decode_via_fields};
use super::{Artifact, ContextId, GENERATION_MEMBER, Message, Metadata, TaskId, UnixMillis};

/// A unit of work with a life of its own (spec §4.1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Made by the server.
    pub id: TaskId,
    /// The conversation it belongs to; always set.
    pub context_id: ContextId,
    /// Where it stands.
    pub status: TaskStatus,
    /// What it has produced so far, in the order in which the artifacts began.
    pub artifacts: Vec<Artifact>,
    /// What was said, oldest first; the message of the current status is not among it.
    pub history: Vec<Message>,
    /// Free-form data.
    pub metadata: Option<Metadata>,
}

impl Task {
    /// The task as one answer shows it.
    pub fn view(&self, history: HistoryLimit) -> TaskView<'_> {
        TaskView { task: self, history, artifacts: true, generation: None }
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view(HistoryLimit::All).serialize(serializer)
    }
}

/// How much history an answer carries (`historyLength`, spec §3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryLimit {
    /// All that is stored.
    All,
    /// At most this many of the newest messages, oldest first; none at all for 0.
    Newest(usize),
}

impl HistoryLimit {
    /// From the wire, where an absent value means all. The decoder has refused negative ones.
    pub fn from_wire(length: Option<i32>) -> Self {
        match length {
            Some(length) => Self::Newest(usize::try_from(length).unwrap_or(0)),
            None => Self::All,
        }
    }
}

/// A [`Task`] as one answer shows it, borrowed: history limited, artifacts shown or left out, with
/// its generation or without.
#[derive(Clone, Copy, Debug)]
pub struct TaskView<'a> {
    /// The whole task.
    pub task: &'a Task,
    /// How much of its history is shown.
    pub history: HistoryLimit,
    /// Whether its artifacts are shown.
    pub artifacts: bool,
    /// Its generation, if its metadata is to tell it.
    pub generation: Option<u64>,
}

impl Serialize for TaskView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Task { id, context_id, status, artifacts, history, metadata } = self.task;
        let skipped = match self.history {
            HistoryLimit::All => 0,
            HistoryLimit::Newest(length) => history.len().saturating_sub(length),
        };
        let shown = history.get(skipped..).unwrap_or_default();

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("contextId", context_id)?;
        map.serialize_entry("status", status)?;
        if self.artifacts && !artifacts.is_empty() {
            map.serialize_entry("artifacts", artifacts)?;
        }
        if !shown.is_empty() {
            map.serialize_entry("history", shown)?;
        }
        match (self.generation, metadata) {
            (Some(generation), _) => {
                let mut metadata = metadata.clone().unwrap_or_default().members();
                metadata.insert(GENERATION_MEMBER.to_owned(), generation.into());
                map.serialize_entry("metadata", &metadata)?;
            }
            (None, Some(metadata)) => map.serialize_entry("metadata", metadata)?,
            (None, None) => {}
        }
        map.end()
    }
}

/// A state, what the agent says with it, and since when (spec §4.1.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// What the agent says with it: a question, a reason, a progress note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// When the state was entered; always set on tasks of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<UnixMillis>,
}

/// The states of a task (spec §4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum TaskState {
    /// Accepted; nothing has happened yet.
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    /// The agent works on it.
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    /// Done. Terminal.
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    /// Ended without a result. Terminal.
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    /// Ended by the client. Terminal.
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    /// The agent waits for a message of the client. Interrupted.
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    /// The agent declined it. Terminal.
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    /// The agent waits for credentials. Interrupted.
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
}

impl TaskState {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// Whether nothing can happen to the task any more.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => true,
            Self::Submitted | Self::Working | Self::InputRequired | Self::AuthRequired => false,
        }
    }

    /// Whether the task waits for somebody other than the agent.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The number that the protocol gives to the state.
    pub fn number(self) -> i64 {
        match self {
            Self::Submitted => 1,
            Self::Working => 2,
            Self::Completed => 3,
            Self::Failed => 4,
            Self::Canceled => 5,
            Self::InputRequired => 6,
            Self::Rejected => 7,
            Self::AuthRequired => 8,
        }
    }

    /// The name on the wire, as `TASK_STATE_WORKING`.
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::Rejected => "TASK_STATE_REJECTED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        }
    }
}

impl std::fmt::Display for TaskState {
    /// The state in words, as `input required`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::InputRequired => "input required",
            Self::Rejected => "rejected",
            Self::AuthRequired => "auth required",
        })
    }
}

/// What the reason begins with that the status of a task gives when its run took too long.
pub const TIMED_OUT: &str = "task timed out";

impl Decode for Task {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let id = fields.required_string("id");
        let context_id = fields.string("contextId").unwrap_or_default();
        let status = fields.required_object("status");
        let artifacts = fields.list("artifacts");
        let history = fields.list("history");
        let metadata = fields.metadata("metadata");
        Some(Self {
            id: TaskId::new(id?),
            context_id: ContextId::new(context_id),
            status: status?,
            artifacts: artifacts?,
            history: history?,
            metadata,
        })
    }
}

impl Decode for TaskStatus {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let state = fields.required_enumeration("state", &STATES);
        let message = fields.object("message");
        let timestamp = fields.timestamp("timestamp");
        Some(Self { state: state?, message, timestamp })
    }
}

decode_via_fields!(Task, TaskStatus);

/// Wire name, number and meaning of each state; unspecified counts as unset.
pub(super) const STATES: [(&str, i64, Option<TaskState>); 9] = [
    ("TASK_STATE_UNSPECIFIED", 0, None),
    ("TASK_STATE_SUBMITTED", 1, Some(TaskState::Submitted)),
    ("TASK_STATE_WORKING", 2, Some(TaskState::Working)),
    ("TASK_STATE_COMPLETED", 3, Some(TaskState::Completed)),
    ("TASK_STATE_FAILED", 4, Some(TaskState::Failed)),
    ("TASK_STATE_CANCELED", 5, Some(TaskState::Canceled)),
    ("TASK_STATE_INPUT_REQUIRED", 6, Some(TaskState::InputRequired)),
    ("TASK_STATE_REJECTED", 7, Some(TaskState::Rejected)),
    ("TASK_STATE_AUTH_REQUIRED", 8, Some(TaskState::AuthRequired)),
];
