//! Applies events to a task, and computes the events that turn one state of a task into another.

use serde_json::{Map, Value};

use crate::model::{
    Artifact, ContextId, GENERATION_MEMBER, Message, Metadata, Role, StreamResponse, Task,
    TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
};

/// Applies an event to the known state of a task (spec §4.2), which is `None` until the first event.
///
/// A `task` event replaces the artifacts with the same ids, and the history unless the event has no history. A status event moves the
/// message of the previous status into the history. An artifact event replaces the artifact, or adds its parts if `append` is set; in both
/// cases the artifact may be new. A message event is added to the history.
///
/// Nothing changes if the event belongs to another task, if it is a state after a terminal state, or if it is a message whose id is already
/// in the task. If the state is `None` and the event is a message, it stays `None`.
///
/// ```
/// use a2a::client::apply;
/// use a2a::model::StreamResponse;
///
/// let event = |json: &str| -> StreamResponse { a2a::model::decode::read_json(json).unwrap() };
/// let mut task = None;
/// for json in [
///     r#"{"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}"#,
///     r#"{"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "1"}]}}}"#,
///     r#"{"artifactUpdate": {"taskId": "t", "contextId": "c", "append": true, "artifact": {"artifactId": "a", "parts": [{"text": "2"}]}}}"#,
///     r#"{"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}"#,
/// ] {
///     apply(&mut task, &event(json));
/// }
/// let task = task.unwrap();
/// assert_eq!(task.artifacts[0].parts.len(), 2);
/// assert!(task.status.state.is_terminal());
/// ```
pub fn apply(task: &mut Option<Task>, event: &StreamResponse) {
    let Some(known) = task else {
        *task = begun(event);
        return;
    };
    if is_of_another(known, event) {
        return;
    }
    if known.context_id.is_none() {
        known.context_id = context_id(event).cloned();
    }
    match event {
        StreamResponse::Task(snapshot) => known.renew(snapshot),
        StreamResponse::Message(message) => known.hear(message),
        StreamResponse::StatusUpdate(event) => {
            known.note(event.metadata.as_ref());
            known.enter(&event.status);
        }
        StreamResponse::ArtifactUpdate(event) => known.produce(event),
    }
}

/// The id of the event's task, if the event contains it.
pub(super) fn task_id(event: &StreamResponse) -> Option<&TaskId> {
    match event {
        StreamResponse::Task(task) => Some(&task.id),
        StreamResponse::Message(message) => message.task_id.as_ref(),
        StreamResponse::StatusUpdate(event) => Some(&event.task_id),
        StreamResponse::ArtifactUpdate(event) => Some(&event.task_id),
    }
}

pub(super) fn is_of_another(known: &Task, event: &StreamResponse) -> bool {
    task_id(event).is_some_and(|id| *id != known.id)
}

fn context_id(event: &StreamResponse) -> Option<&ContextId> {
    match event {
        StreamResponse::Task(task) => task.context_id.as_ref(),
        StreamResponse::Message(message) => message.context_id.as_ref(),
        StreamResponse::StatusUpdate(event) => event.context_id.as_ref(),
        StreamResponse::ArtifactUpdate(event) => event.context_id.as_ref(),
    }
}

/// The task that a first event describes. Some servers leave out the `task` event at the beginning.
fn begun(event: &StreamResponse) -> Option<Task> {
    let (id, context_id) = match event {
        StreamResponse::Task(task) => return Some(task.clone()),
        StreamResponse::Message(_) => return None,
        StreamResponse::StatusUpdate(event) => (&event.task_id, &event.context_id),
        StreamResponse::ArtifactUpdate(event) => (&event.task_id, &event.context_id),
    };
    let status = TaskStatus { state: TaskState::Working, message: None, timestamp: None };
    let mut task = Some(Task {
        id: id.clone(),
        context_id: context_id.clone(),
        status,
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    });
    apply(&mut task, event);
    task
}

impl Task {
    fn renew(&mut self, snapshot: &Task) {
        if snapshot.context_id.is_some() {
            self.context_id.clone_from(&snapshot.context_id);
        }
        self.enter(&snapshot.status);
        if !snapshot.history.is_empty() {
            self.history.clone_from(&snapshot.history);
        }
        let is_new = |known: &Artifact| find(&snapshot.artifacts, &known.artifact_id).is_none();
        let mut others = std::mem::take(&mut self.artifacts);
        others.retain(is_new);
        self.artifacts.clone_from(&snapshot.artifacts);
        self.artifacts.extend(others);
        if snapshot.metadata.is_some() {
            self.metadata.clone_from(&snapshot.metadata);
        }
    }

