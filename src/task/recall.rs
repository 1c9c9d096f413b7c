//! What an interrupted run had said and done, so that the run that resumes it neither says nor does it
//! again.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::{CallbackName, HeldText, Input, LogEntry, Unanswered, WokenBy};
use a2a::model::{Json, Part, TaskState, TaskStatus, UnixMillis};

/// The part of a task's log that belongs to the newest turn, as the run that resumes it goes through
/// it.
///
/// A resumed run executes the same code again. Steps that are done give their stored outcome. What the
/// run says is compared with what the earlier attempts said, event by event: it is skipped as long as
/// it is of the same kind, and what comes after the last of them is new. Notes of progress need not be repeated, nor
/// as many of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recall {
    /// The events, and how many characters each has left out of what the run has said: those that were never let out.
    events: VecDeque<(Event, usize)>,
    steps: BTreeMap<(String, u32), Result<Json, String>>,
    /// What has ended the waits, by their numbers.
    waits: BTreeMap<u32, WokenBy>,
    /// What was posted to callbacks, by their names and the numbers of the bodies.
    calls: BTreeMap<(CallbackName, u32), Part>,
    /// How long the newest wait was to take, in milliseconds.
    last_wait_ms: Option<u64>,
    /// The requests without an answer for which the run was parked the last time.
    unanswered: Option<Unanswered>,
    /// Whether the task was working, with nothing said about it, at the point that is reached.
    is_plainly_working: bool,
}

/// What becomes of something that a run says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is new.
    New,
    /// An earlier attempt said it, or it would change nothing.
    Before {
        /// How many characters at its end were not let out.
        held: usize,
    },
}

/// A resumed run did not repeat what was said before: it says this, where that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    says: String,
    said: String,
}

/// An event of the turn.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    /// The run entered a state, with something said about it or nothing.
    Status(TaskState, bool),
    /// The run gave an artifact of this id, or added to it.
    Artifact(String, bool),
    /// The client answered while the run was under way: the task went on working.
    Answered,
}

impl Recall {
    /// What the newest turn said and did, from the whole log of its task.
    pub fn of<'a>(log: impl IntoIterator<Item = &'a LogEntry>) -> Self {
        let mut recall = Self::default();
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
                }
                LogEntry::Run(_) | LogEntry::Taken | LogEntry::Ended | LogEntry::Callback(_) => {}
                LogEntry::Parked(park) => {
                    recall.last_wait_ms = Some(park.until().millis_since(UnixMillis(park.at_ms)));
                    recall.unanswered = park.unanswered;
                }
                // The machine itself goes on working then, right behind the message.
                LogEntry::Message(_) => is_answered = state.is_interrupted(),
                LogEntry::StatusUpdate(event) => {
                    state = event.status.state;
                    is_plain = is_plainly_working(&event.status);
                    let said = Event::Status(state, event.status.message.is_some());
                    let by_machine = std::mem::take(&mut is_answered);
                    recall.events.push_back((if by_machine { Event::Answered } else { said }, 0));
                    recall.note_answer();
                }
                LogEntry::Held(text) => held = Some(*text),
                LogEntry::ArtifactUpdate(event) => {
                    let id = &event.artifact.artifact_id;
                    match held.take() {
                        Some(HeldText { chars: 0 }) => recall.let_out(id),
                        held => {
                            let held = held.map_or(0, |held| held.chars);
                            let said = Event::Artifact(id.clone(), event.append);
                            recall.events.push_back((said, held));
                            recall.note_answer();
                        }
                    }
                }
                LogEntry::Step(step) => {
                    recall.steps.insert((step.name.clone(), step.nth), step.outcome.clone());
                }
                LogEntry::Called(call) => {
                    recall.calls.insert((call.name.clone(), call.number), call.body.clone());
                }
                LogEntry::Woken(end) => {
                    recall.waits.insert(end.nth, end.by);
                }
            }
        }
        recall
    }

    /// What was held back of an artifact was let out.
    fn let_out(&mut self, id: &str) {
        let is_of = |event: &Event| matches!(event, Event::Artifact(known, _) if known == id);
        if let Some((_, held)) = self.events.iter_mut().rev().find(|(event, _)| is_of(event)) {
            *held = 0;
        }
    }

    /// Whether earlier attempts said something that the run has not repeated.
    pub fn has_said(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether something that the run says was said before.
    ///
    /// # Errors
    ///
    /// If something else was said at this point.
    pub fn matches_next(&mut self, input: &Input) -> Result<Said, Diverged> {
        let says = match input {
            Input::Status { state, message, .. } => Event::Status(*state, message.is_some()),
            Input::Artifact { artifact, append, .. } => {
                Event::Artifact(artifact.artifact_id.clone(), *append)
            }
            Input::Message(..)
            | Input::Cancel
            | Input::MessageTaken
            | Input::StepDone(_)
            | Input::Used(_)
            | Input::Park(_)
            | Input::WaitOver(_)
            | Input::CallbackMade(_)
            | Input::Called(_)
            | Input::Wake { .. }
            | Input::EndTold
            | Input::RunEnded(_)
            | Input::RunLost { .. } => return Ok(Said::New),
        };
        loop {
            while self.events.front() == Some(&(Event::Answered, 0)) {
                self.events.pop_front();
                self.is_plainly_working = true;
            }
            let Some((said, held)) = self.events.front() else { return Ok(Said::New) };
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

    /// What the run says from here on is new, whatever earlier attempts said.
    pub fn forget_said(&mut self) {
        self.events.clear();
    }

    /// The number of the newest wait that is over; 0 if there is none.
    pub fn waits(&self) -> u32 {
        self.waits.keys().next_back().copied().unwrap_or_default()
    }

    /// How long the newest wait was to take, in milliseconds.
    pub fn last_wait_ms(&self) -> Option<u64> {
        self.last_wait_ms
    }

    /// The numbers of the newest bodies that were posted to callbacks.
    pub fn newest_calls(&self) -> BTreeMap<CallbackName, u32> {
        self.calls.keys().cloned().collect()
    }

    /// The requests without an answer for which the run was parked the last time.
    pub fn unanswered(&self) -> Option<Unanswered> {
        self.unanswered
    }

    /// The run has said something, so somebody has answered it.
    fn note_answer(&mut self) {
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.times = 0;
        }
    }

    /// What a step came to, if it is done: the `nth` one of this name in the turn.
    pub fn step(&self, name: &str, nth: u32) -> Option<&Result<Json, String>> {
        self.steps.get(&(name.to_owned(), nth))
    }

    /// What has ended the `nth` wait of the turn, if it is over.
    pub fn wait(&self, nth: u32) -> Option<WokenBy> {
        self.waits.get(&nth).copied()
    }

    /// The body of this number that was posted to a callback.
    pub fn call(&self, name: &CallbackName, number: u32) -> Option<&Part> {
        self.calls.get(&(name.clone(), number))
    }
}

/// Working, with nothing said about it.
const PLAINLY_WORKING: Event = Event::Status(TaskState::Working, false);

/// A note of progress.
const PROGRESS: Event = Event::Status(TaskState::Working, true);

fn is_plainly_working(status: &TaskStatus) -> bool {
    status.state == TaskState::Working && status.message.is_none()
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
