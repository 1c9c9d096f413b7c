//! Translates the verbs of an agent's answer into events of our task.

use super::super::{Emission, Events, ExecutorError, Turn};
use super::verb::{End, Given, Used, Verb, short};
use super::writer::Writer;
use a2a::model::{Artifact, Part, PartContent, TaskState};
use a2a::sorted::SortedMap;

/// The state of one answer whose verbs are being emitted.
pub(super) struct Saying<'a> {
    turn: &'a Turn,
    events: &'a Events,
    writer: Writer<'a>,
    /// The number of artifacts without an id in this answer.
    unnamed: u32,
    /// The id of the artifact that was begun last.
    newest: Option<String>,
    /// For each artifact that this answer has begun or appended to: the completeness of the artifact.
    extents: SortedMap<String, Extent>,
    /// The number of verbs read so far.
    verbs: u32,
    end: Option<End>,
}

/// The completeness of an artifact in this answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// More content may follow.
    Grows,
    /// The verb `artifact` has sent the artifact without `more`.
    Whole,
    /// The verb `append` has sent the last piece of the artifact.
    Ended,
}

impl<'a> Saying<'a> {
    /// A new answer. Pieces of text that arrive within `interval_ms` milliseconds are joined to one event.
    pub(super) fn new(turn: &'a Turn, events: &'a Events, interval_ms: u64) -> Self {
        let writer = Writer::new(turn, events, interval_ms);
        let extents = SortedMap::new();
        Self { turn, events, writer, unnamed: 0, newest: None, extents, verbs: 0, end: None }
    }

    /// True if a verb was read.
    pub(super) fn has_begun(&self) -> bool {
        self.verbs > 0
    }

    /// True if the ending verb was read. [`close`](Self::close) emits it; until then, a further verb can be reported as
    /// a mistake.
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Handles the next verb.
    ///
    /// # Errors
    ///
    /// The reason why the verb is not accepted, as a text that follows the position of the verb.
    pub(super) fn take(&mut self, verb: Verb) -> Result<(), ExecutorError> {
        if self.end.is_some() {
            return Err(ExecutorError(
                "it stands behind the end of the answer: exactly one verb ends it, and it is the last one".to_owned(),
            ));
        }
        self.verbs += 1;
        if self.verbs > MAX_VERBS {
            return Err(ExecutorError(format!(
                "it is one too many: an answer has up to {MAX_VERBS} verbs"
            )));
        }
        match verb {
            Verb::Working(said) => {
                self.writer.flush(false)?;
                self.state(TaskState::Working, said)
            }
            Verb::Artifact(given) => {
                self.writer.flush(false)?;
                self.begin(given)
            }
            Verb::Append { id, parts, is_last } => self.append(id, parts, is_last),
            Verb::Usage(Used { model, so_far }) => {
                self.turn.record_usage_so_far(&model, so_far);
                Ok(())
            }
            Verb::End(end, used) => {
                if let Some(Used { model, so_far }) = used {
                    self.turn.record_usage_so_far(&model, so_far);
                }
                self.end = Some(end);
                Ok(())
            }
        }
    }

    /// The number of milliseconds after which [`say`](Self::say) must be called; `None` if no text is held back.
    pub(super) fn due_ms(&self) -> Option<u64> {
        self.writer.due_ms()
    }

    /// Emits the text that was held back.
    ///
    /// # Errors
    ///
    /// If the task refuses the event.
    pub(super) fn say(&mut self) -> Result<(), ExecutorError> {
        self.writer.flush(false)
    }

    /// Emits the ending verb. Artifacts with announced but missing pieces are completed.
    ///
    /// # Errors
    ///
    /// If the task refuses the event.
    pub(super) fn close(&mut self) -> Result<(), ExecutorError> {
        self.writer.flush(true)?;
        match self.end.take() {
            Some(End::State(state, said)) => self.state(state, said),
            Some(End::Reply(parts)) => self.events.reply(parts),
            None => Ok(()),
        }
    }

    fn state(&self, state: TaskState, said: Option<Vec<Part>>) -> Result<(), ExecutorError> {
        let message = said.map(|parts| self.events.message(parts));
        self.events.emit(Emission::Status { state, message, metadata: None })
    }

    fn begin(&mut self, given: Given) -> Result<(), ExecutorError> {
        let Given { id, name, description, parts, metadata, has_more } = given;
        let artifact_id = id.unwrap_or_else(|| {
            self.unnamed += 1;
            // The id is the same in each attempt of a turn, and different in each turn.
            format!("artifact-{}-{}", self.turn.number, self.unnamed)
        });
        self.newest = Some(artifact_id.clone());
        let extent = if has_more { Extent::Grows } else { Extent::Whole };
        self.extents.insert(artifact_id.clone(), extent);
        let extensions = Vec::new();
        let artifact = Artifact { artifact_id, name, description, parts, metadata, extensions };
        if has_more { self.events.begin(artifact) } else { self.events.artifact(artifact) }
    }

    fn append(
        &mut self,
        id: Option<String>,
        parts: Vec<Part>,
        is_last: bool,
    ) -> Result<(), ExecutorError> {
        let Some(artifact_id) = id.or_else(|| self.newest.clone()) else {
            return Err(ExecutorError(
                "it appends to nothing: this answer has begun no artifact; begin one by `artifact`, or name one by `id`".to_owned(),
            ));
        };
        // The artifact is checked now and not when the held text is emitted, so that the error has the position of this
        // verb.
        self.check_grows(&artifact_id)?;
        let extent = if is_last { Extent::Ended } else { Extent::Grows };
        self.extents.insert(artifact_id.clone(), extent);
        if let (
            [
                Part {
                    content: PartContent::Text(text),
                    metadata: None,
                    filename: None,
                    media_type: None,
                },
            ],
            false,
        ) = (parts.as_slice(), is_last)
        {
            return self.writer.append(&artifact_id, text);
        }
        self.writer.flush(false)?;
        let chunk = Artifact {
            artifact_id,
            name: None,
            description: None,
            parts,
            metadata: None,
            extensions: Vec::new(),
        };
        self.events.append(chunk, is_last)
    }

    /// Checks that an artifact may be appended to: either this answer has begun the artifact and not completed it, or
    /// the task has the artifact from an earlier answer. An artifact of an earlier answer counts as incomplete, so an
    /// answer that resumes may continue it.
    fn check_grows(&self, id: &str) -> Result<(), ExecutorError> {
        let fix = match self.extents.get(id) {
            Some(Extent::Grows) => return Ok(()),
            Some(Extent::Whole) => r#"give it with `"more": true`"#,
            Some(Extent::Ended) => r#"let only the last `append` have `"last": true`"#,
            None => return self.check_known(id),
        };
        Err(ExecutorError(format!(
            "artifact {} is complete, so nothing can be appended to it: {fix}",
            short(id)
        )))
    }

    /// Checks that the task has an artifact.
    fn check_known(&self, id: &str) -> Result<(), ExecutorError> {
        let task = self.turn.task();
        if task.is_some_and(|task| task.artifacts.iter().any(|known| known.artifact_id == id)) {
            return Ok(());
        }
        Err(ExecutorError(format!(
            "artifact {} was never begun, so nothing can be appended to it",
            short(id)
        )))
    }
}

/// The largest number of verbs in an answer.
const MAX_VERBS: u32 = 100_000;
