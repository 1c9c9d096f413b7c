//! A run of an executor, from its start to its end or loss: polls the executor's future, stores its events each time that the future is
//! pending, limits its time, and catches its panics.

pub(super) mod callbacks;
mod connections;
pub(super) mod held;
pub(super) mod hook;
pub(super) mod outside;
pub(super) mod parking;
mod run_task;
pub(super) mod span;
pub(super) mod state;
pub(super) mod tracing;
mod usage;

use std::future::{Future, pending};
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::{Either, LocalBoxFuture, select, select_all};

use self::held::LetOut;
use self::span::RunKey;
use super::TaskSession;
use super::agents::RunLimits;
use super::debts::{self, Sums};
use crate::executor::{Events, ExecutorError, RunOutside, Runner, Turn};
use crate::panic::catch;
use crate::port::{Observation, yield_once};
use crate::task::{
    LogEntry, Loss, Notice, Recall, Recovery, RunOutcome, RunRequest, RunStart, timed_out,
};
use a2a::model::{Message, TaskState, UnixMillis};

/// Starts the run that was begun, if there is one, in the background. This call may poll the run, so the caller must have stored and
/// registered everything that the run reads.
pub(super) fn start(session: &TaskSession) {
    let Some(handle) = session.handle() else { return };
    if let Some((message, start)) = session.run.take_begun() {
        session.ports.runtime.spawn(Box::pin(drive(handle, message, start)));
    }
}

/// As [`start`], but the run is first polled after the caller has yielded.
pub(super) fn start_soon(session: &TaskSession) {
    let Some(handle) = session.handle() else { return };
    if let Some((message, start)) = session.run.take_begun() {
        session.ports.runtime.spawn(Box::pin(async move {
            yield_once().await;
            drive(handle, message, start).await;
        }));
    }
}

/// Handles a lost run by the recovery mode of the agent: resumes it, begins it again, or fails the task.
pub(super) fn recover(session: &TaskSession, loss: Loss, log: &[LogEntry]) {
    let limits = session.agents.limits(&session.life, &session.limits);
    let is_served = limits.is_some();
    if !is_served {
        session.observe(&Observation::AgentMissing { task: session.id() });
    }
    let (recovery, max_attempts) =
        limits.map_or((Recovery::Fail, 0), |limits| (limits.recovery, limits.max_attempts));
    session.run.recall(Recall::of(log));
    if loss == Loss::Interrupted && session.ports.observer.times() {
        span::observe_loss(session, log);
    }
    let was_over = session.life.is_over();
    session.note(Notice::RunLost { loss, recovery, max_attempts });
    if loss == Loss::Interrupted && is_served && !was_over {
        observe_failure(session);
    }
}

/// Reports a task that has failed because its run was interrupted.
fn observe_failure(session: &TaskSession) {
    let failed = session.life.with_live(|facts, machine| {
        let status = &machine.task().status;
        let reason = status.message.as_ref().map(Message::text).unwrap_or_default();
        (status.state == TaskState::Failed).then(|| (facts.agent.clone(), reason))
    });
    if let Some(Some((agent, reason))) = failed {
        let (agent, reason) = (&agent, &reason);
        session.observe(&Observation::RunGivenUp { agent, task: session.id(), reason });
    }
}

/// Ends the run in the task. A run without any event leaves a failed task.
fn end(session: &TaskSession, outcome: RunOutcome) {
    session.create();
    session.note(Notice::RunEnded(outcome));
}

/// Handles a panic of the executor. A task that no client has seen is forgotten; for any other task the run counts as
/// interrupted. If the task fails because of the panic, waiting clients get an error.
fn lose_by_panic(session: &TaskSession) {
    if session.life.exists() {
        // If held-back text was released after the panic, store this event, too: the events of the next attempt are compared
        // with it.
        let _ = session.flush();
        match session.journal.reload(session.id()) {
            Ok(log) => recover(session, Loss::Crashed, &log),
            Err(error) => session.give_up(&error),
        }
    } else {
        session.life.forget();
    }
    if !session.life.is_active() {
        session.health.note_crash();
    }
    session.bell.ring();
}

