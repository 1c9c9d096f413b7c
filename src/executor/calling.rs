//! Calls to other agents from a run.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{Turn, TurnHost};
use crate::port::{Clock, Http, HttpAnswer, HttpError, HttpRequest, Random};
use a2a::client::{Client, Ports, Settings};
use a2a::model::UnixMillis;

impl Turn {
    /// A client of another agent, whose requests belong to this run: they carry its trace.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step).
    pub fn client(&self, settings: Settings) -> Client {
        Client::new(settings, self.ports())
    }

    /// What a client gets of this run.
    fn ports(&self) -> Ports {
        let run = Rc::new(Run(Rc::clone(&self.host)));
        Ports { http: run.clone(), clock: run.clone(), random: run }
    }
}

/// A run as the machine of its clients.
struct Run(Rc<dyn TurnHost>);

impl Http for Run {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        self.0.http().send(request)
    }
}

impl Clock for Run {
    fn now(&self) -> UnixMillis {
        self.0.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.0.sleep(millis)
    }
}

impl Random for Run {
    fn new_id(&self) -> String {
        self.0.random().new_id()
    }

    fn secret_bytes(&self) -> [u8; 32] {
        self.0.random().secret_bytes()
    }

    fn chance(&self) -> f64 {
        self.0.random().chance()
    }
}
