//! What a run says: the verbs of agents behind HTTP, and chunks of text.

use super::run::{OpenRun, Refused, Role, read_value};
use crate::executor::http::verb::{End, Given, Used, Verb};
use crate::executor::{Events, ExecutorError, Turn};
use a2a::model::{Artifact, Part, TaskState};

impl OpenRun {
    /// Emits a verb of `docs/http-agents.md`.
    ///
    /// # Errors
    ///
    /// If the verb has another form, or the task refuses its event.
    pub fn say(&self, verb: &str) -> Result<(), Refused> {
        self.check_turn("set the state of its task")?;
        let verb = Verb::read(read_value(verb)?).map_err(Refused::Because)?;
        self.change(|| emit(&self.turn, &self.events, verb))
    }

    /// Reports progress, with a text or without.
    ///
    /// # Errors
    ///
    /// If the task refuses the event.
    pub fn progress(&self, text: Option<&str>) -> Result<(), Refused> {
        self.check()?;
        if let Role::Call(call) = &self.role
            && call.is_asking()
        {
            return Ok(());
        }
        self.change(|| self.events.working(text))
    }

    /// Appends text to an artifact.
    ///
    /// # Errors
    ///
    /// If the task refuses the event.
    pub fn append(&self, id: &str, text: &str, is_last: bool) -> Result<(), Refused> {
        self.check_turn("write an artifact")?;
        self.change(|| self.events.append(chunk(id.to_owned(), vec![Part::text(text)]), is_last))
    }
}

fn emit(turn: &Turn, events: &Events, verb: Verb) -> Result<(), ExecutorError> {
    match verb {
        Verb::Working(said) => state(events, TaskState::Working, said),
        Verb::Artifact(Given { id, name, description, parts, metadata, has_more }) => {
            let artifact_id = id.ok_or_else(unnamed)?;
            let extensions = Vec::new();
            let artifact = Artifact { artifact_id, name, description, parts, metadata, extensions };
            if has_more { events.begin(artifact) } else { events.artifact(artifact) }
        }
        Verb::Append { id, parts, is_last } => {
            events.append(chunk(id.ok_or_else(unnamed)?, parts), is_last)
        }
        Verb::Usage(Used { model, so_far }) => {
            turn.record_usage_so_far(&model, so_far);
            Ok(())
        }
        Verb::End(end, used) => {
            if let Some(Used { model, so_far }) = used {
                turn.record_usage_so_far(&model, so_far);
            }
            match end {
                End::State(entered, said) => state(events, entered, said),
                End::Reply(parts) => events.reply(parts),
            }
        }
    }
}

fn unnamed() -> ExecutorError {
    ExecutorError("an artifact of a function needs an id".to_owned())
}

fn state(events: &Events, state: TaskState, said: Option<Vec<Part>>) -> Result<(), ExecutorError> {
    match said {
        Some(parts) => events.status_with(state, parts),
        None => events.status(state, None),
    }
}

fn chunk(artifact_id: String, parts: Vec<Part>) -> Artifact {
    let (name, description, metadata, extensions) = (None, None, None, Vec::new());
    Artifact { artifact_id, name, description, parts, metadata, extensions }
}
