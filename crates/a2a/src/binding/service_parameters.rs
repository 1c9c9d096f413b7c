//! The service parameters of a request (spec §3.2.6), the same in every binding.

use super::extensions;
use crate::dialect::requested_version;
use crate::error::Error;
use crate::model::GENERATION_EXTENSION;
use crate::wire::http::OWS;
use crate::{Call, FollowCall, TaskCall, Terms};

/// The service parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceParameters {
    /// The requested version of the protocol; `None` means 0.3.
    pub version: Option<String>,
    /// The URIs of the requested extensions.
    pub extensions: Vec<String>,
    /// `Last-Event-ID`: the newest event that the client of a stream has received.
    pub last_event_id: Option<String>,
    /// `Idempotency-Key`: the client's name for a send, so that a repeated send does not create a second
    /// task.
    pub idempotency_key: Option<String>,
    /// `Run-Timeout-Ms`: the time limit for the run that a send starts.
    pub run_timeout: Option<String>,
    /// `If-Generation-Match`: the required generation of the task of a message, a cancel or a deletion.
    pub if_generation_match: Option<String>,
    /// `After-Generation`: the generation of the task that the client has. The client waits for a newer
    /// one.
    pub after_generation: Option<String>,
    /// `Prefer`: the preferences of the client (RFC 7240).
    pub prefer: Option<String>,
}

impl ServiceParameters {
    /// Reads the parameters. `header` returns the value of a header, several values of one name joined
    /// by commas.
    pub fn read(header: impl Fn(&str) -> Option<String>, query: &str) -> Self {
        // The second name is from A2A 0.3.
        let extensions = ["a2a-extensions", "x-a2a-extensions"].map(&header);
        Self {
            version: requested_version(header("a2a-version").as_deref(), query),
            extensions: extensions::requested(extensions.iter().flatten().map(String::as_str)),
            last_event_id: header("last-event-id"),
            idempotency_key: header("idempotency-key"),
            run_timeout: header("run-timeout-ms"),
            if_generation_match: header("if-generation-match"),
            after_generation: header("after-generation"),
            prefer: header("prefer"),
        }
    }

    /// The generation of the newest event that the client of a stream has received; `None` for an absent
    /// or empty `Last-Event-ID`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the value is not a number.
    pub fn after(&self) -> Result<Option<u64>, Error> {
        let text = self.last_event_id.as_deref().map(str::trim).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let refused = || Error::invalid("Last-Event-ID", "must be the id of an event of this task");
        text.parse().map(Some).map_err(|_| refused())
    }

