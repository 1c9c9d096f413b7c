//! What a run of an executor asks of its task: the verbs, the steps, and what it may know.

use futures_util::future::LocalBoxFuture;

use super::{Phase, TaskSession};
use crate::executor::{Emission, ExecutorError, StepStart, TurnHost};
use crate::port::Http;
use crate::task::{Input, Said, StepRecord};
use a2a::model::{Artifact, Json, Message, Task, TaskState, UnixMillis, measure};
use a2a_agents::tool::Counters;

impl TaskSession {
    /// Whether the task may take what the executor says; gives its size in bytes and JSON values.
    fn check_emission(&self, emission: &Emission) -> Result<(usize, usize), ExecutorError> {
        if self.is_broken() {
            return Err(ExecutorError(NOT_STORED.to_owned()));
        }
        let (size, values) = match emission {
            Emission::Status { message, .. } => measure(message),
            Emission::Artifact { artifact, .. } => measure(artifact),
            Emission::Reply(message) => measure(message),
        };
        if size > self.limits.max_event_bytes {
            let limit = self.limits.max_event_bytes;
            return Err(ExecutorError(format!(
                "the agent gave an event of {size} bytes; the limit is {limit}"
            )));
        }
        if values > self.limits.max_json_values {
            let limit = self.limits.max_json_values;
            return Err(ExecutorError(format!(
                "the agent gave an event of {values} JSON values; the limit is {limit} \
                 (MAX_JSON_VALUES)"
            )));
        }
        if let Emission::Artifact { artifact, append: false, .. } = emission {
            let is_full = self.with_task(|task| {
                let is_known = |known: &Artifact| known.artifact_id == artifact.artifact_id;
                task.artifacts.len() >= self.limits.max_artifacts
                    && !task.artifacts.iter().any(is_known)
            });
            if is_full.unwrap_or(false) {
                let limit = self.limits.max_artifacts;
                return Err(ExecutorError(format!("a task holds at most {limit} artifacts")));
            }
        }
        Ok((size, values))
    }

    /// Whether the log has room for this many bytes and JSON values more.
    fn check_size(&self, (bytes, values): (usize, usize)) -> Result<(), ExecutorError> {
        let limit = self.limits.max_task_bytes;
        if self.inner.borrow().size.saturating_add(bytes) > limit {
            return Err(ExecutorError(format!("a task holds at most {limit} bytes")));
        }
        let limit = self.max_values();
        if self.inner.borrow().values.saturating_add(values) > limit {
            let text = format!("a task holds at most {limit} JSON values (MAX_JSON_VALUES)");
            return Err(ExecutorError(text));
        }
        Ok(())
    }

    /// Whether what the run says was said by an attempt before it.
    fn is_said(&self, input: &Input) -> Result<bool, ExecutorError> {
        let mut inner = self.inner.borrow_mut();
        let Some(recall) = &mut inner.recall else { return Ok(false) };
        let heard = recall.hear(input).map_err(|diverged| ExecutorError(diverged.to_string()))?;
        Ok(heard == Said::Before)
    }
}

impl TurnHost for TaskSession {
    fn emit(&self, emission: Emission) -> Result<(), ExecutorError> {
        let size = self.check_emission(&emission)?;
        self.progressed.set(self.ports.clock.now());
        let input = match emission {
            Emission::Reply(message) if !self.exists() => {
                let mut inner = self.inner.borrow_mut();
                let Phase::Draft(new) = &inner.phase else {
                    return Err(ExecutorError("the agent has replied already".to_owned()));
                };
                let context_id = Some(new.context_id.clone());
                inner.phase = Phase::Replied(Box::new(Message { context_id, ..message }));
                self.changed.notify_waiters();
                return Ok(());
            }
            Emission::Reply(message) => {
                Input::Status { state: TaskState::Completed, message: Some(message) }
            }
            Emission::Status { state, message } => Input::Status { state, message },
            Emission::Artifact { artifact, append, last_chunk } => {
                Input::Artifact { artifact, append, last_chunk }
            }
        };
        self.create();
        if !self.exists() {
            return Err(ExecutorError("the agent has replied already".to_owned()));
        }
        if self.is_said(&input)? {
            return Ok(());
        }
        let is_plain = matches!(input, Input::Status { state: TaskState::Working, message: None });
        if is_plain && self.is_plainly_working() {
            return Ok(());
        }
        self.check_size(size)?;
        self.step(input)?;
        if self.inner.borrow().unsaved.lines.len() > MAX_BATCH_BYTES {
            self.flush().map_err(|_| ExecutorError(NOT_STORED.to_owned()))?;
        }
        Ok(())
    }

