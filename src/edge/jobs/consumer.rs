//! The consumer of the queue of notifications: asks the objects what is owed, sends it in order, reports.
//!
//! A message of the queue says only that a webhook is owed something. One sender at a time has the lease of
//! a webhook; it asks for one notification after the other and reports each, so that a webhook that is
//! deleted gets nothing more. What the queue loses, the object's alarm finds.
//!
//! A batch is over when each of its jobs has its lease; what is sent goes on behind it, within bounds
//! ([`Crowd`]). So the next batch does not wait for receivers that are silent.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::Semaphore;
use worker::{
    Context, Delay, Env, MessageBatch, MessageExt, QueueRetryOptionsBuilder, RawMessage, Response,
    Result, console_error, console_log,
};

use crate::config::Settings;
use crate::edge::bindings;
use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::command::WEBHOOK_PATH;
use crate::edge::request::new_request;
use crate::edge::service::clock::now;
use crate::edge::service::keys;
use crate::edge::service::outbound;
use crate::edge::target::{check_webhook_url, origin_of};
use crate::operation::{GivenUp, NextNotification, Notification, NotificationTurn};
use crate::port::WebhookJob;
use crate::push::jwk::Claims;
use crate::push::signature::SigningSecret;
use crate::push::{Crowd, MAX_SILENT_AT_ONCE, Report, Standing, patience_ms, retry_after_s};
use a2a::binding::MediaType;
use a2a::model::decode::read_json;
use a2a::model::{AuthenticationInfo, TaskPushNotificationConfig};

/// Handles one batch of either queue. Each message is settled on its own.
pub async fn consume(batch: MessageBatch<String>, env: Env, context: Context) {
    let settings = match bindings::settings(&env) {
        Ok(settings) => settings,
        // The messages come again, and the settings may be right by then.
        Err(error) => {
            console_error!("{error}");
            return batch.retry_all();
        }
    };
    if batch.queue().ends_with(DEAD_SUFFIX) {
        return batch.raw_iter().for_each(|message| bury(&message));
    }
    let messages = stream::iter(batch.raw_iter());
    let taken = messages.map(|message| take(message, &env)).buffer_unordered(ANSWERS_AT_ONCE);
    let jobs: Vec<Job> = taken.filter_map(std::future::ready).collect().await;
    let bytes = jobs.iter().map(|job| job.notification.body.len()).sum();
    let timeout_ms = settings.limits.webhook_timeout_ms;
    let entered = CROWD.with_borrow_mut(|crowd| crowd.enter(jobs.len(), bytes, timeout_ms, now()));
    let sender = Sender {
        env,
        settings,
        silent: Semaphore::new(MAX_SILENT_AT_ONCE),
        is_waited_for: entered.is_none(),
    };
    match entered {
        None => sender.serve_all(jobs).await,
        Some(entered) => context.wait_until(async move {
            sender.serve_all(jobs).await;
            CROWD.with_borrow_mut(|crowd| crowd.leave(entered));
        }),
    }
}

/// A dead letter is told to the operators; the task knows of it already.
fn bury(message: &RawMessage) {
    let letter = message.body().as_string().unwrap_or_default();
    console_error!("{}", json!({"event": "webhook dead letter", "letter": letter}));
    message.ack();
}

/// A webhook that this batch has the lease of, and its next notification.
struct Job {
    job: WebhookJob,
    notification: Notification,
}

/// Takes the lease of the webhook that a message names, unless there is nothing to do or another sender has
/// it. From then on the object sees to it that the webhook is served, and the message is done.
async fn take(message: RawMessage, env: &Env) -> Option<Job> {
    let text = message.body().as_string().unwrap_or_default();
    let job: WebhookJob = match read_json(&text) {
        Ok(job) => job,
        Err(error) => {
            console_error!("a message of the queue cannot be read by this version: {error}");
            retry(&message, OTHER_VERSION_RETRY_S);
            return None;
        }
    };
    let first = NextNotification { config_id: job.config_id.clone(), ..Default::default() };
    match ask(env, &job, &first).await {
        Ok(Some(turn)) => {
            message.ack();
            turn.next.map(|notification| Job { job, notification })
        }
        Ok(None) => {
            console_error!("task {} is held by another version", job.task);
            retry(&message, OTHER_VERSION_RETRY_S);
            None
        }
        Err(error) => {
            console_error!("webhook {} of task {}: {error}", job.config_id, job.task);
            retry(&message, RETRY_S);
            None
        }
    }
}

fn retry(message: &RawMessage, delay_s: u32) {
    let later = QueueRetryOptionsBuilder::new().with_delay_seconds(delay_s).build();
    message.retry_with_options(&later);
}

/// What the jobs of a batch share.
struct Sender {
    env: Env,
    settings: Rc<Settings>,
    /// Room for calls to receivers that were silent lately.
    silent: Semaphore,
    /// Whether the next batch waits for this one.
    is_waited_for: bool,
}

