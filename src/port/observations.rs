//! The observations for operators of a deployment: a table with one row for each observation.
//!
//! A row has the severity, the name, the subjects and the sentence of the log line. Subjects of one name mean the same in
//! every row: `agent` is its slug, `webhook` its id, `failures` the number of failed attempts, `retry_ms` the time before
//! the next one in milliseconds, `reason` the cause of the failure.
//!
//! An observation never holds a secret: no token, no credential, no URL of a webhook. An observation has a text of a
//! client or an agent only if its row documents that text.

use std::fmt;

use serde_json::json;

use super::observation_table::{Severity, observations, write_sentence};
use super::{AnsweredRequest, Audit, Moment, Work, WorkEnd};
use a2a::model::{Generation, Message, TaskId};
use a2a_agents::NotSet;

observations! {
    /// An observation that may interest an operator. Its text (`Display`) is a line for the log.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Observation<'a>;

    /// An agent receives a message of a client. The message may be confidential, so the log line contains only its id.
    Detail MessageReceived {
        agent: &'a str,
        /// The task may not exist yet.
        task: &'a TaskId,
        message: &'a Message
    } = { given(agent, task, message) };

    /// A client canceled a task, possibly again.
    Detail TaskCanceled { agent: &'a str, task: &'a TaskId }
        = "task {task}: canceled by its client";

    /// A caller acted, or was refused: a line for audits.
    Info Audited(audit: Audit<'a>) = "{audit}";

    /// The agent of a task is no longer part of this Worker.
    Error AgentMissing { task: &'a TaskId } = "task {task}: its agent is not served any more";

    /// A run of an executor panicked.
    Error AgentPanicked { task: &'a TaskId } = "task {task}: the agent panicked";

    /// A run was lost, and the task has failed instead of running again. The reason is that of the failed task.
    Error RunGivenUp { agent: &'a str, task: &'a TaskId, reason: &'a str }
        = "task {task}: the run of the agent {agent} is given up: {reason}. Its process or its isolate ended during the run. Deploys and \
           evictions end them, and so do a computation of more than 30 seconds and more than 128 MB of memory";

    /// A function of the project has thrown an error that is no `Failure`. Callers do not see the reason, which is the stack of the
    /// error, or its text.
    Error FunctionFailed { agent: &'a str, task: &'a TaskId, function: &'a str, reason: &'a str }
        = "task {task}: {function} of the agent {agent} failed: {reason}";

    /// A resumed run has begun other steps than the attempts before it. The names of the steps are those of the agent.
    Info StepsDiffer { task: &'a TaskId, before: &'a str, now: &'a str }
        = "task {task}: a resumed run did not begin the steps that an earlier attempt has ended ({before}), and began others \
           ({now}); what decides about steps must itself come from a step";

    /// The credentials that a client sent for a task could not be sealed or opened. The reason contains no part of the
    /// credentials.
    Error CredentialsUnreadable { task: &'a TaskId, reason: &'a str }
        = "task {task}: the credentials of its client: {reason}";

    /// A task could not be opened: its storage cannot be read, or the Worker cannot serve it.
    Error OpeningFailed { task: &'a TaskId, reason: &'a str }
        = "task {task}: opening failed: {reason}";

    /// Data of a task could not be stored. A session whose log was not stored is discarded.
    Error StoringFailed { task: &'a TaskId, reason: &'a str }
        = "task {task}: storing failed: {reason}";

    /// The log of a task could not be read.
    Error ReadingFailed { task: &'a TaskId, reason: &'a str }
        = "task {task}: reading failed: {reason}";

    /// A task could not be written to the index; the write is retried.
    Error IndexBehind { task: &'a TaskId, failures: u32, retry_ms: u64, reason: &'a str }
        = "task {task}: not in the index yet, attempt {failures}, next in {retry_ms} ms: {reason}";

    /// The usage of a turn could not be added to the sums; the addition is retried.
    Error UsageUncounted { task: &'a TaskId, failures: u32, retry_ms: u64, reason: &'a str }
        = "task {task}: what it has used is not counted yet, attempt {failures}, \
           next in {retry_ms} ms: {reason}";

    /// The list of webhooks in trouble could not be updated for a webhook; the update is retried.
    Error WebhookUnlisted {
        task: &'a TaskId,
        webhook: &'a str,
        failures: u32,
        retry_ms: u64,
        reason: &'a str
    } = "task {task}: the list of webhooks does not show how {webhook} fares yet, \
         attempt {failures}, next in {retry_ms} ms: {reason}";

    /// A finished task could not be deleted; the deletion is retried.
    Error DeletionPostponed { task: &'a TaskId, failures: u32, retry_ms: u64, reason: &'a str }
        = "task {task}: not deleted yet, attempt {failures}, next in {retry_ms} ms: {reason}";

    /// A job for a webhook could not be put into the queue. The alarm of the task queues the job again.
    Error QueueFailed { task: &'a TaskId, webhook: &'a str, reason: &'a str }
        = "task {task}: the queue failed for webhook {webhook}: {reason}";

    /// A command to an object could not be read.
    Error CommandUnreadable { reason: &'a str } = "a command could not be read: {reason}";

    /// The platform did not set an alarm, or did not report whether writes are durable.
    Error PlatformFailed {
        /// The operation that failed, for example `setting the alarm`.
        what: &'a str,
        reason: &'a str
    } = "{what} failed: {reason}";

    /// The settings or the agents of this deployment cannot be used: every request is refused.
    Error Misconfigured {
        /// The mistake and its correction.
        reason: &'a str
    } = "{reason}";

    /// These agents require no credentials. Each instance of a deployment reports this observation once.
    Info AgentsOpen {
        /// The slugs of the agents, separated by commas.
        agents: &'a str
    } = "anybody may call these agents: {agents}";

    /// The executor of an agent could not be made: the agent refuses messages.
    Error AgentUnusable {
        agent: &'a str,
        /// The mistake and its correction.
        reason: &'a str
    } = "the agent {agent}: {reason}";

    /// A secret or a variable that an agent reads is not set: the operation that needs it fails.
    Error ValueMissing { agent: &'a str, missing: &'a NotSet } = "the agent {agent}: {missing}";

    /// The object of a task did not answer.
    Error ObjectUnreachable {
        /// `None` if there is no object that could answer.
        task: Option<&'a TaskId>,
        reason: &'a str
    } = { unreachable_object(*task, reason) };

    /// The object of a task sent a frame that cannot be read.
    Error FrameUnreadable { task: Option<&'a TaskId> } = { unreadable_frame(*task) };

    /// The unfinished tasks of a caller cannot be counted: the caller's send is not refused.
    Error QuotaUnknown { reason: &'a str }
        = "a send goes on although its caller's tasks cannot be counted: {reason}";

    /// The usage of a caller in the last day cannot be read: the caller's send is not refused.
    Error UsageUnknown { agent: &'a str, reason: &'a str }
        = "the agent {agent}: a send goes on although what its caller has used is not known: \
           {reason}";

    /// The index cannot be read: a listing is refused, or shows a task without its artifacts.
    Error ListingFailed { reason: &'a str } = "tasks cannot be listed: {reason}";

    /// A tool's counter could not be changed.
    Error CounterFailed { name: &'a str, reason: &'a str } = "counter {name}: {reason}";

    /// The key that signs notifications cannot be used.
    Error KeyFailed { reason: &'a str } = "{reason}";

    /// The skills that an agent learns cannot be requested: the source of the skills is not configured, or is configured
    /// wrongly.
    Error SkillsUnavailable { agent: &'a str, reason: &'a str }
        = "the agent {agent}: its skills cannot be learned: {reason}";

    /// The card of an agent that this Worker calls cannot be fetched or used.
    Error CardUnavailable { host: &'a str, reason: &'a str }
        = "the card of the agent at {host} cannot be fetched: {reason}";

    /// The tools of an MCP server cannot be listed, or not all of them. Known tools stay in use for a week.
    Error ToolsUnavailable { server: &'a str, reason: &'a str }
        = "the tools of the MCP server {server} cannot all be listed: {reason}";

    /// The public keys of an issuer of tokens cannot be fetched. Known keys stay in use for a while; without known keys,
    /// callers are refused and may retry later.
    Error KeySetUnavailable {
        /// The host of the issuer, with the port if the URL has one.
        host: &'a str,
        reason: &'a str
    } = "the public keys of {host} cannot be fetched: {reason}";

    /// A set of public keys contains private, symmetric or weak keys, which are not used.
    Error KeysImproper {
        host: &'a str,
        /// The number of such keys.
        count: usize
    } = "the key set of {host} has {count} keys that are private, symmetric or too weak; \
         they are not used";

    /// The platform refuses the public key that a token names.
    Error KeyRefused {
        /// The name of the key as in the token; shortened in the log line.
        kid: Option<&'a str>
    } = { refused_key(*kid) };

    /// A value fetched from another server cannot be read from D1 or stored there: each instance fetches the value
    /// itself.
    Error RememberingFailed {
        /// The operation, for example `read`.
        what: &'a str,
        reason: &'a str
    } = "the table remembered: {what} failed: {reason}";

    /// A notification was posted to its webhook, or the attempt failed.
    Info NotificationAttempted {
        agent: &'a str,
        task: &'a TaskId,
        webhook: &'a str,
        /// The host of the webhook's URL, with the port if it has one. The rest of the URL may contain secrets.
        host: Option<&'a str>,
        /// The generation of the event.
        generation: Generation,
        /// The HTTP status of the answer; `None` without an answer.
        status: Option<u16>,
        /// The reason why there was no answer.
        error: Option<&'a str>,
        at: &'a Moment
    } = {
        json!({
            "event": "webhook",
            "agent": agent,
            "task": task,
            "config": webhook,
            "host": host,
            "generation": generation,
            "status": status,
            "error": error,
            "durationMs": at.millis(),
        })
    };

    /// A notification was given up. It also becomes a dead letter, whose arrival is logged as an error.
    Info NotificationGivenUp {
        agent: &'a str,
        task: &'a TaskId,
        webhook: &'a str,
        /// The generation of the event.
        generation: Generation,
        reason: &'a str,
        /// True if the webhook receives nothing more.
        is_suspended: bool
    } = {
        json!({
            "event": "notification given up",
            "agent": agent,
            "task": task,
            "config": webhook,
            "generation": generation,
            "error": reason,
            "isSuspended": is_suspended,
        })
    };

    /// A webhook cannot be served now. The queue or the alarm of its task retries it.
    Error WebhookPostponed { task: &'a TaskId, webhook: &'a str, reason: &'a str }
        = "webhook {webhook} of task {task}: {reason}";

    /// A message of the queue cannot be read, at least by this version; the queue delivers it again later.
    Error JobUnreadable { reason: &'a str } = "a message of the queue cannot be read: {reason}";

    /// A dead letter arrived: a message that the queue could not deliver, or a notification that was given up.
    Error DeadLetter {
        /// The body as it was in the queue.
        letter: &'a str
    } = { json!({"event": "webhook dead letter", "letter": letter}) };

    /// A dead letter could not be put into its queue.
    Error DeadLetterLost { letter: &'a str, reason: &'a str }
        = "a dead letter could not be sent: {reason}: {letter}";

    /// The clean-up queued finished tasks for deletion: they expired, or there are too many.
    Info DeletionsQueued { count: usize } = "{count} finished tasks are to be deleted";

    /// The consumer of the queue of deletions deleted finished tasks.
    Info TasksDeleted { count: usize } = "{count} finished tasks were deleted";

    /// The clean-up could not find or delete finished tasks; the next clean-up retries.
    Error CleanUpFailed { reason: &'a str } = "old tasks cannot be deleted now: {reason}";

    /// A request of a client was answered; for a stream, the stream has ended.
    Timing RequestAnswered { request: AnsweredRequest<'a>, at: &'a Moment }
        = { format!("{} {}: {}", request.method, request.route, request.status) };

    /// The facts were found that the decision about a request needed: a large body, verdicts on tokens, quotas.
    Timing FactsFound { at: &'a Moment } = "the facts of a request were found";

    /// The object of a task answered the front Worker; of a stream, its first frame arrived.
    Timing ObjectAsked { at: &'a Moment } = "an object was asked";

    /// A run of an executor ended, was parked or was lost.
    Timing RunEnded {
        agent: &'a str,
        task: &'a TaskId,
        context: Option<&'a str>,
        attempt: u32,
        /// How the run ended: `returned`, `parked`, `failed`, `canceled`, `timeout`, `idle`, `panicked` or `interrupted`.
        ending: &'static str,
        /// The state of the task in the words of the specification; `None` if there is no task.
        state: Option<&'a str>,
        at: &'a Moment
    } = "task {task}: attempt {attempt} of the agent {agent} ended: {ending}";

    /// A piece of work of a run ended: a request to a model, a call, a step.
    Timing WorkDone {
        agent: &'a str,
        task: &'a TaskId,
        work: Work<'a>,
        end: WorkEnd,
        at: &'a Moment
    } = { format!("task {task}: {work:?} of the agent {agent} ended: {end:?}") };

    /// Another server answered the head of a request of a run, or has not.
    Timing HttpRequested {
        agent: &'a str,
        task: &'a TaskId,
        method: &'a str,
        /// The host of the URL, with the port if it has one. The rest of the URL may contain secrets.
        host: Option<&'a str>,
        /// The HTTP status of the answer; `None` without an answer.
        status: Option<u16>,
        at: &'a Moment
    } = "task {task}: {method} of the agent {agent} was answered";

    /// A statement of a task was sent to the index, and has succeeded or failed.
    Timing IndexWritten {
        task: &'a TaskId,
        has_failed: bool,
        at: &'a Moment
    } = "task {task}: the index was written";
}

fn given(agent: &str, task: &TaskId, message: &Message) -> String {
    format!("task {task}: the agent {agent} is given the message {:?}", message.message_id)
}

fn unreachable_object(task: Option<&TaskId>, reason: &str) -> String {
    match task {
        Some(task) => format!("task {task} did not answer: {reason}"),
        None => format!("no task object: {reason}"),
    }
}

fn unreadable_frame(task: Option<&TaskId>) -> String {
    match task {
        Some(task) => format!("task {task}: a frame could not be read"),
        None => "a frame could not be read".to_owned(),
    }
}

fn refused_key(kid: Option<&str>) -> String {
    let kid: String = kid.unwrap_or_default().chars().take(MAX_KID_CHARS).collect();
    format!("the platform refuses the public key {kid:?} of a token's issuer")
}

/// The largest number of characters of a key's name in a log line.
const MAX_KID_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::UnixMillis;

    #[test]
    fn a_message_is_not_part_of_the_line_about_it() {
        let text =
            r#"{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "confidential"}]}"#;
        let message: Message = serde_json::from_str(text).unwrap();
        let task = TaskId::new("t").unwrap();
        let received =
            Observation::MessageReceived { agent: "demo", task: &task, message: &message };
        assert_eq!(received.to_string(), r#"task t: the agent demo is given the message "m""#);
        assert_eq!(received.severity(), Severity::Detail);
    }

    #[test]
    fn an_attempt_is_a_line_of_json() {
        let task = TaskId::new("t").unwrap();
        let attempt = Observation::NotificationAttempted {
            agent: "demo",
            task: &task,
            webhook: "w",
            host: Some("receiver.example"),
            generation: Generation(3),
            status: Some(503),
            error: None,
            at: &Moment { begun: UnixMillis(1_000), ended: UnixMillis(1_012), place: None },
        };
        let line: serde_json::Value = serde_json::from_str(&attempt.to_string()).unwrap();
        let expected = json!({"event": "webhook", "agent": "demo", "task": "t", "config": "w",
            "host": "receiver.example", "generation": 3, "status": 503, "error": null,
            "durationMs": 12});
        assert_eq!(line, expected);
    }
}
