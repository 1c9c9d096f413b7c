//! Parks runs, resumes parked runs, and admits bodies that are posted to callbacks.

use super::TaskMachine;
use crate::task::run::Run;
use crate::task::{
    Admission, CallbackCall, CallbackName, CallbackRecord, Effect, LogEntry, Park, RunStart,
    TaskError, WaitEnd, WokenBy,
};
use a2a::model::{Message, UnixMillis};

impl TaskMachine {
    /// The wait of the task's run, if the run is parked.
    pub fn parked(&self) -> Option<&Park> {
        self.run.park()
    }

    /// True if the task needs a run in memory.
    pub fn needs_run(&self) -> bool {
        self.run.is_needed(self.state())
    }

    /// The message that the newest run handles.
    pub fn message_of_run(&self) -> Option<&Message> {
        self.messages().nth(self.run.start()?.message.checked_sub(1)?)
    }

    /// True if the run is parked and its wait is over at `now`.
    pub fn is_due(&self, now: UnixMillis) -> bool {
        self.run.park().is_some_and(|park| park.until() <= now)
    }

    /// Resumes a parked run if its wait is over. If the agent of the task is not served any more, the task fails.
    pub(super) fn wake(&mut self, is_served: bool, now: UnixMillis) -> Vec<Effect> {
        match &self.run {
            Run::Parked(turn, park) if park.until() <= now => {
                if !is_served {
                    return vec![self.fail(NOT_SERVED.to_owned(), now)];
                }
                let (start, park) = (turn.start.clone(), park.clone());
                self.unpark(start, &park, WokenBy::Time, now)
            }
            Run::None | Run::Active(_) | Run::Parked(..) | Run::Absent(_) | Run::Over(_) => {
                Vec::new()
            }
        }
    }

    /// The admission of a post to the callback with this token; `key` is the sender's id of the post. If the run was lost,
    /// the callbacks are open, because the next attempt follows soon.
    pub fn admit_call(&self, token: &str, key: Option<&str>, now: UnixMillis) -> Admission {
        let is_open = !self.is_turn_over() && !self.state().is_terminal();
        let Some(turn) = self.run.turn() else { return Admission::Unknown };
        turn.callbacks.admit(token, key, is_open, now)
    }

    /// The record of the callback with this name, if the newest turn has made the callback.
    pub fn callback(&self, name: &CallbackName) -> Option<&CallbackRecord> {
        self.run.turn()?.callbacks.find(name)
    }

    /// The number of callbacks that the newest turn has made.
    pub fn callback_count(&self) -> usize {
        self.run.turn().map_or(0, |turn| turn.callbacks.count())
    }

    /// Stores a body that was posted to a callback. A run that is parked for this callback is resumed; any other run reads
    /// the body later.
    pub(super) fn called(
        &mut self,
        call: CallbackCall,
        now: UnixMillis,
    ) -> Result<Vec<Effect>, TaskError> {
        self.check_unfinished()?;
        match &self.run {
            Run::None | Run::Absent(_) | Run::Over(_) => Err(TaskError::NoRun),
            Run::Active(_) => {
                Ok(vec![self.append(LogEntry::Called(call.clone())), Effect::Call(call)])
            }
            Run::Parked(turn, park) if park.callback.as_ref() == Some(&call.name) => {
                let (start, park) = (turn.start.clone(), park.clone());
                let mut effects = vec![self.append(LogEntry::Called(call))];
                effects.extend(self.unpark(start, &park, WokenBy::Callback, now));
                Ok(effects)
            }
            Run::Parked(..) => Ok(vec![self.append(LogEntry::Called(call))]),
        }
    }

    /// Resumes the parked run with this start. The duration of the wait does not count as time of the run. The number of
    /// attempts restarts at 1.
    pub(super) fn unpark(
        &mut self,
        run: RunStart,
        park: &Park,
        by: WokenBy,
        now: UnixMillis,
    ) -> Vec<Effect> {
        let pause = now.0.saturating_sub(park.at_ms).max(0);
        let begun_ms = run.begun_ms.saturating_add(pause);
        let woken = self.append(LogEntry::Woken(WaitEnd { nth: park.nth, by }));
        let start = RunStart { attempt: 1, resumes: true, begun_ms, ..run };
        let goes_on =
            self.go_on(start).unwrap_or_else(|| vec![self.fail(NOT_SERVED.to_owned(), now)]);
        std::iter::once(woken).chain(goes_on).collect()
    }
}

/// The reason why a parked run cannot be resumed.
const NOT_SERVED: &str = "interrupted: the agent whose run was waiting is not served any more";
