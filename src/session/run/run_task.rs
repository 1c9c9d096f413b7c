//! The functions of a task for the run of an executor: the run emits events, does steps, waits, and reads the task.

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::held::{End, Heard, LetOut};
use super::state::Begun;
use super::{callbacks, held, parking, usage};
use crate::config::Limits;
use crate::executor::{
    Callback, CallbackTerms, Emission, ExecutorError, RunTask, StepStart, Wait, WaitStart,
};
use crate::port::Observation;
use crate::session::TaskSession;
use crate::session::journal::{Journal, LogSize};
use crate::session::life::Life;
use crate::task::{CallbackName, Input, LogEntry, Notice, Said, StepRecord, Unanswered};
use crate::usage::Usage;
use a2a::model::{Artifact, Json, Message, Part, Secret, Task, TaskState, measure};
use a2a_agents::Trace;

impl RunTask for TaskSession {
    fn emit(&self, emission: Emission) -> Result<(), ExecutorError> {
        let Heard { emission, end } = self.run.held.hear(emission, self.run.repeats());
        if self.is_broken() {
            return Err(not_stored());
        }
        let size = check_emission(&emission, &self.limits, &self.life, &self.journal)?;
        let now = self.now();
        self.run.note_progress(now);
        let input = match emission {
            Emission::Reply(message) if !self.life.exists() => {
                if !self.life.reply(message) {
                    return Err(already_replied());
                }
                self.bell.ring();
                return Ok(());
            }
            Emission::Reply(message) => {
                let (state, message) = (TaskState::Completed, Some(message));
                Input::Status { state, message, metadata: None }
            }
            Emission::Status { state, message, metadata } => {
                Input::Status { state, message, metadata }
            }
            Emission::Artifact { artifact, append, last_chunk, metadata } => {
                let held = end.as_ref().and_then(End::text).filter(|_| self.run.is_repeated());
                Input::Artifact { artifact, append, last_chunk, metadata, held }
            }
        };
        self.create();
        if !self.life.exists() {
            return Err(already_replied());
        }
        let said = self.run.was_said(&input);
        if let Said::Before { held } =
            said.map_err(|diverged| ExecutorError(diverged.to_string()))?
        {
            if let Some(end) = end.filter(|_| self.run.is_repeated()) {
                self.run.held.recall(end, held, now);
            }
            return Ok(());
        }
        let says_nothing = matches!(
            input,
            Input::Status { state: TaskState::Working, message: None, metadata: None }
        );
        if says_nothing && self.life.with_task(is_plainly_working).unwrap_or(false) {
            return Ok(());
        }
        self.journal.check_addition(size).map_err(ExecutorError)?;
        if matches!(&input, Input::Status { state, .. } if state.is_terminal() || state.is_interrupted())
        {
            held::let_out(self, LetOut::All);
            // Before the event: it shows the usage of the whole turn.
            usage::settle(self);
        }
        // A chunk whose text is all held back is no event. Exception: if a later attempt repeats the events of this
        // run, each chunk is an event, because that attempt is compared event by event.
        let is_all_held = end.as_ref().is_some_and(|end| {
            !self.run.is_repeated()
                && self.life.is_active()
                && self.life.with_task(|task| end.is_all_held(task)).unwrap_or(false)
        });
        if !is_all_held {
            self.step(input)?;
        }
        if let Some(end) = end {
            self.run.held.keep(end, now);
        }
        if self.journal.unsaved_bytes() > MAX_BATCH_BYTES {
            self.flush().map_err(|_| not_stored())?;
        }
        Ok(())
    }

    fn set_event_interval(&self, interval_ms: u64) {
        self.journal.set_interval(interval_ms);
    }

    fn unique_id(&self) -> &str {
        self.object()
    }

    fn task(&self) -> Option<Task> {
        let mut task = self.life.with_task(Task::clone)?;
        self.run.held.complete(&mut task);
        Some(task)
    }

    fn take_up(&self) -> Option<u64> {
        self.run.take_up()
    }

    fn skip_repeated(&self) {
        self.run.skip_repeated();
    }

    fn forget_said(&self) {
        self.run.forget_said();
    }

    fn unanswered(&self) -> Option<Unanswered> {
        self.run.unanswered()
    }

    fn last_step(&self, name: &str) -> Result<Option<Json>, ExecutorError> {
        self.flush().map_err(|_| not_stored())?;
        let log = self.journal.reload(self.id()).map_err(|_| not_stored())?;
        Ok(log.into_iter().rev().find_map(|entry| match entry {
            LogEntry::Step(step) if step.name == name => step.outcome.ok(),
            _ => None,
        }))
    }

