//! The queue of webhooks with unsent notifications.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;

use crate::format;
use crate::push::{Notification, Report};
use a2a::model::TaskId;
use a2a::model::decode::{Decode, Fields};

/// The queue for a task whose webhook has an unsent notification.
pub trait WebhookQueue {
    /// Puts a job into the queue, after all earlier writes are durable.
    fn enqueue(&self, job: WebhookJob) -> LocalBoxFuture<'static, Result<(), String>>;

    /// Makes one attempt to send a notification of this agent's task, at once and without the queue. Returns the report.
    fn attempt(&self, agent: String, notification: Notification)
    -> LocalBoxFuture<'static, Report>;
}

/// A job for a webhook with unsent notifications. The job does not contain the notifications; the consumer reads them
/// from the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookJob {
    /// The agent that has the task.
    pub agent: String,
    /// The task.
    pub task: TaskId,
    /// The id of the webhook.
    pub config_id: String,
}

impl Decode for WebhookJob {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::JOB.check(fields)?;
        let task = fields.required_id("task")?;
        let agent = fields.required_string("agent")?;
        Some(Self { agent, task, config_id: fields.required_string("configId")? })
    }
}