impl Sender {
    async fn serve_all(&self, jobs: Vec<Job>) {
        let served = stream::iter(jobs).for_each_concurrent(ANSWERS_AT_ONCE, async |job| {
            let WebhookJob { config_id, task, .. } = job.job.clone();
            if let Err(error) = self.serve(job).await {
                // Once the lease is over, the object's alarm sends another job.
                console_error!("webhook {config_id} of task {task}: {error}");
            }
        });
        served.await;
    }

    /// Sends what a webhook is owed, until there is nothing more, another sender has the lease, or it takes too
    /// long.
    async fn serve(&self, Job { job, notification }: Job) -> Result<()> {
        let begun = now().0;
        let mut next = Some(notification);
        while let Some(notification) = next {
            let report = self.send(&notification).await;
            log(&job, &notification.config, &report);
            let asked = NextNotification {
                config_id: job.config_id.clone(),
                lease: Some(notification.lease),
                report: Some(report),
                leaves: now().0.saturating_sub(begun) > MAX_TURN_MS,
            };
            // Another version has taken the task over, and has its alarm.
            let Some(turn) = ask(&self.env, &job, &asked).await? else { return Ok(()) };
            if let Some(given_up) = turn.given_up {
                send_dead_letter(&self.env, &job, &given_up).await;
            }
            next = turn.next;
        }
        Ok(())
    }

    /// Sends one notification, whatever comes of it.
    async fn send(&self, notification: &Notification) -> Report {
        // It is never closed, so there always comes a permit.
        let _permit = match notification.standing {
            Standing::Silent => self.silent.acquire().await.ok(),
            Standing::Unknown | Standing::Answering => None,
        };
        let at = now().0;
        let timeout_ms = self.settings.limits.webhook_timeout_ms;
        let patience = patience_ms(notification.standing, timeout_ms, self.is_waited_for);
        let sent = post(notification, patience, &self.env, &self.settings).await;
        let generation = notification.generation;
        let duration_ms = u64::try_from(now().0.saturating_sub(at)).unwrap_or(0);
        let report = Report { generation, at, duration_ms, ..Report::default() };
        match sent {
            Ok(answer) => {
                let status = Some(answer.status_code());
                let retry_after = answer.headers().get("retry-after").ok().flatten();
                let retry_after_s = retry_after.and_then(|text| retry_after_s(&text, now()));
                Report { status, retry_after_s, ..report }
            }
            Err(Failure::NotCalled(reason)) => {
                Report { error: Some(reason), is_hopeless: true, ..report }
            }
            Err(Failure::NoAnswer(reason)) => Report { error: Some(reason), ..report },
            Err(Failure::Silence) => {
                let error = Some(format!("no answer within {patience} ms"));
                Report { error, is_timeout: true, ..report }
            }
        }
    }
}

/// Asks the object of a task; `None` if one of the two is of a version that cannot read the other one.
async fn ask(
    env: &Env,
    job: &WebhookJob,
    asked: &NextNotification,
) -> Result<Option<NotificationTurn>> {
    let tasks = bindings::tasks(env)?;
    let Ok(id) = tasks.id_from_string(job.task.as_str()) else {
        // No task of ours: nothing will ever come of it.
        return Ok(Some(NotificationTurn::default()));
    };
    let body = serde_json::to_string(asked)?;
    let url = format!("https://task{WEBHOOK_PATH}");
    let request = new_request("POST", &url, &[], Some(&body))?;
    let mut answer = id.get_stub()?.fetch_with_request(request).await?;
    let text = answer.text().await?;
    match answer.status_code() {
        200 => Ok(read_json(&text)
            .inspect_err(|error| console_error!("what a task says cannot be read: {error}"))
            .ok()),
        503 => Ok(None),
        status => Err(worker::Error::RustError(format!("the task answered {status}"))),
    }
}

enum Failure {
    /// The URL must not be called.
    NotCalled(String),
    /// There was no answer.
    NoAnswer(String),
    /// There was no answer before patience was over.
    Silence,
}

async fn post(
    notification: &Notification,
    patience_ms: u64,
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
    match select(answer, Delay::from(Duration::from_millis(patience_ms))).await {
        // What the receiver has to say besides its status is not read: the exchange ends here.
        Either::Left((answer, _)) => answer.map(|(answer, _)| answer).map_err(no_answer),
        Either::Right(_) => Err(Failure::Silence),
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
            match keys::sign(env, &claims).await {
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

thread_local! {
    static CROWD: RefCell<Crowd> = RefCell::default();
}

/// How the name of the queue of dead letters ends.
const DEAD_SUFFIX: &str = "-dead";

/// How long one webhook is served before others get their turn, in milliseconds.
const MAX_TURN_MS: i64 = 10_000;

/// When a job that could not be done is tried again, in seconds.
const RETRY_S: u32 = 5;

/// When a job that this version cannot read, or whose object cannot, is tried again, in seconds. After the last
/// attempt it is a dead letter; the object of the task sends another one.
const OTHER_VERSION_RETRY_S: u32 = 60;
