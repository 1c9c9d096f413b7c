//! The state of a task's run that is in memory only.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde_json::Value;

use super::held::Held;
use super::span::RunKey;
use crate::port::SpanId;
use crate::task::{
    CallbackCall, CallbackName, Diverged, Input, Park, Recall, RunStart, Said, Unanswered, WokenBy,
};
use crate::usage::Usage;
use crate::usage::models::NamedUsage;
use a2a::model::{Json, Message, Part, UnixMillis};
use a2a::sorted::SortedMap;

/// The state of the newest run of a session, also after the run has ended.
#[derive(Default)]
pub(in crate::session) struct RunState {
    /// The secrets of the run, and the held-back ends of its artifacts.
    pub(super) held: Held,
    /// Messages that arrived during the run and that the run has not taken.
    inbox: RefCell<VecDeque<Message>>,
    /// The events and steps of earlier attempts at the same turn.
    recall: RefCell<Option<Recall>>,
    /// The number of steps begun, by name.
    steps: RefCell<SortedMap<String, u32>>,
    /// The steps begun and not ended, each with the instant of its begin.
    open_steps: RefCell<Vec<OpenStep>>,
    /// What steps that have not ended were given, by name and number.
    inputs: RefCell<SortedMap<(String, u32), Value>>,
    /// The number of waits begun.
    waits: Cell<u32>,
    /// The number of callbacks made, by name.
    callbacks: RefCell<SortedMap<String, u32>>,
    /// The number of bodies that the run has taken from each callback.
    taken_calls: RefCell<SortedMap<CallbackName, u32>>,
    /// The bodies posted to callbacks during the run, by callback and number of the body.
    calls: RefCell<SortedMap<(CallbackName, u32), Part>>,
    /// The wait that the run has begun, until the run is parked.
    park: RefCell<Option<Park>>,
    /// The use of models that no step has stored yet, without the use in `repeated`.
    used: RefCell<NamedUsage>,
    /// The use of models by requests whose answers could not be used, until it is stored in the log.
    repeated: RefCell<NamedUsage>,
    /// The number of times clients have read the task since the run began.
    polls: Cell<u64>,
    /// The instant of the run's last progress.
    progressed: Cell<Option<UnixMillis>>,
    is_stopped: Cell<bool>,
    /// True if later attempts do not repeat the events of this run in their order: the run has called `take_up` or
    /// `skip_repeated`.
    is_free: Cell<bool>,
    /// True if a call of the hook `cancel` is running.
    is_telling: Cell<bool>,
    /// The run whose turn the present one continues.
    continued: Cell<Option<RunKey>>,
    /// The message and the start of a run that has begun and was not polled yet.
    begun: RefCell<Option<(Message, RunStart)>>,
}

/// The result of beginning a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Begun {
    /// The step is to be done. The number counts steps of this name in the run, from 1.
    New(u32),
    /// An earlier attempt has done the step, with this outcome.
    Done(Result<Json, String>),
    /// The run is at its limit of steps.
    TooMany,
}

/// A step that was begun and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStep {
    /// The name of the step.
    pub name: String,
    /// The number of the step among the steps with this name, from 1.
    pub nth: u32,
    /// The instant at which the step began.
    pub since: UnixMillis,
}

/// The result of beginning a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BegunWait {
    /// The wait is new. The number counts the waits of the run, from 1.
    New(u32),
    /// An earlier attempt has finished this wait. The value is the cause that ended the wait.
    Over(WokenBy),
    /// The run has begun another wait that has not ended.
    Another,
    /// The run is at its limit of steps and waits.
    TooMany,
}

impl RunState {
    /// Begins a run for a message. The events of a resumed run are compared with the events passed to [`recall`](Self::recall).
    pub(in crate::session) fn begin(&self, message: Message, start: RunStart, now: UnixMillis) {
        let resumes = start.resumes;
        self.held.begin();
        self.begun.replace(Some((message, start)));
        self.polls.set(0);
        self.used.take();
        self.repeated.take();
        self.progressed.set(Some(now));
        self.inbox.borrow_mut().clear();
        self.steps.borrow_mut().clear();
        self.open_steps.borrow_mut().clear();
        self.inputs.borrow_mut().clear();
        self.waits.set(0);
        self.callbacks.borrow_mut().clear();
        self.taken_calls.borrow_mut().clear();
        self.calls.borrow_mut().clear();
        self.park.take();
        self.is_free.set(false);
        if !resumes {
            self.recall.replace(None);
        }
    }

    /// Records the run before the one that has begun.
    pub(in crate::session) fn note_continued(&self, before: Option<RunKey>) {
        self.continued.set(before);
    }

    /// The span of the run whose turn the present one continues, for the task of this object.
    pub(super) fn continued(&self, object: &str) -> Option<SpanId> {
        self.continued.get().map(|before| before.span(object))
    }

