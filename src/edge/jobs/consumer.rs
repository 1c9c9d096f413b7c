//! The consumer of the queues: receives jobs, requests the due notifications from the objects, sends them in order, and reports
//! the results. It also logs dead letters and runs deletion jobs (`deletion.rs`).
//!
//! A job only names a webhook with due notifications. One sender at a time has the lease of a webhook; the sender requests one
//! notification after the other and reports each, so that a deleted webhook gets nothing more. A job that the queue loses is
//! replaced when the alarm of the object fires.
//!
//! A batch is over when each of its jobs has obtained the lease of its webhook. The notifications are sent after that, within
//! bounds ([`Crowd`]), so the next batch does not wait for receivers that are silent.

use std::cell::RefCell;

use futures_util::FutureExt;
use tokio::sync::Semaphore;
use worker::{Context, Env, MessageBatch, MessageExt, QueueRetryOptionsBuilder, RawMessage};

use super::deletion;
use crate::edge::bindings;
use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::objects::{AskError, Object};
use crate::edge::panics::caught;
use crate::edge::post::{Poster, is_turn_over};
use crate::edge::service::clock::now;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::random::WorkerRandom;
use crate::forms::queue::{Body, DeadLetter, QueuedJob};
use crate::panic::Shared;
use crate::port::{Observation, Observer, SpanId, SpanPlace, WebhookJob, join_some};
use crate::push::{
    Crowd, GivenUp, MAX_SILENT_AT_ONCE, NextNotification, Notification, NotificationTurn, Report,
    Standing, patience_ms,
};
use a2a::model::to_json;

/// Handles one batch of any queue. Each message is settled on its own.
pub(in crate::edge) async fn consume(batch: MessageBatch<String>, env: Env, context: Context) {
    let settings = match bindings::settings(&env) {
        Ok(settings) => settings,
        Err(error) => {
            let reason = error.to_string();
            ConsoleObserver::of(&env).observe(&Observation::Misconfigured { reason: &reason });
            // The queue delivers the messages again, and the settings may be valid by then.
            return batch.retry_all();
        }
    };
    let observer = ConsoleObserver::of(&env);
    let taken = batch.raw_iter().map(|message| take(message, &env, observer));
    let taken = join_some(ANSWERS_AT_ONCE, taken).await;
    let leases: Vec<Lease> = taken.into_iter().flatten().collect();
    let bytes = leases.iter().map(|lease| lease.notification.body.len()).sum();
    let timeout_ms = settings.limits.webhook_timeout_ms;
    let entered = CROWD.change(|crowd| crowd.enter(leases.len(), bytes, timeout_ms, now()));
    let sender = Sender {
        poster: Poster { env, settings, observer },
        silent: Semaphore::new(MAX_SILENT_AT_ONCE),
        is_waited_for: entered.is_none(),
    };
    match entered {
        None => sender.serve_all(leases).await,
        Some(entered) => {
            let served = caught(async move {
                sender.serve_all(leases).await;
                CROWD.change(|crowd| crowd.leave(entered));
            });
            // The log has the message of a panic.
            context.wait_until(served.map(|_| ()));
        }
    }
}

/// A webhook whose lease this batch has, and its next notification.
struct Lease {
    job: QueuedJob,
    notification: Notification,
}

/// Settles a message. A deletion job is carried out. A dead letter is logged: its task has already recorded it. For a job, the
/// lease of its webhook is requested; if the object grants it, the object makes sure from then on that the webhook is served, and
/// the message is acknowledged.
async fn take(message: RawMessage, env: &Env, observer: ConsoleObserver) -> Option<Lease> {
    let text = message.body().as_string().unwrap_or_default();
    let job = match Body::read(&text) {
        Ok(Body::Job(job)) => job,
        Ok(Body::Deletions(job)) => {
            if deletion::delete(env, &job, observer).await {
                message.ack()
            } else {
                retry(&message, OTHER_VERSION_RETRY_S)
            }
            return None;
        }
        Ok(Body::DeadLetter) => {
            observer.observe(&Observation::DeadLetter { letter: &text });
            message.ack();
            return None;
        }
        Err(error) => {
            observer.observe(&Observation::JobUnreadable { reason: &error.to_string() });
            retry(&message, OTHER_VERSION_RETRY_S);
            return None;
        }
    };
    let first = NextNotification { config_id: job.job.config_id.clone(), ..Default::default() };
    match ask(env, &job, first).await {
        Ok(turn) => {
            message.ack();
            turn.next.map(|notification| Lease { job, notification })
        }
        Err(error) => {
            observer.observe(&postponed(&job.job, &error.to_string()));
            retry(&message, if error.is_of_versions() { OTHER_VERSION_RETRY_S } else { RETRY_S });
            None
        }
    }
}

