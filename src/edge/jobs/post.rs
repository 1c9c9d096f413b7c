//! Posts a notification to its webhook.

use std::time::Duration;

use futures_util::future::{Either, select};
use worker::{Delay, Env};

use super::attempt::{Ending, configured_authorization, headers, notification_id};
use crate::config::Settings;
use crate::edge::request::new_request;
use crate::edge::service::clock::now;
use crate::edge::service::keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::outbound;
use crate::edge::target::{check_webhook_url, origin_of};
use crate::operation::Notification;
use crate::port::{Observation, Observer};
use crate::push::jwk::Claims;

/// Makes one attempt at a notification, and waits up to `patience_ms` milliseconds for the answer.
pub(super) async fn post(
    notification: &Notification,
    patience_ms: u64,
    env: &Env,
    settings: &Settings,
    observer: ConsoleObserver,
) -> Ending {
    let Notification { config, generation, body, .. } = notification;
    if let Err(reason) = check_webhook_url(&config.url, settings) {
        return Ending::NotCalled(format!("the URL {reason}"));
    }
    let id = notification_id(config, *generation);
    let timestamp_s = now().0 / 1_000;
    let authorization = match configured_authorization(config) {
        Some(_) => None,
        None => token(notification, &id, timestamp_s, env, settings, observer).await,
    };
    let headers = headers(notification, &id, timestamp_s, authorization);
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let request = match new_request("POST", &config.url, &headers, Some(body)) {
        Ok(request) => request,
        Err(error) => return Ending::NoAnswer(error.to_string()),
    };
    let answer = Box::pin(outbound::fetch(request));
    match select(answer, Delay::from(Duration::from_millis(patience_ms))).await {
        // The body of the answer is not read: the exchange ends here.
        Either::Left((Ok((answer, _)), _)) => {
            let status = answer.status_code();
            let retry_after = answer.headers().get("retry-after").ok().flatten();
            Ending::Answered { status, retry_after }
        }
        Either::Left((Err(error), _)) => Ending::NoAnswer(error.to_string()),
        Either::Right(_) => Ending::Silence(patience_ms),
    }
}

/// The header `authorization` with a JWT of the operator's key, if there is a key that can be used.
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
