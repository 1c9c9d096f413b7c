//! What a call and its stream share, so that the call can be answered and canceled while the stream is read.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value;

use super::session::Session;

/// Where a request stands.
#[derive(Default)]
pub(super) struct Live {
    id: Cell<u64>,
    session: RefCell<Option<Rc<Session>>>,
    is_open: Cell<bool>,
    /// Questions of a legacy server without an answer: the key of each, and the id of its request.
    questions: RefCell<Vec<(String, Value)>>,
}

impl Live {
    /// A request of this id is about to be sent, within a session if the server is a legacy one.
    pub(super) fn begins(&self, id: u64, session: Option<Rc<Session>>) {
        self.id.set(id);
        self.session.replace(session);
        self.is_open.set(true);
        self.questions.borrow_mut().clear();
    }

    /// The request is answered, or cannot be any more.
    pub(super) fn ends(&self) {
        self.is_open.set(false);
    }

    /// The session of the request.
    pub(super) fn session(&self) -> Option<Rc<Session>> {
        self.session.borrow().clone()
    }

    /// The id and the session of a request to a legacy server that is not answered yet.
    pub(super) fn unanswered(&self) -> Option<(u64, Rc<Session>)> {
        let session = self.session().filter(|_| self.is_open.get())?;
        Some((self.id.get(), session))
    }

    /// The server asks a question by a request of this id.
    pub(super) fn asks(&self, key: String, id: Value) {
        self.questions.borrow_mut().push((key, id));
    }

    /// The id of the request that asked the question of this key. Given once.
    pub(super) fn take_question(&self, key: &str) -> Option<Value> {
        let mut questions = self.questions.borrow_mut();
        let index = questions.iter().position(|(known, _)| known == key)?;
        Some(questions.remove(index).1)
    }
}
