//! Calls to MCP servers over streamable HTTP, of either era.
//!
//! A [`Client`] is made from [`Settings`] (the server's URL, the timeouts, the offered capabilities) and the [`Ports`] of
//! [`a2a`] (HTTP, time, random numbers). The client detects the era of the server, lists the server's tools, and calls
//! them. It depends on no platform, and waits only by its ports. Dropping a client sends nothing.
//!
//! ```
//! use a2a::client::simulation::{Simulation, SimulatedAnswer};
//! use mcp::client::{CallEvent, Client, Settings, ToolRequest};
//! use serde_json::{Value, json};
//!
//! let simulation = Simulation::default();
//! simulation.serve("tools.example", |request| {
//!     let result = match request.rpc_method().as_str() {
//!         "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
//!         "tools/list" => json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}),
//!         _ => json!({"content": [{"type": "text", "text": "5"}]}),
//!     };
//!     SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}))
//! });
//! let client = Client::new(Settings::new("https://tools.example/mcp"), simulation.ports());
//! let events: Vec<CallEvent> = simulation.run(async {
//!     let list = client.list_tools().await?;
//!     let mut call = client.call(ToolRequest::new(&list.tools[0], json!({"a": 2, "b": 3})));
//!     let mut events = Vec::new();
//!     while let Some(event) = call.next().await {
//!         events.push(event?);
//!     }
//!     Ok::<_, mcp::client::McpError>(events)
//! })?;
//! assert!(matches!(&events[..], [CallEvent::Finished(result)] if result.text() == "5"));
//! # Ok::<(), mcp::client::McpError>(())
//! ```
//!
//! | type | content |
//! |---|---|
//! | [`Settings`] | the URL of a server, and how to call it |
//! | [`Verdict`] | the known facts about a server: its era, its name, its capabilities |
//! | [`ToolList`] | the tools of a server, from all pages |
//! | [`Call`], [`CallEvent`] | a call of a tool, and its events: progress, questions, a task, the result |
//! | [`TaskHandle`], [`TaskLook`] | a call that the server continues as a task |
//! | [`McpError`] | the reason of a failure, for people |
//!
//! # MCP, the client
//!
//! `crates/mcp/src/client/` calls MCP servers by the ports of the A2A client, so it is tested in simulated time. All
//! requests are sent to one URL; a redirect is followed only within its origin.
//!
//! - **The era** (`negotiation.rs`, `session.rs`, `verdict.rs`). The first request is `server/discover`. A server that
//!   supports it is a server of 2026-07-28; an outage, refused credentials and a redirect are errors; any other answer means
//!   an older server, which receives `initialize`. The verdict has a date and can be stored by callers: a verdict about an
//!   older server is valid for at most a day, and if the answers of a server contradict its verdict, `server/discover` is
//!   sent again, once.
//! - **One request** (`wire.rs`, `open.rs`, `incoming.rs`, `message.rs`, `exchange.rs`). `wire.rs` adds credentials and
//!   retries once after a 401. `Incoming` returns the messages of an answer, JSON or a stream, within limits; `Message`
//!   selects those of the request. An `Exchange` sends a request again only if the server has not processed it: its session
//!   was lost, or it has another era. For older servers it answers pings, refuses everything that was not offered, resumes
//!   streams whose events have ids, and reads the separate stream (`standing.rs`), on which many servers ask their
//!   questions.
//! - **A call** (`call.rs`, `asking.rs`, `params.rs`). The future of `Call::next` may be dropped while it waits, because the
//!   request is in a stream that the call owns. Progress is reported at most ten times per second. If the headers of a tool
//!   do not match any more (-32020), the tools are listed again, and the call is repeated once. Dropping a call sends
//!   nothing; `Call::cancel` notifies older servers.
//! - **Questions** end a call of 2026-07-28: the caller repeats it with the answers and the state, which the client never
//!   reads. In older revisions a question leaves its call open.
//! - **Lists** (`list.rs`) always end: the numbers of pages, tools and bytes are limited, repeated cursors are detected, and
//!   a tool that violates a rule is left out with the reason.
//!
//! `crates/mcp/tests/all/misbehaving/` is a table of servers that violate all of this; `tests/conformance/mcp/` runs the
//! client with the official kit.

mod asking;
mod call;
mod error;
mod exchange;
mod handshake;
mod incoming;
mod list;
mod live;
mod message;
mod negotiation;
mod open;
mod params;
mod progress;
mod questions;
mod session;
mod settings;
mod standing;
mod task;
mod verdict;
mod wire;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::client::{Credentials, Ports};
use futures_util::future::{Either, select};

pub use asking::{MAX_ROUNDS, ToolRequest};
pub use call::{Call, CallEvent};
pub use error::McpError;
pub use list::{Dropped, ToolList};
use negotiation::Known;
pub use progress::Progress;
use session::Session;
pub use settings::Settings;
pub use task::{TaskHandle, TaskLook, TaskState};
pub use verdict::Verdict;

/// A client for one server. Clones share the known facts about the server, and the session.
#[derive(Clone)]
pub struct Client(Rc<Inner>);

struct Inner {
    settings: Settings,
    ports: Ports,
    credentials: RefCell<Option<Rc<dyn Credentials>>>,
    known: RefCell<Option<Known>>,
    /// The session with a legacy server.
    session: RefCell<Option<Rc<Session>>>,
    /// The id of the newest request.
    ids: Cell<u64>,
}

impl Client {
    /// A client for the server of these settings.
    pub fn new(settings: Settings, ports: Ports) -> Self {
        let (credentials, known) = (RefCell::default(), RefCell::default());
        let (session, ids) = (RefCell::default(), Cell::default());
        Self(Rc::new(Inner { settings, ports, credentials, known, session, ids }))
    }

    /// Adds these credentials to every request. Existing clones also use them.
    #[must_use]
    pub fn with_credentials(self, credentials: Rc<dyn Credentials>) -> Self {
        self.0.credentials.replace(Some(credentials));
        self
    }

    /// Sets an earlier verdict about the server, so that the client need not send `server/discover`; a
    /// [stale](Verdict::is_stale) verdict is ignored. If the server has changed since then, the client detects the change
    /// and sends the request.
    #[must_use]
    pub fn with_verdict(self, verdict: Option<Verdict>) -> Self {
        let now = self.ports().clock.now();
        let verdict = verdict.filter(|verdict| !verdict.is_stale(now));
        self.0.known.replace(verdict.map(Known::remembered));
        self
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The services of the platform that this client uses.
    pub fn ports(&self) -> &Ports {
        &self.0.ports
    }

    /// An id for the next request.
    fn next_id(&self) -> u64 {
        self.0.ids.set(self.0.ids.get() + 1);
        self.0.ids.get()
    }

    /// Waits for a future, at most for this number of milliseconds.
    async fn within<T>(
        &self,
        timeout_ms: u64,
        future: impl Future<Output = Result<T, McpError>> + Unpin,
    ) -> Result<T, McpError> {
        match select(future, self.ports().clock.sleep(timeout_ms)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(McpError::Timeout { timeout_ms }),
        }
    }
}
