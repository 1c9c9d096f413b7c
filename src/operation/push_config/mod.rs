//! The operations on the webhooks of a task (spec §3.1.7 to §3.1.10), and those of our extension, one file each.

mod create;
mod delete;
mod deliveries;
mod get;
mod list;
mod redeliver;
pub(super) mod shown;
mod test;
mod verify;

use crate::session::Owned;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::{Outcome, WebhookCall};

/// Carries out a call, in this dialect, about the webhooks of the task.
///
/// # Errors
///
/// The errors of the operation.
pub async fn manage_webhooks(
    task: Owned<'_>,
    call: WebhookCall,
    dialect: Dialect,
) -> Result<Outcome, Error> {
    let one = |webhook| Outcome::PushConfig(Box::new(webhook));
    match call {
        WebhookCall::CreateTaskPushNotificationConfig(config) => {
            create::create_push_config(task, *config, dialect).map(one)
        }
        WebhookCall::GetTaskPushNotificationConfig(request) => {
            get::get_push_config(task, &request).map(one)
        }
        WebhookCall::ListTaskPushNotificationConfigs(request) => {
            list::list_push_configs(task, &request).map(Outcome::PushConfigs)
        }
        WebhookCall::DeleteTaskPushNotificationConfig(request) => {
            delete::delete_push_config(task, &request).map(|()| Outcome::Deleted)
        }
        WebhookCall::ListTaskPushNotificationDeliveries(request) => {
            deliveries::list_deliveries(task, &request).map(Outcome::Deliveries)
        }
        WebhookCall::RedeliverTaskPushNotifications(request) => {
            redeliver::redeliver(task, &request).map(one)
        }
        WebhookCall::TestTaskPushNotificationConfig(request) => {
            // In a box, since few calls need it: each call of the object has the size of the largest.
            Box::pin(test::test_webhook(task, &request)).await.map(Outcome::Deliveries)
        }
        WebhookCall::VerifyTaskPushNotificationSignature(request) => {
            verify::verify_signature(task, &request).map(Outcome::Deliveries)
        }
    }
}
