//! The table of the runs that are open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::run::{OpenRun, Refused, Run};
use crate::port::{Functions, RunEnd};

/// The open runs of functions, by their numbers.
pub struct Runs {
    pub(super) functions: Rc<dyn Functions>,
    /// True if callers see the text of every error.
    pub(super) is_development: bool,
    open: RefCell<BTreeMap<u32, Rc<OpenRun>>>,
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
        Run::new(number, run, self.clone())
    }

    /// Removes a run, and then reports its end: the function may react to the report and must not find the run any more.
    pub(super) fn close(&self, number: u32, end: RunEnd) {
        let closed = self.open.borrow_mut().remove(&number);
        drop(closed);
        self.functions.over(number, end);
    }
}
