//! When observed work began and ended, and its place in a trace.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Random;
use crate::usage::Usage;
use a2a::http::trace::TraceContext;
use a2a::model::UnixMillis;

/// The id of a span: 16 hexadecimal digits, not all 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(u64);

impl SpanId {
    /// A new id.
    pub fn random(random: &dyn Random) -> Self {
        Self::of_bytes(random.secret_bytes())
    }

    /// The id that always follows from these parts. So a run that continues another one, possibly in another process, can
    /// link to its span, although no span id is stored.
    pub fn of(parts: &[&str]) -> Self {
        Self::of_bytes(Sha256::digest(parts.join("\0")).into())
    }

    /// The id of a span of another program; `None` if the text is no such id.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        let is_id = text.len() == 16 && text.bytes().all(is_digit);
        let id = u64::from_str_radix(text, 16).ok().filter(|id| is_id && *id != 0);
        id.map(Self)
    }

    fn of_bytes([a, b, c, d, e, f, g, h, ..]: [u8; 32]) -> Self {
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]).max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// A span in a trace that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanPlace {
    /// The trace.
    pub trace: TraceContext,
    /// The id of the span.
    pub id: SpanId,
    /// The span that contains it; `None` for the first span of a trace.
    pub parent: Option<SpanId>,
    /// The span of the run that this one continues.
    pub follows: Option<SpanId>,
}

/// When observed work began and ended, and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The instant at which the work began.
    pub begun: UnixMillis,
    /// The instant at which the work ended.
    pub ended: UnixMillis,
    /// The span of the work; `None` if no trace records it.
    pub place: Option<SpanPlace>,
}

impl Moment {
    /// The duration in milliseconds.
    pub fn millis(&self) -> u64 {
        self.ended.millis_since(self.begun)
    }
}

/// A request of a client that was answered, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnsweredRequest<'a> {
    /// The method of HTTP.
    pub method: &'a str,
    /// The form of the path, for example `/{agent}/callbacks/{callback}`. The path itself may contain secrets.
    pub route: &'a str,
    /// The slug of the agent.
    pub agent: Option<&'a str>,
    /// The name of the operation in the specification.
    pub operation: Option<&'a str>,
    /// The version of the protocol.
    pub version: Option<&'a str>,
    /// The task that the client names.
    pub task: Option<&'a str>,
    /// The conversation that the client names.
    pub context: Option<&'a str>,
    /// The id of the client's message.
    pub message: Option<&'a str>,
    /// The status of HTTP.
    pub status: u16,
    /// The code of the error in an answer over JSON-RPC.
    pub code: Option<i32>,
}

/// Work of a run that is observed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work<'a> {
    /// A request to a model.
    Model {
        /// The provider, in the words of OpenTelemetry's conventions.
        provider: &'a str,
        /// The model that was requested.
        model: &'a str,
    },
    /// A call of a tool of this Worker.
    Tool(&'a str),
    /// A call of a tool of an MCP server.
    McpTool {
        /// The name of the server in the agent's file.
        server: &'a str,
        /// The name of the tool at the server.
        tool: &'a str,
    },
    /// A task that another agent was given, by the name of the agent.
    Agent(&'a str),
    /// Any other step, by its name.
    Step(&'a str),
}

/// How observed work ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkEnd {
    /// The kind of the failure, a word without content; `None` if the work was done.
    pub failure: Option<&'static str>,
    /// The use of models.
    pub usage: Option<Usage>,
}

impl WorkEnd {
    /// The end of work that was done, or has failed.
    pub fn of(has_failed: bool) -> Self {
        Self { failure: has_failed.then_some("failed"), usage: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_span_follows_from_its_parts() {
        let id = SpanId::of(&["task", "1"]);
        assert_eq!(id, SpanId::of(&["task", "1"]));
        for other in [vec!["task", "2"], vec!["task1"], vec!["tas", "k1"], vec!["task", "1", ""]] {
            assert_ne!(id, SpanId::of(&other), "{other:?}");
        }
        assert_eq!(SpanId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn the_id_of_a_span_has_16_digits() {
        assert_eq!(SpanId::parse("00000000000000ab").unwrap().to_string(), "00000000000000ab");
        for text in ["", "0000000000000000", "00000000000000AB", "ab", "+0000000000000ab", "é"] {
            assert_eq!(SpanId::parse(text), None, "{text}");
        }
        assert_eq!(SpanId::of_bytes([0; 32]).to_string(), "0000000000000001");
    }
}
