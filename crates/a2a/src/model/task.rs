//! Tasks and their states (spec §4.1.1 to §4.1.3).

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::decode::{Decode, Fields};
use super::{Artifact, ContextId, GENERATION_MEMBER, Message, Metadata, TaskId, UnixMillis};
use crate::decode_via_fields;

/// A unit of work with a state (spec §4.1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The id, which the server has generated.
    pub id: TaskId,
    /// The id of the conversation. Tasks of this server have one; some other servers leave it out.
    pub context_id: Option<ContextId>,
    /// The present status.
    pub status: TaskStatus,
    /// The artifacts, in the order in which they were created.
    pub artifacts: Vec<Artifact>,
    /// The messages, oldest first, without the message of the current status.
    pub history: Vec<Message>,
    /// Free-form data.
    pub metadata: Option<Metadata>,
}

impl Task {
    /// The task in the form of one answer.
    pub fn view(&self, history: HistoryLimit) -> TaskView<'_> {
        TaskView { task: self, history, artifacts: true, generation: None }
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view(HistoryLimit::All).serialize(serializer)
    }
}

/// The number of history messages in an answer (`historyLength`, spec §3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryLimit {
    /// All that is stored.
    All,
    /// At most this number of the newest messages, oldest first; 0 means no messages.
    Newest(usize),
}

impl HistoryLimit {
    /// The limit from a wire value, where an absent value means all. The decoder has already
    /// refused negative values.
    pub fn from_wire(length: Option<i32>) -> Self {
        match length {
            Some(length) => Self::Newest(usize::try_from(length).unwrap_or(0)),
            None => Self::All,
        }
    }
}

/// A [`Task`] in the form of one answer, borrowed: with limited history, with or without artifacts,
/// and with or without its generation.
#[derive(Clone, Copy, Debug)]
pub struct TaskView<'a> {
    /// The whole task.
    pub task: &'a Task,
    /// The limit for the history.
    pub history: HistoryLimit,
    /// Whether the artifacts are included.
    pub artifacts: bool,
    /// The generation, if the metadata must contain it.
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
        if let Some(context_id) = context_id {
            map.serialize_entry("contextId", context_id)?;
        }
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

/// A state, the agent's message, and the time of the state (spec §4.1.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// The agent's message in this state: a question, a reason, a progress note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// When the task entered the state; always set in tasks of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<UnixMillis>,
}

impl TaskStatus {
    /// When the task entered the state; the epoch if the status does not have the time.
    pub fn instant(&self) -> UnixMillis {
        self.timestamp.unwrap_or(UnixMillis(0))
    }
}

/// The states of a task (spec §4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum TaskState {
    /// The task is accepted; nothing has happened yet.
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    /// The agent works on the task.
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    /// The task is done. Terminal.
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    /// The task ended without a result. Terminal.
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    /// The client has canceled the task. Terminal.
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    /// The agent waits for a message of the client. Interrupted.
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    /// The agent has declined the task. Terminal.
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

    /// Whether the state is final, so that the task cannot change any more.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => true,
            Self::Submitted | Self::Working | Self::InputRequired | Self::AuthRequired => false,
        }
    }

    /// Whether the task waits for somebody other than the agent: for input or for credentials.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The number of the state in the protocol.
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

    /// The name on the wire, for example `TASK_STATE_WORKING`.
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
    /// The name of the state in words, for example `input required`.
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

/// The beginning of the text in the status of a task whose run has exceeded its time limit.
pub const TIMED_OUT: &str = "task timed out";

impl Decode for Task {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let id = fields.required_id("id");
        let context_id = fields.id("contextId");
        let status = fields.required_object("status");
        let artifacts = fields.list("artifacts");
        let history = fields.list("history");
        let metadata = fields.metadata("metadata");
        Some(Self {
            id: id?,
            context_id,
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

/// The wire name, number and value of each state; "unspecified" counts as not set.
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
