//! Generators of the events of a task, each of which changes the task.

use a2a::client::apply;
use a2a::model::{
    Artifact, ContextId, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The events of a task from its beginning to its end.
#[derive(Clone, Debug)]
pub(crate) struct Script(pub(crate) Vec<StreamResponse>);

impl Script {
    /// The task after the first `count` of its events.
    pub(crate) fn task(&self, count: usize) -> Task {
        let mut task = None;
        self.0.iter().take(count).for_each(|event| apply(&mut task, event));
        task.expect("it begins with the task")
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// An event as a JSON-RPC result.
    pub(crate) fn json(event: &StreamResponse) -> Value {
        json!({"jsonrpc": "2.0", "id": "1", "result": event})
    }
}

/// One step of a script.
#[derive(Clone, Debug)]
enum Step {
    /// A status, with or without a message of the agent.
    Status(bool),
    /// An artifact is created or replaced.
    Artifact(u8),
    /// An artifact is extended; it may be new.
    Chunk(u8),
    /// A message of the user.
    Message,
}

/// The events of a whole task.
pub(crate) fn script() -> impl Strategy<Value = Script> {
    let step = prop_oneof![
        2 => any::<bool>().prop_map(Step::Status),
        1 => (0..2_u8).prop_map(Step::Artifact),
        4 => (0..2_u8).prop_map(Step::Chunk),
    ];
    lives(step)
}

/// A script in which the task is never interrupted.
pub(crate) fn busy_script() -> impl Strategy<Value = Script> {
    let step = prop_oneof![
        2 => Just(Step::Status(true)),
        1 => (0..2_u8).prop_map(Step::Artifact),
        4 => (0..2_u8).prop_map(Step::Chunk),
    ];
    lives(step)
}

/// A script with messages of the user.
pub(crate) fn talk() -> impl Strategy<Value = Script> {
    let step = prop_oneof![
        2 => any::<bool>().prop_map(Step::Status),
        2 => (0..2_u8).prop_map(Step::Chunk),
        2 => Just(Step::Message),
    ];
    lives(step)
}

fn lives(step: impl Strategy<Value = Step>) -> impl Strategy<Value = Script> {
    let ends = vec![TaskState::Completed, TaskState::Failed, TaskState::Canceled];
    let end = (proptest::sample::select(ends), any::<bool>());
    (proptest::collection::vec(step, 0..10), end).prop_map(|(steps, (end, says))| {
        let mut events = vec![StreamResponse::Task(begun())];
        for (place, step) in steps.into_iter().enumerate() {
            events.push(event(step, place));
        }
        events.push(status(end, says.then(|| message("end", Role::Agent))));
        Script(events)
    })
}

fn begun() -> Task {
    let status = TaskStatus { state: TaskState::Submitted, message: None, timestamp: None };
    let (id, context_id) = (TaskId::new("t-1").unwrap(), ContextId::new("c-1"));
    let (artifacts, history) = (Vec::new(), vec![message("begin", Role::User)]);
    Task { id, context_id, status, artifacts, history, metadata: None }
}

fn event(step: Step, place: usize) -> StreamResponse {
    let text = format!("é{place} ");
    match step {
        // A status without a message must differ from the previous one in its state.
        Step::Status(false) if place.is_multiple_of(2) => status(TaskState::AuthRequired, None),
        Step::Status(_) => status(TaskState::Working, Some(message(&text, Role::Agent))),
        Step::Artifact(id) => produced(id, text, false),
        Step::Chunk(id) => produced(id, text, true),
        Step::Message => StreamResponse::Message(message(&text, Role::User)),
    }
}

fn status(state: TaskState, message: Option<Message>) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: TaskId::new("t-1").unwrap(),
        context_id: ContextId::new("c-1"),
        status: TaskStatus { state, message, timestamp: None },
        metadata: None,
    })
}

fn produced(id: u8, text: String, append: bool) -> StreamResponse {
    let artifact = Artifact { name: None, ..Artifact::new(format!("a-{id}"), Part::text(text)) };
    StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: TaskId::new("t-1").unwrap(),
        context_id: ContextId::new("c-1"),
        artifact,
        append,
        last_chunk: false,
        metadata: None,
    })
}

fn message(text: &str, role: Role) -> Message {
    Message {
        message_id: format!("m-{text}"),
        context_id: None,
        task_id: None,
        role,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
        reference_task_ids: Vec::new(),
    }
}