    fn steps(&self) -> Result<Vec<Vec<StepRecord>>, ExecutorError> {
        self.flush().map_err(|_| not_stored())?;
        let log = self.journal.reload(self.id()).map_err(|_| not_stored())?;
        let mut turns = Vec::new();
        for entry in log {
            match entry {
                LogEntry::Run(start) if !start.resumes => turns.push(Vec::new()),
                LogEntry::Step(step) => {
                    if let Some(turn) = turns.last_mut() {
                        turn.push(step);
                    }
                }
                _ => {}
            }
        }
        Ok(turns)
    }

    fn history(&self) -> Vec<Message> {
        self.life.history()
    }

    fn is_canceled(&self) -> bool {
        self.run.is_stopped()
    }

    fn take_message(&self) -> Option<Message> {
        let message = self.run.take_message()?;
        self.run.note_progress(self.now());
        self.note(Notice::MessageTaken);
        Some(message)
    }

    fn polls(&self) -> u64 {
        self.run.polls()
    }

    fn changed(&self) -> LocalBoxFuture<'_, ()> {
        self.bell.rung()
    }

    fn credentials(&self) -> LocalBoxFuture<'_, Result<Option<Secret>, ExecutorError>> {
        Box::pin(async {
            let Some(sealed) = self.credentials.sealed() else { return Ok(None) };
            let opened = self.ports.vault.open(self.object(), &sealed).await;
            opened.map(Some).map_err(|reason| {
                let task = self.id();
                self.observe(&Observation::CredentialsUnreadable { task, reason: &reason });
                ExecutorError("the credentials of the task cannot be opened".to_owned())
            })
        })
    }

    fn record_usage(&self, model: &str, used: Usage) {
        // Usage belongs to a task: the sums count its turns.
        self.create();
        self.run.note_progress(self.now());
        // The name may come from a value that is to be kept from clients.
        self.run.note_used(&self.run.held.redaction().text(model), used);
    }

    fn record_repeated_usage(&self, model: &str, used: Usage) {
        self.run.note_repeated(&self.run.held.redaction().text(model), used);
    }

    fn usage(&self) -> Usage {
        usage::of_turn(&self.life, &self.run)
    }

    fn begin_wait(
        &self,
        wait: Wait,
        callback: Option<&CallbackName>,
    ) -> Result<WaitStart, ExecutorError> {
        parking::begin_wait(self, wait, callback)
    }

    fn make_callback(&self, name: &str, terms: CallbackTerms) -> Result<Callback, ExecutorError> {
        callbacks::make(self, name, terms)
    }

    fn take_call(&self, name: &CallbackName) -> Result<Part, ExecutorError> {
        callbacks::take(&self.run, name)
    }

    fn give_up_wait(&self) {
        self.run.give_up_wait();
    }

    fn begin_step(&self, name: &str) -> Result<StepStart, ExecutorError> {
        if name.is_empty() || name.len() > MAX_STEP_NAME_BYTES {
            let limit = MAX_STEP_NAME_BYTES;
            return Err(ExecutorError(format!("the name of a step has 1 to {limit} bytes")));
        }
        if self.is_canceled() {
            return Err(ExecutorError("the task has ended".to_owned()));
        }
        self.create();
        let limit = self.limits.max_steps;
        match self.run.begin_step(name, limit) {
            Begun::TooMany => {
                Err(ExecutorError(format!("a run has at most {limit} steps and waits")))
            }
            Begun::Done(outcome) => Ok(StepStart::Done(outcome)),
            Begun::New(nth) => {
                // Store the earlier events before the step can have effects outside of the task.
                self.flush().map_err(|_| not_stored())?;
                self.run.open_step(name, nth, self.now());
                Ok(StepStart::New(nth))
            }
        }
    }

    fn note_input(&self, name: &str, nth: u32, input: &dyn Fn() -> Value) {
        if self.agents.settings(&self.life).trace == Some(Trace::Full) {
            self.run.note_input(name, nth, input());
        }
    }

    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError> {
        keep_step(self, name, nth, outcome, false)
    }

    fn end_failed_step(&self, name: &str, nth: u32, kept: Json) -> Result<(), ExecutorError> {
        keep_step(self, name, nth, Ok(kept), true)
    }
}

