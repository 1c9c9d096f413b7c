//! Reduces values of 1.0 to the content that remains after a round trip through 0.3.

use a2a::binding::Binding;
use a2a::model::{Message, Part, PartContent, StreamResponse, Task};

/// An event, reduced to the members of 0.3.
pub(crate) fn event(binding: Binding, event: StreamResponse) -> StreamResponse {
    match event {
        StreamResponse::Task(task) => StreamResponse::Task(self::task(binding, task)),
        StreamResponse::Message(mut message) => {
            self::message(binding, &mut message);
            StreamResponse::Message(message)
        }
        StreamResponse::StatusUpdate(mut update) => {
            update.status.message.iter_mut().for_each(|one| message(binding, one));
            StreamResponse::StatusUpdate(update)
        }
        StreamResponse::ArtifactUpdate(mut update) => {
            lose_of_parts(&mut update.artifact.parts);
            StreamResponse::ArtifactUpdate(update)
        }
    }
}

/// Over HTTP+JSON a message has no referenced tasks.
pub(crate) fn message(binding: Binding, message: &mut Message) {
    if binding == Binding::Rest {
        message.reference_task_ids.clear();
    }
    lose_of_parts(&mut message.parts);
}

/// In 0.3 text and data have neither a file name nor a media type.
fn lose_of_parts(parts: &mut [Part]) {
    for part in parts {
        if matches!(part.content, PartContent::Text(_) | PartContent::Data(_)) {
            (part.filename, part.media_type) = (None, None);
        }
    }
}

/// A task, reduced to the members of 0.3.
pub(crate) fn task(binding: Binding, mut task: Task) -> Task {
    task.status.message.iter_mut().for_each(|one| message(binding, one));
    task.history.iter_mut().for_each(|one| message(binding, one));
    task.artifacts.iter_mut().for_each(|one| lose_of_parts(&mut one.parts));
    task
}
