//! Calls to other agents from a run.
//!
//! # A call to another agent
//!
//! ```text
//!  turn.remote("weather")    remotes/            its table, secrets filled in and noted for redaction
//!    Client (crates/a2a)     executor/calling.rs bounds of the run, depth + 1, trace
//!      elsewhere: edge/service/cards.rs (card: memory, D1, its server) -> session/run/connections.rs (four at a time) -> edge/service/outbound.rs
//!      here:      edge/peers.rs -> edge/front/inside.rs -> exchange, admission, quota -> the object of its task
//! ```
//!
//! An agent of the same Worker is called by the same client, whose requests are answered in the isolate of the run: `answer_inside` gives the request to the code of the front Worker, which decides about it as
//! about any other and asks the object of the task. Nothing goes over HTTP, and streams come through `js/stream.js` as bytes that the client reads. Who calls is not read from the request: the caller of the
//! task is a member of `Front` that only `inside.rs` sets, and headers with credentials are left out. `Policy::vouch` lets the caller in if it could call that agent itself with the scheme that it has shown, and both agents know it
//! by that scheme alike, so an agent gives nobody rights that it lacks. Two objects never wait for each other: what is asked is another task, and a task that is asked while its run waits takes the message.
//!
//! Circles end by depth: a message says in its metadata how many agents have called each other before it (`urn:a2a-edge:depth`), a client of a run says one more and refuses to send beyond `MAX_DEPTH`, admission refuses
//! what comes from deeper. The message is stored, so a run that resumes knows its depth.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{ExecutorError, RunOutside, Turn};
use crate::port::{Clock, Http, HttpAnswer, HttpError, HttpRequest, Random};
use crate::remotes::Found;
use a2a::client::{Client, Ports, Settings, depth_of};
use a2a::model::{Secret, UnixMillis};

impl Turn {
    /// A client of the agent of this name: one of `remotes.toml`, else one of this Worker. Its secrets and variables are read
    /// now, and kept out of what the run says; requests belong to the trace of the run. What the client waits for ends
    /// a little before the run has to, so that the other agent's task is still canceled. Its messages say how deep agents
    /// have called each other.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step).
    ///
    /// ```
    /// use a2a::client::{Outcome, create_message};
    /// use a2a_edge::prelude::*;
    ///
    /// async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///     let weather = turn.remote("weather")?;
    ///     let question = create_message("Will it rain?", weather.ports());
    ///     let observed = weather.send_and_observe(question, || turn.is_canceled()).await;
    ///     match observed.outcome {
    ///         Outcome::Completed => events.complete(Some(&observed.text)),
    ///         _ => events.fail(&observed.text),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no agent of this name, or a secret or a variable that it needs is not set or does not fit. The text
    /// names it.
    pub fn remote(&self, name: &str) -> Result<Client, ExecutorError> {
        let bound = |settings| self.bounded(settings);
        let redaction = Rc::clone(&self.redaction);
        let learn = Rc::new(move |token: &Secret| redaction.note("access token", token));
        let found = self.outside.remotes.client(name, self, self.ports(), &bound, learn);
        Ok(match found.map_err(ExecutorError)? {
            Found::Here { slug, settings } => self.hosted(&slug, settings),
            Found::Elsewhere(client) => self.run_outside.equip(client),
        })
    }

    /// A client of the agent at a URL that somebody else has chosen, such as the caller: it calls nothing that a webhook may
    /// not call ([guarded](HttpRequest::guarded)), and has no credentials.
    pub fn remote_at(&self, url: &str) -> Client {
        self.client(Settings { is_guarded: true, ..Settings::new(url) })
    }

    /// A client of another agent, whose requests belong to this run: they carry its trace, and its messages the
    /// [depth](Self::depth). The times of the settings are bounded by that of the run.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step).
    pub fn client(&self, settings: Settings) -> Client {
        self.run_outside.equip(Client::new(self.bounded(settings), self.ports()))
    }

    /// A client with bounded settings of an agent of this Worker, which is asked for the caller of this turn and without HTTP.
    pub(super) fn hosted(&self, slug: &str, settings: Settings) -> Client {
        let origin = self.origin.as_deref().unwrap_or(NO_ORIGIN);
        let settings = Settings { url: format!("{origin}/{slug}"), ..settings };
        let http = self.run_outside.hosted(&self.agent, &self.caller);
        Client::new(settings, Ports { http, ..self.ports() })
    }

    /// The settings within the bounds of the run.
    fn bounded(&self, settings: Settings) -> Settings {
        let left_ms = self.time_left_ms();
        let observed_ms = left_ms.saturating_sub(CLOSING_MS.min(left_ms / 2)).max(1);
        Settings {
            timeout_ms: settings.timeout_ms.min(observed_ms),
            request_timeout_ms: settings.request_timeout_ms.min(left_ms.max(1)),
            depth: settings.depth.max(self.depth().saturating_add(1)),
            max_depth: self.run_outside.max_depth(),
            ..settings
        }
    }

    /// How many agents have called each other before the message of this turn. The server refuses a message that is
    /// deeper than `MAX_DEPTH`.
    pub fn depth(&self) -> u32 {
        depth_of(&self.message)
    }

    /// What a client gets of this run.
    pub(super) fn ports(&self) -> Ports {
        let run = Rc::new(Run(Rc::clone(&self.run_outside)));
        Ports { http: run.clone(), clock: run.clone(), random: run }
    }
}

/// What stands for the origin of this Worker in URLs that never leave it, where it is not known.
const NO_ORIGIN: &str = "https://worker.internal";

/// The time that is kept at the end of a run to cancel the tasks of other agents, in milliseconds.
pub(super) const CLOSING_MS: u64 = 2_000;

/// For how long it is tried to cancel the tasks of other agents, in milliseconds.
pub(super) const CANCEL_MS: u64 = 10_000;

/// A run as the machine of its clients.
struct Run(Rc<dyn RunOutside>);

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
