//! The settings of a client: the agent's URL, and how to call the agent.

use std::fmt;

use super::Verify;
use super::address::Address;
use crate::dialect::Dialect;
use crate::wire::Binding;

/// The URL of an agent, and how to call the agent. The defaults fit most uses.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The URL of the agent, below which its card is searched, or the URL of its card, which ends with `.json`, `/card` or
    /// `/agent-card`. An absolute URL of http or https; a query is used only in the URL of a card.
    pub url: String,
    /// The total time of one call with its retries, and of one [`send_and_observe`](super::Client::send_and_observe) until
    /// the task's end, in milliseconds: 300,000. After this time, the client cancels the remote task if its id is known. For
    /// a stream, the limit applies until the stream is open, and for the stream of a send until its first event.
    pub timeout_ms: u64,
    /// The time of one request until the head of its answer has arrived, and then between two pieces of the answer, in
    /// milliseconds: 30,000. A send without a stream has the rest of [`timeout_ms`](Self::timeout_ms) instead, since many
    /// agents answer only when the task has ended.
    pub request_timeout_ms: u64,
    /// The time between two GetTask calls if the agent does not stream, in milliseconds: 1,000.
    pub poll_interval_ms: u64,
    /// The largest number of retries of a request after failures that may pass: 3.
    pub max_retries: u32,
    /// The delay before the first retry, in milliseconds: 1,000. The delay doubles with each retry, with jitter, up to
    /// 30 s.
    pub retry_delay_ms: u64,
    /// Headers of every request to the host of the URL.
    pub headers: Vec<(String, String)>,
    /// The version of the protocol to use, if the card names a wrong one.
    pub version: Option<Dialect>,
    /// The binding to use, instead of a choice by the card.
    pub binding: Option<Binding>,
    /// The condition for the use of streams.
    pub streaming: Streaming,
    /// True if the client may call an interface on another host than that of the URL, and follow a redirect of the card's
    /// URL to another host; neither host gets credentials. If false, the client calls such an interface on the host of the
    /// URL.
    pub allow_other_hosts: bool,
    /// The cards whose signatures are verified (spec §8.4); to verify them, the client needs a
    /// [verifier](super::Client::with_verifier).
    pub verify: Verify,
    /// Further hosts, apart from the host of the URL, from which keys of card signatures may be fetched (`jku`), for
    /// example `keys.example` or `keys.example:8443`.
    pub jwks_hosts: Vec<String>,
    /// URIs of the extensions to request (spec §3.2.6).
    pub extensions: Vec<String>,
    /// True if the URL comes from an untrusted person: requests are then [guarded](crate::http::HttpRequest::guarded).
    pub is_guarded: bool,
    /// The depth of this client's messages: the number of agent-to-agent calls before a message. The metadata contains the
    /// depth ([`DEPTH_KEY`](super::DEPTH_KEY)), except 0, the depth of a program that is not an agent.
    pub depth: u32,
    /// The largest depth that is sent: 8.
    pub max_depth: u32,
}

/// The condition for the use of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streaming {
    /// The client uses streams if the card offers streaming.
    #[default]
    Auto,
    /// The client never uses streams: it polls.
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
            verify: Verify::Never,
            jwks_hosts: Vec::new(),
            extensions: Vec::new(),
            is_guarded: false,
            depth: 0,
            max_depth: super::MAX_DEPTH,
        }
    }

    /// The cache key of this agent's card: the URL, and the other settings on which the card depends.
    pub fn card_key(&self) -> String {
        let version = self.version.map(|version| format!(" {}", version.version()));
        let verify = match self.verify {
            Verify::Never => "",
            Verify::IfSigned => " if-signed",
            Verify::Required => " required",
        };
        let hosts = match verify {
            "" => String::new(),
            _ => self.jwks_hosts.iter().map(|host| format!(" {host}")).collect(),
        };
        let others = if self.allow_other_hosts { " any-host" } else { "" };
        format!("{}{}{verify}{hosts}{others}", self.url, version.unwrap_or_default())
    }
}

impl fmt::Debug for Settings {
    /// The values of headers and the query of the URL are left out: they may be secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = Address::parse(&self.url).map(|url| url.origin() + url.path());
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        out.debug_struct("Settings")
            .field("url", &origin)
            .field("headers", &names)
            .field("version", &self.version)
            .field("binding", &self.binding)
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_show_no_secrets() {
        let headers = vec![("X-Key".to_owned(), "s3cret".to_owned())];
        let settings = Settings { headers, ..Settings::new("https://a.example/x?key=s3cret") };
        let shown = format!("{settings:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("https://a.example/x") && shown.contains("X-Key"), "{shown}");
    }

    #[test]
    fn what_a_card_depends_on_is_in_its_key() {
        let plain = Settings::new("https://a.example");
        let others = [
            Settings { version: Some(Dialect::V0_3), ..plain.clone() },
            Settings { verify: Verify::IfSigned, ..plain.clone() },
            Settings { verify: Verify::Required, ..plain.clone() },
            Settings { allow_other_hosts: true, ..plain.clone() },
            Settings::new("https://a.example/x"),
        ];
        for other in others {
            assert_ne!(other.card_key(), plain.card_key());
        }
        assert_eq!(Settings { max_retries: 0, ..plain.clone() }.card_key(), plain.card_key());
    }
}
