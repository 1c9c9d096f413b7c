//! What the consumer of the queue and the object of a task say to each other about notifications.

use serde::Serialize;

use super::{Report, Standing};
use crate::format;
use a2a::dialect::Dialect;
use a2a::http::trace::TraceContext;
use a2a::model::TaskPushNotificationConfig;
use a2a::model::decode::{Decode, Fields};

/// One event on its way to a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// The lease that allows to send it: to be shown with the report.
    pub lease: String,
    /// The generation of the event.
    pub generation: u64,
    /// The event as it goes out: one StreamResponse (spec §3.2.3) as 1.0 JSON, or in an older dialect the task as it was after
    /// the event.
    pub body: String,
    /// The dialect of the webhook. Objects of former versions do not say it.
    #[serde(skip_serializing_if = "Dialect::is_v1")]
    pub dialect: Dialect,
    /// The webhook.
    pub config: TaskPushNotificationConfig,
    /// How the receiver answers, as far as is known.
    pub standing: Standing,
    /// The trace that the attempt belongs to, if the message that began the newest run belonged to one. Objects of former
    /// versions do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

impl Decode for Notification {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            lease: fields.string("lease")?,
            generation: fields.number("generation")?,
            body: fields.string("body")?,
            dialect: Dialect::read(fields, "dialect")?,
            config: fields.object("config")?,
            standing: Standing::named(&fields.string("standing").unwrap_or_default()),
            trace: fields.object("trace"),
        })
    }
}

/// What the consumer of the queue asks a task for a webhook.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextNotification {
    /// The id of the webhook.
    pub config_id: String,
    /// The lease of the webhook, if the consumer has it already.
    pub lease: Option<String>,
    /// What came of the attempt before.
    pub report: Option<Report>,
    /// Whether the consumer only reports, and sends nothing more for now.
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

/// What a task answers to [`NextNotification`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationTurn {
    /// What to send next; none if nothing is owed now, or another consumer has the lease.
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
    pub generation: u64,
    /// Why the newest attempt failed.
    pub error: String,
    /// Whether the webhook is suspended, and gets nothing more.
    pub is_suspended: bool,
}

impl Decode for GivenUp {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            generation: fields.number("generation")?,
            error: fields.string("error")?,
            is_suspended: fields.boolean("isSuspended").unwrap_or_default(),
        })
    }
}