    fn history(&self) -> Vec<Message> {
        match &self.inner.borrow().phase {
            Phase::Live(machine) => machine.task().history.clone(),
            Phase::Draft(new) => vec![new.message.clone()],
            Phase::Empty | Phase::Replied(_) => Vec::new(),
        }
    }

    fn is_canceled(&self) -> bool {
        self.is_canceled.get()
    }

    fn take_message(&self) -> Option<Message> {
        let message = self.inner.borrow_mut().inbox.pop_front()?;
        self.progressed.set(self.ports.clock.now());
        // Taking a message is always legal.
        let _ = self.step(Input::MessageTaken);
        Some(message)
    }

    fn polls(&self) -> u64 {
        self.polls.get()
    }

    fn changed(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }

    fn now(&self) -> UnixMillis {
        self.ports.clock.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.ports.clock.sleep(millis)
    }

    fn new_id(&self) -> String {
        self.ports.random.new_id()
    }

    fn counters(&self) -> &dyn Counters {
        self.ports.counters.as_ref()
    }

    fn http(&self) -> &dyn Http {
        self.ports.http.as_ref()
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
        let nth = {
            let mut inner = self.inner.borrow_mut();
            let begun: u32 = inner.steps.values().sum();
            let limit = self.limits.max_steps;
            if begun as usize >= limit {
                return Err(ExecutorError(format!("a run has at most {limit} steps")));
            }
            let nth = inner.steps.entry(name.to_owned()).or_default();
            *nth += 1;
            let nth = *nth;
            let done = inner.recall.as_ref().and_then(|recall| recall.step(name, nth));
            if let Some(outcome) = done {
                return Ok(StepStart::Done(outcome.clone()));
            }
            nth
        };
        // What the step does outside must not happen before what came first is stored.
        self.flush().map_err(|_| ExecutorError(NOT_STORED.to_owned()))?;
        Ok(StepStart::New(nth))
    }

    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError> {
        self.progressed.set(self.ports.clock.now());
        let (size, values) = measure(&outcome);
        let limit = self.limits.max_step_bytes;
        let fits = if size > limit {
            Err(format!("the step {name:?} gave a result of {size} bytes; the limit is {limit}"))
        } else if values > self.limits.max_json_values {
            Err(format!(
                "the step {name:?} gave a result of {values} JSON values (MAX_JSON_VALUES)"
            ))
        } else {
            self.check_size((size, values)).map_err(|error| error.0)
        };
        let refusal = fits.as_ref().err().cloned();
        // A result that cannot be kept is kept as a failure, or the step would be done again.
        let outcome = fits.and(outcome);
        let step = StepRecord { name: name.to_owned(), nth, outcome };
        self.step(Input::StepDone(step))?;
        // A panic that comes next would take the isolate along, and what is not stored.
        if cfg!(panic = "abort") {
            self.flush().map_err(|_| ExecutorError(NOT_STORED.to_owned()))?;
        }
        refusal.map_or(Ok(()), |refusal| Err(ExecutorError(refusal)))
    }
}

impl TaskSession {
    fn is_plainly_working(&self) -> bool {
        let is_plain =
            |task: &Task| task.status.state == TaskState::Working && task.status.message.is_none();
        self.with_task(is_plain).unwrap_or(false)
    }
}

const NOT_STORED: &str = "the task cannot be stored";

/// The longest name of a step.
const MAX_STEP_NAME_BYTES: usize = 256;

/// Events that are said without waiting are one row up to this size, in bytes.
const MAX_BATCH_BYTES: usize = 512 * 1024;