    fn hear(&mut self, message: &Message) {
        if is_said(self, message) {
            return;
        }
        if self.status.state.is_interrupted() && message.role == Role::User {
            // The user's message answers the message in the status, so the message of the status is moved into the history
            // first.
            let said = self.status.message.take();
            remember(&mut self.history, said);
        }
        remember(&mut self.history, Some(message.clone()));
    }

    fn enter(&mut self, status: &TaskStatus) {
        if self.status.state.is_terminal() {
            return;
        }
        let said = std::mem::replace(&mut self.status, status.clone()).message;
        let id = |message: &Option<Message>| message.as_ref().map(|said| said.message_id.clone());
        if id(&said) != id(&self.status.message) {
            remember(&mut self.history, said);
        }
    }

    fn note(&mut self, metadata: Option<&Metadata>) {
        let Some(added) = metadata else { return };
        let mut members = self.metadata.take().map(|known| known.members()).unwrap_or_default();
        members.extend(added.members());
        self.metadata = Some(members.into());
    }

    fn produce(&mut self, event: &TaskArtifactUpdateEvent) {
        let chunk = event.artifact.clone();
        let known = self.artifacts.iter_mut().find(|known| known.artifact_id == chunk.artifact_id);
        // A chunk without parts replaces nothing: the server only reports that the artifact is complete.
        let adds = event.append || chunk.parts.is_empty();
        match known {
            Some(artifact) if adds => artifact.extend(chunk),
            Some(artifact) => *artifact = chunk,
            None => self.artifacts.push(chunk),
        }
    }
}

fn remember(history: &mut Vec<Message>, message: Option<Message>) {
    if let Some(message) = message
        && !holds(history, &message)
    {
        history.push(message);
    }
}

fn holds(history: &[Message], message: &Message) -> bool {
    history.iter().any(|known| known.message_id == message.message_id)
}

fn find<'a>(artifacts: &'a [Artifact], id: &str) -> Option<&'a Artifact> {
    artifacts.iter().find(|known| known.artifact_id == id)
}

/// The events that turn `before` into `after`, two snapshots of a task, oldest first: [applied](apply) to `before` they result in `after`,
/// except for changes that events cannot express. Returns the whole task if `before` is `None` or another task.
///
/// - New messages are first: messages of the agent as `working` statuses, messages of the user as message events.
/// - For an artifact with new parts, the event contains only these parts, with `append`. An artifact with any other change is replaced,
///   even if only the text of its last part has grown: an appended part would be a separate part, with a line break before its text.
/// - The status is last, with the new metadata. A status with a different timestamp and no other difference counts as
///   unchanged.
///
/// Events cannot express that an artifact, a message or a member of the metadata was removed.
pub fn changes(before: Option<&Task>, after: &Task) -> Vec<StreamResponse> {
    let Some(before) = before.filter(|before| before.id == after.id) else {
        return vec![StreamResponse::Task(after.clone())];
    };
    let mut telling = Changes { now: Some(before.clone()), events: Vec::new() };
    telling.tell_messages(before, after);
    for artifact in &after.artifacts {
        if let Some(event) = grown(before, after, artifact) {
            telling.tell(event);
        }
    }
    let metadata = added(before.metadata.as_ref(), after.metadata.as_ref());
    let is_same = telling.now.as_ref().is_some_and(|now| {
        now.status.state == after.status.state && now.status.message == after.status.message
    });
    if !is_same || metadata.is_some() {
        telling.tell(entered(after, after.status.clone(), metadata));
    }
    telling.events
}

/// The events so far, and the task after these events.
struct Changes {
    now: Option<Task>,
    events: Vec<StreamResponse>,
}

impl Changes {
    fn tell(&mut self, event: StreamResponse) {
        apply(&mut self.now, &event);
        self.events.push(event);
    }

    fn tell_messages(&mut self, before: &Task, after: &Task) {
        let is_over = before.status.state.is_terminal();
        for message in &after.history {
            let is_known = holds(&before.history, message)
                || is_said(before, message)
                || is_said(after, message);
            match (is_known, message.role) {
                (true, _) => {}
                (false, Role::Agent) if !is_over => {
                    let message = Some(message.clone());
                    let status = TaskStatus { state: TaskState::Working, message, timestamp: None };
                    self.tell(entered(after, status, None));
                }
                (false, Role::Agent | Role::User) => {
                    self.end_saying(message, after);
                    self.tell(StreamResponse::Message(message.clone()));
                }
            }
        }
    }