    /// Takes the message and the start of the run that has begun, for its first poll.
    pub(super) fn take_begun(&self) -> Option<(Message, RunStart)> {
        self.begun.take()
    }

    /// Stores the events and steps of a lost run, which the next run may resume.
    pub(super) fn recall(&self, recall: Recall) {
        self.recall.replace(Some(recall));
    }

    /// True if the events and steps of earlier attempts are not loaded yet. A resumed run needs them.
    pub(super) fn needs_recall(&self) -> bool {
        self.recall.borrow().is_none()
    }

    /// Compares an event with the event that an earlier attempt has emitted at the same point, if there is one.
    ///
    /// # Errors
    ///
    /// If the earlier attempt has emitted another event at this point.
    pub(super) fn was_said(&self, input: &Input) -> Result<Said, Diverged> {
        match &mut *self.recall.borrow_mut() {
            Some(recall) => recall.matches_next(input),
            None => Ok(Said::New),
        }
    }

    /// True if this run still has to repeat events of earlier attempts.
    pub(in crate::session) fn repeats(&self) -> bool {
        self.recall.borrow().as_ref().is_some_and(Recall::has_said)
    }

    /// True if a later attempt would have to repeat the events of this run.
    pub(super) fn is_repeated(&self) -> bool {
        !self.is_free.get()
    }

    /// Begins a step of this name. A run has at most `limit` steps and waits.
    pub(super) fn begin_step(&self, name: &str, limit: usize) -> Begun {
        let mut steps = self.steps.borrow_mut();
        let begun: u32 = steps.values().sum();
        if (begun + self.waits.get()) as usize >= limit {
            return Begun::TooMany;
        }
        let nth = steps.get_or_insert_with(name.to_owned(), u32::default);
        *nth += 1;
        let recall = self.recall.borrow();
        match recall.as_ref().and_then(|recall| recall.step(name, *nth)) {
            Some(outcome) => Begun::Done(outcome.clone()),
            None => Begun::New(*nth),
        }
    }

    /// Records that a step has begun.
    pub(super) fn open_step(&self, name: &str, nth: u32, since: UnixMillis) {
        self.open_steps.borrow_mut().push(OpenStep { name: name.to_owned(), nth, since });
    }

    /// Records that a step has ended. Returns its duration in milliseconds, if its begin was recorded.
    pub(super) fn close_step(&self, name: &str, nth: u32, now: UnixMillis) -> Option<u64> {
        let mut open = self.open_steps.borrow_mut();
        let index = open.iter().position(|step| step.name == name && step.nth == nth)?;
        Some(now.millis_since(open.remove(index).since))
    }

    /// Notes what a step was given.
    pub(super) fn note_input(&self, name: &str, nth: u32, input: Value) {
        self.inputs.borrow_mut().insert((name.to_owned(), nth), input);
    }

    /// Takes what a step was given, if that was noted.
    pub(super) fn take_input(&self, name: &str, nth: u32) -> Option<Value> {
        let mut inputs = self.inputs.borrow_mut();
        if inputs.is_empty() { None } else { inputs.remove(&(name.to_owned(), nth)) }
    }

    /// The steps begun and not ended, in the order in which they began.
    pub(in crate::session) fn open_steps(&self) -> Vec<OpenStep> {
        self.open_steps.borrow().clone()
    }

    /// Begins a wait. A run has at most `limit` steps and waits.
    pub(super) fn begin_wait(&self, limit: usize) -> BegunWait {
        if self.park.borrow().is_some() {
            return BegunWait::Another;
        }
        let steps: u32 = self.steps.borrow().values().sum();
        if (steps + self.waits.get()) as usize >= limit {
            return BegunWait::TooMany;
        }
        let nth = self.waits.get() + 1;
        self.waits.set(nth);
        let known = self.recall.borrow().as_ref().and_then(|recall| recall.wait(nth));
        known.map_or(BegunWait::New(nth), BegunWait::Over)
    }

    /// Lets the run continue from the task's present state: the run's later events are not compared with earlier attempts, and
    /// the waits and the posts to callbacks of earlier attempts count as taken. Returns the planned length of the newest wait, in
    /// milliseconds.
    pub(super) fn take_up(&self) -> Option<u64> {
        self.is_free.set(true);
        let mut recall = self.recall.borrow_mut();
        let recall = recall.as_mut()?;
        recall.forget_said();
        self.waits.set(self.waits.get().max(recall.waits()));
        self.taken_calls.borrow_mut().extend(recall.newest_calls());
        recall.last_wait_ms()
    }

    /// Lets the run emit other events than earlier attempts: an event that an earlier attempt has emitted with the same content
    /// is skipped, each other event is new.
    pub(super) fn skip_repeated(&self) {
        self.is_free.set(true);
        if let Some(recall) = &mut *self.recall.borrow_mut() {
            recall.skip_repeated();
        }
    }

