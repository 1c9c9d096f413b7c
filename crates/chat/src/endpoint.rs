//! Where a model is.

use std::fmt;

use a2a::model::Secret;

/// Where a model is, and how long and how much it may answer. [`new`](Self::new) makes one with the defaults.
#[derive(Clone, PartialEq)]
pub struct Endpoint {
    /// The base URL: `/chat/completions` is added to its path. For [`Dialect::WorkersAi`] it is [`WORKERS_AI`](Self::WORKERS_AI).
    pub base_url: String,
    /// The key that goes along as `Authorization: Bearer …`.
    pub api_key: Option<Secret>,
    /// Further headers. One that is set already is replaced.
    pub headers: Vec<(String, Secret)>,
    /// What is spoken there.
    pub dialect: Dialect,
    /// How long to wait for the head of the answer, and then for each next piece of it, in milliseconds: 120,000.
    pub timeout_ms: u64,
    /// The largest answer, and the largest event of a stream, in bytes: 4 MiB. A stream as a whole may have 16 times that.
    pub max_bytes: usize,
}

/// What is spoken at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Chat completions, as OpenAI and many others have them.
    ChatCompletions,
    /// The inputs and answers of `env.AI.run` of Cloudflare Workers.
    WorkersAi,
}

impl Endpoint {
    /// The base URL of Workers AI, which is only a name: the requests go to a binding.
    pub const WORKERS_AI: &'static str = "https://workers-ai.internal";

    /// An endpoint of [`Dialect::ChatCompletions`] at this URL, with the defaults.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            headers: Vec::new(),
            dialect: Dialect::ChatCompletions,
            timeout_ms: 120_000,
            max_bytes: 4 * 1024 * 1024,
        }
    }

    /// Workers AI, with the defaults.
    pub fn workers_ai() -> Self {
        Self { dialect: Dialect::WorkersAi, ..Self::new(Self::WORKERS_AI) }
    }

    /// The URL that a request for this model goes to.
    pub(crate) fn url(&self, model: &str) -> String {
        if self.dialect == Dialect::WorkersAi {
            return format!("{}/{model}", self.base_url);
        }
        let (path, query) = match self.base_url.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (self.base_url.as_str(), String::new()),
        };
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        format!("{path}/chat/completions{query}")
    }

    /// A text of the provider without what the provider was told in secret.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let headers = self.headers.iter().map(|(_, value)| value);
        let secrets = self.api_key.iter().chain(headers).map(Secret::reveal);
        let mut text = text.to_owned();
        for secret in secrets.filter(|secret| secret.len() >= MIN_SECRET_BYTES) {
            // `Bearer <key>` is a header's value, and the key alone is as secret.
            for secret in [secret, secret.rsplit(' ').next().unwrap_or(secret)] {
                if secret.len() >= MIN_SECRET_BYTES && text.contains(secret) {
                    text = text.replace(secret, "[secret]");
                }
            }
        }
        text
    }
}

/// How long a secret must be to be looked for: shorter ones are found in ordinary words.
const MIN_SECRET_BYTES: usize = 6;

impl fmt::Debug for Endpoint {
    /// Where it is, without query and secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.base_url.split(['?', '#']).next().unwrap_or_default();
        write!(out, "Endpoint({:?} {url})", self.dialect)
    }
}
