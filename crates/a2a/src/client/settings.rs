//! How an agent is called.

use crate::binding::Binding;
use crate::dialect::Dialect;

/// Where an agent is, and how it is called. The defaults suit most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The URL of the agent, below which its card is looked for, or the URL of its card.
    pub url: String,
    /// The total time of one [`send_and_observe`](super::Client::send_and_observe), in milliseconds: 300,000. When it is over,
    /// the task of the remote agent is canceled.
    pub timeout_ms: u64,
    /// The time of one request until the head of its answer, and then between two pieces of the answer, in milliseconds:
    /// 30,000.
    pub request_timeout_ms: u64,
    /// The time between two GetTask calls where the agent does not stream, in milliseconds: 1,000.
    pub poll_interval_ms: u64,
    /// How often a request is sent again after a failure that may pass: 3.
    pub max_retries: u32,
    /// The time before the first retry, in milliseconds: 1,000. It doubles, with jitter, up to 30 s.
    pub retry_delay_ms: u64,
    /// Headers that go along with every request to the host of the URL.
    pub headers: Vec<(String, String)>,
    /// The version that the agent speaks, where its card is wrong about it.
    pub version: Option<Dialect>,
    /// The binding to use, where it is not to be chosen by the card.
    pub binding: Option<Binding>,
    /// Whether to stream.
    pub streaming: Streaming,
    /// Whether an interface on another host than that of the URL may be called. It gets no credentials.
    pub allow_other_hosts: bool,
    /// URIs of the extensions to use (spec §3.2.6).
    pub extensions: Vec<String>,
    /// Whether the URL comes from somebody who may not reach everything: requests are then
    /// [guarded](crate::http::HttpRequest::guarded).
    pub is_guarded: bool,
    /// How many agents have called each other before a message of this client, which its metadata says
    /// ([`DEPTH_KEY`](super::DEPTH_KEY)): 0, about which nothing is said, for a program that is no agent.
    pub depth: u32,
    /// The largest depth that is sent: 8.
    pub max_depth: u32,
}

/// Whether a client streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streaming {
    /// If the card offers it.
    #[default]
    Auto,
    /// Never: it polls.
    Never,
}

impl Settings {
    /// The settings of an agent at this URL, with the defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            timeout_ms: 300_000,
            request_timeout_ms: 30_000,
            poll_interval_ms: 1_000,
            max_retries: 3,
            retry_delay_ms: 1_000,
            headers: Vec::new(),
            version: None,
            binding: None,
            streaming: Streaming::Auto,
            allow_other_hosts: false,
            extensions: Vec::new(),
            is_guarded: false,
            depth: 0,
            max_depth: super::MAX_DEPTH,
        }
    }
}
