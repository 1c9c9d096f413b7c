//! The consumer of the queue of notifications: asks the objects what is owed, sends it in order, reports.
//!
//! A message of the queue says only that a webhook is owed something. One sender at a time has the lease of
//! a webhook; it asks for one notification after the other and reports each, so that a webhook that is
//! deleted gets nothing more. What the queue loses, the object's alarm finds.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use serde_json::json;
use worker::{
    Delay, Env, MessageBatch, MessageExt, QueueRetryOptionsBuilder, RawMessage, Response, Result,
    console_error, console_log,
};

use super::bindings::ANSWERS_AT_ONCE;
use super::platform::now;
use super::request::new_request;
use super::target::{check_webhook_url, origin_of};
use super::{bindings, jwt, outbound};
use crate::binding::MediaType;
use crate::config::Settings;
use crate::model::decode::read_json;
use crate::model::{AuthenticationInfo, TaskPushNotificationConfig};
use crate::operation::{GivenUp, NextNotification, Notification, NotificationTurn};
use crate::port::WebhookJob;
use crate::push::Report;
use crate::push::jwk::Claims;
use crate::push::signature::SigningSecret;

/// Handles one batch of either queue. Each message is settled on its own.
pub async fn consume(batch: MessageBatch<String>, env: Env) {
    let settings = match bindings::settings(&env) {
        Ok(settings) => settings,
        // The messages come again, and the settings may be right by then.
        Err(error) => {
            console_error!("{error}");
            return batch.retry_all();
        }
    };
    let is_dead = batch.queue().ends_with(DEAD_SUFFIX);
    let settled = stream::iter(batch.raw_iter()).for_each_concurrent(ANSWERS_AT_ONCE, |message| {
        let (env, settings) = (&env, &settings);
        async move {
            match is_dead {
                true => bury(&message),
                false => handle(&message, env, settings).await,
            }
        }
    });
    settled.await;
}

/// A dead letter is told to the operators; the task knows of it already.
fn bury(message: &RawMessage) {
    let letter = message.body().as_string().unwrap_or_default();
    console_error!("{}", json!({"event": "webhook dead letter", "letter": letter}));
    message.ack();
}

async fn handle(message: &RawMessage, env: &Env, settings: &Settings) {
    let text = message.body().as_string().unwrap_or_default();
    let job: WebhookJob = match read_json(&text) {
        Ok(job) => job,
        Err(error) => {
            console_error!("a message of the queue cannot be read, and is dropped: {error}");
            return message.ack();
        }
    };
    match serve(&job, env, settings).await {
        Ok(()) => message.ack(),
        Err(error) => {
            console_error!("webhook {} of task {}: {error}", job.config_id, job.task);
            let later = QueueRetryOptionsBuilder::new().with_delay_seconds(RETRY_S).build();
            message.retry_with_options(&later);
        }
    }
}

/// Sends what a webhook is owed, until there is nothing more, somebody else is at it, or it takes too long.
async fn serve(job: &WebhookJob, env: &Env, settings: &Settings) -> Result<()> {
    let begun = now().0;
    let mut asked = NextNotification { config_id: job.config_id.clone(), ..Default::default() };
    loop {
        asked.leaves = now().0.saturating_sub(begun) > MAX_TURN_MS;
        let turn = ask(env, job, &asked).await?;
        if let Some(given_up) = turn.given_up {
            send_dead_letter(env, job, &given_up).await;
        }
        let Some(notification) = turn.next else { return Ok(()) };
        let report = send(&notification, env, settings).await;
        log(job, &notification.config, &report);
        asked.lease = Some(notification.lease);
        asked.report = Some(report);
    }
}

async fn ask(env: &Env, job: &WebhookJob, asked: &NextNotification) -> Result<NotificationTurn> {
    let tasks = bindings::tasks(env)?;
    let Ok(id) = tasks.id_from_string(job.task.as_str()) else {
        // No task of ours: nothing will ever come of it.
        return Ok(NotificationTurn::default());
    };
    let body = serde_json::to_string(asked)?;
    let url = format!("https://task{WEBHOOK_PATH}");
    let request = new_request("POST", &url, &[], Some(&body))?;
    let mut answer = id.get_stub()?.fetch_with_request(request).await?;
    let text = answer.text().await?;
    match answer.status_code() {
        200 => Ok(read_json(&text)?),
        status => Err(worker::Error::RustError(format!("the task answered {status}"))),
    }
}

/// Sends one notification, whatever comes of it.
async fn send(notification: &Notification, env: &Env, settings: &Settings) -> Report {
    let at = now().0;
    let sent = post(notification, env, settings).await;
    let generation = notification.generation;
    let duration_ms = u64::try_from(now().0.saturating_sub(at)).unwrap_or(0);
    let report = Report { generation, at, duration_ms, ..Report::default() };
    match sent {
        Ok(answer) => {
            let status = Some(answer.status_code());
            let retry_after = answer.headers().get("retry-after").ok().flatten();
            let retry_after_s = retry_after.and_then(|text| text.trim().parse().ok());
            Report { status, retry_after_s, ..report }
        }
        Err(Failure::NotCalled(reason)) => {
            Report { error: Some(reason), is_hopeless: true, ..report }
        }
        Err(Failure::NoAnswer(reason)) => Report { error: Some(reason), ..report },
    }
}

