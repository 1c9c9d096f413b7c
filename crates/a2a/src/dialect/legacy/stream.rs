//! The frames of streams: `event: status` and `event: artifact`. The first frame is a status; the last frame is a status
//! with `"final": true`.

use serde::Serialize;

use super::super::{StreamPiece, StreamState};
use super::params::{ARTIFACT, STATUS};
use super::view::{ArtifactView, StatusView};
use super::{TaskMembers, completed, json};
use crate::model::{Artifact, Metadata, StreamResponse, TaskState, TaskStatus};

/// See [`Dialect::piece`](super::super::Dialect::piece). A task becomes its status, followed by its artifacts unless the
/// status ends the stream.
pub(in crate::dialect) fn piece(
    event: &StreamResponse,
    state: &mut StreamState,
) -> Option<StreamPiece> {
    match event {
        StreamResponse::Task(task) => of_task(TaskMembers::of(task), state),
        StreamResponse::Message(message) => {
            of_task(TaskMembers::of_reply(message, &completed(message)), state)
        }
        StreamResponse::StatusUpdate(event) => {
            let metadata = event.metadata.as_ref();
            let frame = status_frame(event.task_id.as_str(), &event.status, metadata)?;
            Some(StreamPiece { frames: vec![frame], is_last: is_last(event.status.state) })
        }
        StreamResponse::ArtifactUpdate(event) => {
            let index = number(&event.artifact, state);
            let artifact = ArtifactView::of(&event.artifact, index);
            let artifact = artifact.on_stream(event.append, event.last_chunk);
            let frame = artifact_frame(event.task_id.as_str(), artifact, event.metadata.as_ref())?;
            Some(StreamPiece { frames: vec![frame], is_last: false })
        }
    }
}

fn of_task(task: TaskMembers<'_>, state: &mut StreamState) -> Option<StreamPiece> {
    let mut frames = vec![status_frame(task.id, task.status, None)?];
    let is_last = is_last(task.status.state);
    if !is_last {
        for artifact in task.artifacts {
            let view = ArtifactView::of(artifact, number(artifact, state)).on_stream(false, false);
            frames.push(artifact_frame(task.id, view, None)?);
        }
    }
    Some(StreamPiece { frames, is_last })
}

/// Whether a status ends a stream. A task that waits for credentials is sent as a task that waits for input.
fn is_last(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// The number of an artifact: its position in the order in which the artifacts of the task were created.
fn number(artifact: &Artifact, state: &mut StreamState) -> usize {
    let known = state.artifacts.iter().position(|id| *id == artifact.artifact_id);
    known.unwrap_or_else(|| {
        state.artifacts.push(artifact.artifact_id.clone());
        state.artifacts.len() - 1
    })
}

type Frame = (Option<&'static str>, String);

fn status_frame(id: &str, status: &TaskStatus, metadata: Option<&Metadata>) -> Option<Frame> {
    let is_final = is_last(status.state);
    let event = StatusEvent { id, status: StatusView::of(status), is_final, metadata };
    Some((Some(STATUS), json(&event, 0)?))
}

fn artifact_frame(
    id: &str,
    artifact: ArtifactView<'_>,
    metadata: Option<&Metadata>,
) -> Option<Frame> {
    Some((Some(ARTIFACT), json(&ArtifactEvent { id, artifact, metadata }, 0)?))
}

/// The event of a new status.
#[derive(Serialize)]
struct StatusEvent<'a> {
    id: &'a str,
    status: StatusView<'a>,
    #[serde(rename = "final")]
    is_final: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

/// The event of an artifact that was created, extended or replaced.
#[derive(Serialize)]
struct ArtifactEvent<'a> {
    id: &'a str,
    artifact: ArtifactView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}
