//! A run of an executor: polls it, stores what it says whenever it waits, bounds it in time, and
//! keeps its panics to itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::{Either, LocalBoxFuture, select};

use super::TaskSession;
use crate::executor::{AgentExecutor, Events, ExecutorError, Turn, TurnHost};
use crate::port::Observation;
use crate::task::{RunOutcome, RunRequest, RunStart, timed_out};
use a2a::model::{ContextId, Message, UnixMillis};

/// Runs the executor for one message, to its end.
pub(super) async fn drive(session: Rc<TaskSession>, message: Message, start: RunStart) {
    let Some(runner) = session.runner() else { return };
    let Some(facts) = session.facts() else { return };
    let host: Rc<dyn TurnHost> = session.clone();
    let context_id = message.context_id.clone();
    let deadline = start.deadline();
    let RunRequest { caller, accepted_output_modes, metadata, timeout_ms } = start.request;
    let turn = Turn {
        agent: facts.agent,
        task_id: session.id().clone(),
        context_id: context_id.unwrap_or_else(|| ContextId::new(session.new_id())),
        message,
        number: start.message,
        metadata,
        caller,
        accepted_output_modes,
        attempt: start.attempt,
        resumes: start.resumes,
        host: host.clone(),
    };
    let events = Events { host };
    let run =
        Flushing { run: runner.executor.execute(&turn, &events), session: &session, pause: None };
    let idle_ms = runner.settings.idle_timeout_ms.unwrap_or(session.limits().idle_timeout_ms);
    let bounds = Bounds { deadline, idle_ms };
    match bounded(run, runner.executor.as_ref(), &turn, &session, &bounds).await {
        Ending::Returned(Ok(())) if session.reply().is_some() => {}
        Ending::Returned(Ok(())) => session.end_run(RunOutcome::Finished),
        Ending::Returned(Err(error)) => session.end_run(RunOutcome::Failed(error.0)),
        Ending::TimedOut => {
            session.end_run(RunOutcome::Failed(timed_out(timeout_ms)));
        }
        Ending::Idle => {
            let reason = format!("the agent made no progress for {idle_ms} ms");
            session.end_run(RunOutcome::Failed(reason));
        }
        Ending::Panicked => {
            session.observe(&Observation::AgentPanicked { task: session.id() });
            session.note_crash();
        }
    }
    // A failure was logged by `flush`, and whoever waits gets an error.
    let _ = session.flush();
    // The platform may let go of the object as soon as this is over.
    session.ports().runtime.sync().await;
}

/// When a run is given up.
struct Bounds {
    /// At this instant.
    deadline: UnixMillis,
    /// When it has done nothing for this long, in milliseconds; 0 for never.
    idle_ms: u64,
}

/// How a run came to its end.
enum Ending {
    Returned(Result<(), ExecutorError>),
    TimedOut,
    Idle,
    Panicked,
}

/// Polls a run within its bounds: the grace after which its task exists in any case, the time it may
/// take at all and without a sign of life, and the time it is given after a cancel.
async fn bounded(
    run: Flushing<'_>,
    executor: &dyn AgentExecutor,
    turn: &Turn,
    session: &TaskSession,
    bounds: &Bounds,
) -> Ending {
    let left = bounds.deadline.0.saturating_sub(session.now().0);
    let left = u64::try_from(left).unwrap_or(0);
    let grace = session.limits().task_grace_ms.min(left);
    let run = match select(run, session.sleep(grace)).await {
        Either::Left((ending, _)) => return ending,
        Either::Right(((), run)) => run,
    };
    session.create();
    if session.flush().is_err() {
        return Ending::Returned(Ok(()));
    }
    let timeout = session.sleep(left.saturating_sub(grace));
    let idle = Box::pin(async {
        match bounds.idle_ms {
            0 => std::future::pending().await,
            limit => session.idle_for(limit).await,
        }
    });
    let stopped = Box::pin(async {
        turn.canceled().await;
        executor.cancel(turn).await;
        session.sleep(CANCEL_GRACE_MS).await;
    });
    match select(run, select(stopped, select(timeout, idle))).await {
        Either::Left((ending, _)) => ending,
        Either::Right((Either::Left(_), _)) => Ending::Returned(Ok(())),
        Either::Right((Either::Right((Either::Left(_), _)), _)) => Ending::TimedOut,
        Either::Right((Either::Right((Either::Right(_), _)), _)) => Ending::Idle,
    }
}

/// A run that stores what the executor said when it waits. Rows are what is paid for, so what is said
/// in quick succession is put off for a moment and becomes one row; nobody sees it before.
struct Flushing<'a> {
    run: LocalBoxFuture<'a, Result<(), ExecutorError>>,
    session: &'a TaskSession,
    /// Until what was said is stored.
    pause: Option<LocalBoxFuture<'static, ()>>,
}

impl Future for Flushing<'_> {
    type Output = Ending;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending> {
        let run = &mut self.run;
        let polled = catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(context)));
        if let Ok(Poll::Pending) = polled
            && self.is_pausing(context)
        {
            return Poll::Pending;
        }
        self.pause = None;
        let stored = self.session.flush();
        match polled {
            Err(_) => Poll::Ready(Ending::Panicked),
            Ok(Poll::Ready(result)) => Poll::Ready(Ending::Returned(result)),
            Ok(Poll::Pending) if stored.is_err() => Poll::Ready(Ending::Returned(Ok(()))),
            Ok(Poll::Pending) => Poll::Pending,
        }
    }
}

impl Flushing<'_> {
    /// Whether storing is put off; the task is polled again when it is time.
    fn is_pausing(&mut self, context: &mut Context<'_>) -> bool {
        let millis = self.session.pause_before_storing();
        if millis == 0 {
            return false;
        }
        let pause = self.pause.get_or_insert_with(|| self.session.sleep(millis));
        pause.as_mut().poll(context).is_pending()
    }
}

/// How long a run may go on after its task was canceled, in milliseconds.
const CANCEL_GRACE_MS: u64 = 5_000;
