//! The executor `http`: an agent written in any language, called by one POST per turn.
//!
//! The agent receives the turn as a JSON document and answers with verbs, which are emitted as events of our task while they
//! arrive. A run that resumes after an interruption sends the request again with the same idempotency key and `resumes: true`; an
//! artifact that the new answer begins again replaces the incomplete artifact. So a run never repeats events ([`Turn::take_up`]),
//! and needs a step only for the conversation before the task.
//!
//! If the agent's program is down, the run retries: for some seconds in memory, then parked between the requests.
//!
//! # Agents behind HTTP
//!
//! `executor/http/` posts a turn to a program in any language and emits its answer. `call.rs` fills in the table of the agent
//! (URL or service binding, headers, signature), `document.rs` writes the turn, `exchange.rs` is one request with its silence
//! limits. `frames.rs` splits the answer (a document, lines, events) into JSON and limits its size before it is parsed. `verb.rs`
//! reads one verb; `docs/http-agent-verbs.schema.json` describes the same verbs, and one table of verbs is tested against both.
//! `saying.rs` makes events of the verbs, `writer.rs` joins pieces of growing text. `failure.rs` describes a failed exchange, and
//! the prospects of sending the same request again.
//!
//! - A run resumes its task (`Turn::take_up`) and has no steps of its own: its events are stored, and the idempotency key follows from task and turn.
//!   So an answer stores no rows other than its events.
//! - If no program answers, the run retries (`tries.rs`): for some seconds in memory, then parked between the requests. The counts of its requests
//!   are stored in the entry `parked`, which is written anyway, and the run that resumes reads them from `Recall`. An event stored after that
//!   entry means that the program has answered.
//! - The ending verb is emitted when the body has ended, or a second later: a verb after the ending verb is a mistake of the agent, and a task that
//!   had already ended could not report it.
//! - A connection that breaks after a verb is treated like a crash of our own: the request is sent again with `resumes: true`. An artifact that is
//!   begun again is replaced, and an artifact without an id gets the same number each time, so no artifact mixes pieces of two answers.
//! - On a cancel the connection is dropped, which the agent may notice. A `cancel_url` is called reliably: by the run, or by the `cancel` hook of the
//!   executor.

mod call;
mod document;
mod exchange;
mod failure;
mod frames;
mod saying;
mod tries;
pub(super) mod verb;
mod writer;

use std::rc::Rc;

use async_trait::async_trait;
use futures_util::future::{Either, select};

use super::awake::AwakeRuns;
use super::learned::Unobserved;
use super::{AgentExecutor, Events, ExecutorError, Needs, Turn, Wait};
use crate::port::{HttpRequest, Outside, Target};
use crate::task::Recovery;
use a2a::model::TaskState;
use a2a_agents::tool::Tool;
use a2a_agents::{CheckedAgent, HttpTable, Misfit, RunSettings};
use call::{Call, program_url};
use document::{cancel_document, turn_document};
use exchange::{Patience, ask};
use failure::{Again, Failure};
use saying::Saying;
use tries::Tries;

/// An agent behind a URL or a service binding.
pub(super) struct HttpExecutor {
    table: HttpTable,
    /// True if the request is sent again after an answer that broke off in the middle.
    asks_again: bool,
    /// True if a run may be parked until the next request.
    parks: bool,
    awake: AwakeRuns,
}

/// Makes the executor of an agent of kind `http`.
pub(super) fn make(
    agent: &CheckedAgent,
    _: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let table = HttpTable::of(&agent.executor.table)?;
    Ok(Rc::new(HttpExecutor::new(table, &agent.executor.run)))
}

impl HttpExecutor {
    /// The agent that the table of an agent file describes, with the settings of its runs.
    pub(super) fn new(table: HttpTable, run: &RunSettings) -> Self {
        let asks_again = run.recovery != Some(Recovery::Fail);
        let parks = matches!(run.recovery, None | Some(Recovery::Resume));
        Self { table, asks_again, parks, awake: AwakeRuns::default() }
    }

