//! The reason why an exchange with the agent failed, in words that help the author of the agent to fix the problem.

use super::super::ExecutorError;
use super::call::Call;
use super::verb::short;
use crate::port::{HttpAnswer, HttpBody, HttpError};
use a2a::http::{one_line, retry_after_ms, shown_url};
use a2a::model::UnixMillis;

/// A failed exchange.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    /// The description of the failure, with the name of the agent.
    pub(super) text: String,
    /// The prospects of sending the same request again.
    pub(super) again: Again,
    /// True if the agent may still be working although no answer can be received.
    pub(super) may_work_on: bool,
}

/// The prospects of sending the same request again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The same request would fail again.
    Never,
    /// The same request may succeed later, after the delay that the agent has named, if any, in milliseconds.
    After(Option<u64>),
    /// No program has answered. The text describes the state of the connection and follows the name of the agent.
    Unanswered(String),
}

impl Failure {
    /// The answer breaks the protocol.
    pub(super) fn wrong(name: &str, problem: &str) -> Self {
        let text = format!("the answer of {name} cannot be used: {problem}");
        Self { text, again: Again::Never, may_work_on: true }
    }

    /// Our own task refuses an event.
    pub(super) fn own(error: ExecutorError) -> Self {
        Self { text: error.0, again: Again::Never, may_work_on: true }
    }

    /// The answer did not begin within the timeout.
    pub(super) fn slow(name: &str, timeout_ms: u64) -> Self {
        let text = format!("{name} did not begin its answer within {timeout_ms} ms (timeout_ms)");
        Self { text, again: Again::Never, may_work_on: true }
    }

    /// The answer paused for longer than the idle timeout.
    pub(super) fn stalled(name: &str, idle_timeout_ms: u64) -> Self {
        let text = format!(
            "the answer of {name} stopped: nothing came for {idle_timeout_ms} ms (idle_timeout_ms), and it has not ended"
        );
        Self { text, again: Again::Never, may_work_on: true }
    }

    /// The request was not answered.
    pub(super) fn unanswered(call: &Call, error: HttpError) -> Self {
        let name = &call.name;
        let (what, again) = told(name, error);
        let again = match again {
            Again::After(_) if !call.is_bound || is_of_platform(&what) => {
                Again::Unanswered(fate(&what))
            }
            // The text is the message of an exception in a bound Worker, so the Worker is running.
            again => again,
        };
        Self { text: format!("{name} did not answer: {what}"), again, may_work_on: false }
    }

    /// The answer broke off.
    pub(super) fn broken(name: &str, error: HttpError) -> Self {
        let (what, again) = told(name, error);
        Self { text: format!("the answer of {name} broke off: {what}"), again, may_work_on: true }
    }

    /// The answer has a status that is not a success.
    pub(super) fn status(call: &Call, answer: &HttpAnswer, begins: &str, now: UnixMillis) -> Self {
        let (name, status) = (&call.name, answer.status);
        let said = match (status, answer.header("location")) {
            (300..400, Some(location)) => {
                format!(
                    ", a redirect to {}; redirects are not followed: name that URL in the agent file",
                    short(&shown_url(location))
                )
            }
            (300..400, None) => "; redirects are not followed".to_owned(),
            _ if begins.is_empty() => String::new(),
            _ => format!(": {begins}"),
        };
        let again = match status {
            // Cloudflare answers with these statuses itself if it cannot reach the server.
            521 => Again::Unanswered("refused the connection".to_owned()),
            522 | 523 | 530 => Again::Unanswered(format!("cannot be reached (status {status})")),
            // `wrangler dev` answers with this status itself if the bound Worker is not started.
            503 if call.is_bound && begins.ends_with(NOT_STARTED) => {
                Again::Unanswered("is not started".to_owned())
            }
            429 | 500.. => {
                let wait = answer.header("retry-after");
                Again::After(wait.and_then(|wait| retry_after_ms(wait, now)))
            }
            _ => Again::Never,
        };
        Self { text: format!("{name} answered {status}{said}"), again, may_work_on: false }
    }

    /// `times` requests in a row were not answered, for `silent_ms` in total.
    pub(super) fn down(host: &str, fate: &str, times: u32, silent_ms: u64) -> Self {
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let seconds = silent_ms.div_ceil(1_000).max(1);
        let text =
            format!("the agent's program at {host} {fate}, {times} in {seconds} s; is it running?");
        Self { text, again: Again::Never, may_work_on: false }
    }

    /// The same failure, with the number of requests added to its text.
    pub(super) fn after(self, asked: u32) -> Self {
        match asked {
            1 => self,
            _ => Self { text: format!("{} (asked {asked} times)", self.text), ..self },
        }
    }
}

/// The description of an error, and the prospects of sending the same request again.
fn told(name: &str, error: HttpError) -> (String, Again) {
    match error {
        HttpError::Failed { url, reason } => {
            // The platform's message may contain the whole URL, which may contain secrets.
            let reason = one_line(&reason.replace(&url, name));
            (reason, Again::After(None))
        }
        HttpError::Silent { timeout_ms, .. } => {
            (format!("nothing came within {timeout_ms} ms"), Again::Never)
        }
        HttpError::TooLarge { max_bytes, .. } => {
            (format!("it has more than {max_bytes} bytes"), Again::Never)
        }
        HttpError::Refused { reason, .. } => (format!("its URL {reason}"), Again::Never),
        HttpError::Unbound { reason } => (reason, Again::Never),
        HttpError::Status { .. } | HttpError::Misfit { .. } => (error.to_string(), Again::Never),
    }
}

/// Describes a connection that returned no answer. The platform has the same message for a refused and for a lost
/// connection; it reports an unknown host as an internal error.
fn fate(what: &str) -> String {
    if what.contains(LOST) {
        return "refused or lost the connection".to_owned();
    }
    format!("cannot be reached ({what})")
}

/// True if the text is the platform's own message for a failed exchange.
fn is_of_platform(what: &str) -> bool {
    what.contains(LOST) || what.contains(INTERNAL)
}

const LOST: &str = "Network connection lost";
const INTERNAL: &str = "internal error; reference = ";

/// The end of the answer that `wrangler dev` sends for a bound Worker that is not started.
const NOT_STARTED: &str = "Make sure it is running locally.";

/// The beginning of a body, on one line.
pub(super) async fn beginning(body: &mut HttpBody) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_ERROR_BYTES
        && let Some(Ok(piece)) = body.next().await
    {
        bytes.extend(piece);
    }
    bytes.truncate(MAX_ERROR_BYTES);
    let line = one_line(&String::from_utf8_lossy(&bytes));
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The largest number of bytes that are read of an error's body.
const MAX_ERROR_BYTES: usize = 4 * 1024;

/// The largest number of characters that are quoted of an error's body.
const EXCERPT_CHARS: usize = 300;
