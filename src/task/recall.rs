//! The events and steps of an interrupted run. The run that resumes it repeats neither.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::io;

use serde::Serialize;

use super::{CallbackName, HeldText, Input, LogEntry, Unanswered, WokenBy};
use a2a::model::{Json, Message, Part, TaskState, TaskStatus, UnixMillis};
use a2a::sorted::SortedMap;

/// The part of a task's log that belongs to the newest turn, with the position of the resumed run in it.
///
/// A resumed run executes the same code again. Steps that have ended return their stored outcomes. Each event that the run emits is
/// compared with the next event of the earlier attempts: an event of the same kind is skipped, and events after the last of them are new.
/// Notes of progress may be omitted, or differ in number.
///
/// After [`skip_repeated`](Self::skip_repeated) the content decides instead: an event with the content of one of the remaining events is
/// skipped together with the events before that one, and each other event is new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recall {
    events: VecDeque<Emitted>,
    /// True if events are compared by their content.
    by_content: bool,
    steps: SortedMap<(String, u32), Result<Json, String>>,
    /// The reasons that ended the waits, by the waits' numbers.
    waits: SortedMap<u32, WokenBy>,
    /// The bodies posted to callbacks, by the callbacks' names and the bodies' numbers.
    calls: SortedMap<(CallbackName, u32), Part>,
    /// The planned duration of the newest wait, in milliseconds.
    last_wait_ms: Option<u64>,
    /// The unanswered requests for which the run was parked the last time.
    unanswered: Option<Unanswered>,
    /// True if the task was working, without a message, at the current position.
    is_plainly_working: bool,
}

/// The decision about an event that a run emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// The event is new.
    New,
    /// An earlier attempt emitted the event, or it would change nothing.
    Before {
        /// The number of characters at the end of the event's text that were held back.
        held: usize,
    },
}

/// The error of a resumed run that does not repeat the earlier events: the event that the run emitted, and the event in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    says: String,
    said: String,
}

/// An event that an earlier attempt has emitted.
#[derive(Clone, Debug, PartialEq)]
struct Emitted {
    event: Event,
    /// The hash of the event's content.
    content: u64,
    /// The number of characters that the run emitted and that were held back and never released.
    held: usize,
}

/// An event of the turn.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    /// The run entered a state, with a message or without.
    Status(TaskState, bool),
    /// The run created an artifact of this id, or appended to it.
    Artifact(String, bool),
    /// The client answered while the run was under way: the task remained working.
    Answered,
}