    /// Moves the message of the status into the history, if `next` follows this message in the history and the event for `next`
    /// would not move it.
    fn end_saying(&mut self, next: &Message, after: &Task) {
        let Some(now) = &self.now else { return };
        let Some(said) = &now.status.message else { return };
        let place = |message: &Message| {
            after.history.iter().position(|known| known.message_id == message.message_id)
        };
        let state = now.status.state;
        let is_before = place(said).is_some_and(|place_of_said| Some(place_of_said) < place(next));
        if is_before && !state.is_interrupted() && !state.is_terminal() {
            let status = TaskStatus { state, message: None, timestamp: None };
            self.tell(entered(after, status, None));
        }
    }
}

fn is_said(task: &Task, message: &Message) -> bool {
    task.status.message.as_ref().is_some_and(|said| said.message_id == message.message_id)
}

fn entered(task: &Task, status: TaskStatus, metadata: Option<Metadata>) -> StreamResponse {
    let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent { task_id, context_id, status, metadata })
}

fn grown(before: &Task, after: &Task, artifact: &Artifact) -> Option<StreamResponse> {
    let known = find(&before.artifacts, &artifact.artifact_id);
    if known == Some(artifact) {
        return None;
    }
    let chunk = known.and_then(|known| chunk(known, artifact));
    Some(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: after.id.clone(),
        context_id: after.context_id.clone(),
        append: chunk.is_some(),
        artifact: chunk.unwrap_or_else(|| artifact.clone()),
        last_chunk: after.status.state.is_terminal(),
        metadata: None,
    }))
}

/// The chunk that, appended to `known`, results in `artifact`; `None` if appending cannot do that.
fn chunk(known: &Artifact, artifact: &Artifact) -> Option<Artifact> {
    let parts = artifact.parts.strip_prefix(known.parts.as_slice())?;
    if parts.is_empty() {
        return None;
    }
    let changed = |known: &Option<String>, now: &Option<String>| {
        if known == now { None } else { now.clone() }
    };
    let known_uris = &known.extensions;
    let is_new = |uri: &&String| !known_uris.contains(uri);
    let chunk = Artifact {
        artifact_id: artifact.artifact_id.clone(),
        name: changed(&known.name, &artifact.name),
        description: changed(&known.description, &artifact.description),
        parts: parts.to_vec(),
        metadata: added(known.metadata.as_ref(), artifact.metadata.as_ref()),
        extensions: artifact.extensions.iter().filter(is_new).cloned().collect(),
    };
    let mut extended = known.clone();
    extended.extend(chunk.clone());
    (extended == *artifact).then_some(chunk)
}

/// The members that are new or have another value.
fn added(before: Option<&Metadata>, after: Option<&Metadata>) -> Option<Metadata> {
    let after = after.filter(|after| before != Some(after))?;
    let known = before.map(Metadata::members).unwrap_or_default();
    let is_new = |(name, value): &(String, Value)| {
        // `GENERATION_MEMBER` counts events, so its change is not reported.
        known.get(name) != Some(value) && name != GENERATION_MEMBER
    };
    let members: Map<String, Value> = after.members().into_iter().filter(is_new).collect();
    (!members.is_empty()).then(|| members.into())
}

/// Combines the known task with a snapshot that may be older: artifacts that the snapshot lacks or has only in part, and a status that is
/// older, are taken from the known task. The second value is true if the snapshot was behind the known task in any of these points.
pub(super) fn newest(known: &Task, mut seen: Task) -> (Task, bool) {
    let mut was_behind = false;
    for artifact in &mut seen.artifacts {
        if let Some(known) = find(&known.artifacts, &artifact.artifact_id)
            && is_beginning(artifact, known)
        {
            artifact.clone_from(known);
            was_behind = true;
        }
    }
    let missing = |artifact: &&Artifact| find(&seen.artifacts, &artifact.artifact_id).is_none();
    let missing: Vec<Artifact> = known.artifacts.iter().filter(missing).cloned().collect();
    was_behind |= !missing.is_empty();
    seen.artifacts.extend(missing);
    let is_old = seen.status.timestamp.is_some() && seen.status.timestamp < known.status.timestamp;
    if is_old && !seen.status.state.is_terminal() {
        seen.status = known.status.clone();
        was_behind = true;
    }
    (seen, was_behind)
}

/// True if an artifact is the beginning of another artifact, and shorter.
fn is_beginning(artifact: &Artifact, whole: &Artifact) -> bool {
    let Some((last, first)) = artifact.parts.split_last() else { return true };
    let Some(rest) = whole.parts.strip_prefix(first) else { return false };
    let Some(next) = rest.first() else { return false };
    match (last == next, last.as_text(), next.as_text()) {
        (true, ..) => rest.len() > 1,
        (false, Some(text), Some(longer)) => longer.starts_with(text),
        (false, ..) => false,
    }
}
