//! The state that a call shares with its stream, so that the call can be answered and canceled while the
//! stream is read.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value;

use super::session::Session;

/// The state of a request.
#[derive(Default)]
pub(super) struct Live {
    id: Cell<u64>,
    session: RefCell<Option<Rc<Session>>>,
    is_open: Cell<bool>,
    /// The unanswered questions of a legacy server: the key of each, and the id of its request.
    questions: RefCell<Vec<(String, Value)>>,
}

impl Live {
    /// Called before a request with this id is sent, within a session if the server is legacy.
    pub(super) fn begins(&self, id: u64, session: Option<Rc<Session>>) {
        self.id.set(id);
        self.session.replace(session);
        self.is_open.set(true);
        self.questions.borrow_mut().clear();
    }

    /// Called when the request is answered, or cannot be answered any more.
    pub(super) fn ends(&self) {
        self.is_open.set(false);
    }

    /// The session of the request.
    pub(super) fn session(&self) -> Option<Rc<Session>> {
        self.session.borrow().clone()
    }

    /// The id and the session of an unanswered request to a legacy server.
    pub(super) fn unanswered(&self) -> Option<(u64, Rc<Session>)> {
        let session = self.session().filter(|_| self.is_open.get())?;
        Some((self.id.get(), session))
    }

    /// Records a question that the server asks by a request with this id.
    pub(super) fn asks(&self, key: String, id: Value) {
        self.questions.borrow_mut().push((key, id));
    }

    /// Removes the question with this key, and returns the id of its request.
    pub(super) fn take_question(&self, key: &str) -> Option<Value> {
        let mut questions = self.questions.borrow_mut();
        let index = questions.iter().position(|(known, _)| known == key)?;
        Some(questions.remove(index).1)
    }
}