    /// Sends requests until the agent has answered completely, or until a repetition of the request cannot succeed.
    async fn answer(&self, call: &Call, turn: &Turn, events: &Events) -> Result<(), Failure> {
        let HttpTable { timeout_ms, idle_timeout_ms, event_interval_ms, attempts, .. } = self.table;
        let patience = Patience { head_ms: timeout_ms, idle_ms: idle_timeout_ms };
        // Earlier tasks are helpful but not required: an error is ignored.
        let earlier = Box::pin(turn.earlier_tasks(self.table.context_tasks)).await;
        let earlier = earlier.unwrap_or_default();
        let mut tries = Tries::before(turn);
        loop {
            let attempt = tries.begin();
            let document = turn_document(turn, &earlier, attempt, tries.has_said());
            let document = document.await.map_err(Failure::own)?;
            let mut saying = Saying::new(turn, events, event_interval_ms);
            let failure = match ask(call, turn, document, patience, &mut saying).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let wait_ms = match failure.again {
                Again::Never => return Err(failure),
                Again::Unanswered(what) if self.table.unreachable_wait_ms > 0 => {
                    self.wait_for(&what, call, turn, events, &mut tries).await?;
                    // A cancel ends the wait; no further request is sent.
                    if turn.is_canceled() {
                        return Ok(());
                    }
                    continue;
                }
                Again::Unanswered(_) => None,
                Again::After(wait_ms) => wait_ms,
            };
            let faulty = tries.note_fault(saying.has_begun());
            let failure = failure.after(tries.asked());
            if faulty >= attempts || (saying.has_begun() && !self.asks_again) {
                return Err(failure);
            }
            let pause_ms =
                wait_ms.unwrap_or_else(|| pause_ms(faulty, turn.run_outside.random().chance()));
            if pause_ms >= turn.time_left_ms() {
                return Err(failure);
            }
            turn.sleep(pause_ms).await;
            if turn.is_canceled() {
                return Ok(());
            }
        }
    }

    /// Waits before the repetition of a request that was not answered. During a short wait the run stays in memory; for a longer
    /// wait the run is parked, and the function does not return.
    ///
    /// # Errors
    ///
    /// If requests were not answered for `unreachable_wait_ms`, if the pause would be longer than the remaining time of the run,
    /// or if the task refuses an event.
    async fn wait_for(
        &self,
        what: &str,
        call: &Call,
        turn: &Turn,
        events: &Events,
        tries: &mut Tries,
    ) -> Result<(), Failure> {
        let limit_ms = self.table.unreachable_wait_ms;
        let parks = |pause_ms: u64| self.parks && pause_ms >= SHORTEST_PARK_MS;
        let pause_ms = tries
            .note_silence(turn.now(), limit_ms, turn.run_outside.random())
            // Parked time does not count as time of the run.
            .filter(|pause_ms| parks(*pause_ms) || *pause_ms < turn.time_left_ms());
        let Some(pause_ms) = pause_ms else {
            let (times, silent_ms) = tries.silence(turn.now());
            return Err(Failure::down(&call.host, what, times, silent_ms));
        };
        if !parks(pause_ms) {
            turn.sleep(pause_ms).await;
            return Ok(());
        }
        let state = turn.task().map(|task| task.status.state);
        if matches!(state, None | Some(TaskState::Submitted)) {
            events.working(None).map_err(Failure::own)?;
        }
        let wait = Wait::for_millis(pause_ms).unanswered_so_far(tries.unanswered());
        turn.wait_until(wait).await.map(|_| ()).map_err(Failure::own)
    }

    /// Posts the cancel document to the `cancel_url`, if the agent file has one.
    async fn tell(&self, call: &Call, turn: &Turn) {
        let Some(request) = call.cancel(turn, cancel_document(turn)) else { return };
        let request = HttpRequest { timeout_ms: CANCEL_MS, ..request };
        // The answer is ignored: nobody could be informed of an error.
        let _ = call.http().send(request).await;
    }
}

#[async_trait(?Send)]
impl AgentExecutor for HttpExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let awake = self.awake.wake(turn);
        turn.take_up();
        turn.run_task.set_event_interval(self.table.event_interval_ms);
        let call = Call::of(&self.table, turn)?;
        let answered = Box::pin(self.answer(&call, turn, events));
        // A cancel drops the open exchange: the agent sees its connection close.
        let answered = match select(answered, Box::pin(turn.canceled())).await {
            Either::Left((answered, _)) => answered,
            Either::Right(_) => Ok(()),
        };
        let result = match answered {
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
        };
        awake.end();
        result
    }

    async fn cancel(&self, turn: &Turn) {
        // A run in memory calls the `cancel_url` itself.
        if self.awake.has_left(turn).await
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

    fn parks(&self) -> bool {
        self.parks && self.table.unreachable_wait_ms > 0
    }

    fn needs(&self, outside: &Outside) -> Result<Needs, ExecutorError> {
        Ok(match &self.table.service {
            Some(service) => Needs::Bound(Target::Service(service.clone())),
            None => Needs::Program(program_url(&self.table, &Unobserved(outside))?),
        })
    }
}

/// The pause before a request is repeated after a faulty answer, in milliseconds: half a second, doubled with each fault up to 16 s, plus a random
/// part (`chance`) of up to a half.
fn pause_ms(faulty: u32, chance: f64) -> u64 {
    let base = 500_u64.saturating_mul(1 << faulty.saturating_sub(1).min(5));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "seconds"
    )]
    let more = (base as f64 * chance / 2.0) as u64;
    base + more
}

/// The shortest pause for which a run is parked, in milliseconds: a park costs two rows and an alarm.
const SHORTEST_PARK_MS: u64 = 3_000;

/// The timeout for the request to the `cancel_url`, in milliseconds.
const CANCEL_MS: u64 = 4_000;
