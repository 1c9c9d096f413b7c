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
use crate::model::{ContextId, Message};
use crate::task::RunOutcome;

/// Runs the executor for one message, to its end.
pub(super) async fn drive(session: Rc<TaskSession>, message: Message) {
    let Some((sender, metadata)) = session.run_context() else { return };
    let host: Rc<dyn TurnHost> = session.clone();
    let context_id = message.context_id.clone();
    let turn = Turn {
        agent: sender.agent,
        task_id: session.id().clone(),
        context_id: context_id.unwrap_or_else(|| ContextId::new(session.new_id())),
        message,
        metadata,
        caller: sender.caller,
        accepted_output_modes: sender.accepted_output_modes,
        attempt: 1,
        host: host.clone(),
    };
    let events = Events { host };
    let executor = sender.executor.as_ref();
    let run = Flushing { run: executor.execute(&turn, &events), session: &session };
    match bounded(run, executor, &turn, &session).await {
        Ending::Returned(Ok(())) if session.reply().is_some() => {}
        Ending::Returned(Ok(())) => session.end_run(RunOutcome::Finished),
        Ending::Returned(Err(error)) => session.end_run(RunOutcome::Failed(error.0)),
        Ending::TimedOut => {
            let limit = session.limits().run_timeout_ms;
            session.end_run(RunOutcome::Failed(format!("task timed out after {limit} ms")));
        }
        Ending::Panicked => {
            session.platform().log_error(&format!("task {}: the agent panicked", session.id()));
            session.note_crash();
            session.end_run(RunOutcome::Failed("internal error: the agent crashed".to_owned()));
        }
    }
    // A failure was logged by `flush`, and whoever waits gets an error.
    let _ = session.flush();
    // The platform may let go of the object as soon as this is over.
    session.platform().sync().await;
}

/// How a run came to its end.
enum Ending {
    Returned(Result<(), ExecutorError>),
    TimedOut,
    Panicked,
}

/// Polls a run within its bounds: the grace after which its task exists in any case, the time it may
/// take at all, and the time it is given after a cancel.
async fn bounded(
    run: Flushing<'_>,
    executor: &dyn AgentExecutor,
    turn: &Turn,
    session: &TaskSession,
) -> Ending {
    let limits = session.limits();
    let run = match select(run, session.sleep(limits.task_grace_ms)).await {
        Either::Left((ending, _)) => return ending,
        Either::Right(((), run)) => run,
    };
    session.create();
    if session.flush().is_err() {
        return Ending::Returned(Ok(()));
    }
    let timeout = session.sleep(limits.run_timeout_ms.saturating_sub(limits.task_grace_ms));
    let stopped = Box::pin(async {
        turn.canceled().await;
        executor.cancel(turn).await;
        session.sleep(CANCEL_GRACE_MS).await;
    });
    match select(run, select(timeout, stopped)).await {
        Either::Left((ending, _)) => ending,
        Either::Right((Either::Left(_), _)) => Ending::TimedOut,
        Either::Right((Either::Right(_), _)) => Ending::Returned(Ok(())),
    }
}

/// A run that stores what the executor said each time it waits, before anybody else can run.
struct Flushing<'a> {
    run: LocalBoxFuture<'a, Result<(), ExecutorError>>,
    session: &'a TaskSession,
}

impl Future for Flushing<'_> {
    type Output = Ending;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending> {
        let run = &mut self.run;
        let polled = catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(context)));
        let stored = self.session.flush();
        match polled {
            Err(_) => Poll::Ready(Ending::Panicked),
            Ok(Poll::Ready(result)) => Poll::Ready(Ending::Returned(result)),
            Ok(Poll::Pending) if stored.is_err() => Poll::Ready(Ending::Returned(Ok(()))),
            Ok(Poll::Pending) => Poll::Pending,
        }
    }
}

/// How long a run may go on after its task was canceled, in milliseconds.
const CANCEL_GRACE_MS: u64 = 5_000;
