//! Translates events of the remote task into events of our task. A pure computation, without I/O.

use super::super::Emission;
use a2a::model::{
    Artifact, Message, Metadata, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus,
};
use a2a::sorted::SortedSet;

/// The content of the remote task that our task already has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mirror {
    state: Option<TaskState>,
    /// The message of the current status.
    message: Option<Message>,
    /// The ids of the messages that our task already has from the remote agent.
    said: SortedSet<String>,
    artifacts: SortedSet<String>,
    /// True if our task's newest message is our own and not the remote agent's.
    has_own_words: bool,
}

impl Mirror {
    /// The mirror of our task as it is when a run begins.
    pub(super) fn of(ours: Option<&Task>) -> Self {
        let Some(ours) = ours else { return Self::default() };
        let of_agent = ours.history.iter().filter(|message| message.role == Role::Agent);
        let ids = of_agent.chain(&ours.status.message).map(|message| message.message_id.clone());
        Self {
            state: Some(ours.status.state),
            message: ours.status.message.clone(),
            said: ids.collect(),
            artifacts: ours.artifacts.iter().map(|known| known.artifact_id.clone()).collect(),
            has_own_words: is_own(ours.status.message.as_ref()),
        }
    }

    /// The events of our task for an event of the remote task. For an event with the whole remote task, these are the
    /// parts that our task lacks; `ours` returns our task for the comparison.
    pub(super) fn reflect(
        &mut self,
        event: StreamResponse,
        ours: impl FnOnce() -> Option<Task>,
    ) -> Vec<Emission> {
        match event {
            StreamResponse::Task(theirs) => self.catch_up(ours().as_ref(), theirs),
            StreamResponse::StatusUpdate(event) => {
                self.status(event.status, event.metadata).into_iter().collect()
            }
            StreamResponse::ArtifactUpdate(event) => self.artifact(event).into_iter().collect(),
            // The task exists already, so the message is a note of progress.
            StreamResponse::Message(message) => vec![self.note(message)],
        }
    }

    /// True if our task has ended, or waits for input of its client.
    pub(super) fn is_settled(&self) -> bool {
        self.state.is_some_and(|state| state.is_terminal() || state.is_interrupted())
    }

    /// True if the newest message of our task is our own, for example that the remote agent cannot be reached.
    pub(super) fn lost(&self) -> bool {
        self.has_own_words
    }

    /// The event for a message of our own.
    pub(super) fn interject(&mut self, message: Message) -> Emission {
        let said = self.note(message);
        self.has_own_words = true;
        said
    }

    fn catch_up(&mut self, ours: Option<&Task>, theirs: Task) -> Vec<Emission> {
        let Task { status, artifacts, history, metadata, .. } = theirs;
        let newest = status.message.as_ref().map(|message| message.message_id.clone());
        let mut said = Vec::new();
        for message in history {
            let is_known = self.said.contains(&message.message_id)
                || Some(&message.message_id) == newest.as_ref();
            if message.role == Role::Agent && !is_known {
                said.push(self.note(message));
            }
        }
        for artifact in artifacts {
            let known = ours.and_then(|ours| {
                ours.artifacts.iter().find(|known| known.artifact_id == artifact.artifact_id)
            });
            said.extend(missing(known, artifact).map(|(artifact, append)| {
                self.artifacts.insert(artifact.artifact_id.clone());
                Emission::Artifact { artifact, append, last_chunk: true, metadata: None }
            }));
        }
        // A remote task that is still `working` without a message is not emitted, unless our task shows another state
        // or a message of our own.
        let is_silent = status.state == TaskState::Working && status.message.is_none();
        if !is_silent || self.has_own_words || self.state != Some(TaskState::Working) {
            said.extend(self.status(status, metadata));
        }
        said
    }

    fn note(&mut self, message: Message) -> Emission {
        let message = own(message);
        self.said.insert(message.message_id.clone());
        (self.state, self.message) = (Some(TaskState::Working), Some(message.clone()));
        self.has_own_words = false;
        Emission::Status { state: TaskState::Working, message: Some(message), metadata: None }
    }