impl Recall {
    /// Collects the newest turn's events and results from the whole log of its task.
    pub fn of<'a>(log: impl IntoIterator<Item = &'a LogEntry>) -> Self {
        let mut recall = Self::default();
        // Collected, because a log may have many steps, and their names need not come in order.
        let mut steps = Vec::new();
        let mut state = TaskState::Submitted;
        let mut is_plain = false;
        let mut is_answered = false;
        let mut held: Option<HeldText> = None;
        for entry in log {
            match entry {
                LogEntry::Task(task) => {
                    state = task.status.state;
                    is_plain = is_plainly_working(&task.status);
                }
                LogEntry::Run(start) if !start.resumes => {
                    recall = Self { is_plainly_working: is_plain, ..Self::default() };
                    steps.clear();
                }
                LogEntry::Run(_) | LogEntry::Taken | LogEntry::Ended | LogEntry::Callback(_) => {}
                LogEntry::Parked(park) => {
                    recall.last_wait_ms = Some(park.until().millis_since(UnixMillis(park.at_ms)));
                    recall.unanswered = park.unanswered;
                }
                // The machine itself enters the state working then, directly after the message.
                LogEntry::Message(_) => is_answered = state.is_interrupted(),
                LogEntry::StatusUpdate(update) => {
                    let TaskStatus { state: entered, message, .. } = &update.status;
                    state = *entered;
                    is_plain = is_plainly_working(&update.status);
                    let by_machine = std::mem::take(&mut is_answered);
                    let said = Event::Status(state, message.is_some());
                    let event = if by_machine { Event::Answered } else { said };
                    let content = content_of_message(message.as_ref());
                    recall.events.push_back(Emitted { event, content, held: 0 });
                    recall.note_answer();
                }
                LogEntry::Held(text) => held = Some(*text),
                LogEntry::ArtifactUpdate(update) => {
                    let id = &update.artifact.artifact_id;
                    match held.take() {
                        Some(HeldText { chars: 0 }) => recall.let_out(id),
                        held => {
                            let held = held.map_or(0, |held| held.chars);
                            let event = Event::Artifact(id.clone(), update.append);
                            let content = content_of(&update.artifact);
                            recall.events.push_back(Emitted { event, content, held });
                            recall.note_answer();
                        }
                    }
                }
                LogEntry::Step(step) => {
                    steps.push(((step.name.clone(), step.nth), step.outcome.clone()));
                }
                LogEntry::Called(call) => {
                    recall.calls.insert((call.name.clone(), call.number), call.body.clone());
                }
                LogEntry::Woken(end) => {
                    recall.waits.insert(end.nth, end.by);
                }
            }
        }
        recall.steps = steps.into_iter().collect();
        recall
    }

    /// An update that released held-back text of an artifact.
    fn let_out(&mut self, id: &str) {
        let is_of = |event: &Event| matches!(event, Event::Artifact(known, _) if known == id);
        if let Some(said) = self.events.iter_mut().rev().find(|said| is_of(&said.event)) {
            said.held = 0;
        }
    }

    /// True if earlier attempts emitted events that the run has to repeat.
    pub fn has_said(&self) -> bool {
        !self.events.is_empty() && !self.by_content
    }

    /// Compares an event of the run with the next event of the earlier attempts.
    ///
    /// # Errors
    ///
    /// If the log has a different event at this position.
    pub fn matches_next(&mut self, input: &Input) -> Result<Said, Diverged> {
        if self.by_content {
            return Ok(self.skip_same(input));
        }
        let says = match input {
            Input::Status { state, message, .. } => Event::Status(*state, message.is_some()),
            Input::Artifact { artifact, append, .. } => {
                Event::Artifact(artifact.artifact_id.clone(), *append)
            }
            Input::StepDone(_)
            | Input::Park(_)
            | Input::WaitOver(_)
            | Input::CallbackMade(_)
            | Input::Called(_) => return Ok(Said::New),
        };
        loop {
            while self.events.front().is_some_and(|said| said.event == Event::Answered) {
                self.events.pop_front();
                self.is_plainly_working = true;
            }
            let Some(Emitted { event: said, held, .. }) = self.events.front() else {
                return Ok(Said::New);
            };
            if says == PLAINLY_WORKING && self.is_plainly_working {
                return Ok(Said::Before { held: 0 });
            }
            if says == *said {
                if let Event::Status(state, speaks) = says {
                    self.is_plainly_working = state == TaskState::Working && !speaks;
                }
                let held = *held;
                self.events.pop_front();
                return Ok(Said::Before { held });
            }
            if *said == PROGRESS {
                self.is_plainly_working = false;
                self.events.pop_front();
            } else if says == PROGRESS {
                return Ok(Said::Before { held: 0 });
            } else {
                return Err(Diverged { says: says.to_string(), said: said.to_string() });
            }
        }
    }

    /// Skips an event whose content an earlier attempt has emitted, with the events before that one.
    fn skip_same(&mut self, input: &Input) -> Said {
        let (says, content) = match input {
            Input::Status { state, message, .. } => {
                let says = Event::Status(*state, message.is_some());
                (says, content_of_message(message.as_ref()))
            }
            Input::Artifact { artifact, append, .. } => {
                (Event::Artifact(artifact.artifact_id.clone(), *append), content_of(artifact))
            }
            Input::StepDone(_)
            | Input::Park(_)
            | Input::WaitOver(_)
            | Input::CallbackMade(_)
            | Input::Called(_) => return Said::New,
        };
        let same = |said: &Emitted| said.event == says && said.content == content;
        let Some(index) = self.events.iter().position(same) else { return Said::New };
        self.events.drain(..=index);
        Said::Before { held: 0 }
    }

    /// Compares the run's events by their content from now on. For executors whose events may differ between attempts.
    pub fn skip_repeated(&mut self) {
        self.by_content = true;
    }

    /// True if events are compared by their content.
    pub fn skips_repeated(&self) -> bool {
        self.by_content
    }

    /// Treats all further events of the run as new, whatever earlier attempts emitted.
    pub fn forget_said(&mut self) {
        self.events.clear();
    }

    /// The steps that earlier attempts have ended, by name and number.
    pub fn steps(&self) -> impl Iterator<Item = (&str, u32)> {
        self.steps.keys().map(|(name, nth)| (name.as_str(), *nth))
    }

    /// The number of the newest wait that has ended; 0 if there is none.
    pub fn waits(&self) -> u32 {
        self.waits.keys().next_back().copied().unwrap_or_default()
    }

    /// The planned duration of the newest wait, in milliseconds.
    pub fn last_wait_ms(&self) -> Option<u64> {
        self.last_wait_ms
    }

    /// The numbers of the newest bodies posted to callbacks.
    pub fn newest_calls(&self) -> SortedMap<CallbackName, u32> {
        self.calls.keys().cloned().collect()
    }

    /// The unanswered requests for which the run was parked the last time.
    pub fn unanswered(&self) -> Option<Unanswered> {
        self.unanswered
    }

    /// Forgets the unanswered requests, since the run has emitted an event and so got an answer.
    fn note_answer(&mut self) {
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.times = 0;
        }
    }

    /// The outcome of the `nth` step of this name in the turn, if the step has ended.
    pub fn step(&self, name: &str, nth: u32) -> Option<&Result<Json, String>> {
        self.steps.get(&(name.to_owned(), nth))
    }

    /// The reason that ended the `nth` wait of the turn, if the wait has ended.
    pub fn wait(&self, nth: u32) -> Option<WokenBy> {
        self.waits.get(&nth).copied()
    }

    /// The body of this number that was posted to the callback.
    pub fn call(&self, name: &CallbackName, number: u32) -> Option<&Part> {
        self.calls.get(&(name.clone(), number))
    }
}

