//! The list of webhooks in trouble, over all tasks.

use async_trait::async_trait;

use crate::push::Health;

/// Where a task tells which of its webhooks are in trouble.
#[async_trait(?Send)]
pub trait WebhookList {
    /// Follows a change of a webhook, unless the list has followed a newer one. The same change again changes nothing.
    ///
    /// # Errors
    ///
    /// Why it is not known to be followed.
    async fn follow(&self, change: ListedChange) -> Result<(), String>;
}

/// A change of a webhook of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChange {
    /// Whose the task is: the id of the caller who began it, or the group of that caller.
    pub owner: String,
    /// The agent that has it.
    pub agent: String,
    /// The change.
    pub change: WebhookChange,
}

/// A change of a webhook that the list has to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookChange {
    /// The id of the webhook.
    pub id: String,
    /// A number that is larger than that of any earlier change of the webhook.
    pub version: u64,
    /// What is wrong with it now; none if nothing is, or if it was deleted.
    pub troubles: Option<WebhookTroubles>,
}

/// What is wrong with a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookTroubles {
    /// Whether it works.
    pub health: Health,
    /// How many dead letters it has.
    pub dead_letters: usize,
    /// Since when something is wrong, in milliseconds since the epoch.
    pub since_ms: i64,
    /// What the list shows of it, as a JSON object: no secrets, and of the URL the origin alone.
    pub shown: String,
}