/// The turn of a run with this message and start. `None` if the session has no task.
pub(super) fn turn_of(
    session: &Rc<TaskSession>,
    runner: &Runner,
    message: Message,
    start: RunStart,
) -> Option<Turn> {
    let facts = session.life.facts()?;
    let context_id = message.context_id.clone();
    let deadline = start.deadline();
    let key = RunKey::of(&start);
    let RunRequest {
        caller,
        accepted_output_modes,
        metadata,
        trail,
        origin,
        allowance,
        timeout_ms,
        joins_context,
    } = start.request;
    let span =
        session.outside.timing().is_used().then(|| key.spans(start.resumes, session.object()));
    session.outside.follow(&facts.agent, *trail, span);
    Some(Turn {
        agent: facts.agent,
        task_id: session.id().clone(),
        context_id: context_id.unwrap_or_else(|| session.ports.random.new_id().into()),
        message,
        number: start.message,
        metadata,
        joins_context,
        caller,
        accepted_output_modes,
        attempt: start.attempt,
        resumes: start.resumes,
        deadline,
        timeout_ms,
        origin,
        allowance: allowance.map(|allowance| *allowance),
        run_task: session.clone(),
        run_outside: session.outside.clone(),
        outside: runner.outside.clone(),
        redaction: session.run.held.redaction(),
    })
}

/// Loads the events and steps of earlier attempts from storage, for a resumed run. Returns false if storage fails.
fn remember(session: &TaskSession) -> bool {
    match session.journal.reload(session.id()) {
        Ok(log) => {
            session.run.recall(Recall::of(&log));
            true
        }
        Err(error) => {
            session.give_up(&error);
            false
        }
    }
}

/// Runs the executor for one message until the run ends or is parked.
async fn drive(session: Rc<TaskSession>, message: Message, start: RunStart) {
    let Some(runner) = session.agents.of(&session.life) else { return };
    if start.resumes && session.run.needs_recall() && !remember(&session) {
        return;
    }
    if start.resumes || start.attempt > 1 {
        // A computation that never ends, or that exhausts the memory, ends the isolate. The attempt, or the end of the wait before it, counts also
        // if that happens in the first poll.
        session.ports.runtime.durable().await;
    }
    let (deadline, timeout_ms) = (start.deadline(), start.request.timeout_ms);
    let attempt = start.attempt;
    let Some(turn) = turn_of(&session, &runner, message, start) else { return };
    let begun = session.outside.begin_run();
    let begun = begun.map(|begun| begun.following(session.run.continued(session.object())));
    let events = Events { run_task: session.clone(), run_outside: session.outside.clone() };
    let run = runner.executor.execute(&turn, &events);
    let run = Flushing { run, session: &session, pause: None, silence: None };
    let left_ms = deadline.millis_since(session.now());
    let idle_ms = RunLimits::of(&runner, &session.limits).idle_ms;
    let bounds = Bounds { left_ms, idle_ms };
    let ending = bounded(run, &turn, &session, &bounds).await;
    usage::settle(&session);
    held::let_out(&session, LetOut::All);
    // A dropped run may have begun work at other servers that only the hook ends, so the hook is owed. After a cancel, the call
    // of the hook is recorded in `hook`.
    let knows_end = matches!(ending, Ending::Returned(_)) && !turn.is_canceled();
    if matches!(ending, Ending::Returned(Ok(())) | Ending::Parked) {
        report_other_steps(&session);
    }
    let name = ending.name(&turn);
    match ending {
        Ending::Returned(Ok(())) if session.life.replied().is_some() => {}
        Ending::Returned(Ok(())) => end(&session, RunOutcome::Finished),
        Ending::Returned(Err(error)) => {
            let reason = turn.redaction.text(&error.0).into_owned();
            end(&session, RunOutcome::Failed(reason));
        }
        // The task was canceled.
        Ending::Stopped => end(&session, RunOutcome::Finished),
        Ending::TimedOut => end(&session, RunOutcome::Failed(timed_out(timeout_ms))),
        Ending::Idle => {
            let reason = format!("the agent made no progress for {idle_ms} ms");
            end(&session, RunOutcome::Failed(reason));
        }
        Ending::Panicked => {
            session.observe(&Observation::AgentPanicked { task: session.id() });
            lose_by_panic(&session);
        }
        // The wait is stored in the log.
        Ending::Parked => {}
    }
    if knows_end {
        hook::note(&session);
    }
    // `flush` reports a failure to the observer, and waiting clients get an error.
    let _ = session.flush();
    if let Some(begun) = begun {
        span::observe_end(&session, begun, &turn.agent, attempt, name);
    }
    hook::call_if_owed(&session);
    // The turn also has to be counted if the run stored nothing at its end. The alarm repeats a failed attempt.
    if session.owes::<Sums>() {
        debts::pay::<Sums>(&session);
        session.arm();
    }
    // The end of the run may have begun another run: for a message that no run took, or as the next attempt.
    start_soon(&session);
    session.forget_credentials();
    // The platform may evict the object when this future has ended.
    if !session.debts.are_being_paid() {
        session.ports.runtime.keep_until_durable();
    }
}

