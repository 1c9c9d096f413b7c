//! One attempt to post a notification, without the HTTP call itself: its headers, and the report of its
//! result.

use crate::forms::address::ObjectId;
use crate::push::signature::SigningSecret;
use crate::push::{AnswerText, Notification, Report, retry_after_s};
use a2a::dialect::Dialect;
use a2a::http::trace::TraceContext;
use a2a::model::{AuthenticationInfo, Generation, TaskPushNotificationConfig, UnixMillis};

/// The id of a notification about the object's task: the same for every attempt at the same event.
pub(super) fn notification_id(
    object: &ObjectId,
    config: &TaskPushNotificationConfig,
    generation: Generation,
) -> String {
    format!("{object}.{}.{generation}", config.id)
}

/// The headers of a notification with this id, sent at this time in seconds since 1970.
///
/// `authorization` is used if the client configured no authentication.
pub(super) fn headers(
    notification: &Notification,
    id: &str,
    timestamp_s: i64,
    authorization: Option<String>,
) -> Vec<(&'static str, String)> {
    let Notification { config, generation, body, dialect, trace, .. } = notification;
    let mut headers = vec![
        ("content-type", dialect.notification_type().as_str().to_owned()),
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp_s.to_string()),
        ("a2a-generation", generation.to_string()),
    ];
    if let Some(secret) = SigningSecret::of(config) {
        headers.push(("webhook-signature", secret.sign(id, timestamp_s, body)));
    }
    if let Some(authorization) = configured_authorization(config, *dialect).or(authorization) {
        headers.push(("authorization", authorization));
    }
    if let Some(token) = &config.token {
        headers.push(("x-a2a-notification-token", token.reveal().to_owned()));
        headers.push(("a2a-notification-token", token.reveal().to_owned()));
    }
    let trace = trace.iter().flat_map(TraceContext::headers);
    headers.extend(trace.map(|(name, value)| (name, value.to_owned())));
    headers
}

/// The header `authorization` that the client configured for its webhook.
pub(super) fn configured_authorization(
    config: &TaskPushNotificationConfig,
    dialect: Dialect,
) -> Option<String> {
    let Some(AuthenticationInfo { scheme, credentials }) = &config.authentication else {
        let token = config.token.as_ref().filter(|_| dialect.bears_tokens())?;
        return Some(format!("Bearer {}", token.reveal()));
    };
    let credentials = credentials.as_ref()?.reveal();
    // Receivers may compare the two common schemes letter by letter.
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => "Bearer",
        "basic" => "Basic",
        _ => scheme,
    };
    Some(format!("{scheme} {credentials}"))
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The receiver answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The header `Retry-After`.
        retry_after: Option<String>,
        /// The beginning of the body, if it was read.
        answer: Option<AnswerText>,
    },
    /// The URL must not be called, and was not.
    NotCalled(String),
    /// There was no answer.
    NoAnswer(String),
    /// There was no answer within this time, in milliseconds.
    Silence(u64),
}

/// The report of an attempt for the object of the task.
pub(super) fn report(
    generation: Generation,
    begun: UnixMillis,
    ended: UnixMillis,
    ending: Ending,
) -> Report {
    let duration_ms = u64::try_from(ended.0.saturating_sub(begun.0)).unwrap_or(0);
    let report = Report { generation, at: begun.0, duration_ms, ..Report::default() };
    match ending {
        Ending::Answered { status, retry_after, answer } => {
            let retry_after_s = retry_after.and_then(|text| retry_after_s(&text, ended));
            Report { status: Some(status), retry_after_s, answer, ..report }
        }
        Ending::NotCalled(reason) => Report { error: Some(reason), is_hopeless: true, ..report },
        Ending::NoAnswer(reason) => Report { error: Some(reason), ..report },
        Ending::Silence(patience_ms) => {
            let error = Some(format!("no answer within {patience_ms} ms"));
            Report { error, is_timeout: true, ..report }
        }
    }
}

/// True if a sender that began to serve a webhook at `begun` has to switch to other webhooks now.
pub(in crate::edge) fn is_turn_over(begun: UnixMillis, now: UnixMillis) -> bool {
    now.0.saturating_sub(begun.0) > MAX_TURN_MS
}