    fn status(&mut self, status: TaskStatus, metadata: Option<Metadata>) -> Option<Emission> {
        let TaskStatus { state, message, .. } = status;
        let message = message.map(own);
        // Our task is `submitted` from its beginning. And a question that was answered may still be the status of the
        // remote task for a moment.
        let is_answered = state.is_interrupted()
            && message.as_ref().is_some_and(|message| self.said.contains(&message.message_id));
        let is_same = self.state == Some(state) && is_same(self.message.as_ref(), message.as_ref());
        if state == TaskState::Submitted || is_answered || is_same {
            return None;
        }
        self.said.extend(message.as_ref().map(|message| message.message_id.clone()));
        (self.state, self.message) = (Some(state), message.clone());
        self.has_own_words = false;
        Some(Emission::Status { state, message, metadata })
    }

    fn artifact(&mut self, event: TaskArtifactUpdateEvent) -> Option<Emission> {
        let TaskArtifactUpdateEvent { artifact, append, last_chunk, metadata, .. } = event;
        if artifact.parts.is_empty() {
            return None;
        }
        let is_new = self.artifacts.insert(artifact.artifact_id.clone());
        Some(Emission::Artifact { artifact, append: append && !is_new, last_chunk, metadata })
    }
}

/// True if our agent wrote a message itself.
fn is_own(message: Option<&Message>) -> bool {
    message.is_some_and(|message| message.text().starts_with(OWN_WORDS))
}

/// A message without the ids of the remote task and conversation.
fn own(message: Message) -> Message {
    Message { task_id: None, context_id: None, reference_task_ids: Vec::new(), ..message }
}

fn is_same(known: Option<&Message>, message: Option<&Message>) -> bool {
    match (known, message) {
        (None, None) => true,
        (Some(known), Some(message)) => {
            known.message_id == message.message_id && known.parts == message.parts
        }
        _ => false,
    }
}

/// The missing content of an artifact, and true if the content must be appended.
fn missing(known: Option<&Artifact>, theirs: Artifact) -> Option<(Artifact, bool)> {
    if theirs.parts.is_empty() {
        return None;
    }
    let Some(known) = known else { return Some((theirs, false)) };
    let is_same = known.name == theirs.name
        && known.description == theirs.description
        && known.metadata == theirs.metadata;
    if is_same && let Some(rest) = rest_of(&known.parts, &theirs.parts) {
        return (!rest.is_empty()).then_some((Artifact { parts: rest, ..theirs }, true));
    }
    Some((theirs, false))
}

/// The parts after the known parts; `None` if the beginning differs. Servers may join the texts of several chunks, so
/// texts are compared joined, too.
fn rest_of(known: &[Part], theirs: &[Part]) -> Option<Vec<Part>> {
    if let Some(rest) = theirs.strip_prefix(known) {
        return Some(rest.to_vec());
    }
    let text = |parts: &[Part]| parts.iter().map(Part::as_text).collect::<Option<String>>();
    let (known, theirs) = (text(known)?, text(theirs)?);
    let rest = theirs.strip_prefix(&known)?;
    Some(if rest.is_empty() { Vec::new() } else { vec![Part::text(rest)] })
}

