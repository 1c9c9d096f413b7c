//! Posts a notification to its webhook: for the consumer of the queue, and for an object that tests a webhook.

mod attempt;

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};
use worker::{Delay, Env};

use crate::config::Settings;
use crate::edge::service::clock::now;
use crate::edge::service::keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::outbound::Outbound;
use crate::edge::target::{check_webhook_url, origin_of};
use crate::forms::address::ObjectId;
use crate::port::{
    Http, HttpAnswer, HttpError, HttpRequest, Moment, Observation, Observer, SpanPlace,
};
use crate::push::{AnswerText, Hidden, Notification, Report, host_of};
use crate::signing::Claims;
pub(in crate::edge) use attempt::is_turn_over;
use attempt::{Ending, configured_authorization, headers, notification_id, report};

/// Posts notifications.
pub(in crate::edge) struct Poster {
    pub(in crate::edge) env: Env,
    pub(in crate::edge) settings: Rc<Settings>,
    pub(in crate::edge) observer: ConsoleObserver,
}

impl Poster {
    /// Makes one attempt to send a notification about the object's task, waits up to `patience_ms` milliseconds for the answer, and logs the
    /// attempt.
    pub(in crate::edge) async fn attempt(
        &self,
        agent: &str,
        notification: &Notification,
        object: &ObjectId,
        patience_ms: u64,
        place: Option<SpanPlace>,
    ) -> Report {
        let begun = now();
        let ending = post(notification, object, patience_ms, self).await;
        let report = report(notification.generation, begun, now(), ending);
        let at = &Moment { begun, ended: begun.after(report.duration_ms), place };
        self.observer.observe(&Observation::NotificationAttempted {
            agent,
            task: &notification.config.task_id,
            webhook: &notification.config.id,
            host: host_of(&notification.config.url),
            generation: report.generation,
            status: report.status,
            error: report.error.as_deref(),
            at,
        });
        report
    }
}

async fn post(
    notification: &Notification,
    object: &ObjectId,
    patience_ms: u64,
    by: &Poster,
) -> Ending {
    let Notification { config, generation, body, dialect, .. } = notification;
    if let Err(reason) = check_webhook_url(&config.url, &by.settings) {
        return Ending::NotCalled(format!("the URL {reason}"));
    }
    let timestamp_s = now().0 / 1_000;
    let mut id = notification_id(object, config, *generation);
    if notification.is_test() {
        // Otherwise receivers would take the second test for a repetition.
        id = format!("{id}.{timestamp_s}");
    }
    let authorization = match configured_authorization(config, *dialect) {
        Some(_) => None,
        None => token(notification, &id, timestamp_s, by).await,
    };
    let hidden = Hidden::of(config, authorization.as_deref());
    let headers = headers(notification, &id, timestamp_s, authorization);
    let begun = now();
    let request = HttpRequest {
        headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        timeout_ms: patience_ms,
        ..HttpRequest::new("POST", &config.url).with_body(body.as_str())
    };
    match Outbound.send(request).await {
        Ok(answer) => {
            let (status, retry_after) = (answer.status, answer.header("retry-after"));
            let retry_after = retry_after.map(str::to_owned);
            // The body of a success is only read for a test: the exchange ends when the answer is dropped.
            let answer = if answer.is_success() && !notification.is_test() {
                None
            } else {
                let waited_ms = u64::try_from(now().0.saturating_sub(begun.0)).unwrap_or(0);
                let left_ms = patience_ms.saturating_sub(waited_ms).min(MAX_READ_MS);
                beginning_of(answer, &hidden, left_ms).await
            };
            Ending::Answered { status, retry_after, answer }
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

/// The beginning of an answer that is text; of one that is not complete within this time, what has arrived.
async fn beginning_of(answer: HttpAnswer, hidden: &Hidden, within_ms: u64) -> Option<AnswerText> {
    if !AnswerText::is_kept(answer.header("content-type")) {
        return None;
    }
    let (mut body, window) = (answer.body, hidden.window());
    let mut bytes = Vec::new();
    let read = async {
        while bytes.len() <= window {
            match body.next().await {
                Some(Ok(piece)) => bytes.extend(piece),
                Some(Err(_)) => return false,
                None => return true,
            }
        }
        false
    };
    let is_whole = match select(pin!(read), Delay::from(Duration::from_millis(within_ms))).await {
        Either::Left((is_whole, _)) => is_whole,
        Either::Right(_) => false,
    };
    bytes.truncate(window);
    AnswerText::read(&bytes, is_whole, hidden)
}

/// The header `authorization` with a JWT signed by the operator's key; `None` if no key can be used.
async fn token(
    notification: &Notification,
    id: &str,
    issued_at_s: i64,
    by: &Poster,
) -> Option<String> {
    let Poster { env, settings, observer } = by;
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

/// The longest time for which the body of an answer is read, in milliseconds.
const MAX_READ_MS: u64 = 1_000;
