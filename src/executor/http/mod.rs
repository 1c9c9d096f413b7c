//! The executor `http`: an agent in any language, behind one POST.
//!
//! The agent gets the turn as a document and answers with verbs, which become events of our task as they come. A run that
//! was interrupted asks again: the agent is told so, by the same idempotency key, and what it begins again replaces what was
//! half said. So a run never repeats what it said ([`Turn::take_up`]), and needs no steps but for the conversation before the task.

mod call;
mod document;
mod exchange;
mod failure;
mod frames;
mod saying;
mod verb;
mod writer;

use async_trait::async_trait;
use futures_util::future::{Either, select};

use super::awake::AwakeRuns;
use super::{AgentExecutor, Events, ExecutorError, Turn};
use crate::port::HttpRequest;
use crate::task::Recovery;
use a2a_agents::{HttpTable, RunSettings};
use call::Call;
use document::{cancel_document, turn_document};
use exchange::{Patience, ask};
use failure::{Again, Failure};
use saying::Saying;

/// An agent behind a URL or a service binding.
pub(super) struct HttpExecutor {
    table: HttpTable,
    /// Whether the agent is asked again when its answer broke off in the middle.
    asks_again: bool,
    awake: AwakeRuns,
}

impl HttpExecutor {
    /// The agent that the table of an agent file describes, whose runs are bounded like this.
    pub(super) fn new(table: HttpTable, run: &RunSettings) -> Self {
        let asks_again = run.recovery != Some(Recovery::Fail);
        Self { table, asks_again, awake: AwakeRuns::default() }
    }

    /// Asks the agent until it has answered, or no further attempt is worth it.
    async fn answer(&self, call: &Call, turn: &Turn, events: &Events) -> Result<(), Failure> {
        let HttpTable { timeout_ms, idle_timeout_ms, event_interval_ms, attempts, .. } = self.table;
        let patience = Patience { head_ms: timeout_ms, idle_ms: idle_timeout_ms };
        // They are of use, but not needed.
        let earlier = Box::pin(turn.earlier_tasks(self.table.context_tasks)).await;
        let earlier = earlier.unwrap_or_default();
        let mut has_said = turn.resumes;
        let mut asked = 0;
        loop {
            let attempt = turn.attempt.saturating_add(asked);
            let document = turn_document(turn, &earlier, attempt, has_said);
            let document = document.await.map_err(Failure::own)?;
            asked += 1;
            let mut saying = Saying::new(turn, events, event_interval_ms);
            let failure = match ask(call, turn, document, patience, &mut saying).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let Again::After(wait_ms) = failure.again else { return Err(failure) };
            if asked >= attempts || (saying.has_begun() && !self.asks_again) {
                return Err(failure.after(asked));
            }
            has_said |= saying.has_begun();
            let pause_ms = wait_ms.unwrap_or_else(|| pause_ms(asked, turn.host.random().chance()));
            if pause_ms >= turn.time_left_ms() {
                return Err(failure.after(asked));
            }
            turn.sleep(pause_ms).await;
        }
    }

    /// Tells the agent that nobody waits for its answer any more, if it wants that.
    async fn tell(&self, call: &Call, turn: &Turn) {
        let Some(request) = call.cancel(turn, cancel_document(turn)) else { return };
        let request = HttpRequest { timeout_ms: CANCEL_MS, ..request };
        // Whatever it answers: there is nobody to tell.
        let _ = call.http().send(request).await;
    }
}

#[async_trait(?Send)]
impl AgentExecutor for HttpExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let _awake = self.awake.wake(turn);
        turn.take_up();
        turn.host.set_event_interval(self.table.event_interval_ms);
        let call = Call::of(&self.table, turn)?;
        let answered = Box::pin(self.answer(&call, turn, events));
        // A cancel drops the exchange that is under way: the agent sees its connection close.
        let answered = match select(answered, Box::pin(turn.canceled())).await {
            Either::Left((answered, _)) => answered,
            Either::Right(_) => Ok(()),
        };
        match answered {
            _ if turn.is_canceled() => {
                self.tell(&call, turn).await;
                Ok(())
            }
            Err(failure) => {
                if failure.may_work_on {
                    self.tell(&call, turn).await;
                }
                Err(ExecutorError(failure.text))
            }
            Ok(()) => Ok(()),
        }
    }

    async fn cancel(&self, turn: &Turn) {
        // A run in memory tells the agent itself.
        if !self.awake.has(turn)
            && let Ok(call) = Call::of(&self.table, turn)
        {
            self.tell(&call, turn).await;
        }
    }

    fn ensures_cancel(&self) -> bool {
        self.table.cancel_url.is_some()
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }
}

/// How long to wait before asking again, in milliseconds: half a second, doubled each time, up to half as much again by `chance`.
fn pause_ms(asked: u32, chance: f64) -> u64 {
    let base = 500_u64.saturating_mul(1 << asked.saturating_sub(1).min(5));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "seconds"
    )]
    let more = (base as f64 * chance / 2.0) as u64;
    base + more
}

/// How long the agent may take to hear of a cancel, in milliseconds.
const CANCEL_MS: u64 = 4_000;
