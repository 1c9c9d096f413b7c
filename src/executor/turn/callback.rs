//! URLs that a run gives to others, and waits for what they post there.

use std::future::pending;

use super::wait::GivenUp;
use super::{LONGEST_WAIT_MS, Turn, Wait, WaitStart};
use crate::executor::ExecutorError;
use crate::task::{CallbackName, WokenBy};
use a2a::model::{Part, UnixMillis};

/// A URL that a run gives to somebody else, who posts to it when there is something to tell:
/// `POST <origin>/<agent>/callbacks/<token>`, with a body of up to 1 MiB.
///
/// Who knows the URL may post to it: it holds 256 random bits and asks for nothing else, so it is given only to who is to
/// use it. It is the same in a run that resumes, survives restarts and deploys, and is over with its turn: then, used
/// up, or expired, it is 404 like one that never was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub(crate) name: CallbackName,
    pub(crate) url: String,
    pub(crate) expires: UnixMillis,
}

impl Callback {
    /// The URL to post to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Until when it takes bodies.
    pub fn expires(&self) -> UnixMillis {
        self.expires
    }
}

/// How often and how long a callback can be used.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// let _terms = CallbackTerms::times(3).for_millis(86_400_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackTerms {
    pub(crate) uses: u32,
    pub(crate) lifetime_ms: u64,
}

impl CallbackTerms {
    /// Once, within 30 days.
    pub const ONCE: Self = Self::times(1);

    /// This often, 1 to [`MAX_CALLBACK_USES`] times, within 30 days.
    pub const fn times(uses: u32) -> Self {
        Self { uses, lifetime_ms: 30 * 86_400_000 }
    }

    /// Within this many milliseconds from when the callback is made, at most [`LONGEST_WAIT_MS`].
    #[must_use]
    pub const fn for_millis(self, lifetime_ms: u64) -> Self {
        Self { lifetime_ms, ..self }
    }
}

/// What has ended a wait for a callback.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// Somebody has posted this: JSON as data, other text as text, anything else as bytes, with the media type that the
    /// sender named. What calls itself JSON and cannot be read as such (by the limits for bodies) is text.
    Body(Part),
    /// The time is over.
    Time,
    /// The client has sent a message; [`Turn::next_message`] gives it at once.
    Message,
}

impl Called {
    /// The body, if somebody has posted one.
    pub fn body(self) -> Option<Part> {
        match self {
            Self::Body(body) => Some(body),
            Self::Time | Self::Message => None,
        }
    }
}

impl Turn {
    /// Makes a URL that takes one body within 30 days: see [`Callback`]. A run that resumes gets the same one. Of several
    /// with one name in a run, the first is the first again.
    ///
    /// An agent that orders something and waits for the shop to say that it was paid:
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

    /// As [`callback`](Self::callback), on other terms.
    ///
    /// # Errors
    ///
    /// As [`callback`](Self::callback), and for terms out of their range.
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

    /// Parks the run, as [`wait_until`](Self::wait_until) does, until somebody posts to the callback, or the wait is
    /// over. A body that came before is given at once; of a callback that is used several times each wait gives the next
    /// body, in the order in which they came.
    ///
    /// # Errors
    ///
    /// As [`wait_until`](Self::wait_until).
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

/// How often a callback can be used at most.
pub const MAX_CALLBACK_USES: u32 = 1_000;
