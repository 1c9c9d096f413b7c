//! The list of webhooks in trouble, over all tasks.

use async_trait::async_trait;

use crate::push::Health;

/// The list of webhooks in trouble.
#[async_trait(?Send)]
pub trait WebhookList {
    /// Writes a change of a webhook, unless the list has a newer change. Writing the same change again changes nothing.
    ///
    /// # Errors
    ///
    /// If it is not known whether the change was written.
    async fn follow(&self, change: ListedChange) -> Result<(), String>;
}

/// A change of a webhook of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChange {
    /// The owner of the task: the id of the caller who began the task, or that caller's group.
    pub owner: String,
    /// The agent that has the task.
    pub agent: String,
    /// The change.
    pub change: WebhookChange,
}

/// A change of a webhook for the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookChange {
    /// The id of the webhook.
    pub id: String,
    /// A number that is larger than that of any earlier change of the webhook.
    pub version: u64,
    /// The current troubles of the webhook; `None` if the webhook works, or was deleted.
    pub troubles: Option<WebhookTroubles>,
}

/// The troubles of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookTroubles {
    /// The health of the webhook.
    pub health: Health,
    /// The number of dead letters.
    pub dead_letters: usize,
    /// The instant at which the troubles began, in milliseconds since the epoch.
    pub since_ms: i64,
    /// The entry of the list as a JSON object: no secrets, and only the origin of the URL.
    pub shown: String,
}
