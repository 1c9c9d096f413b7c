//! Waiting for longer than a run may stay in memory.

use std::future::pending;

use super::{RunTask, Turn};
use crate::executor::ExecutorError;
use crate::task::{Unanswered, WokenBy};
use a2a::model::UnixMillis;

/// What a run waits for: an instant, and a message of the client before that if wanted.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// let day = 86_400_000;
/// let _three_days = Wait::for_millis(3 * day);
/// let _answer = Wait::for_millis(day).or_message();
/// let _new_year = Wait::until(UnixMillis(1_798_761_600_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    end: End,
    or_message: bool,
    unanswered: Option<Unanswered>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    At(UnixMillis),
    After(u64),
}

impl Wait {
    /// Until this instant, at most [`LONGEST_WAIT_MS`] away. One that is past is over at once.
    pub const fn until(instant: UnixMillis) -> Self {
        Self { end: End::At(instant), or_message: false, unanswered: None }
    }

    /// For this many milliseconds, at most [`LONGEST_WAIT_MS`]. The instant is fixed when the run begins to wait: a run
    /// that was interrupted meanwhile waits for what is left.
    pub const fn for_millis(millis: u64) -> Self {
        Self { end: End::After(millis), or_message: false, unanswered: None }
    }

    /// The same, or until the client sends a message, whichever comes first.
    #[must_use]
    pub const fn or_message(self) -> Self {
        Self { or_message: true, ..self }
    }

    /// The same, because nobody has answered the requests of the run. One that goes on is told by
    /// [`RunTask::unanswered`].
    pub(crate) const fn unanswered_so_far(self, unanswered: Unanswered) -> Self {
        Self { unanswered: Some(unanswered), ..self }
    }

    /// The requests for whose sake the run waits.
    pub(crate) fn unanswered(self) -> Option<Unanswered> {
        self.unanswered
    }

    /// The instant, if the wait begins now.
    pub(crate) fn end(self, now: UnixMillis) -> UnixMillis {
        match self.end {
            End::At(instant) => instant,
            End::After(millis) => now.after(millis),
        }
    }

    /// Whether a message ends it.
    pub(crate) fn ends_by_message(self) -> bool {
        self.or_message
    }
}

/// What has ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Its instant has come.
    Time,
    /// The client has sent a message; [`Turn::next_message`] gives it at once.
    Message,
}

impl Turn {
    /// Parks the run until an instant, or a message: for seconds, days or years. While it is parked nothing of it is in
    /// memory, nothing rings, and nothing is billed but what is stored; its task stays as it is, can be asked for, followed and
    /// canceled, and no timeout counts.
    ///
    /// Then the run is *resumed*, as after a crash: `execute` runs again from its start. Each [`step`](Self::step)
    /// gives what it gave, what was said is not said again, waits that are over give what ended them, and messages are given
    /// again in their order. So what the run has in variables must come from the turn and from steps. This is no
    /// further [attempt](Self::attempt). It needs [`Recovery::Resume`](crate::task::Recovery::Resume), and an executor
    /// that parks says so by [`parks`](super::AgentExecutor::parks).
    ///
    /// A message that comes without `or_message` lies ready for [`next_message`](Self::next_message) when the run goes on; one that no
    /// run takes begins a turn of its own. Whatever else the run does at the same time is dropped with it, so a wait
    /// is not to be raced against something else: use `or_message`, or [`wait_callback`](Self::wait_callback). A cancel
    /// ends the task at once, and calls [`cancel`](super::AgentExecutor::cancel).
    ///
    /// A blocking send is answered with the task as soon as its run is parked for longer than the send may wait.
    /// What is short may stay in memory: [`sleep`](Self::sleep), [`pause`](Self::pause).
    ///
    /// A reminder, tested in simulated time:
    ///
    /// ```
    /// use a2a_edge::prelude::*;
    /// use a2a_edge::testing::TestAgent;
    ///
    /// struct Reminder;
    ///
    /// const DAY_MS: u64 = 86_400_000;
    ///
    /// #[async_trait(?Send)]
    /// impl AgentExecutor for Reminder {
    ///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///         events.working(Some("I will remind you in three days; say something to stop me"))?;
    ///         match turn.wait_until(Wait::for_millis(3 * DAY_MS).or_message()).await? {
    ///             Woken::Time => events.complete(Some(&format!("Remember: {}", turn.message.text()))),
    ///             Woken::Message => events.complete(Some("stopped")),
    ///         }
    ///     }
    ///
    ///     fn parks(&self) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let agent = TestAgent::new(Reminder);
    /// agent.send("water the plants").unwrap();
    /// assert_eq!(agent.task().unwrap().status.state, TaskState::Working);
    /// agent.run();
    /// assert_eq!(agent.now().0, 3 * DAY_MS as i64);
    /// assert_eq!(agent.task().unwrap().status.message.unwrap().text(), "Remember: water the plants");
    ///
    /// let agent = TestAgent::new(Reminder);
    /// agent.send("water the plants").unwrap();
    /// agent.pass(2 * DAY_MS);
    /// agent.crash().unwrap();
    /// agent.send("never mind").unwrap();
    /// assert_eq!(agent.task().unwrap().status.message.unwrap().text(), "stopped");
    /// ```
    ///
    /// # Errors
    ///
    /// If the agent's runs are not resumed; if the wait is longer than [`LONGEST_WAIT_MS`], or the run waits already; if it
    /// has more than `MAX_STEPS` waits and steps, or the task is full; if the task has ended.
    pub async fn wait_until(&self, wait: Wait) -> Result<Woken, ExecutorError> {
        match self.run_task.begin_wait(wait, None)? {
            WaitStart::Over(WokenBy::Time) => Ok(Woken::Time),
            WaitStart::Over(WokenBy::Message) => Ok(Woken::Message),
            WaitStart::Over(WokenBy::Callback) => {
                let reason = "the agent was resumed and does not wait for the callback that it waited for before";
                Err(ExecutorError(reason.to_owned()))
            }
            WaitStart::Parks => {
                // Nobody polls this any more once the run is parked. A wait that is given up before is none.
                let _given_up = GivenUp(self.run_task.as_ref());
                pending().await
            }
        }
    }
}

/// What a wait begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStart {
    /// It is over, by this.
    Over(WokenBy),
    /// The run is parked as soon as it does nothing else.
    Parks,
}

/// Tells the host when a wait is dropped.
pub(super) struct GivenUp<'a>(pub(super) &'a dyn RunTask);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.give_up_wait();
    }
}

/// The longest wait: ten years, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 3_653 * 86_400_000;
