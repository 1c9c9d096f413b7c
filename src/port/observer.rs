//! What operators want to know of a deployment: one closed list, and the port that takes it.
//!
//! An observation never holds a secret: no token, no credential, no URL of a webhook. Of what clients and agents
//! say it holds something only where [`Observation`] says so.

use std::fmt;

use serde_json::json;

use super::Audit;
use a2a::model::{Message, TaskId};
use a2a_agents::NotSet;

/// Takes observations. Its readers are log lines, metrics, the lists under `/_dev/`, and tests.
pub trait Observer {
    /// Takes one observation. It must neither fail nor wait.
    fn observe(&self, observation: &Observation<'_>);
}

/// Something that an operator may want to know. Its text (`Display`) is a line for the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation<'a> {
    /// An agent is given a message of a client. The message may be confidential: log lines leave it out.
    MessageReceived {
        /// The agent.
        agent: &'a str,
        /// The task, which may not exist yet.
        task: &'a TaskId,
        /// The message.
        message: &'a Message,
    },
    /// A client canceled a task, maybe once more.
    TaskCanceled {
        /// The agent that has the task.
        agent: &'a str,
        /// The task.
        task: &'a TaskId,
    },
    /// Somebody did something, or was refused it: a line for audits.
    Audited(Audit<'a>),
    /// The agent of a task is not part of this Worker any more.
    AgentMissing {
        /// The task.
        task: &'a TaskId,
    },
    /// A run of an executor panicked.
    AgentPanicked {
        /// The task.
        task: &'a TaskId,
    },
    /// The credentials that a client gave a task could not be sealed or opened.
    CredentialsUnreadable {
        /// The task.
        task: &'a TaskId,
        /// Why. It has nothing of them.
        reason: &'a str,
    },
    /// A task could not be opened: its storage cannot be read, or the Worker cannot serve it.
    OpeningFailed {
        /// The task.
        task: &'a TaskId,
        /// Why.
        reason: &'a str,
    },
    /// Something of a task could not be stored. A session whose log was not stored is thrown away.
    StoringFailed {
        /// The task.
        task: &'a TaskId,
        /// Why.
        reason: &'a str,
    },
    /// The log of a task could not be read.
    ReadingFailed {
        /// The task.
        task: &'a TaskId,
        /// Why.
        reason: &'a str,
    },
    /// A task could not be written to the index; it is tried again.
    IndexBehind {
        /// The task.
        task: &'a TaskId,
        /// How many attempts have failed.
        failures: u32,
        /// The time before the next attempt, in milliseconds.
        retry_ms: u64,
        /// Why.
        reason: &'a str,
    },
    /// What a turn of a task has used could not be added to the sums; it is tried again.
    UsageUncounted {
        /// The task.
        task: &'a TaskId,
        /// How many attempts have failed.
        failures: u32,
        /// The time before the next attempt, in milliseconds.
        retry_ms: u64,
        /// Why.
        reason: &'a str,
    },
    /// The list of webhooks in trouble could not follow a webhook of a task; it is tried again.
    WebhookUnlisted {
        /// The task.
        task: &'a TaskId,
        /// The webhook.
        webhook: &'a str,
        /// How many attempts have failed.
        failures: u32,
        /// The time before the next attempt, in milliseconds.
        retry_ms: u64,
        /// Why.
        reason: &'a str,
    },
    /// A finished task could not be deleted; it is tried again.
    DeletionPostponed {
        /// The task.
        task: &'a TaskId,
        /// How many attempts have failed.
        failures: u32,
        /// The time before the next attempt, in milliseconds.
        retry_ms: u64,
        /// Why.
        reason: &'a str,
    },
    /// A job for a webhook could not be put into the queue. The alarm of its task tries it again.
    QueueFailed {
        /// The task.
        task: &'a TaskId,
        /// The id of the webhook.
        webhook: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A command to an object could not be read.
    CommandUnreadable {
        /// Why.
        reason: &'a str,
    },
    /// The platform did not set an alarm, or did not say whether writes are durable.
    PlatformFailed {
        /// What failed, as `setting the alarm`.
        what: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The settings or the agents of this deployment cannot be used: every request is refused.
    Misconfigured {
        /// What is wrong, and what would be right.
        reason: &'a str,
    },
    /// These agents ask for no credentials. Said once by each instance of a deployment.
    AgentsOpen {
        /// Their slugs, with commas between them.
        agents: &'a str,
    },
    /// The executor of an agent could not be made: the agent refuses messages.
    AgentUnusable {
        /// The agent.
        agent: &'a str,
        /// What is wrong, and what would be right.
        reason: &'a str,
    },
    /// A secret or a variable that an agent asks for is not set: what it was doing fails.
    ValueMissing {
        /// The agent.
        agent: &'a str,
        /// What is missing.
        missing: &'a NotSet,
    },
    /// The object of a task did not answer.
    ObjectUnreachable {
        /// The task; none if there is no object to ask.
        task: Option<&'a TaskId>,
        /// Why.
        reason: &'a str,
    },
    /// The object of a task sent a frame that cannot be read.
    FrameUnreadable {
        /// The task.
        task: &'a TaskId,
    },
    /// The tasks of a caller cannot be counted: its send goes on.
    QuotaUnknown {
        /// Why.
        reason: &'a str,
    },
    /// What a caller has used in the day cannot be read: its send goes on.
    UsageUnknown {
        /// The agent.
        agent: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The index cannot be read: a listing is refused, or shows a task without its artifacts.
    ListingFailed {
        /// Why.
        reason: &'a str,
    },
    /// A statement on the index of tasks was carried out. Rows that it touched are billed.
    StatementRun {
        /// The statement, with placeholders instead of values.
        sql: &'a str,
        /// The number of rows that it read; none if the database does not tell.
        rows_read: Option<u64>,
        /// The number of rows that it wrote; none if the database does not tell.
        rows_written: Option<u64>,
    },
    /// A tool's counter could not be changed.
    CounterFailed {
        /// The name of the counter.
        name: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The key that signs notifications cannot be used.
    KeyFailed {
        /// Why.
        reason: &'a str,
    },
    /// The skills that an agent learns cannot be asked for: its source is not set up, or wrongly.
    SkillsUnavailable {
        /// The agent.
        agent: &'a str,
        /// What is wrong. It has no secret.
        reason: &'a str,
    },
    /// The card of an agent that this Worker calls cannot be had or used.
    CardUnavailable {
        /// The host of its URL.
        host: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The tools of an MCP server cannot be had, or not all of them. Those that are known are used on for a week.
    ToolsUnavailable {
        /// The name of the server.
        server: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The public keys of those who give out tokens cannot be fetched. Keys that are known are used on for a while; without
    /// any, callers are told to come back later.
    KeySetUnavailable {
        /// The host that was asked, with the port if the URL names one.
        host: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A set of public keys has some that are private, symmetric or too weak. They are not used.
    KeysImproper {
        /// The host that the set is from.
        host: &'a str,
        /// How many.
        count: usize,
    },
    /// The platform refuses the public key that a token names.
    KeyRefused {
        /// The name of the key, as the token has it.
        kid: Option<&'a str>,
    },
    /// What was fetched from another server cannot be read from D1 or stored there: it is fetched once more by each
    /// instance.
    RememberingFailed {
        /// What was to be done, as `read`.
        what: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A notification was posted to its webhook, or an attempt at that failed.
    NotificationAttempted(NotificationAttempt<'a>),
    /// A notification was given up.
    NotificationGivenUp {
        /// The agent that has the task.
        agent: &'a str,
        /// The task.
        task: &'a TaskId,
        /// The id of the webhook.
        webhook: &'a str,
        /// The generation of the event.
        generation: u64,
        /// Why.
        reason: &'a str,
        /// Whether the webhook gets nothing more.
        is_suspended: bool,
    },
    /// A webhook cannot be served now. The queue or the alarm of its task tries it again.
    WebhookPostponed {
        /// The task.
        task: &'a TaskId,
        /// The id of the webhook.
        webhook: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A message of the queue cannot be read, at least by this version; it is tried again later.
    JobUnreadable {
        /// Why.
        reason: &'a str,
    },
    /// A dead letter came: what the queue could not deliver, or a notification that was given up.
    DeadLetter {
        /// The letter as it was in the queue.
        letter: &'a str,
    },
    /// A dead letter could not be put into its queue.
    DeadLetterLost {
        /// The letter.
        letter: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The clean-up has put finished tasks into the queue of deletions whose time is over, or which are too many.
    DeletionsQueued {
        /// The number of tasks.
        count: usize,
    },
    /// The consumer of the queue of deletions has deleted finished tasks.
    TasksDeleted {
        /// The number of tasks.
        count: usize,
    },
    /// The clean-up could not find or delete finished tasks; the next one tries it again.
    CleanUpFailed {
        /// Why.
        reason: &'a str,
    },
}

/// One attempt to post a notification.
#[derive(Clone, Debug, PartialEq)]
pub struct NotificationAttempt<'a> {
    /// The agent that has the task.
    pub agent: &'a str,
    /// The task.
    pub task: &'a TaskId,
    /// The id of the webhook.
    pub webhook: &'a str,
    /// The host of its URL, with the port if it names one. The rest of the URL may hold secrets.
    pub host: Option<&'a str>,
    /// The generation of the event.
    pub generation: u64,
    /// The HTTP status that was answered; none without an answer.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<&'a str>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// How much an observation matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Part of normal work, and frequent: no log line.
    Detail,
    /// Part of normal work, worth a log line.
    Info,
    /// Something failed.
    Error,
}

impl Observation<'_> {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        match self {
            Self::MessageReceived { .. }
            | Self::TaskCanceled { .. }
            | Self::StatementRun { .. } => Severity::Detail,
            // A given-up notification is a dead letter too, which is logged as an error when it comes.
            Self::Audited(_)
            | Self::NotificationAttempted(_)
            | Self::NotificationGivenUp { .. }
            | Self::AgentsOpen { .. }
            | Self::DeletionsQueued { .. }
            | Self::TasksDeleted { .. } => Severity::Info,
            Self::AgentMissing { .. }
            | Self::AgentPanicked { .. }
            | Self::CredentialsUnreadable { .. }
            | Self::OpeningFailed { .. }
            | Self::StoringFailed { .. }
            | Self::ReadingFailed { .. }
            | Self::IndexBehind { .. }
            | Self::UsageUncounted { .. }
            | Self::WebhookUnlisted { .. }
            | Self::UsageUnknown { .. }
            | Self::DeletionPostponed { .. }
            | Self::QueueFailed { .. }
            | Self::CommandUnreadable { .. }
            | Self::PlatformFailed { .. }
            | Self::Misconfigured { .. }
            | Self::AgentUnusable { .. }
            | Self::ValueMissing { .. }
            | Self::ObjectUnreachable { .. }
            | Self::FrameUnreadable { .. }
            | Self::QuotaUnknown { .. }
            | Self::ListingFailed { .. }
            | Self::CounterFailed { .. }
            | Self::KeyFailed { .. }
            | Self::SkillsUnavailable { .. }
            | Self::CardUnavailable { .. }
            | Self::ToolsUnavailable { .. }
            | Self::KeySetUnavailable { .. }
            | Self::KeysImproper { .. }
            | Self::KeyRefused { .. }
            | Self::RememberingFailed { .. }
            | Self::WebhookPostponed { .. }
            | Self::JobUnreadable { .. }
            | Self::DeadLetter { .. }
            | Self::DeadLetterLost { .. }
            | Self::CleanUpFailed { .. } => Severity::Error,
        }
    }
}

impl fmt::Display for Observation<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageReceived { agent, task, .. } => {
                write!(out, "task {task}: the agent {agent} is given a message")
            }
            Self::TaskCanceled { task, .. } => write!(out, "task {task}: canceled by its client"),
            Self::Audited(audit) => audit.fmt(out),
            Self::AgentMissing { task } => {
                write!(out, "task {task}: its agent is not served any more")
            }
            Self::AgentPanicked { task } => write!(out, "task {task}: the agent panicked"),
            Self::CredentialsUnreadable { task, reason } => {
                write!(out, "task {task}: the credentials of its client: {reason}")
            }
            Self::OpeningFailed { task, reason } => {
                write!(out, "task {task}: opening failed: {reason}")
            }
            Self::StoringFailed { task, reason } => {
                write!(out, "task {task}: storing failed: {reason}")
            }
            Self::ReadingFailed { task, reason } => {
                write!(out, "task {task}: reading failed: {reason}")
            }
            Self::IndexBehind { task, failures, retry_ms, reason } => write!(
                out,
                "task {task}: not in the index yet, attempt {failures}, next in {retry_ms} ms: {reason}"
            ),
            Self::UsageUncounted { task, failures, retry_ms, reason } => write!(
                out,
                "task {task}: what it has used is not counted yet, attempt {failures}, next in {retry_ms} ms: {reason}"
            ),
            Self::WebhookUnlisted { task, webhook, failures, retry_ms, reason } => write!(
                out,
                "task {task}: the list of webhooks does not show how {webhook} fares yet, attempt {failures}, next in {retry_ms} ms: {reason}"
            ),
            Self::DeletionPostponed { task, failures, retry_ms, reason } => write!(
                out,
                "task {task}: not deleted yet, attempt {failures}, next in {retry_ms} ms: {reason}"
            ),
            Self::QueueFailed { task, webhook, reason } => {
                write!(out, "task {task}: the queue failed for webhook {webhook}: {reason}")
            }
            Self::CommandUnreadable { reason } => {
                write!(out, "a command could not be read: {reason}")
            }
            Self::PlatformFailed { what, reason } => write!(out, "{what} failed: {reason}"),
            Self::Misconfigured { reason } => out.write_str(reason),
            Self::AgentsOpen { agents } => write!(out, "anybody may call these agents: {agents}"),
            Self::AgentUnusable { agent, reason } => write!(out, "the agent {agent}: {reason}"),
            Self::ValueMissing { agent, missing } => write!(out, "the agent {agent}: {missing}"),
            Self::ObjectUnreachable { task: Some(task), reason } => {
                write!(out, "task {task} did not answer: {reason}")
            }
            Self::ObjectUnreachable { task: None, reason } => {
                write!(out, "no task object: {reason}")
            }
            Self::FrameUnreadable { task } => {
                write!(out, "task {task}: a frame could not be read")
            }
            Self::QuotaUnknown { reason } => write!(
                out,
                "a send goes on although its caller's tasks cannot be counted: {reason}"
            ),
            Self::UsageUnknown { agent, reason } => write!(
                out,
                "the agent {agent}: a send goes on although what its caller has used is not known: {reason}"
            ),
            Self::ListingFailed { reason } => write!(out, "tasks cannot be listed: {reason}"),
            Self::StatementRun { sql, .. } => write!(out, "statement on the index: {sql}"),
            Self::CounterFailed { name, reason } => write!(out, "counter {name}: {reason}"),
            Self::KeyFailed { reason } => out.write_str(reason),
            Self::SkillsUnavailable { agent, reason } => {
                write!(out, "the agent {agent}: its skills cannot be learned: {reason}")
            }
            Self::CardUnavailable { host, reason } => {
                write!(out, "the card of the agent at {host} cannot be had: {reason}")
            }
            Self::ToolsUnavailable { server, reason } => {
                write!(out, "the tools of the MCP server {server} cannot all be had: {reason}")
            }
            Self::KeySetUnavailable { host, reason } => {
                write!(out, "the public keys of {host} cannot be fetched: {reason}")
            }
            Self::KeysImproper { host, count } => write!(
                out,
                "the key set of {host} has {count} keys that are private, symmetric or too weak; they are not used"
            ),
            Self::KeyRefused { kid } => {
                let kid: String = kid.unwrap_or_default().chars().take(MAX_KID_CHARS).collect();
                write!(out, "the platform refuses the public key {kid:?} of a token's issuer")
            }
            Self::RememberingFailed { what, reason } => {
                write!(out, "the table remembered: {what} failed: {reason}")
            }
            Self::NotificationAttempted(attempt) => attempt.fmt(out),
            Self::NotificationGivenUp {
                agent,
                task,
                webhook,
                generation,
                reason,
                is_suspended,
            } => {
                let line = json!({
                    "event": "notification given up",
                    "agent": agent,
                    "task": task,
                    "config": webhook,
                    "generation": generation,
                    "error": reason,
                    "isSuspended": is_suspended,
                });
                line.fmt(out)
            }
            Self::WebhookPostponed { task, webhook, reason } => {
                write!(out, "webhook {webhook} of task {task}: {reason}")
            }
            Self::JobUnreadable { reason } => {
                write!(out, "a message of the queue cannot be read: {reason}")
            }
            Self::DeadLetter { letter } => {
                json!({"event": "webhook dead letter", "letter": letter}).fmt(out)
            }
            Self::DeadLetterLost { letter, reason } => {
                write!(out, "a dead letter could not be sent: {reason}: {letter}")
            }
            Self::DeletionsQueued { count } => {
                write!(out, "{count} finished tasks are to be deleted")
            }
            Self::TasksDeleted { count } => write!(out, "{count} finished tasks were deleted"),
            Self::CleanUpFailed { reason } => {
                write!(out, "old tasks cannot be deleted now: {reason}")
            }
        }
    }
}

impl fmt::Display for NotificationAttempt<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = json!({
            "event": "webhook",
            "agent": self.agent,
            "task": self.task,
            "config": self.webhook,
            "host": self.host,
            "generation": self.generation,
            "status": self.status,
            "error": self.error,
            "durationMs": self.duration_ms,
        });
        line.fmt(out)
    }
}

/// How much of the name of a key is shown, in characters.
const MAX_KID_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_not_part_of_the_line_about_it() {
        let text =
            r#"{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "confidential"}]}"#;
        let message: Message = serde_json::from_str(text).unwrap();
        let task = TaskId::new("t");
        let received =
            Observation::MessageReceived { agent: "demo", task: &task, message: &message };
        assert_eq!(received.to_string(), "task t: the agent demo is given a message");
        assert_eq!(received.severity(), Severity::Detail, "and there is none");
    }

    #[test]
    fn an_attempt_is_a_line_of_json() {
        let task = TaskId::new("t");
        let attempt = NotificationAttempt {
            agent: "demo",
            task: &task,
            webhook: "w",
            host: Some("receiver.example"),
            generation: 3,
            status: Some(503),
            error: None,
            duration_ms: 12,
        };
        let line = Observation::NotificationAttempted(attempt).to_string();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let expected = json!({"event": "webhook", "agent": "demo", "task": "t", "config": "w",
            "host": "receiver.example", "generation": 3, "status": 503, "error": null,
            "durationMs": 12});
        assert_eq!(line, expected);
    }
}
