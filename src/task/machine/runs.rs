//! Begins and ends runs, and handles lost runs.

use super::{TaskMachine, timed_out};
use crate::task::run::{Move, Run};
use crate::task::{Effect, LogEntry, Loss, Recovery, RunOutcome, RunRequest, RunStart};
use a2a::model::{Message, TaskState, UnixMillis};

impl TaskMachine {
    /// Starts a run for the newest message of the client.
    pub(super) fn begin_turn(
        &mut self,
        message: Message,
        request: RunRequest,
        now: UnixMillis,
    ) -> [Effect; 2] {
        let start = RunStart {
            attempt: 1,
            resumes: false,
            message: self.messages().count(),
            begun_ms: now.0,
            request,
        };
        [self.begin_run(start), Effect::Run(message)]
    }

    /// Begins a run in this process.
    fn begin_run(&mut self, start: RunStart) -> Effect {
        let begun = self.append(LogEntry::Run(start));
        self.run.make(Move::Enter);
        begun
    }

    /// Ends the run. The task has ended or waits for its client; or a new run begins for the messages that this run has
    /// not read; or the task fails.
    pub(super) fn end_run(&mut self, outcome: RunOutcome, now: UnixMillis) -> Vec<Effect> {
        let Run::Active(turn) = &self.run else { return Vec::new() };
        let (unread, has_waited) = (turn.unread, turn.has_waited);
        self.run.make(Move::End);
        if self.state().is_terminal() {
            return Vec::new();
        }
        let reason = match outcome {
            RunOutcome::Failed(reason) => reason,
            RunOutcome::Finished if unread > 0 => return self.run_again(now),
            RunOutcome::Finished if self.state().is_interrupted() => {
                // For a run that has never waited, the log needs no entry: a replay ends the run when the task waits
                // for the client.
                return if has_waited { vec![self.append(LogEntry::Ended)] } else { Vec::new() };
            }
            RunOutcome::Finished => {
                "the agent ended its turn without finishing the task".to_owned()
            }
        };
        vec![self.fail(reason, now)]
    }

    /// Handles a run that was lost before its end: another attempt begins, or the task fails.
    pub(super) fn lose_run(
        &mut self,
        loss: Loss,
        recovery: Recovery,
        max_attempts: u32,
        now: UnixMillis,
    ) -> Vec<Effect> {
        let state = self.state();
        self.run.make(if state.is_terminal() { Move::End } else { Move::Lose });
        if !self.run.is_lost(state) {
            return Vec::new();
        }
        if !self.run.is_needed(state) {
            // The task waited for its client, and the client has already answered.
            return self.run_again(now);
        }
        let mut reason = match loss {
            Loss::Interrupted => "interrupted: the agent stopped while it was at work".to_owned(),
            Loss::Crashed => "internal error: the agent crashed".to_owned(),
        };
        let Some(lost) = self.run.start().cloned() else { return vec![self.fail(reason, now)] };
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

    /// Begins one more run for the message of a turn, also after a wait. `None` if the message does not exist.
    pub(super) fn go_on(&mut self, start: RunStart) -> Option<Vec<Effect>> {
        // The client's messages, beginning with the message of this turn. The later ones arrived during the turn.
        let mut messages = self.messages().skip(start.message.saturating_sub(1)).cloned();
        let message = messages.next()?;
        let offered: Vec<Message> = messages.collect();
        let mut effects = vec![self.begin_run(start), Effect::Run(message)];
        effects.extend(offered.into_iter().map(Effect::Offer));
        Some(effects)
    }

    /// Begins a run for the newest message, which no run has read.
    fn run_again(&mut self, now: UnixMillis) -> Vec<Effect> {
        let newest = self.messages().last().cloned();
        let request =
            self.run.turn().map(|turn| turn.latest.as_ref().unwrap_or(&turn.start.request));
        let (Some(message), Some(request)) = (newest, request.cloned()) else { return Vec::new() };
        let mut effects = Vec::new();
        if self.state().is_interrupted() {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        effects.extend(self.begin_turn(message, request, now));
        effects
    }
}
