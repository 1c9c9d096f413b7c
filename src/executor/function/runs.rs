//! The table of the runs that are open.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::run::{OpenRun, Refused, Role};
use crate::port::{FunctionEnd, Functions, RunEnd};
use a2a::sorted::SortedMap;

/// The open runs of functions, by their numbers.
pub struct Runs {
    pub(super) functions: Rc<dyn Functions>,
    /// True if callers see the text of every error.
    pub(super) is_development: bool,
    open: RefCell<SortedMap<u32, Rc<OpenRun>>>,
}

impl Runs {
    /// An empty table for these functions.
    pub(super) fn new(functions: Rc<dyn Functions>, is_development: bool) -> Self {
        Self { functions, is_development, open: RefCell::default() }
    }

    /// The open run of this number.
    ///
    /// # Errors
    ///
    /// If there is no such run: it has ended.
    pub fn find(&self, number: u32) -> Result<Rc<OpenRun>, Refused> {
        self.open.borrow().get(&number).cloned().ok_or(Refused::Over(RunEnd::Over))
    }

    /// Opens a run.
    pub(super) fn open(self: &Rc<Self>, run: OpenRun) -> Run {
        let number = self.functions.next_run();
        let run = Rc::new(run);
        self.open.borrow_mut().insert(number, run.clone());
        Run { number, run, runs: self.clone(), has_ended: false }
    }

    /// Removes a run, and then reports its end: the function may react to the report and must not find the run any more.
    fn close(&self, number: u32, end: RunEnd) {
        let closed = self.open.borrow_mut().remove(&number);
        drop(closed);
        self.functions.over(number, end);
    }
}

/// An open run, which is closed when this value is dropped.
pub(super) struct Run {
    number: u32,
    run: Rc<OpenRun>,
    runs: Rc<Runs>,
    has_ended: bool,
}

impl Run {
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Waits for the end of the function, and polls the jobs of the run meanwhile. A cancel is reported to the function, which then
    /// has the time that the task gives it.
    pub(super) async fn ended(mut self, end: FunctionEnd) -> String {
        let text = match end {
            FunctionEnd::Now(text) => text,
            FunctionEnd::Later(promise) => self.follow(promise).await,
        };
        self.has_ended = true;
        text
    }

    async fn follow(&self, mut promise: LocalBoxFuture<'static, String>) -> String {
        let Self { number, run, runs, .. } = self;
        let is_hook = matches!(run.role, Role::Hook);
        let mut canceled = (!is_hook).then(|| Box::pin(run.turn.canceled()));
        poll_fn(|context| {
            run.note_waker(context.waker());
            if canceled.as_mut().is_some_and(|canceled| canceled.poll_unpin(context).is_ready()) {
                canceled = None;
                runs.functions.over(*number, RunEnd::Canceled);
            }
            run.jobs.poll(context);
            match promise.poll_unpin(context) {
                Poll::Ready(text) => Poll::Ready(text),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// The reason why the run ends now.
    fn end(&self) -> RunEnd {
        if self.run.is_parked.get() {
            RunEnd::Parked
        } else if self.has_ended || self.run.turn.is_canceled() {
            RunEnd::Over
        } else {
            RunEnd::TimedOut
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.runs.close(self.number, self.end());
    }
}