/// Reports a resumed run that has begun other steps than the attempts before it.
fn report_other_steps(session: &TaskSession) {
    let Some((before, now)) = session.run.other_steps() else { return };
    let (before, now) = (&before.join(", "), &now.join(", "));
    session.observe(&Observation::StepsDiffer { task: session.id(), before, now });
}

/// The limits after which a run is ended.
struct Bounds {
    /// The time left, in milliseconds.
    left_ms: u64,
    /// The time without progress, in milliseconds; 0 for no limit.
    idle_ms: u64,
}

/// The end of a run.
enum Ending {
    /// The executor returned.
    Returned(Result<(), ExecutorError>),
    /// The task was canceled, and the time after that is over.
    Stopped,
    /// The time of the run is over.
    TimedOut,
    /// The run made no progress for too long.
    Idle,
    /// The executor panicked.
    Panicked,
    /// The run waits and was parked.
    Parked,
}

impl Ending {
    /// The word for the end of this turn's run in observations.
    fn name(&self, turn: &Turn) -> &'static str {
        match self {
            Self::Returned(_) | Self::Stopped if turn.is_canceled() => "canceled",
            Self::Returned(Ok(())) => "returned",
            Self::Returned(Err(_)) => "failed",
            Self::Stopped => "canceled",
            Self::TimedOut => "timeout",
            Self::Idle => "idle",
            Self::Panicked => "panicked",
            Self::Parked => "parked",
        }
    }
}

