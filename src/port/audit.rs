//! The audit log: one line of JSON for each act of a caller and each refusal.
//!
//! A line has no credentials and no contents of messages. Ids are chosen by clients and agents, so they are cut, and written on
//! one line.

use std::fmt;

use serde::Serialize;

use crate::trail::Trail;
use a2a::Operation;
use a2a::http::one_line;
use a2a::model::{TaskId, to_json};

/// An act of a caller, or its refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit<'a> {
    /// The kind of act.
    pub act: Act,
    /// The slug of the agent.
    pub agent: &'a str,
    /// The id of the caller; `None` if the caller is not known.
    pub caller: Option<&'a str>,
    /// The task; `None` if it is not known.
    pub task: Option<&'a TaskId>,
    /// The name of the operation in the specification, for the acts that have one.
    pub operation: Option<&'a str>,
    /// The id of the webhook.
    pub webhook: Option<&'a str>,
    /// The ids of the request and its trace.
    pub trail: &'a Trail,
    /// The reason of a refusal; `None` if the act was done. The text is written by this server and contains no credentials.
    pub refusal: Option<&'a str>,
}

impl<'a> Audit<'a> {
    /// An act that was done, without task, operation and webhook.
    pub fn of(act: Act, agent: &'a str, caller: &'a str, trail: &'a Trail) -> Self {
        let (task, operation, webhook, refusal) = (None, None, None, None);
        Self { act, agent, caller: Some(caller), task, operation, webhook, trail, refusal }
    }

    /// The same audit with its task.
    #[must_use]
    pub fn on(self, task: &'a TaskId) -> Self {
        Self { task: Some(task), ..self }
    }

    /// The same audit with the operation of the act.
    #[must_use]
    pub fn by(self, operation: Operation) -> Self {
        Self { operation: Some(operation.name()), ..self }
    }

    /// The same audit with its webhook.
    #[must_use]
    pub fn with_webhook(self, webhook: &'a str) -> Self {
        Self { webhook: Some(webhook), ..self }
    }

    /// The same audit as a refusal with this reason.
    #[must_use]
    pub fn refused(self, refusal: Option<&'a str>) -> Self {
        Self { refusal, ..self }
    }
}

/// The kinds of acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Act {
    /// A request without valid credentials.
    #[serde(rename = "authentication failed")]
    AuthenticationFailed,
    /// A caller was refused an operation, or the task of another caller.
    #[serde(rename = "access denied")]
    AccessDenied,
    /// A task was created.
    #[serde(rename = "task created")]
    TaskCreated,
    /// A client canceled a task, possibly again.
    #[serde(rename = "task canceled")]
    TaskCanceled,
    /// A client deleted a task.
    #[serde(rename = "task deleted")]
    TaskDeleted,
    /// A webhook was registered, or replaced another one.
    #[serde(rename = "webhook registered")]
    WebhookRegistered,
    /// A webhook was deleted.
    #[serde(rename = "webhook deleted")]
    WebhookDeleted,
    /// An operator used its permission on a task of any caller.
    #[serde(rename = "operator acted")]
    OperatorActed,
    /// An operator deleted what the index has of an owner. The line does not name the owner.
    #[serde(rename = "owner forgotten")]
    OwnerForgotten,
}

impl Act {
    /// True if the act is frequent in normal work; `AUDIT=refusals` leaves such lines out.
    pub fn is_of_daily_use(self) -> bool {
        match self {
            Self::TaskCreated
            | Self::TaskCanceled
            | Self::TaskDeleted
            | Self::WebhookRegistered
            | Self::WebhookDeleted => true,
            Self::AuthenticationFailed
            | Self::AccessDenied
            | Self::OperatorActed
            | Self::OwnerForgotten => false,
        }
    }
}

/// The line of an audit.
#[derive(Serialize)]
struct Line<'a> {
    event: Act,
    agent: &'a str,
    caller: Option<String>,
    task: Option<String>,
    operation: Option<&'a str>,
    config: Option<String>,
    request: Option<&'a str>,
    trace: Option<&'a str>,
    outcome: &'a str,
}

impl fmt::Display for Audit<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { act, agent, caller, task, operation, webhook, trail, refusal } = self;
        let line = Line {
            event: *act,
            agent,
            caller: caller.map(shown),
            task: task.map(|task| shown(task.as_str())),
            operation: *operation,
            config: webhook.map(shown),
            request: trail.request.as_deref(),
            trace: trail.trace.as_ref().map(|trace| trace.trace_id()),
            outcome: refusal.unwrap_or("done"),
        };
        out.write_str(&to_json(&line).map_err(|_| fmt::Error)?)
    }
}

/// An id on one line, cut, without characters that change the display of the rest of the line.
fn shown(id: &str) -> String {
    let line = one_line(id);
    let cut = line.char_indices().nth(MAX_SHOWN_CHARS).map_or(line.len(), |(at, _)| at);
    let is_plain = |letter: &char| !matches!(*letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    line.get(..cut).unwrap_or_default().chars().filter(is_plain).collect()
}

/// The number of characters of an id in a line.
const MAX_SHOWN_CHARS: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::http::trace::TraceContext;
    use serde_json::{Value, json};

    fn line(audit: &Audit<'_>) -> Value {
        let text = audit.to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn every_line_has_the_same_members() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trail = Trail::new(Some("8f2d-FRA"), TraceContext::read(parent, None));
        let task = TaskId::new("t").unwrap();
        let created = Audit::of(Act::TaskCreated, "demo", "key:billing", &trail).on(&task);
        assert_eq!(
            created.to_string(),
            r#"{"event":"task created","agent":"demo","caller":"key:billing","task":"t","operation":null,"config":null,"request":"8f2d-FRA","trace":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"done"}"#
        );
        let none = Trail::default();
        let failed =
            Audit { caller: None, ..Audit::of(Act::AuthenticationFailed, "demo", "", &none) };
        let expected = json!({"event": "authentication failed", "agent": "demo", "caller": null, "task": null,
            "operation": null, "config": null, "request": null, "trace": null, "outcome": "the token has expired"});
        assert_eq!(line(&failed.refused(Some("the token has expired"))), expected);
    }

    #[test]
    fn ids_are_shown_on_one_line_and_cut() {
        let trail = Trail::default();
        for (id, expected) in [
            ("jwt:a\nb\r\n{\"event\":\"x\"}", "jwt:a b {\"event\":\"x\"}".to_owned()),
            ("jwt:\u{202e}evil\u{2028}x", "jwt:evil x".to_owned()),
            (&"é".repeat(500), "é".repeat(128)),
        ] {
            let audit = Audit::of(Act::TaskCanceled, "demo", id, &trail).with_webhook(id);
            assert_eq!(
                (&line(&audit)["caller"], &line(&audit)["config"]),
                (&json!(expected), &json!(expected))
            );
        }
    }
}
