//! How a run is parked, how it goes on, and what others may post to meanwhile.

use super::{Effect, TaskError, TaskMachine};
use crate::task::{
    Admission, CallbackCall, CallbackName, CallbackRecord, LogEntry, Park, RunStart, WaitEnd,
    WokenBy,
};
use a2a::model::{Message, UnixMillis};

impl TaskMachine {
    /// What the run of the task waits for outside of memory, if it is parked.
    pub fn parked(&self) -> Option<&Park> {
        self.parked.as_ref()
    }

    /// Whether a run is to be under way, in memory.
    pub fn needs_run(&self) -> bool {
        let goes_on = self.asks() && self.is_waiting_turn;
        self.parked.is_none() && (self.is_active() || goes_on)
    }

    /// Whether the task waits for its client, and for no run that is parked.
    pub(super) fn asks(&self) -> bool {
        self.state().is_interrupted() && self.parked.is_none()
    }

    /// The message that the newest run handles.
    pub fn message_of_run(&self) -> Option<&Message> {
        self.messages().nth(self.run.as_ref()?.message.checked_sub(1)?)
    }

    /// Whether the run is parked, and its time has come.
    pub fn is_due(&self, now: UnixMillis) -> bool {
        self.parked.as_ref().is_some_and(|park| park.until() <= now)
    }

    /// The run is dropped, and waits.
    pub(super) fn park(&mut self, park: Park) -> Vec<Effect> {
        self.running = false;
        vec![self.append(LogEntry::Parked(park))]
    }

    /// Lets a parked run go on if its time has come; the task fails if nobody can run it any more.
    pub(super) fn wake(&mut self, is_served: bool, now: UnixMillis) -> Vec<Effect> {
        match self.is_due(now) {
            true if is_served => self.unpark(WokenBy::Time, now),
            true => vec![self.fail(NOT_SERVED.to_owned(), now)],
            false => Vec::new(),
        }
    }

    /// What a post to a callback with this token is, if `key` is what its sender calls it. A run that was lost is another
    /// attempt soon, so its callbacks are open.
    pub fn admit_call(&self, token: &str, key: Option<&str>, now: UnixMillis) -> Admission {
        let is_open = !self.is_turn_over() && !self.state().is_terminal();
        self.callbacks.admit(token, key, is_open, now)
    }

    /// The callback of this name, if the newest turn has made it.
    pub fn callback(&self, name: &CallbackName) -> Option<&CallbackRecord> {
        self.callbacks.find(name)
    }

    /// How many callbacks the newest turn has made.
    pub fn callback_count(&self) -> usize {
        self.callbacks.count()
    }

    /// Somebody has posted to a callback. A run that is parked for it goes on; one that waits for something else finds it
    /// later.
    pub(super) fn called(
        &mut self,
        call: CallbackCall,
        now: UnixMillis,
    ) -> Result<Vec<Effect>, TaskError> {
        let Some(park) = &self.parked else {
            if !self.running {
                return Err(TaskError::NoRun);
            }
            return Ok(vec![self.append(LogEntry::Called(call.clone())), Effect::Call(call)]);
        };
        let is_waited_for = park.callback.as_ref() == Some(&call.name);
        let mut effects = vec![self.append(LogEntry::Called(call))];
        if is_waited_for {
            effects.extend(self.unpark(WokenBy::Callback, now));
        }
        Ok(effects)
    }

    /// Lets a parked run go on: another one resumes it, in whose time the pause does not count. That is no further
    /// attempt; a run that came this far has the attempts for what follows.
    pub(super) fn unpark(&mut self, by: WokenBy, now: UnixMillis) -> Vec<Effect> {
        let (Some(park), Some(run)) = (self.parked.clone(), self.run.clone()) else {
            return Vec::new();
        };
        let pause = now.0.saturating_sub(park.at_ms).max(0);
        let begun_ms = run.begun_ms.saturating_add(pause);
        let woken = self.append(LogEntry::Woken(WaitEnd { nth: park.nth, by }));
        let start = RunStart { attempt: 1, resumes: true, begun_ms, ..run };
        let goes_on =
            self.go_on(start).unwrap_or_else(|| vec![self.fail(NOT_SERVED.to_owned(), now)]);
        std::iter::once(woken).chain(goes_on).collect()
    }
}

/// Why a parked run cannot go on.
const NOT_SERVED: &str = "interrupted: the agent whose run was waiting is not served any more";