enum Failure {
    /// The URL must not be called.
    NotCalled(String),
    /// There was no answer.
    NoAnswer(String),
}

async fn post(
    notification: &Notification,
    env: &Env,
    settings: &Settings,
) -> std::result::Result<Response, Failure> {
    let Notification { config, generation, body, .. } = notification;
    let refused = |reason| Failure::NotCalled(format!("the URL {reason}"));
    check_webhook_url(&config.url, settings).map_err(refused)?;
    let no_answer = |error: worker::Error| Failure::NoAnswer(error.to_string());
    let id = delivery_id(config, *generation);
    let headers = headers_of(notification, &id, env, settings).await;
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let request = new_request("POST", &config.url, &headers, Some(body)).map_err(no_answer)?;
    let answer = Box::pin(outbound::fetch(request));
    let timeout_ms = settings.limits.webhook_timeout_ms;
    match select(answer, Delay::from(Duration::from_millis(timeout_ms))).await {
        // What the receiver has to say besides its status is not read: the exchange ends here.
        Either::Left((answer, _)) => answer.map(|(answer, _)| answer).map_err(no_answer),
        Either::Right(_) => Err(Failure::NoAnswer(format!("no answer within {timeout_ms} ms"))),
    }
}

/// The same for every attempt at the same event.
fn delivery_id(config: &TaskPushNotificationConfig, generation: u64) -> String {
    format!("{}.{}.{generation}", config.task_id, config.id)
}

async fn headers_of(
    notification: &Notification,
    id: &str,
    env: &Env,
    settings: &Settings,
) -> Vec<(&'static str, String)> {
    let Notification { config, generation, body, .. } = notification;
    let timestamp = now().0 / 1_000;
    let mut headers = vec![
        ("content-type", MediaType::A2aJson.as_str().to_owned()),
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("a2a-generation", generation.to_string()),
    ];
    // The secret was checked when it was registered.
    let secret = config.signing_secret.as_ref();
    if let Some(Ok(secret)) = secret.map(|secret| SigningSecret::parse(secret.reveal())) {
        headers.push(("webhook-signature", secret.sign(id, timestamp, body)));
    }
    match config.authentication.as_ref().and_then(authorization) {
        Some(authorization) => headers.push(("authorization", authorization)),
        None => {
            let claims = Claims {
                issuer: settings.public_url.as_deref().unwrap_or("a2a-edge"),
                audience: &origin_of(&config.url).unwrap_or_default(),
                issued_at_s: timestamp,
                id,
                task_id: config.task_id.as_str(),
            };
            match jwt::sign(env, &claims).await {
                Ok(Some(token)) => headers.push(("authorization", format!("Bearer {token}"))),
                Ok(None) => {}
                Err(error) => console_error!("{error}"),
            }
        }
    }
    if let Some(token) = &config.token {
        headers.push(("x-a2a-notification-token", token.reveal().to_owned()));
        headers.push(("a2a-notification-token", token.reveal().to_owned()));
    }
    headers
}

/// The header as it was configured; the two common schemes are written as everybody expects.
fn authorization(info: &AuthenticationInfo) -> Option<String> {
    let credentials = info.credentials.as_ref()?.reveal();
    let scheme = match info.scheme.to_ascii_lowercase().as_str() {
        "bearer" => "Bearer",
        "basic" => "Basic",
        _ => &info.scheme,
    };
    Some(format!("{scheme} {credentials}"))
}

async fn send_dead_letter(env: &Env, job: &WebhookJob, given_up: &GivenUp) {
    let letter = json!({
        "agent": job.agent,
        "task": job.task,
        "configId": job.config_id,
        "generation": given_up.generation,
        "error": given_up.error,
        "isSuspended": given_up.is_suspended,
    });
    if let Err(error) = bindings::enqueue(env, bindings::DEAD_LETTERS, letter.to_string()).await {
        console_error!("a dead letter could not be sent: {error}: {letter}");
    }
}

/// A line for the operators. The URL may hold secrets, and is not in it.
fn log(job: &WebhookJob, config: &TaskPushNotificationConfig, report: &Report) {
    let host = config.url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
    let line = json!({
        "event": "webhook",
        "agent": job.agent,
        "task": job.task,
        "config": config.id,
        "host": host,
        "generation": report.generation,
        "status": report.status,
        "error": report.error,
        "durationMs": report.duration_ms,
    });
    console_log!("{line}");
}

/// Where an object takes what senders ask.
pub(super) const WEBHOOK_PATH: &str = "/webhook";

/// How the name of the queue of dead letters ends.
const DEAD_SUFFIX: &str = "-dead";

/// How long one webhook is served before others get their turn, in milliseconds.
const MAX_TURN_MS: i64 = 10_000;

/// When a job that could not be done is tried again, in seconds.
const RETRY_S: u32 = 5;