/// The state working without a message.
const PLAINLY_WORKING: Event = Event::Status(TaskState::Working, false);

/// A note of progress.
const PROGRESS: Event = Event::Status(TaskState::Working, true);

fn is_plainly_working(status: &TaskStatus) -> bool {
    status.state == TaskState::Working && status.message.is_none()
}

/// The hash of what a message says. Each attempt gives its message another id.
fn content_of_message(message: Option<&Message>) -> u64 {
    message.map_or(0, |message| content_of(&message.parts))
}

/// The hash of a value's JSON.
fn content_of(value: &impl Serialize) -> u64 {
    struct Hashing(DefaultHasher);

    impl io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut hashing = Hashing(DefaultHasher::new());
    // A hasher refuses nothing.
    let _ = serde_json::to_writer(&mut hashing, value);
    hashing.0.finish()
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(state, true) => write!(out, "that it is {state}, with a message"),
            Self::Status(state, false) => write!(out, "that it is {state}"),
            Self::Artifact(id, false) => write!(out, "the artifact {id}"),
            Self::Artifact(id, true) => write!(out, "more of the artifact {id}"),
            Self::Answered => out.write_str("nothing"),
        }
    }
}

impl fmt::Display for Diverged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { says, said } = self;
        write!(
            out,
            "the agent was interrupted and does not repeat what it said before: {said}; now it says \
             {says}"
        )
    }
}

impl std::error::Error for Diverged {}
