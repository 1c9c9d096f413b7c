//! What the task of a session knows of its run while it is under way.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use crate::task::{
    CallbackCall, CallbackName, Diverged, Input, Park, Recall, RunStart, Said, Unanswered, WokenBy,
};
use crate::usage::Usage;
use a2a::model::{Json, Message, Part, UnixMillis};

/// The run of a session, if one is under way; what is left of the newest one otherwise.
#[derive(Default)]
pub(in crate::session) struct RunState {
    /// Messages that came while it was under way and that it has not taken.
    inbox: RefCell<VecDeque<Message>>,
    /// What earlier attempts at the same turn said and did.
    recall: RefCell<Option<Recall>>,
    /// How many steps of each name it has begun.
    steps: RefCell<BTreeMap<String, u32>>,
    /// The steps that are under way, and since when.
    open_steps: RefCell<Vec<OpenStep>>,
    /// How many waits it has begun.
    waits: Cell<u32>,
    /// How many callbacks of each name it has made.
    callbacks: RefCell<BTreeMap<String, u32>>,
    /// How many bodies of each callback it has taken.
    taken_calls: RefCell<BTreeMap<CallbackName, u32>>,
    /// What was posted to callbacks while it was under way, by the numbers of the bodies.
    calls: RefCell<BTreeMap<(CallbackName, u32), Part>>,
    /// What it waits for, until it is parked.
    park: RefCell<Option<Park>>,
    /// What it has used of models and no step has told yet.
    used: Cell<Usage>,
    /// The same for requests whose answers came to nothing.
    repeated: Cell<Usage>,
    /// How often clients asked for the task since it began.
    polls: Cell<u64>,
    /// When it last did anything.
    progressed: Cell<Option<UnixMillis>>,
    is_stopped: Cell<bool>,
    /// Whether it goes on from where its task stands: what it says from then on, no attempt repeats.
    is_taken_up: Cell<bool>,
    /// Whether the executor is being told of a cancel, for a run that is not under way.
    is_telling: Cell<bool>,
    /// The message and the start of a run that begins, and that nobody polls yet.
    begun: RefCell<Option<(Message, RunStart)>>,
}

/// The step that a run begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Begun {
    /// It is to be done: which of its name it is, from 1.
    New(u32),
    /// An earlier attempt did it, with this outcome.
    Done(Result<Json, String>),
    /// The run is at its limit of steps.
    TooMany,
}

/// A step that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStep {
    /// Its name.
    pub name: String,
    /// Which of that name it is, from 1.
    pub nth: u32,
    /// Since when.
    pub since: UnixMillis,
}

/// The wait that a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BegunWait {
    /// It is new: which one it is, from 1.
    New(u32),
    /// An earlier run has waited, until this.
    Over(WokenBy),
    /// The run waits for something else at the same time.
    Another,
    /// The run is at its limit of steps and waits.
    TooMany,
}

impl RunState {
    /// A run begins for a message. One that resumes is compared with what [`recall`](Self::recall) was given.
    pub(in crate::session) fn begin(&self, message: Message, start: RunStart, now: UnixMillis) {
        let resumes = start.resumes;
        self.begun.replace(Some((message, start)));
        self.polls.set(0);
        self.used.take();
        self.repeated.take();
        self.progressed.set(Some(now));
        self.inbox.borrow_mut().clear();
        self.steps.borrow_mut().clear();
        self.open_steps.borrow_mut().clear();
        self.waits.set(0);
        self.callbacks.borrow_mut().clear();
        self.taken_calls.borrow_mut().clear();
        self.calls.borrow_mut().clear();
        self.park.take();
        self.is_taken_up.set(false);
        if !resumes {
            self.recall.replace(None);
        }
    }

    /// The message and the start of the run that begins, for the one who polls it.
    pub(super) fn take_begun(&self) -> Option<(Message, RunStart)> {
        self.begun.take()
    }

    /// A run was lost that said and did this. The next one may resume it.
    pub(super) fn recall(&self, recall: Recall) {
        self.recall.replace(Some(recall));
    }

    /// Whether a run that resumes has to be told what was said and done before.
    pub(super) fn needs_recall(&self) -> bool {
        self.recall.borrow().is_none()
    }

    /// Whether an earlier attempt said the same at this point.
    ///
    /// # Errors
    ///
    /// If earlier attempts said something else at this point.
    pub(super) fn was_said(&self, input: &Input) -> Result<Said, Diverged> {
        match &mut *self.recall.borrow_mut() {
            Some(recall) => recall.matches_next(input),
            None => Ok(Said::New),
        }
    }

    /// Whether the run has to repeat what earlier attempts said.
    pub(in crate::session) fn repeats(&self) -> bool {
        self.recall.borrow().as_ref().is_some_and(Recall::has_said)
    }

    /// Whether what the run says may have to be repeated by a later attempt.
    pub(super) fn is_repeated(&self) -> bool {
        !self.is_taken_up.get()
    }

    /// The run begins a step of this name; it may begin at most `limit` of any name.
    pub(super) fn begin_step(&self, name: &str, limit: usize) -> Begun {
        let mut steps = self.steps.borrow_mut();
        let begun: u32 = steps.values().sum();
        if (begun + self.waits.get()) as usize >= limit {
            return Begun::TooMany;
        }
        let nth = steps.entry(name.to_owned()).or_default();
        *nth += 1;
        let recall = self.recall.borrow();
        match recall.as_ref().and_then(|recall| recall.step(name, *nth)) {
            Some(outcome) => Begun::Done(outcome.clone()),
            None => Begun::New(*nth),
        }
    }

