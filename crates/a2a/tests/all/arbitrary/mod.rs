//! Generators of tasks, messages, events and calls of 1.0, for round trips through an older dialect; and the reduction
//! of these values to the content that remains.

pub(crate) mod call;
pub(crate) mod less_0_1;
pub(crate) mod less_0_3;

use a2a::model::{
    Artifact, Base64, ContextId, Json, Message, Metadata, Part, PartContent, Role, StreamResponse,
    Task, TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
    UnixMillis,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) fn event() -> impl Strategy<Value = StreamResponse> {
    prop_oneof![
        task().prop_map(StreamResponse::Task),
        message().prop_map(StreamResponse::Message),
        status_update().prop_map(StreamResponse::StatusUpdate),
        artifact_update().prop_map(StreamResponse::ArtifactUpdate),
    ]
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    // The ids of artifacts must be unique within their task.
    let artifacts = vec(artifact(), 0..3).prop_map(|mut artifacts| {
        for (place, artifact) in artifacts.iter_mut().enumerate() {
            artifact.artifact_id.push_str(&place.to_string());
        }
        artifacts
    });
    let lists = (artifacts, vec(message(), 0..3));
    (word(), word(), status(), lists, metadata()).prop_map(
        |(id, context_id, status, (artifacts, history), metadata)| Task {
            id: TaskId::new(id).unwrap(),
            context_id: ContextId::new(context_id),
            status,
            artifacts,
            history,
            metadata,
        },
    )
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let ids = (word(), option::of(word()), option::of(word()), vec(word(), 0..2));
    let role = prop_oneof![Just(Role::User), Just(Role::Agent)];
    (ids, role, vec(part(), 1..4), metadata(), vec(word(), 0..2)).prop_map(
        |((message_id, context_id, task_id, references), role, parts, metadata, extensions)| {
            Message {
                message_id,
                context_id: context_id.and_then(ContextId::new),
                task_id: task_id.and_then(TaskId::new),
                role,
                parts,
                metadata,
                extensions,
                reference_task_ids: references.into_iter().filter_map(TaskId::new).collect(),
            }
        },
    )
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        text().prop_map(|text| PartContent::Text(text.into())),
        text().prop_map(|url| PartContent::Url(url.into())),
        vec(any::<u8>(), 0..6).prop_map(|bytes| PartContent::Raw(Base64::encode(&bytes))),
        // Bytes whose text is base64, too.
        vec(any::<u8>(), 0..6).prop_map(|bytes| {
            let text = Base64::encode(&bytes);
            PartContent::Raw(Base64::encode(text.as_str().as_bytes()))
        }),
        value().prop_map(|value| PartContent::Data(Json::from(&value))),
    ];
    (content, metadata(), option::of(word()), option::of(word())).prop_map(
        |(content, metadata, filename, media_type)| Part {
            content,
            metadata,
            filename,
            media_type,
        },
    )
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let names = (word(), option::of(word()), option::of(word()));
    (names, vec(part(), 1..3), metadata(), vec(word(), 0..2)).prop_map(
        |((artifact_id, name, description), parts, metadata, extensions)| Artifact {
            artifact_id,
            name,
            description,
            parts,
            metadata,
            extensions,
        },
    )
}

fn status() -> impl Strategy<Value = TaskStatus> {
    let timestamp = (0..4_000_000_000_000_i64).prop_map(UnixMillis);
    let state = proptest::sample::select(&TaskState::ALL[..]);
    (state, option::of(message()), option::of(timestamp))
        .prop_map(|(state, message, timestamp)| TaskStatus { state, message, timestamp })
}

fn status_update() -> impl Strategy<Value = TaskStatusUpdateEvent> {
    (word(), word(), status(), metadata()).prop_map(|(task_id, context_id, status, metadata)| {
        TaskStatusUpdateEvent {
            task_id: TaskId::new(task_id).unwrap(),
            context_id: ContextId::new(context_id),
            status,
            metadata,
        }
    })
}

fn artifact_update() -> impl Strategy<Value = TaskArtifactUpdateEvent> {
    (word(), word(), artifact(), any::<(bool, bool)>(), metadata()).prop_map(
        |(task_id, context_id, artifact, (append, last_chunk), metadata)| TaskArtifactUpdateEvent {
            task_id: TaskId::new(task_id).unwrap(),
            context_id: ContextId::new(context_id),
            artifact,
            append,
            last_chunk,
            metadata,
        },
    )
}

/// Free-form data, which is never an empty object.
pub(crate) fn metadata() -> impl Strategy<Value = Option<Metadata>> {
    option::of(
        vec((word(), value()), 1..3)
            .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
    )
}

/// Any JSON value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!(41.25)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((member(), inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The name of a member, including names with a meaning in a dialect.
fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        word(),
        proptest::sample::select(&["data", "value", "kind", "type", "text", "file"][..])
            .prop_map(str::to_owned),
    ]
}

/// A text that is not empty.
pub(crate) fn word() -> impl Strategy<Value = String> {
    "[a-zé\"]{1,6}"
}

fn text() -> impl Strategy<Value = String> {
    "[ -~é\n]{0,8}"
}
