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