fn retry(message: &RawMessage, delay_s: u32) {
    let later = QueueRetryOptionsBuilder::new().with_delay_seconds(delay_s).build();
    message.retry_with_options(&later);
}

/// The data that all leases of a batch share.
struct Sender {
    poster: Poster,
    /// Limits the calls at a time to receivers that were silent recently.
    silent: Semaphore,
    /// True if the next batch waits for this one.
    is_waited_for: bool,
}

impl Sender {
    async fn serve_all(&self, leases: Vec<Lease>) {
        let served = leases.into_iter().map(async |lease| {
            let job = lease.job.job.clone();
            if let Err(error) = self.serve(lease).await {
                // When the lease ends, the alarm of the object sends another job.
                self.poster.observer.observe(&postponed(&job, &error.to_string()));
            }
        });
        join_some(ANSWERS_AT_ONCE, served).await;
    }

    /// Sends the due notifications of a webhook, until nothing is left, another sender has the lease, or the turn is over.
    async fn serve(&self, Lease { job, notification }: Lease) -> Result<(), AskError> {
        let begun = now();
        let mut next = Some(notification);
        while let Some(notification) = next {
            let (notification, place) = in_a_span(notification);
            let report = self.send(&job, &notification, place).await;
            let asked = NextNotification {
                config_id: job.job.config_id.clone(),
                lease: Some(notification.lease),
                report: Some(report),
                leaves: is_turn_over(begun, now()),
            };
            let turn = ask(&self.poster.env, &job, asked).await?;
            if let Some(given_up) = turn.given_up {
                self.send_dead_letter(&job.job, &given_up).await;
            }
            next = turn.next;
        }
        Ok(())
    }

    /// Makes one attempt to send a notification of a job.
    async fn send(
        &self,
        job: &QueuedJob,
        notification: &Notification,
        place: Option<SpanPlace>,
    ) -> Report {
        // The semaphore is never closed, so a permit always becomes free.
        let _permit = match notification.standing {
            Standing::Silent => self.silent.acquire().await.ok(),
            Standing::Unknown | Standing::Answering => None,
        };
        let timeout_ms = self.poster.settings.limits.webhook_timeout_ms;
        let patience = patience_ms(notification.standing, timeout_ms, self.is_waited_for);
        let (agent, object) = (&job.job.agent, &job.object_id());
        self.poster.attempt(agent, notification, object, patience, place).await
    }

    async fn send_dead_letter(&self, job: &WebhookJob, given_up: &GivenUp) {
        // A letter contains only texts and numbers, so encoding cannot fail.
        let letters = [to_json(&DeadLetter::new(job, given_up)).unwrap_or_default()];
        let sent = bindings::enqueue(&self.poster.env, bindings::DEAD_LETTERS, &letters).await;
        if let Err(error) = sent {
            let ([letter], reason) = (&letters, &error.to_string());
            self.poster.observer.observe(&Observation::DeadLetterLost { letter, reason });
        }
    }
}

/// The notification with the trace of an attempt to send it, which has a span of its own.
fn in_a_span(notification: Notification) -> (Notification, Option<SpanPlace>) {
    let Some(trace) = notification.trace.clone() else { return (notification, None) };
    let (id, parent) = (SpanId::random(&WorkerRandom), SpanId::parse(trace.span_id()));
    let attempt = Notification { trace: Some(trace.within(&id.to_string())), ..notification };
    let place = trace.is_sampled().then_some(SpanPlace { trace, id, parent, follows: None });
    (attempt, place)
}

/// Requests the next notification from the object of a job's task.
async fn ask(
    env: &Env,
    job: &QueuedJob,
    asked: NextNotification,
) -> Result<NotificationTurn, AskError> {
    match Object::at_id(env, job.object_id()) {
        Ok(object) => object.next_notification(&asked).await,
        // Without an object there is nothing to send.
        Err(AskError::Unknown) => Ok(NotificationTurn::default()),
        Err(error) => Err(error),
    }
}

fn postponed<'a>(job: &'a WebhookJob, reason: &'a str) -> Observation<'a> {
    Observation::WebhookPostponed { task: &job.task, webhook: &job.config_id, reason }
}

thread_local! {
    static CROWD: RefCell<Crowd> = RefCell::default();
}

/// The delay before a failed job is tried again, in seconds.
const RETRY_S: u32 = 5;

/// The delay, in seconds, before the retry of a job that this version cannot read, or whose object runs another version. After
/// the last attempt the job becomes a dead letter; the object of the task sends another job.
const OTHER_VERSION_RETRY_S: u32 = 60;