/// How long one webhook is served before the sender switches to other webhooks, in milliseconds.
const MAX_TURN_MS: i64 = 10_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::push::Standing;
    use a2a::model::decode::decode;

    const NOW: UnixMillis = UnixMillis(1_767_603_601_250);

    fn notification(config: Value) -> Notification {
        let mut whole = json!({"id": "c", "taskId": "t", "url": "https://example.com/hook"});
        let members = config.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(members);
        Notification {
            lease: "l".to_owned(),
            generation: Generation(4),
            body: r#"{"statusUpdate":{}}"#.to_owned(),
            dialect: Dialect::V1,
            config: decode(whole).unwrap(),
            standing: Standing::Unknown,
            trace: None,
        }
    }

    fn header(config: Value, other: Option<&str>, name: &str) -> Option<String> {
        let headers = headers(&notification(config), "t.c.4", 1_767, other.map(str::to_owned));
        let found: Vec<String> =
            headers.into_iter().filter(|(known, _)| *known == name).map(|(_, v)| v).collect();
        assert!(found.len() <= 1, "{name} is sent once");
        found.into_iter().next()
    }

    #[test]
    fn every_notification_says_what_it_is() {
        for (name, value) in [
            ("content-type", "application/a2a+json"),
            ("webhook-id", "t.c.4"),
            ("webhook-timestamp", "1767"),
            ("a2a-generation", "4"),
        ] {
            assert_eq!(header(json!({}), None, name).as_deref(), Some(value));
        }
        for name in ["authorization", "webhook-signature", "a2a-notification-token"] {
            assert_eq!(header(json!({}), None, name), None, "{name} was not configured");
        }
    }

    #[test]
    fn attempts_at_the_same_event_have_the_same_id() {
        let config = notification(json!({})).config;
        let object = ObjectId::new("0a").unwrap();
        assert_eq!(notification_id(&object, &config, Generation(4)), "0a.c.4");
        for (object, generation) in [(&object, 5), (&ObjectId::new("0b").unwrap(), 4)] {
            assert_ne!(notification_id(object, &config, Generation(generation)), "0a.c.4");
        }
    }

    #[test]
    fn what_the_client_configured_goes_before_a_token_of_ours() {
        let with =
            |scheme: &str| json!({"authentication": {"scheme": scheme, "credentials": "x y"}});
        for (config, sent) in [
            (json!({}), "Bearer ours"),
            (with("bearer"), "Bearer x y"),
            (with("BASIC"), "Basic x y"),
            (with("ApiKey"), "ApiKey x y"),
            (json!({"authentication": {"scheme": "Bearer"}}), "Bearer ours"),
        ] {
            let authorization = header(config, Some("Bearer ours"), "authorization");
            assert_eq!(authorization.as_deref(), Some(sent));
        }
    }

    #[test]
    fn older_dialects_have_a_content_type_of_their_own_and_the_oldest_bears_its_tokens() {
        let sent = |dialect, config: Value, name: &str| {
            let notification = Notification { dialect, ..notification(config) };
            let headers = headers(&notification, "t.c.4", 1_767, None);
            headers.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let credentials = json!({"scheme": "Basic", "credentials": "x"});
        for (dialect, media_type, bearer) in [
            (Dialect::V1, "application/a2a+json", None),
            (Dialect::V0_3, "application/json", None),
            (Dialect::Legacy, "application/json", Some("Bearer k")),
        ] {
            let plain = json!({"token": "k"});
            assert_eq!(sent(dialect, plain.clone(), "content-type").as_deref(), Some(media_type));
            assert_eq!(sent(dialect, plain.clone(), "authorization").as_deref(), bearer);
            assert_eq!(sent(dialect, plain, "x-a2a-notification-token").as_deref(), Some("k"));
            let both = json!({"token": "k", "authentication": credentials});
            assert_eq!(sent(dialect, both, "authorization").as_deref(), Some("Basic x"));
            assert_eq!(sent(dialect, json!({}), "authorization"), None);
        }
    }

    #[test]
    fn secrets_of_the_client_are_used_as_it_wants_them() {
        let secret = json!({"signingSecret": format!("whsec_{}", "A".repeat(32)), "token": "k"});
        let signature = header(secret.clone(), None, "webhook-signature").unwrap();
        assert!(signature.starts_with("v1,"), "{signature}");
        for name in ["x-a2a-notification-token", "a2a-notification-token"] {
            assert_eq!(header(secret.clone(), None, name).as_deref(), Some("k"));
        }
    }

    #[test]
    fn the_report_tells_how_an_attempt_ended() {
        let told = |ending| report(Generation(4), NOW, UnixMillis(NOW.0 + 30), ending);
        let plain =
            Report { generation: Generation(4), at: NOW.0, duration_ms: 30, ..Report::default() };
        let answered = |status, retry_after: Option<&str>| Ending::Answered {
            status,
            retry_after: retry_after.map(str::to_owned),
            answer: None,
        };
        for (ending, expected) in [
            (answered(204, None), Report { status: Some(204), ..plain.clone() }),
            (
                answered(503, Some("7")),
                Report { status: Some(503), retry_after_s: Some(7), ..plain.clone() },
            ),
            (answered(429, Some("soon")), Report { status: Some(429), ..plain.clone() }),
            (
                Ending::NotCalled("no".to_owned()),
                Report { error: Some("no".to_owned()), is_hopeless: true, ..plain.clone() },
            ),
            (
                Ending::NoAnswer("lost".to_owned()),
                Report { error: Some("lost".to_owned()), ..plain.clone() },
            ),
            (
                Ending::Silence(2_000),
                Report {
                    error: Some("no answer within 2000 ms".to_owned()),
                    is_timeout: true,
                    ..plain.clone()
                },
            ),
        ] {
            assert_eq!(told(ending), expected);
        }
    }

    #[test]
    fn a_clock_that_goes_back_is_no_duration() {
        let ending = Ending::NoAnswer(String::new());
        assert_eq!(report(Generation(1), NOW, UnixMillis(NOW.0 - 1), ending).duration_ms, 0);
    }

    #[test]
    fn a_sender_leaves_a_webhook_after_its_turn() {
        assert!(!is_turn_over(NOW, UnixMillis(NOW.0 + MAX_TURN_MS)));
        assert!(is_turn_over(NOW, UnixMillis(NOW.0 + MAX_TURN_MS + 1)));
    }
}
