//! How runs begin, end and are lost.

use super::{Effect, Loss, RunOutcome, TaskMachine, timed_out};
use crate::task::{LogEntry, Recovery, RunRequest, RunStart};
use a2a::model::{Message, TaskState, UnixMillis};

impl TaskMachine {
    /// Starts a run for the newest message of the client.
    pub(super) fn begin_turn(
        &mut self,
        message: Message,
        request: RunRequest,
        now: UnixMillis,
    ) -> [Effect; 2] {
        self.running = true;
        let start = RunStart {
            attempt: 1,
            resumes: false,
            message: self.messages().count(),
            begun_ms: now.0,
            request,
        };
        [self.append(LogEntry::Run(start)), Effect::Run(message)]
    }

    /// The run is over: the task ends with it, waits for its client, or goes on with what the run has not taken.
    pub(super) fn end_run(&mut self, outcome: RunOutcome, now: UnixMillis) -> Vec<Effect> {
        self.running = false;
        if self.state().is_terminal() {
            return Vec::new();
        }
        let reason = match outcome {
            RunOutcome::Failed(reason) => reason,
            RunOutcome::Finished if self.unread > 0 => return self.run_again(now),
            RunOutcome::Finished if self.asks() && self.is_waiting_turn => {
                return vec![self.append(LogEntry::Ended)];
            }
            RunOutcome::Finished if self.state().is_interrupted() => return Vec::new(),
            RunOutcome::Finished => {
                "the agent ended its turn without finishing the task".to_owned()
            }
        };
        vec![self.fail(reason, now)]
    }

    /// The run is gone before it was over: another one goes on, or the task fails.
    pub(super) fn lose_run(
        &mut self,
        loss: Loss,
        recovery: Recovery,
        max_attempts: u32,
        now: UnixMillis,
    ) -> Vec<Effect> {
        self.running = false;
        if !self.needs_run() {
            let is_asked = self.asks() && self.unread > 0;
            return if is_asked { self.run_again(now) } else { Vec::new() };
        }
        let mut reason = match loss {
            Loss::Interrupted => "interrupted: the agent stopped while it was at work".to_owned(),
            Loss::Crashed => "internal error: the agent crashed".to_owned(),
        };
        let Some(lost) = self.run.clone() else { return vec![self.fail(reason, now)] };
        if now >= lost.deadline() {
            return vec![self.fail(timed_out(lost.request.timeout_ms), now)];
        }
        if recovery == Recovery::Fail {
            return vec![self.fail(reason, now)];
        }
        if lost.attempt >= max_attempts {
            reason.push_str(&format!(", in each of {} attempts", lost.attempt));
            return vec![self.fail(reason, now)];
        }
        let start =
            RunStart { attempt: lost.attempt + 1, resumes: recovery == Recovery::Resume, ..lost };
        self.go_on(start).unwrap_or_else(|| vec![self.fail(reason, now)])
    }

    /// Runs the executor once more for the message of a turn. None if that is not there.
    pub(super) fn go_on(&mut self, start: RunStart) -> Option<Vec<Effect>> {
        // The client's messages from the one of this turn on; those behind it came meanwhile.
        let mut messages = self.messages().skip(start.message.saturating_sub(1)).cloned();
        let message = messages.next()?;
        let offered: Vec<Message> = messages.collect();
        self.running = true;
        let mut effects = vec![self.append(LogEntry::Run(start)), Effect::Run(message)];
        effects.extend(offered.into_iter().map(Effect::Offer));
        Some(effects)
    }

    /// Starts a run for the newest message, which no run has taken.
    fn run_again(&mut self, now: UnixMillis) -> Vec<Effect> {
        let newest = self.messages().last().cloned();
        let request = self.latest.take().or_else(|| self.run.clone().map(|run| run.request));
        let (Some(message), Some(request)) = (newest, request) else { return Vec::new() };
        let mut effects = Vec::new();
        if self.state().is_interrupted() {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        effects.extend(self.begin_turn(message, request, now));
        effects
    }
}