/// Adds the outcome of a step to the log. `failed` is true if the step failed and `outcome` is the value with which the
/// run continues.
fn keep_step(
    session: &TaskSession,
    name: &str,
    nth: u32,
    outcome: Result<Json, String>,
    failed: bool,
) -> Result<(), ExecutorError> {
    let now = session.now();
    session.run.note_progress(now);
    let refusal = check_step_result(name, &outcome, &session.limits, &session.journal).err();
    // A result that is too large is stored as a failure; without an entry, a resumed run would do the step again.
    let outcome = refusal.clone().map_or(outcome, Err);
    let usage = usage::take_recorded(&session.run, || now);
    let duration_ms = session.run.close_step(name, nth, now);
    let is_off = session.agents.settings(&session.life).trace == Some(Trace::Off);
    let duration_ms = duration_ms.filter(|_| !is_off);
    let input = session.run.take_input(name, nth).and_then(|input| {
        let json = Json::from(&session.run.held.redaction().value(input));
        session.journal.traced.fit(json.as_str())
    });
    let name = name.to_owned();
    let unkept = usage.clone();
    let step = StepRecord { name, nth, outcome, failed, usage, duration_ms, input };
    let kept = session.step(Input::StepDone(step));
    if let (Err(_), Some(usage)) = (&kept, unkept) {
        // The task has ended meanwhile, so the step is not in its log. Record the use of models separately.
        session.note(Notice::Used(usage));
    }
    kept?;
    refusal.map_or(Ok(()), |refusal| Err(ExecutorError(refusal)))
}

/// Checks that the task can take this event of the executor. Returns the size by which the log grows.
fn check_emission(
    emission: &Emission,
    limits: &Limits,
    life: &Life,
    journal: &Journal,
) -> Result<LogSize, ExecutorError> {
    let parts: &[Part] = match emission {
        Emission::Status { message: Some(message), .. } | Emission::Reply(message) => {
            &message.parts
        }
        Emission::Status { message: None, .. } => &[],
        Emission::Artifact { artifact, .. } => &artifact.parts,
    };
    let ((bytes, values), metadata) = match emission {
        Emission::Status { message, metadata, .. } => (measure(message), metadata.as_ref()),
        Emission::Artifact { artifact, metadata, .. } => (measure(artifact), metadata.as_ref()),
        Emission::Reply(message) => (measure(message), None),
    };
    let (more_bytes, more_values) = metadata.map(measure).unwrap_or_default();
    let (bytes, values) = (bytes + more_bytes, values + more_values);
    if bytes > limits.max_event_bytes {
        let limit = limits.max_event_bytes;
        return Err(ExecutorError(format!(
            "the agent gave an event of {bytes} bytes; the limit is {limit}"
        )));
    }
    if values > limits.max_json_values {
        let limit = limits.max_json_values;
        return Err(ExecutorError(format!(
            "the agent gave an event of {values} JSON values; the limit is {limit} (MAX_JSON_VALUES)"
        )));
    }
    if let Emission::Artifact { artifact, append: false, .. } = emission {
        let limit = limits.max_artifacts;
        let is_full = life.with_task(|task| {
            let is_same = |known: &Artifact| known.artifact_id == artifact.artifact_id;
            task.artifacts.len() >= limit && !task.artifacts.iter().any(is_same)
        });
        if is_full.unwrap_or(false) {
            return Err(ExecutorError(format!("a task holds at most {limit} artifacts")));
        }
    }
    let known = journal.known_of(parts);
    Ok(LogSize {
        bytes: bytes.saturating_sub(known.bytes),
        values: values.saturating_sub(known.values),
    })
}

/// Checks that the log can store the outcome of a step.
///
/// # Errors
///
/// The reason, as a text that the client may read.
fn check_step_result(
    name: &str,
    outcome: &Result<Json, String>,
    limits: &Limits,
    journal: &Journal,
) -> Result<(), String> {
    let (bytes, values) = measure(outcome);
    let limit = limits.max_step_bytes;
    if bytes > limit {
        return Err(format!(
            "the step {name:?} gave a result of {bytes} bytes; the limit is {limit}"
        ));
    }
    if values > limits.max_json_values {
        return Err(format!(
            "the step {name:?} gave a result of {values} JSON values (MAX_JSON_VALUES)"
        ));
    }
    journal.check_addition(LogSize { bytes, values })
}

/// True if the task is working and its status has no message.
fn is_plainly_working(task: &Task) -> bool {
    task.status.state == TaskState::Working && task.status.message.is_none()
}

fn already_replied() -> ExecutorError {
    ExecutorError("the agent has replied already".to_owned())
}

fn not_stored() -> ExecutorError {
    ExecutorError("the task cannot be stored".to_owned())
}

/// The longest name of a step.
const MAX_STEP_NAME_BYTES: usize = 256;

/// The size of the unsaved entries above which `emit` stores them, in bytes. Below this size, events that a run emits
/// without waiting become one row.
const MAX_BATCH_BYTES: usize = 512 * 1024;