    /// Treats all further events of the run as new.
    pub(super) fn forget_said(&self) {
        if let Some(recall) = &mut *self.recall.borrow_mut() {
            recall.forget_said();
        }
    }

    /// The steps of earlier attempts that this run has not begun, and the steps that it has begun instead. `None` if one of the
    /// two lists is empty, or the run does not repeat its code from the start.
    pub(super) fn other_steps(&self) -> Option<(Vec<String>, Vec<String>)> {
        let (steps, recall) = (self.steps.borrow(), self.recall.borrow());
        let recall = recall.as_ref().filter(|recall| recall.skips_repeated())?;
        let is_begun = |name: &str, nth| steps.get(name).is_some_and(|begun| *begun >= nth);
        let left_out = recall.steps().filter(|(name, nth)| !is_begun(name, *nth));
        let left_out: Vec<String> = left_out.map(|(name, _)| name.to_owned()).collect();
        let begun = steps.iter().flat_map(|(name, count)| (1..=*count).map(move |nth| (name, nth)));
        let new = begun.filter(|(name, nth)| recall.step(name, *nth).is_none());
        let new: Vec<String> = new.map(|(name, _)| name.clone()).collect();
        (!left_out.is_empty() && !new.is_empty()).then_some((left_out, new))
    }

    /// The unanswered requests for which the resumed run was parked the last time.
    pub(in crate::session) fn unanswered(&self) -> Option<Unanswered> {
        self.recall.borrow().as_ref().and_then(Recall::unanswered)
    }

    /// Names the run's next callback: the name, and a number among the callbacks with this name. A resumed run gets the same
    /// numbers as the earlier attempt.
    pub(super) fn begin_callback(&self, name: &str) -> CallbackName {
        let mut callbacks = self.callbacks.borrow_mut();
        let nth = callbacks.get_or_insert_with(name.to_owned(), u32::default);
        *nth += 1;
        CallbackName { name: name.to_owned(), nth: *nth }
    }

    /// Stores a body that was posted to a callback.
    pub(in crate::session) fn note_call(&self, call: CallbackCall) {
        self.calls.borrow_mut().insert((call.name, call.number), call.body);
    }

    /// True if a callback has a body that the run has not taken.
    pub(super) fn has_call(&self, name: &CallbackName) -> bool {
        self.next_call(name).is_some()
    }

    /// Takes the oldest body of a callback that the run has not taken.
    pub(super) fn take_call(&self, name: &CallbackName) -> Option<Part> {
        let (number, body) = self.next_call(name)?;
        self.taken_calls.borrow_mut().insert(name.clone(), number);
        Some(body)
    }

    fn next_call(&self, name: &CallbackName) -> Option<(u32, Part)> {
        let number = self.taken_calls.borrow().get(name).copied().unwrap_or_default() + 1;
        let recall = self.recall.borrow();
        let before = recall.as_ref().and_then(|recall| recall.call(name, number)).cloned();
        let body = before.or_else(|| self.calls.borrow().get(&(name.clone(), number)).cloned());
        body.map(|body| (number, body))
    }

    /// Stores a wait: the run is parked at its next poll that makes no progress.
    pub(super) fn want_park(&self, park: Park) {
        self.park.replace(Some(park));
    }

    /// True if the run has begun a wait for which it has to be parked.
    pub(super) fn wants_park(&self) -> bool {
        self.park.borrow().is_some()
    }

    /// Removes the wait, so that the run is not parked.
    pub(super) fn give_up_wait(&self) {
        self.park.take();
    }

    /// Takes the wait for which the run is parked. The resumed run loads the events and steps of earlier attempts again.
    pub(super) fn take_park(&self) -> Option<Park> {
        self.recall.take();
        self.park.take()
    }

    /// True if there is a message that the run has not taken.
    pub(super) fn has_message(&self) -> bool {
        !self.inbox.borrow().is_empty()
    }

    /// Adds a message for the run to take.
    pub(in crate::session) fn offer(&self, message: Message) {
        self.inbox.borrow_mut().push_back(message);
    }

    /// Takes the oldest message.
    pub(super) fn take_message(&self) -> Option<Message> {
        self.inbox.borrow_mut().pop_front()
    }

    /// Adds use of a model; its name is empty if it is not known.
    pub(super) fn note_used(&self, model: &str, usage: Usage) {
        self.used.borrow_mut().add(model, usage);
    }

    /// Adds use of a model by requests whose answers could not be used.
    pub(super) fn note_repeated(&self, model: &str, usage: Usage) {
        self.repeated.borrow_mut().add(model, usage);
    }

    /// The use of models that is not stored in a step yet.
    pub(in crate::session) fn used(&self) -> Usage {
        self.used.borrow().all.plus(self.repeated.borrow().all)
    }