/// Polls a run within its limits: `TASK_GRACE_MS`, after which its task is created in any case; the time in total and without progress; and
/// the time after a cancel.
async fn bounded(run: Flushing<'_>, turn: &Turn, session: &TaskSession, bounds: &Bounds) -> Ending {
    let clock = &session.ports.clock;
    let grace_ms = session.limits.task_grace_ms.min(bounds.left_ms);
    let run = match select(run, clock.sleep(grace_ms)).await {
        Either::Left((ending, _)) => return ending,
        Either::Right(((), run)) => run,
    };
    session.create();
    if session.flush().is_err() {
        return Ending::Returned(Ok(()));
    }
    let timeout = clock.sleep(bounds.left_ms.saturating_sub(grace_ms));
    let stopped = async {
        turn.canceled().await;
        clock.sleep(CANCEL_GRACE_MS).await;
        Ending::Stopped
    };
    let timed_out = async {
        timeout.await;
        Ending::TimedOut
    };
    let idle = async {
        until_idle(session, bounds.idle_ms).await;
        Ending::Idle
    };
    // `select_all` polls in this order, so a run that has ended counts as ended even if a limit is reached at the same time.
    let endings: [LocalBoxFuture<'_, Ending>; 4] =
        [Box::pin(run), Box::pin(stopped), Box::pin(timed_out), Box::pin(idle)];
    let (ending, _, _) = select_all(endings).await;
    ending
}

/// Completes when the run has made no progress for this number of milliseconds; never for 0. A run that waits for the client is not
/// idle.
async fn until_idle(session: &TaskSession, limit_ms: u64) {
    if limit_ms == 0 {
        return pending().await;
    }
    loop {
        if session.life.is_settled() {
            session.bell.rung().await;
            session.run.note_progress(session.now());
            continue;
        }
        let left_ms = limit_ms.saturating_sub(session.run.idle_ms(session.now()));
        if left_ms == 0 {
            return;
        }
        session.ports.clock.sleep(left_ms).await;
    }
}

/// A run whose events are stored when its future is pending. Rows written are billed, so events in quick succession are delayed by a
/// moment and become one row; followers get them after they are stored.
struct Flushing<'a> {
    run: LocalBoxFuture<'a, Result<(), ExecutorError>>,
    session: &'a TaskSession,
    /// Completes when the delayed events are to be stored.
    pause: Option<LocalBoxFuture<'static, ()>>,
    /// The instant at which held-back text is released, and a timer for that instant.
    silence: Option<(UnixMillis, LocalBoxFuture<'static, ()>)>,
}

impl Future for Flushing<'_> {
    type Output = Ending;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending> {
        let run = &mut self.run;
        let polled = catch(|| run.as_mut().poll(context));
        if let Ok(Poll::Ready(result)) = polled {
            // The end is stored together with the last events.
            return Poll::Ready(Ending::Returned(result));
        }
        if polled.is_err() {
            // A future that has panicked must not be dropped ([`panic`](crate::panic)).
            mem::forget(mem::replace(run, Box::pin(pending())));
        }
        // A pending run may have sent a request to another server and wait for the answer; a panicked run may also have sent a
        // request.
        self.session.announce();
        if polled.is_ok() && self.session.run.wants_park() {
            return Poll::Ready(match parking::park(self.session) {
                Ok(()) => Ending::Parked,
                Err(_) => Ending::Returned(Ok(())),
            });
        }
        if polled.is_ok() {
            self.let_out_silent(context);
        }
        if polled.is_ok() && self.is_pausing(context) {
            return Poll::Pending;
        }
        self.pause = None;
        usage::settle_repeated(self.session);
        match (polled, self.session.flush()) {
            (Err(_), _) => Poll::Ready(Ending::Panicked),
            (Ok(_), Err(_)) => Poll::Ready(Ending::Returned(Ok(()))),
            (Ok(_), Ok(())) => Poll::Pending,
        }
    }
}

impl Flushing<'_> {
    /// Releases the held-back text of artifacts that got no text for 200 ms. The timer for the next such text polls the run
    /// again.
    fn let_out_silent(&mut self, context: &mut Context<'_>) {
        while let Some(due) = self.session.run.held.due() {
            let (_, timer) = match self.silence.take() {
                Some(known) if known.0 == due => self.silence.insert(known),
                _ => {
                    let left_ms = due.millis_since(self.session.now());
                    self.silence.insert((due, self.session.ports.clock.sleep(left_ms)))
                }
            };
            if timer.as_mut().poll(context).is_pending() {
                return;
            }
            held::let_out(self.session, LetOut::Silent(due));
        }
        self.silence = None;
    }

    /// True if the events must not be stored yet. The timer for storing polls the run again.
    fn is_pausing(&mut self, context: &mut Context<'_>) -> bool {
        let millis = self.session.postpone_ms();
        if millis == 0 {
            return false;
        }
        let pause = self.pause.get_or_insert_with(|| self.session.ports.clock.sleep(millis));
        pause.as_mut().poll(context).is_pending()
    }
}

/// The longest time for which a run may continue after its task was canceled, in milliseconds.
pub(super) const CANCEL_GRACE_MS: u64 = 5_000;
