//! Calls to MCP servers over streamable HTTP, whichever era they speak.
//!
//! A [`Client`] is made from [`Settings`] (where the server is, how long to wait, what may be asked) and the
//! [`Ports`] of [`a2a`] (HTTP, time, chance). It finds out which era the server speaks, lists its tools, and calls them. It names
//! no platform, and waits by its ports alone. A client that is dropped sends nothing.
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
//! | type | what it is |
//! |---|---|
//! | [`Settings`] | where a server is, and how it is called |
//! | [`Verdict`] | what is known of a server: its era, its name, what it can do |
//! | [`ToolList`] | the tools of a server, all pages |
//! | [`Call`], [`CallEvent`] | a call of a tool, and what it brings: progress, questions, a task, the result |
//! | [`TaskHandle`], [`TaskLook`] | a call that the server goes on with as a task |
//! | [`McpError`] | why something failed, for people |
//!
//! # MCP, the client
//!
//! `crates/mcp/src/client/` calls MCP servers by the ports of the A2A client, so it is tried in simulated time. All requests go to one URL; a redirect is followed
//! within its origin alone.
//!
//! - **The era** (`negotiation.rs`, `session.rs`, `verdict.rs`). `server/discover` is asked first. A server that knows it speaks 2026-07-28; an outage, refused credentials
//!   and a redirect are errors; everything else is taken for an older server, which gets `initialize`. The verdict has a date and can be kept by callers: one about an older
//!   server is a day old at most, and a server that does not fit its verdict any more is asked again, once.
//! - **One request** (`wire.rs`, `open.rs`, `incoming.rs`, `message.rs`, `exchange.rs`). `wire.rs` adds credentials and tries once more after a 401. `Incoming` gives the messages
//!   of an answer, whether it is JSON or a stream, within bounds; `Message` says which of them belong to the request. An `Exchange` makes a request again only where the server has not
//!   looked at it: its session was lost, or it speaks another era. For older servers it answers pings, refuses what was not offered, resumes streams whose events have ids, and reads the stream besides the
//!   answers (`standing.rs`), where many servers ask their questions.
//! - **A call** (`call.rs`, `asking.rs`, `params.rs`). `Call::next` may be dropped while it waits: what is under way lives in a stream that the call owns. Progress is told ten times
//!   a second at most. A tool whose headers do not fit any more (-32020) is listed again, and the call made once more. Nothing is sent when a call is dropped; `Call::cancel` tells older servers.
//! - **Questions** end a call of 2026-07-28: the caller makes it again with the answers and the state, which no part of the client reads. In older revisions a question keeps its call open.
//! - **Lists** (`list.rs`) end: pages, tools and bytes are bounded, cursors in a circle are noticed, and a tool that breaks a rule is left out with the reason.
//!
//! `crates/mcp/tests/all/misbehaving/` is a table of servers that do all of this wrong; `tests/conformance/mcp/` drives the client by the official kit.

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

/// A client of one server. Clones share what is known of the server, and the session with it.
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
    /// A client of the server that these settings name.
    pub fn new(settings: Settings, ports: Ports) -> Self {
        let (credentials, known) = (RefCell::default(), RefCell::default());
        let (session, ids) = (RefCell::default(), Cell::default());
        Self(Rc::new(Inner { settings, ports, credentials, known, session, ids }))
    }

    /// The same client with these credentials, which go along with every request. Clones that exist get them, too.
    #[must_use]
    pub fn with_credentials(self, credentials: Rc<dyn Credentials>) -> Self {
        self.0.credentials.replace(Some(credentials));
        self
    }

    /// The same client with what was known of the server before, so that it need not be asked; not if that is
    /// [stale](Verdict::is_stale). A server that has changed since is noticed and asked again.
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

    /// What the client asks of the machine.
    pub fn ports(&self) -> &Ports {
        &self.0.ports
    }

    /// An id for the next request.
    fn next_id(&self) -> u64 {
        self.0.ids.set(self.0.ids.get() + 1);
        self.0.ids.get()
    }

    /// Lets a future go on for this long.
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