    /// Takes the use of models by requests whose answers were used; the caller must store it.
    pub(in crate::session) fn take_used(&self) -> NamedUsage {
        self.used.take()
    }

    /// Takes the use of models by requests whose answers could not be used; the caller must store it.
    pub(in crate::session) fn take_repeated(&self) -> NamedUsage {
        self.repeated.take()
    }

    /// Counts a client's read of the task.
    pub(in crate::session) fn note_poll(&self) {
        self.polls.set(self.polls.get() + 1);
    }

    /// The number of times clients have read the task since the run began.
    pub(in crate::session) fn polls(&self) -> u64 {
        self.polls.get()
    }

    /// Records progress: the run emitted an event, or was waiting for the client.
    pub(super) fn note_progress(&self, now: UnixMillis) {
        self.progressed.set(Some(now));
    }

    /// The time since the run's last progress, in milliseconds.
    pub(super) fn idle_ms(&self, now: UnixMillis) -> u64 {
        self.progressed.get().map_or(0, |progressed| now.millis_since(progressed))
    }

    /// Stops the run: its further events are refused.
    pub(in crate::session) fn stop(&self) {
        self.is_stopped.set(true);
    }

    /// Records that a call of the hook `cancel` begins or has ended. Returns true if this changes the state.
    pub(super) fn set_telling(&self, is_telling: bool) -> bool {
        self.is_telling.replace(is_telling) != is_telling
    }

    /// True if the run was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{LogEntry, RunRequest, StepRecord};
    use serde_json::json;

    fn begin(run: &RunState, resumes: bool, now: UnixMillis) {
        let message = r#"{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}"#;
        let request = RunRequest::anonymous();
        let start = RunStart { attempt: 1, resumes, message: 1, begun_ms: now.0, request };
        run.begin(serde_json::from_str(message).unwrap(), start, now);
    }

    #[test]
    fn a_run_that_begins_is_started_once() {
        let run = RunState::default();
        assert!(run.take_begun().is_none());
        begin(&run, false, UnixMillis(0));
        assert_eq!(run.take_begun().map(|(message, _)| message.text()).as_deref(), Some("x"));
        assert!(run.take_begun().is_none());
    }

    #[test]
    fn steps_are_counted_by_name_and_all_together() {
        let run = RunState::default();
        assert_eq!(run.begin_step("a", 3), Begun::New(1));
        assert_eq!(run.begin_step("b", 3), Begun::New(1));
        assert_eq!(run.begin_step("a", 3), Begun::New(2));
        assert_eq!(run.begin_step("c", 3), Begun::TooMany);
        begin(&run, false, UnixMillis(0));
        assert_eq!(run.begin_step("a", 3), Begun::New(1), "another run counts anew");
    }

    #[test]
    fn a_step_is_open_until_it_is_done_and_took_that_long() {
        let run = RunState::default();
        begin(&run, false, UnixMillis(0));
        run.open_step("a", 1, UnixMillis(10));
        run.open_step("a", 2, UnixMillis(20));
        assert_eq!(run.close_step("a", 1, UnixMillis(35)), Some(25));
        assert_eq!(run.close_step("a", 1, UnixMillis(35)), None, "it is closed");
        let open = OpenStep { name: "a".to_owned(), nth: 2, since: UnixMillis(20) };
        assert_eq!(run.open_steps(), [open]);
        begin(&run, true, UnixMillis(50));
        assert_eq!(run.open_steps(), [], "another run begins its own");
    }

    #[test]
    fn a_run_that_resumes_gets_what_steps_came_to_and_a_new_one_does_not() {
        for resumes in [true, false] {
            let run = RunState::default();
            let outcome = Ok(Json::from(&json!(5)));
            let step = StepRecord {
                name: "a".to_owned(),
                nth: 1,
                outcome: outcome.clone(),
                failed: false,
                usage: None,
                duration_ms: None,
                input: None,
            };
            run.recall(Recall::of(&[LogEntry::Step(step)]));
            begin(&run, resumes, UnixMillis(0));
            let expected = if resumes { Begun::Done(outcome) } else { Begun::New(1) };
            assert_eq!(run.begin_step("a", 3), expected);
            assert_eq!(run.begin_step("a", 3), Begun::New(2), "this one was never done");
        }
    }

    #[test]
    fn a_new_run_has_made_progress_and_was_asked_for_nothing() {
        let run = RunState::default();
        run.note_poll();
        begin(&run, false, UnixMillis(100));
        assert_eq!((run.polls(), run.idle_ms(UnixMillis(130))), (0, 30));
        run.note_progress(UnixMillis(120));
        run.note_poll();
        assert_eq!((run.polls(), run.idle_ms(UnixMillis(130))), (1, 10));
    }
}
