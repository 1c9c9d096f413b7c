//! The endpoint of a model.

use std::fmt;

use a2a::model::Secret;

/// The endpoint of a model, with the limits for its answers. [`new`](Self::new) makes one with the defaults.
#[derive(Clone, PartialEq)]
pub struct Endpoint {
    /// The base URL: `/chat/completions` is added to its path. For [`Dialect::WorkersAi`] it is [`WORKERS_AI`](Self::WORKERS_AI).
    pub base_url: String,
    /// The key, sent as `Authorization: Bearer …`.
    pub api_key: Option<Secret>,
    /// Further headers. They replace existing headers of the same name.
    pub headers: Vec<(String, Secret)>,
    /// The dialect of the endpoint.
    pub dialect: Dialect,
    /// How long to wait for the head of the answer, and then for each piece of its body, in milliseconds: 120,000.
    pub timeout_ms: u64,
    /// The largest answer, and the largest event of a stream, in bytes: 4 MiB. A whole stream may have 16 times this size.
    pub max_bytes: usize,
}

/// The form of requests and answers at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Chat completions in the form of OpenAI and many other providers.
    ChatCompletions,
    /// The inputs and answers of `env.AI.run` in Cloudflare Workers.
    WorkersAi,
}

impl Endpoint {
    /// The base URL of Workers AI. It is only a name: requests are sent to a binding.
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

    /// The URL of requests for this model.
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

    /// A text of the provider in which the secrets of this endpoint are replaced.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let headers = self.headers.iter().map(|(_, value)| value);
        let secrets = self.api_key.iter().chain(headers).map(Secret::reveal);
        let mut text = text.to_owned();
        for secret in secrets.filter(|secret| secret.len() >= MIN_SECRET_BYTES) {
            // A header value may be `Bearer <key>`, and the key alone is also secret.
            for secret in [secret, secret.rsplit(' ').next().unwrap_or(secret)] {
                if secret.len() >= MIN_SECRET_BYTES && text.contains(secret) {
                    text = text.replace(secret, "[secret]");
                }
            }
        }
        text
    }
}

/// The shortest secret that is replaced, in bytes: shorter ones also occur in ordinary words.
const MIN_SECRET_BYTES: usize = 6;

impl fmt::Debug for Endpoint {
    /// The URL without query and secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.base_url.split(['?', '#']).next().unwrap_or_default();
        write!(out, "Endpoint({:?} {url})", self.dialect)
    }
}
