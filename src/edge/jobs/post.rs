//! Posts a notification to its webhook.

use worker::Env;

use super::attempt::{Ending, configured_authorization, headers, notification_id};
use crate::config::Settings;
use crate::edge::service::clock::now;
use crate::edge::service::keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::outbound::Outbound;
use crate::edge::target::{check_webhook_url, origin_of};
use crate::forms::address::ObjectId;
use crate::port::{Http, HttpError, HttpRequest, Observation, Observer};
use crate::push::Notification;
use crate::signing::Claims;

/// Makes one attempt to send a notification about the object's task, and waits up to `patience_ms` milliseconds for the
/// answer.
pub(super) async fn post(
    notification: &Notification,
    object: &ObjectId,
    patience_ms: u64,
    env: &Env,
    settings: &Settings,
    observer: ConsoleObserver,
) -> Ending {
    let Notification { config, generation, body, dialect, .. } = notification;
    if let Err(reason) = check_webhook_url(&config.url, settings) {
        return Ending::NotCalled(format!("the URL {reason}"));
    }
    let id = notification_id(object, config, *generation);
    let timestamp_s = now().0 / 1_000;
    let authorization = match configured_authorization(config, *dialect) {
        Some(_) => None,
        None => token(notification, &id, timestamp_s, env, settings, observer).await,
    };
    let headers = headers(notification, &id, timestamp_s, authorization);
    let request = HttpRequest {
        headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        timeout_ms: patience_ms,
        ..HttpRequest::new("POST", &config.url).with_body(body.as_str())
    };
    // The body of the answer is not read: the exchange ends when the answer is dropped.
    match Outbound.send(request).await {
        Ok(answer) => {
            let retry_after = answer.header("retry-after").map(str::to_owned);
            Ending::Answered { status: answer.status, retry_after }
        }
        Err(HttpError::Silent { .. }) => Ending::Silence(patience_ms),
        Err(HttpError::Failed { reason, .. }) => Ending::NoAnswer(reason),
        Err(
            error @ (HttpError::TooLarge { .. }
            | HttpError::Status { .. }
            | HttpError::Misfit { .. }),
        ) => Ending::NoAnswer(error.to_string()),
        Err(HttpError::Refused { reason, .. } | HttpError::Unbound { reason }) => {
            Ending::NotCalled(reason)
        }
    }
}

/// The header `authorization` with a JWT signed by the operator's key; `None` if no key can be used.
async fn token(
    notification: &Notification,
    id: &str,
    issued_at_s: i64,
    env: &Env,
    settings: &Settings,
    observer: ConsoleObserver,
) -> Option<String> {
    let config = &notification.config;
    let claims = Claims {
        issuer: settings.public_url.as_deref().unwrap_or("a2a-edge"),
        audience: &origin_of(&config.url).unwrap_or_default(),
        issued_at_s,
        id,
        task_id: config.task_id.as_str(),
    };
    match keys::sign(env, &claims).await {
        Ok(token) => token.map(|token| format!("Bearer {token}")),
        Err(reason) => {
            observer.observe(&Observation::KeyFailed { reason: &reason });
            None
        }
    }
}