/// The beginning of every message that our agent writes itself.
pub(super) const OWN_WORDS: &str = "the remote agent ";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use a2a::model::decode::decode;

    fn task(json: Value) -> Task {
        let mut whole = json!({"id": "t", "contextId": "c"});
        whole.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
        decode(whole).unwrap()
    }

    fn said(role: &str, id: &str) -> Value {
        json!({"messageId": id, "role": role, "parts": [{"text": id}], "taskId": "theirs"})
    }

    /// The emissions in short notation.
    fn told(emissions: Vec<Emission>) -> Vec<String> {
        let tell = |emission| match emission {
            Emission::Status { state, message, .. } => {
                let message = message.map(|message| {
                    assert_eq!((&message.task_id, &message.context_id), (&None, &None));
                    message.text()
                });
                format!("{state} {}", message.unwrap_or_default())
            }
            Emission::Artifact { artifact, append, .. } => {
                let texts: Vec<_> = artifact.parts.iter().filter_map(Part::as_text).collect();
                format!("{} {append} {}", artifact.artifact_id, texts.join("|"))
            }
            Emission::Reply(_) => panic!("a reply"),
        };
        emissions.into_iter().map(tell).collect()
    }

    fn caught_up(ours: Value, theirs: Value) -> Vec<String> {
        let (ours, theirs) = (task(ours), task(theirs));
        let mut mirror = Mirror::of(Some(&ours));
        told(mirror.reflect(StreamResponse::Task(theirs), || Some(ours)))
    }

    #[test]
    fn of_a_task_that_went_on_meanwhile_what_is_missing_is_said() {
        let ours = json!({
            "status": {"state": "TASK_STATE_WORKING", "message": said("ROLE_AGENT", "one")},
            "history": [said("ROLE_USER", "hello")],
            "artifacts": [
                {"artifactId": "same", "parts": [{"text": "x"}]},
                {"artifactId": "grown", "parts": [{"text": "a"}]},
                {"artifactId": "joined", "parts": [{"text": "a"}, {"text": "b"}]},
                {"artifactId": "other", "parts": [{"text": "a"}]},
            ],
        });
        let theirs = json!({
            "status": {"state": "TASK_STATE_COMPLETED", "message": said("ROLE_AGENT", "three")},
            "history": [said("ROLE_USER", "hello-1"), said("ROLE_AGENT", "one"),
                said("ROLE_AGENT", "two"), said("ROLE_AGENT", "three")],
            "artifacts": [
                {"artifactId": "same", "parts": [{"text": "x"}]},
                {"artifactId": "grown", "parts": [{"text": "a"}, {"text": "b"}]},
                {"artifactId": "joined", "parts": [{"text": "abc"}]},
                {"artifactId": "other", "parts": [{"text": "b"}]},
                {"artifactId": "new", "parts": [{"text": "n"}]},
            ],
        });
        assert_eq!(
            caught_up(ours, theirs),
            [
                "working two",
                "grown true b",
                "joined true c",
                "other false b",
                "new false n",
                "completed three"
            ]
        );
    }

    #[test]
    fn of_a_task_that_is_the_same_nothing_is_said() {
        let working = json!({
            "status": {"state": "TASK_STATE_WORKING", "message": said("ROLE_AGENT", "one")},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "a"}, {"text": "b"}]}],
        });
        assert!(caught_up(working.clone(), working.clone()).is_empty());
        let silent =
            json!({"status": {"state": "TASK_STATE_WORKING"}, "artifacts": working["artifacts"]});
        assert!(caught_up(working, silent).is_empty(), "a note that it does not repeat");
        let submitted = json!({"status": {"state": "TASK_STATE_SUBMITTED"}});
        assert!(caught_up(submitted.clone(), submitted).is_empty());
    }

    #[test]
    fn a_question_that_was_answered_is_not_asked_again_and_another_one_is() {
        let answered = json!({
            "status": {"state": "TASK_STATE_WORKING"},
            "history": [said("ROLE_USER", "hi"), said("ROLE_AGENT", "which?"), said("ROLE_USER", "this")],
        });
        let asks = |id| json!({"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": said("ROLE_AGENT", id)}});
        assert!(caught_up(answered.clone(), asks("which?")).is_empty());
        assert_eq!(caught_up(answered, asks("and when?")), ["input required and when?"]);
    }

    #[test]
    fn events_keep_what_they_say() {
        let mut mirror = Mirror::default();
        let event = json!({"artifactUpdate": {"taskId": "theirs", "contextId": "c", "append": true, "lastChunk": false,
            "metadata": {"m": 1}, "artifact": {"artifactId": "a", "parts": [{"text": "x"}], "metadata": {"n": 1}}}});
        let read = |event: &Value| decode::<StreamResponse>(event.clone()).unwrap();
        let emitted = mirror.reflect(read(&event), || None);
        let [Emission::Artifact { artifact, append, last_chunk, metadata }] = emitted.as_slice()
        else {
            panic!("{emitted:?}");
        };
        assert!(!append, "a chunk of what nobody knows begins it");
        assert!(!last_chunk && metadata.is_some() && artifact.metadata.is_some());
        assert_eq!(told(mirror.reflect(read(&event), || None)), ["a true x"]);
        let status = json!({"statusUpdate": {"taskId": "theirs", "contextId": "c", "metadata": {"m": 1},
            "status": {"state": "TASK_STATE_REJECTED", "message": said("ROLE_AGENT", "not my field")}}});
        let emitted = mirror.reflect(read(&status), || None);
        assert!(
            matches!(&emitted[..], [Emission::Status { metadata: Some(_), .. }]),
            "{emitted:?}"
        );
        assert!(mirror.is_settled());
        assert!(mirror.reflect(read(&status), || None).is_empty(), "what comes twice is said once");
    }
}