    /// A step of the run is under way from now on.
    pub(super) fn open_step(&self, name: &str, nth: u32, since: UnixMillis) {
        self.open_steps.borrow_mut().push(OpenStep { name: name.to_owned(), nth, since });
    }

    /// A step is done. Gives how long it took, in milliseconds, if it was begun.
    pub(super) fn close_step(&self, name: &str, nth: u32, now: UnixMillis) -> Option<u64> {
        let mut open = self.open_steps.borrow_mut();
        let index = open.iter().position(|step| step.name == name && step.nth == nth)?;
        Some(now.millis_since(open.remove(index).since))
    }

    /// The steps that are under way, in the order of their beginning.
    pub(in crate::session) fn open_steps(&self) -> Vec<OpenStep> {
        self.open_steps.borrow().clone()
    }

    /// The run begins to wait; it may begin at most `limit` steps and waits.
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

    /// The run goes on from where its task stands: what it says is new, waits that are over are behind it, and so is what
    /// was posted to callbacks. Gives how long the newest wait was to take.
    pub(super) fn take_up(&self) -> Option<u64> {
        self.is_taken_up.set(true);
        let mut recall = self.recall.borrow_mut();
        let recall = recall.as_mut()?;
        recall.forget_said();
        self.waits.set(self.waits.get().max(recall.waits()));
        self.taken_calls.borrow_mut().extend(recall.newest_calls());
        recall.last_wait_ms()
    }

    /// The requests without an answer for which the run that this one resumes was parked the last time.
    pub(in crate::session) fn unanswered(&self) -> Option<Unanswered> {
        self.recall.borrow().as_ref().and_then(Recall::unanswered)
    }

    /// The run makes a callback of this name, or one that an earlier run has made.
    pub(super) fn begin_callback(&self, name: &str) -> CallbackName {
        let mut callbacks = self.callbacks.borrow_mut();
        let nth = callbacks.entry(name.to_owned()).or_default();
        *nth += 1;
        CallbackName { name: name.to_owned(), nth: *nth }
    }

    /// Somebody has posted to a callback.
    pub(in crate::session) fn note_call(&self, call: CallbackCall) {
        self.calls.borrow_mut().insert((call.name, call.number), call.body);
    }

    /// Whether there is a body of a callback that the run has not taken.
    pub(super) fn has_call(&self, name: &CallbackName) -> bool {
        self.next_call(name).is_some()
    }

    /// The next body of a callback that the run has not taken.
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

    /// The run is to be parked when it does nothing else.
    pub(super) fn want_park(&self, park: Park) {
        self.park.replace(Some(park));
    }

    /// Whether the run is to be parked.
    pub(super) fn wants_park(&self) -> bool {
        self.park.borrow().is_some()
    }

    /// The run does not wait any more.
    pub(super) fn give_up_wait(&self) {
        self.park.take();
    }

    /// What the run is parked for. The one that goes on is told anew what was said and done.
    pub(super) fn take_park(&self) -> Option<Park> {
        self.recall.take();
        self.park.take()
    }

    /// Whether a message lies ready for the run.
    pub(super) fn has_message(&self) -> bool {
        !self.inbox.borrow().is_empty()
    }

    /// Offers a message to the run.
    pub(in crate::session) fn offer(&self, message: Message) {
        self.inbox.borrow_mut().push_back(message);
    }

    /// The run takes the oldest message that was offered.
    pub(super) fn take_message(&self) -> Option<Message> {
        self.inbox.borrow_mut().pop_front()
    }

    /// The run has used something of models.
    pub(super) fn note_used(&self, usage: Usage) {
        self.used.set(self.used.get().plus(usage));
    }

    /// The run has used this for requests whose answers came to nothing.
    pub(super) fn note_repeated(&self, usage: Usage) {
        self.repeated.set(self.repeated.get().plus(usage));
    }

    /// What it has used of models and no step has told yet.
    pub(in crate::session) fn used(&self) -> Usage {
        self.used.get().plus(self.repeated.get())
    }

    /// Of [`used`](Self::used) what is not for requests whose answers came to nothing. It is told from here on.
    pub(in crate::session) fn take_used(&self) -> Usage {
        self.used.take()
    }

    /// Of [`used`](Self::used) the rest. It is told from here on.
    pub(in crate::session) fn take_repeated(&self) -> Usage {
        self.repeated.take()
    }

    /// A client asked for the task.
    pub(in crate::session) fn note_poll(&self) {
        self.polls.set(self.polls.get() + 1);
    }

    /// How often clients asked for the task since the run began.
    pub(in crate::session) fn polls(&self) -> u64 {
        self.polls.get()
    }

    /// The run did something, or could do nothing because it waited for the client.
    pub(super) fn note_progress(&self, now: UnixMillis) {
        self.progressed.set(Some(now));
    }

    /// How long the run has done nothing, in milliseconds.
    pub(super) fn idle_ms(&self, now: UnixMillis) -> u64 {
        self.progressed.get().map_or(0, |progressed| now.millis_since(progressed))
    }

    /// The run is to stop: nothing that it says counts any more.
    pub(in crate::session) fn stop(&self) {
        self.is_stopped.set(true);
    }

    /// The executor is told of a cancel from now on, or does not need to be any more. Whether that changes anything.
    pub(super) fn set_telling(&self, is_telling: bool) -> bool {
        self.is_telling.replace(is_telling) != is_telling
    }

    /// Whether the run is to stop.
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