    /// The `Idempotency-Key`, if the request has one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key is empty, longer than [`MAX_KEY_CHARS`], or not UTF-8.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Error> {
        let Some(key) = self.idempotency_key.as_deref() else { return Ok(None) };
        let refused = |description: String| Err(Error::invalid("Idempotency-Key", description));
        if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
            return refused(format!("must have 1 to {MAX_KEY_CHARS} characters"));
        }
        // The platform replaces bytes that are not UTF-8 by this character, so different keys would
        // become equal.
        if key.contains(char::REPLACEMENT_CHARACTER) {
            return refused("must be UTF-8".to_owned());
        }
        Ok(Some(key))
    }

    /// The terms of a call, with these active extensions.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] for a generation that is not a number, or a header that the call does
    /// not accept.
    pub fn terms(&self, call: &Call, active: &[String]) -> Result<Terms, Error> {
        let (takes_match, takes_after) = match call {
            Call::Task(TaskCall::SendMessage(request))
            | Call::Follow(FollowCall::SendStreamingMessage(request)) => {
                (request.message.task_id.is_some(), false)
            }
            Call::Task(TaskCall::CancelTask(_) | TaskCall::DeleteTask(_)) => (true, false),
            Call::Task(TaskCall::GetTask(_)) => (false, true),
            Call::List(_)
            | Call::Webhooks(_)
            | Call::Context(_)
            | Call::Card
            | Call::Task(TaskCall::GetTaskTimeline(_) | TaskCall::Webhook(_))
            | Call::Follow(FollowCall::SubscribeToTask(_)) => (false, false),
        };
        let with_task = "belongs to CancelTask, DeleteTask and messages with a taskId";
        let expected = generation(
            "If-Generation-Match",
            self.if_generation_match.as_deref(),
            takes_match,
            with_task,
        )?;
        let after = generation(
            "After-Generation",
            self.after_generation.as_deref(),
            takes_after,
            "belongs to GetTask",
        )?;
        let wait_s = self.prefer.as_deref().and_then(preferred_wait);
        Ok(Terms {
            expected,
            after,
            wait_ms: wait_s.map(|seconds| seconds.saturating_mul(1000)),
            run_timeout_ms: self.run_timeout_ms(call)?,
            answer_within_ms: None,
            shows_ended: false,
            refuses_canceled: false,
            shows_generation: active.iter().any(|uri| uri == GENERATION_EXTENSION),
            shows_statuses: false,
            over_quota: None,
            is_reserved: false,
            used_up: None,
            allowance: None,
        })
    }

    /// `Run-Timeout-Ms`: the time limit for the run that a send starts, in milliseconds.
    fn run_timeout_ms(&self, call: &Call) -> Result<Option<u64>, Error> {
        let Some(text) = &self.run_timeout else { return Ok(None) };
        if call.message().is_none() {
            return Err(Error::invalid("Run-Timeout-Ms", "belongs to messages"));
        }
        let millis = text.trim_matches(OWS).parse().ok().filter(|millis| *millis > 0);
        let refused = || Error::invalid("Run-Timeout-Ms", "must be milliseconds, 1 or more");
        millis.map(Some).ok_or_else(refused)
    }
}

/// The generation in a header. For a call that does not accept the header, the error names the calls
/// that do.
fn generation(
    name: &str,
    value: Option<&str>,
    is_taken: bool,
    belongs: &str,
) -> Result<Option<u64>, Error> {
    let Some(text) = value else { return Ok(None) };
    if !is_taken {
        return Err(Error::invalid(name, belongs));
    }
    let refused = || Error::invalid(name, "must be a generation of the task, as 7");
    text.trim_matches(OWS).parse().map(Some).map_err(|_| refused())
}

/// The seconds of the preference `wait`; of several, the first counts (RFC 7240 §2, §4.3). A value that
/// cannot be parsed is ignored, as RFC 7240 requires for preferences.
fn preferred_wait(header: &str) -> Option<u64> {
    let preferences = header.split(',').filter_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        name.trim_matches(OWS).eq_ignore_ascii_case("wait").then_some(value)
    });
    preferences.map(|value| value.trim_matches(OWS).trim_matches('"').parse().ok()).next().flatten()
}

