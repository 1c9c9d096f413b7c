//! Calls to other agents from a run.
//!
//! # A call to another agent
//!
//! ```text
//!  turn.remote("weather")    remotes/            its table, secrets filled in and noted for redaction
//!    Client (crates/a2a)     executor/calling.rs bounds of the run, depth + 1, trace
//!      elsewhere: edge/service/cards.rs (card: memory, D1, its server) -> session/run/connections.rs (four at a time) -> edge/service/outbound.rs
//!      here:      edge/peers.rs -> edge/front/inside.rs -> front/decide.rs -> the object of its task
//! ```
//!
//! An agent of the same Worker is called by the same client. Its requests are answered in the isolate of the run: `answer_inside` passes the request
//! to the code of the front Worker, which admits or refuses it like any other and forwards it to the object of the task. No request is sent over the
//! network; the client reads streams as bytes from `js/stream.js`. The caller is not read from the request: the member `caller` of `Front`, which
//! only `inside.rs` sets, names the caller of the task, and headers with credentials are left out. `Policy::vouch` admits the caller if the caller
//! could call that agent itself with the scheme of its credentials, and if both agents define this scheme alike. So a call through an agent gives
//! the caller no additional rights. Two objects never wait for each other: each call is a separate task, and a task that receives a message while
//! its run waits accepts the message.
//!
//! The depth of calls is limited, so agents that call each other in a circle stop. The metadata of a message contains the number of agent-to-agent
//! calls before it (`urn:a2a-edge:depth`); the client of a run adds one and does not send beyond `MAX_DEPTH`, and admission refuses deeper messages.
//! The message is stored, so a run that resumes has its depth.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{ExecutorError, RunOutside, Turn};
use crate::port::{Clock, Http, HttpAnswer, HttpError, HttpRequest, Random};
use crate::remotes::Found;
use crate::trail::AskedBy;
use a2a::client::{Client, Ports, Settings, depth_of};
use a2a::model::{Secret, UnixMillis, Uuid};

impl Turn {
    /// A client of the agent of this name: an agent in `remotes.toml`, else an agent of this Worker. The agent's secrets
    /// and variables are read now, and are replaced by their names in the run's events. The requests of the client belong
    /// to the trace of the run, and the messages contain the [depth](Self::depth) of the call. The timeouts end a little
    /// before the run's time, so that the other agent's task can still be canceled.
    ///
    /// A run that resumes repeats the requests of the client; see [`step`](Self::step).
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
    /// If there is no agent of this name, or a secret or a variable that the agent needs is not set or has a wrong
    /// form. The error names the missing or wrong value.
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

    /// A client of the agent at a URL that somebody else has chosen, for example the caller. The client refuses the URLs
    /// that webhooks refuse ([guarded](HttpRequest::guarded)), and has no credentials.
    pub fn remote_at(&self, url: &str) -> Client {
        self.client(Settings { is_guarded: true, ..Settings::new(url) })
    }

    /// A client of another agent for this run. The requests contain the trace of the run, and the messages the
    /// [depth](Self::depth). The timeouts in the settings are limited to the run's remaining time.
    ///
    /// A run that resumes repeats the requests of the client; see [`step`](Self::step).
    pub fn client(&self, settings: Settings) -> Client {
        self.run_outside.equip(Client::new(self.bounded(settings), self.ports()))
    }

    /// A client, with limited settings, of an agent of this Worker. Its requests are made for the caller of this turn, without
    /// HTTP.
    pub(super) fn hosted(&self, slug: &str, settings: Settings) -> Client {
        let origin = self.origin.as_deref().unwrap_or(NO_ORIGIN);
        let settings = Settings { url: format!("{origin}/{slug}"), ..settings };
        let by = AskedBy { agent: self.agent.clone(), task: self.task_id.clone() };
        let http = self.run_outside.hosted(by, &self.caller);
        Client::new(settings, Ports { http, ..self.ports() })
    }

    /// The slug of the agent of this Worker that a client calls; `None` if it calls another server.
    pub(super) fn slug_here(&self, client: &Client) -> Option<String> {
        let origin = self.origin.as_deref().unwrap_or(NO_ORIGIN);
        let slug = client.settings().url.strip_prefix(origin)?.strip_prefix('/')?;
        self.outside.remotes.has_agent(slug).then(|| slug.to_owned())
    }

    /// The settings, with timeouts and depth limited to those of the run.
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

    /// The number of agent-to-agent calls before the message of this turn. The server refuses a message that is deeper
    /// than `MAX_DEPTH`.
    pub fn depth(&self) -> u32 {
        depth_of(&self.message)
    }

    /// The HTTP client, clock and random source of this run, for a client.
    pub(super) fn ports(&self) -> Ports {
        let run = Rc::new(Run(Rc::clone(&self.run_outside)));
        Ports { http: run.clone(), clock: run.clone(), random: run }
    }
}

/// The origin of this Worker in URLs that never leave the Worker, if its real origin is not known.
const NO_ORIGIN: &str = "https://worker.internal";

/// The time that is reserved at the end of a run to cancel the tasks of other agents, in milliseconds.
pub(super) const CLOSING_MS: u64 = 2_000;

/// The timeout for canceling the tasks of other agents, in milliseconds.
pub(super) const CANCEL_MS: u64 = 10_000;

/// Adapts the run to the ports that a client needs.
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
    fn new_id(&self) -> Uuid {
        self.0.random().new_id()
    }

    fn secret_bytes(&self) -> [u8; 32] {
        self.0.random().secret_bytes()
    }

    fn chance(&self) -> f64 {
        self.0.random().chance()
    }
}
