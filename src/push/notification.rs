//! The requests and answers between the consumer of the queue and the object of a task about notifications.

use serde::Serialize;

use super::{Report, Standing};
use crate::format;
use a2a::dialect::Dialect;
use a2a::http::trace::TraceContext;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Generation, TaskPushNotificationConfig};

/// One event to send to a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// The lease that permits sending the event; the report must contain the same lease.
    pub lease: String,
    /// The generation of the event.
    pub generation: Generation,
    /// The event in the form in which it is sent: one StreamResponse (spec §3.2.3) as 1.0 JSON, or in an older dialect the
    /// task as it was after the event.
    pub body: String,
    /// The dialect of the webhook. Absent for 1.0.
    #[serde(skip_serializing_if = "Dialect::is_v1")]
    pub dialect: Dialect,
    /// The webhook.
    pub config: TaskPushNotificationConfig,
    /// The recent behavior of the receiver.
    pub standing: Standing,
    /// The trace of the message that began the newest run, if it belonged to one. Each attempt is a span in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

impl Notification {
    /// True for a test notification. Its generation is 0, so that receivers take it for older than every event.
    pub fn is_test(&self) -> bool {
        self.generation == Generation::NONE
    }
}

impl Decode for Notification {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            lease: fields.string("lease")?,
            generation: Generation(fields.number("generation")?),
            body: fields.string("body")?,
            dialect: Dialect::read(fields, "dialect")?,
            config: fields.object("config")?,
            standing: Standing::named(&fields.string("standing").unwrap_or_default()),
            trace: fields.object("trace"),
        })
    }
}

/// The request of a queue consumer for the next notification of a webhook.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextNotification {
    /// The id of the webhook.
    pub config_id: String,
    /// The lease of the webhook, if the consumer already has it.
    pub lease: Option<String>,
    /// The report about the previous attempt.
    pub report: Option<Report>,
    /// True if the consumer only reports and wants no further notification now.
    pub leaves: bool,
}

impl Decode for NextNotification {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::COMMAND.check(fields)?;
        Some(Self {
            config_id: fields.string("configId")?,
            lease: fields.string("lease"),
            report: fields.object("report"),
            leaves: fields.boolean("leaves").unwrap_or_default(),
        })
    }
}

/// The answer to [`NextNotification`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationTurn {
    /// The next notification; `None` if no event is due now, or another consumer has the lease.
    pub next: Option<Notification>,
    /// The event that was given up because of the report.
    pub given_up: Option<GivenUp>,
}

impl Decode for NotificationTurn {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::TURN.check(fields)?;
        Some(Self { next: fields.object("next"), given_up: fields.object("givenUp") })
    }
}

/// A notification that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenUp {
    /// The generation of the event.
    pub generation: Generation,
    /// The error of the newest attempt.
    pub error: String,
    /// True if the webhook is suspended.
    pub is_suspended: bool,
}

impl Decode for GivenUp {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            generation: Generation(fields.number("generation")?),
            error: fields.string("error")?,
            is_suspended: fields.boolean("isSuspended").unwrap_or_default(),
        })
    }
}
