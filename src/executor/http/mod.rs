//! The executor `http`: an agent in any language, behind one POST.
//!
//! The agent gets the turn as a document and answers with verbs, which become events of our task as they come. A run that
//! was interrupted asks again: the agent is told so, by the same idempotency key, and what it begins again replaces what was
//! half said. So a run never repeats what it said ([`Turn::take_up`]), and needs no steps but for the conversation before the task.
//!
//! A program that is down is waited for: for some seconds in memory, then by a run that is parked.
//!
//! # Agents behind HTTP
//!
//! `executor/http/` posts a turn to a program in any language and says what that answers. `call.rs` fills in the table of the agent (URL or service binding, headers, signature), `document.rs` writes the turn, `exchange.rs` is one request with
//! its silence limits. `frames.rs` cuts the answer into JSON, whatever pieces come (a document, lines, events), and bounds it before it is parsed. `verb.rs` reads one verb; `docs/http-agent-verbs.schema.json` says the same, and one table of
//! verbs is tried against both. `saying.rs` makes events of them, `writer.rs` joins text that grows. `failure.rs` words what went wrong, and whether the same request may do better.
//!
//! - A run takes up its task (`Turn::take_up`) and has no step of its own: what was said is stored as events, and the idempotency key follows from task and turn. So an answer costs no row besides those of its events.
//! - A program that nobody answers for is waited for (`tries.rs`): some seconds in memory, then the run is parked. What it knows of its requests is in the entry `parked` that is written anyway, and `Recall` hands it to the run that goes on; an
//!   event behind that entry means that somebody has answered.
//! - The ending verb is held until the body ends, or for a second: a verb behind it is a mistake of the agent, which a task that has ended could not show.
//! - A connection that breaks behind a verb is treated as a crash of ours: the agent is asked again and told so. An artifact that is begun again is replaced, and one without an id has the same number each time, so none holds pieces of two answers.
//! - The connection that is dropped tells the agent of a cancel. `cancel_url` tells it for sure, by the hook for ends that the executor did not choose.

mod call;
mod document;
mod exchange;
mod failure;
mod frames;
mod saying;
mod tries;
mod verb;
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
use a2a_agents::{EmbeddedAgent, HttpTable, Misfit, RunSettings};
use call::{Call, program_url};
use document::{cancel_document, turn_document};
use exchange::{Patience, ask};
use failure::{Again, Failure};
use saying::Saying;
use tries::Tries;

/// An agent behind a URL or a service binding.
pub(super) struct HttpExecutor {
    table: HttpTable,
    /// Whether the agent is asked again when its answer broke off in the middle.
    asks_again: bool,
    /// Whether a run may be parked until it asks again.
    parks: bool,
    awake: AwakeRuns,
}

/// Makes the executor of an agent of kind `http`.
pub(super) fn make(
    agent: &EmbeddedAgent,
    _: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let table = agent.executor.table.read()?;
    Ok(Rc::new(HttpExecutor::new(table, &agent.executor.run)))
}

impl HttpExecutor {
    /// The agent that the table of an agent file describes, whose runs are bounded like this.
    pub(super) fn new(table: HttpTable, run: &RunSettings) -> Self {
        let asks_again = run.recovery != Some(Recovery::Fail);
        let parks = matches!(run.recovery, None | Some(Recovery::Resume));
        Self { table, asks_again, parks, awake: AwakeRuns::default() }
    }

    /// Asks the agent until it has answered, or no further attempt is worth it.
    async fn answer(&self, call: &Call, turn: &Turn, events: &Events) -> Result<(), Failure> {
        let HttpTable { timeout_ms, idle_timeout_ms, event_interval_ms, attempts, .. } = self.table;
        let patience = Patience { head_ms: timeout_ms, idle_ms: idle_timeout_ms };
        // They are of use, but not needed.
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
                    // A cancel ends the wait, and nothing is posted behind it.
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

    /// Waits before a request is repeated that nobody has answered: for a moment in memory; for longer the run is parked,
    /// which does not return.
    ///
    /// # Errors
    ///
    /// If nobody has answered for too long, or our own task takes no more.
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
            // The time of a run that is parked does not count.
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
        let awake = self.awake.wake(turn);
        turn.take_up();
        turn.run_task.set_event_interval(self.table.event_interval_ms);
        let call = Call::of(&self.table, turn)?;
        let answered = Box::pin(self.answer(&call, turn, events));
        // A cancel drops the exchange that is under way: the agent sees its connection close.
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
        // A run in memory tells the agent itself.
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

/// How long to wait before an agent that has answered is asked again, in milliseconds: half a second, doubled each time, up to half as much again by `chance`.
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

/// From which pause on the run is parked, in milliseconds: a park is two rows and an alarm.
const SHORTEST_PARK_MS: u64 = 3_000;

/// How long the agent may take to hear of a cancel, in milliseconds.
const CANCEL_MS: u64 = 4_000;