/// The longest `Idempotency-Key`, in characters.
pub const MAX_KEY_CHARS: usize = 255;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Operation;

    #[test]
    fn headers_of_both_names_are_read() {
        let header = |name: &str| match name {
            "a2a-version" => Some("1.0".to_owned()),
            "a2a-extensions" => Some("urn:a, urn:b".to_owned()),
            "x-a2a-extensions" => Some("urn:c".to_owned()),
            "last-event-id" => Some("7".to_owned()),
            "idempotency-key" => Some("k".to_owned()),
            _ => None,
        };
        let read = ServiceParameters::read(header, "");
        assert_eq!(read.version.as_deref(), Some("1.0"));
        assert_eq!(read.extensions, ["urn:a", "urn:b", "urn:c"]);
        assert_eq!(read.after(), Ok(Some(7)));
        assert_eq!(read.idempotency_key(), Ok(Some("k")));
        assert_eq!(ServiceParameters::read(|_| None, ""), ServiceParameters::default());
    }

    fn reading(headers: &[(&str, &str)]) -> ServiceParameters {
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ServiceParameters::read(header, "")
    }

    fn call(operation: Operation, params: serde_json::Value) -> Call {
        operation.decode(params).expect("a good call")
    }

    fn calls() -> [Call; 7] {
        let message = |task: Option<&str>| {
            let parts = json!([{"text": "x"}]);
            json!({"message":
                {"messageId": "m", "role": "ROLE_USER", "parts": parts, "taskId": task}})
        };
        [
            call(Operation::SendMessage, message(None)),
            call(Operation::SendMessage, message(Some("t"))),
            call(Operation::CancelTask, json!({"id": "t"})),
            call(Operation::GetTask, json!({"id": "t"})),
            call(Operation::SubscribeToTask, json!({"id": "t"})),
            call(Operation::ListTasks, json!({})),
            call(Operation::ListTaskPushNotificationConfigs, json!({"taskId": "t"})),
        ]
    }

    #[test]
    fn generations_are_taken_where_they_belong_and_refused_elsewhere() {
        let matching = reading(&[("if-generation-match", " 7 ")]);
        let after = reading(&[("after-generation", "7")]);
        for (call, takes) in calls().iter().zip(["", "match", "match", "after", "", "", ""]) {
            let expected = matching.terms(call, &[]);
            match takes {
                "match" => assert_eq!(expected.unwrap().expected, Some(7)),
                _ => assert!(expected.unwrap_err().to_string().contains("messages with a taskId")),
            }
            let waiting = after.terms(call, &[]);
            match takes {
                "after" => assert_eq!(waiting.unwrap().after, Some(7)),
                _ => assert!(waiting.unwrap_err().to_string().contains("belongs to GetTask")),
            }
            assert_eq!(ServiceParameters::default().terms(call, &[]), Ok(Terms::default()));
        }
    }

    #[test]
    fn generations_are_numbers() {
        let [_, send, _, get, ..] = calls();
        for value in ["", "x", "-1", "1.5", "\"7\"", "7, 7", "18446744073709551616"] {
            assert!(
                reading(&[("if-generation-match", value)]).terms(&send, &[]).is_err(),
                "{value}"
            );
            assert!(reading(&[("after-generation", value)]).terms(&get, &[]).is_err(), "{value}");
        }
    }

    #[test]
    fn a_wait_is_read_among_other_preferences() {
        let [_, _, _, get, ..] = calls();
        for (prefer, wait_ms) in [
            ("wait=10", Some(10_000)),
            ("respond-async, WAIT = 10", Some(10_000)),
            ("wait=\"10\"; strictly", Some(10_000)),
            ("wait=1, wait=2", Some(1_000)),
            ("wait=0", Some(0)),
            ("wait=18446744073709551615", Some(u64::MAX)),
            ("wait", None),
            ("wait=soon", None),
            ("return=minimal; wait=5", None),
        ] {
            let terms = reading(&[("prefer", prefer)]).terms(&get, &[]).unwrap();
            assert_eq!(terms.wait_ms, wait_ms, "{prefer}");
        }
    }

    #[test]
    fn the_extension_shows_generations() {
        let [_, _, _, get, ..] = calls();
        for (uri, is_shown) in [(GENERATION_EXTENSION, true), ("urn:other", false)] {
            let terms = reading(&[]).terms(&get, &[uri.to_owned()]).unwrap();
            assert_eq!(terms.shows_generation, is_shown);
        }
    }

    #[test]
    fn parameters_that_cannot_be_used_are_named() {
        let read = |name: &'static str, value: String| {
            ServiceParameters::read(|known| (known == name).then(|| value.clone()), "")
        };
        for value in ["x", "-1", "1.5"] {
            let refused = read("last-event-id", value.to_owned()).after().unwrap_err();
            assert!(refused.to_string().contains("Last-Event-ID"), "{refused}");
        }
        assert_eq!(read("last-event-id", " ".to_owned()).after(), Ok(None));
        for value in [String::new(), "k".repeat(256), "✓".repeat(256), "k\u{fffd}".to_owned()] {
            let refused = read("idempotency-key", value);
            assert!(refused.idempotency_key().is_err());
        }
        for key in ["k".repeat(255), "✓".repeat(255)] {
            assert!(read("idempotency-key", key).idempotency_key().is_ok());
        }
    }
}
