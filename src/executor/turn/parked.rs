//! Waits of a run outside of memory: until an instant, for a message, or for a body that is posted to a callback.

use std::future::pending;

use super::{
    Callback, CallbackTerms, Called, LONGEST_WAIT_MS, MAX_CALLBACK_USES, RunTask, Turn, Wait,
    WaitStart, Woken,
};
use crate::executor::ExecutorError;
use crate::task::WokenBy;

impl Turn {
    /// Parks the run until an instant or a message: for seconds, days or years. While the run is parked, it is not in memory and
    /// only its storage is billed. The state of its task does not change; the task can be read, followed and canceled, and no
    /// timeout runs.
    ///
    /// After the wait the run is *resumed*, as after a crash: `execute` runs again from its start. Each [`step`](Self::step)
    /// returns its stored result, events are not emitted twice, finished waits return at once with the reason of their end, and
    /// messages are returned again in their order. So the values of the run's variables must come from the turn and from steps. A
    /// resumption is not a further [attempt](Self::attempt). Parking needs [`Recovery::Resume`](crate::task::Recovery::Resume),
    /// and an executor that parks must return true from [`parks`](crate::executor::AgentExecutor::parks).
    ///
    /// A message that arrives during a wait without `or_message` is returned by [`next_message`](Self::next_message) when the run
    /// continues; a message that no run takes begins its own turn. Everything else that the run does at the same time is dropped
    /// when the run is parked, so do not race a wait against another future: use `or_message`, or
    /// [`wait_callback`](Self::wait_callback). A cancel ends the task at once, and calls
    /// [`cancel`](crate::executor::AgentExecutor::cancel).
    ///
    /// A blocking send is answered with the task as soon as its run is parked for longer than the send may wait. For
    /// short waits in memory use [`sleep`](Self::sleep) or [`pause`](Self::pause).
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
    /// If the agent's runs are not resumed; if the wait is longer than [`LONGEST_WAIT_MS`], or the run is already waiting;
    /// if the run has more than `MAX_STEPS` waits and steps, or the task is full; if the task has ended.
    pub async fn wait_until(&self, wait: Wait) -> Result<Woken, ExecutorError> {
        match self.run_task.begin_wait(wait, None)? {
            WaitStart::Over(WokenBy::Time) => Ok(Woken::Time),
            WaitStart::Over(WokenBy::Message) => Ok(Woken::Message),
            WaitStart::Over(WokenBy::Callback) => {
                let reason = "the agent was resumed and does not wait for the callback that it waited for before";
                Err(ExecutorError(reason.to_owned()))
            }
            WaitStart::Parks => {
                // Once the run is parked, this future is not polled any more. If it is dropped before that, the wait is
                // canceled.
                let _given_up = GivenUp(self.run_task.as_ref());
                pending().await
            }
        }
    }
}

impl Turn {
    /// Makes a URL that accepts one body within 30 days: see [`Callback`]. A run that resumes gets the same URL. A
    /// callback is identified by its name and its number among the run's callbacks with this name.
    ///
    /// An agent that orders something and waits until the shop reports the payment:
    ///
    /// ```
    /// use a2a_edge::prelude::*;
    /// use a2a_edge::testing::TestAgent;
    ///
    /// struct Orders;
    ///
    /// #[async_trait(?Send)]
    /// impl AgentExecutor for Orders {
    ///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///         let paid = turn.callback("paid")?;
    ///         turn.step("order", async || {
    ///             let order = HttpRequest::new("POST", "https://shop.example/orders");
    ///             turn.fetch(order.with_body(paid.url())).await.map(|_| ())
    ///         })
    ///         .await?;
    ///         events.working(Some("ordered; waiting for the payment"))?;
    ///         match turn.wait_callback(&paid, Wait::for_millis(7 * 86_400_000)).await? {
    ///             Called::Body(body) => events.complete(body.as_text()),
    ///             Called::Time | Called::Message => events.fail("nobody has paid within a week"),
    ///         }
    ///     }
    ///
    ///     fn parks(&self) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let agent = TestAgent::new(Orders);
    /// let ordered = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
    /// let url_of_order = ordered.clone();
    /// agent.http().answer_with(move |_, body| {
    ///     url_of_order.replace(body.to_owned());
    ///     Ok(http::memory::ok(""))
    /// });
    /// agent.send("a chair").unwrap();
    /// let url = ordered.borrow().clone();
    /// agent.pass(86_400_000);
    /// agent.crash().unwrap();
    /// assert!(agent.call_back(&url, Part::text("49 EUR")));
    /// agent.run();
    /// assert_eq!(agent.task().unwrap().status.message.unwrap().text(), "49 EUR");
    /// assert!(!agent.call_back(&url, Part::text("again")), "it is used up");
    /// ```
    ///
    /// # Errors
    ///
    /// If the agent's runs are not resumed; if a run has more than 100 callbacks, or the task is full; if the origin of
    /// the server is not known, because a former version has begun the task and `PUBLIC_URL` is not set; if the task
    /// has ended.
    pub fn callback(&self, name: &str) -> Result<Callback, ExecutorError> {
        self.callback_with(name, CallbackTerms::ONCE)
    }

    /// Like [`callback`](Self::callback), with other terms.
    ///
    /// # Errors
    ///
    /// The errors of [`callback`](Self::callback), and for terms out of their range.
    pub fn callback_with(
        &self,
        name: &str,
        terms: CallbackTerms,
    ) -> Result<Callback, ExecutorError> {
        let CallbackTerms { uses, lifetime_ms } = terms;
        if !(1..=MAX_CALLBACK_USES).contains(&uses) {
            let reason = format!("a callback is used 1 to {MAX_CALLBACK_USES} times, got {uses}");
            return Err(ExecutorError(reason));
        }
        if !(1..=LONGEST_WAIT_MS).contains(&lifetime_ms) {
            let reason = format!("a callback lives 1 to {LONGEST_WAIT_MS} ms, got {lifetime_ms}");
            return Err(ExecutorError(reason));
        }
        self.run_task.make_callback(name, terms)
    }

    /// Parks the run, like [`wait_until`](Self::wait_until), until a body is posted to the callback, or the wait is
    /// over. A body that arrived before is returned at once. If the callback can be used several times, each wait
    /// returns the next body, in the order of arrival.
    ///
    /// # Errors
    ///
    /// The errors of [`wait_until`](Self::wait_until).
    pub async fn wait_callback(
        &self,
        callback: &Callback,
        wait: Wait,
    ) -> Result<Called, ExecutorError> {
        match self.run_task.begin_wait(wait, Some(&callback.name))? {
            WaitStart::Over(WokenBy::Time) => Ok(Called::Time),
            WaitStart::Over(WokenBy::Message) => Ok(Called::Message),
            WaitStart::Over(WokenBy::Callback) => {
                self.run_task.take_call(&callback.name).map(Called::Body)
            }
            WaitStart::Parks => {
                let _given_up = GivenUp(self.run_task.as_ref());
                pending().await
            }
        }
    }
}

/// Cancels the wait of the task when it is dropped.
struct GivenUp<'a>(&'a dyn RunTask);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.give_up_wait();
    }
}
