//! What answers show of a webhook.

use crate::auth::Caller;
use crate::push::origin_of;
use crate::session::Owned;
use a2a::model::{AuthenticationInfo, KnownSecrets, ShownWebhook, TaskPushNotificationConfig};

/// A webhook as the answer that creates it shows it: with all its secrets.
pub(super) fn created(config: TaskPushNotificationConfig) -> ShownWebhook {
    ShownWebhook { has: Some(KnownSecrets::of(&config)), config }
}

/// A webhook as every other answer shows it. Its owner sees token and credentials, as the specification wants
/// it, if the owner is known; nobody sees the signing secret, which is all that tells our notifications from
/// those of others. An operator sees of the URL only where it leads.
pub(super) fn shown(task: Owned<'_>, mut config: TaskPushNotificationConfig) -> ShownWebhook {
    let has = Some(KnownSecrets::of(&config));
    config.signing_secret = None;
    if task.is_operators() {
        config.url = origin_of(&config.url);
    }
    // Everybody without credentials is the same caller, and so the owner of every such webhook.
    if task.is_operators() || task.is_owned_by(&Caller::anonymous()) {
        config.token = None;
        config.authentication =
            config.authentication.map(|AuthenticationInfo { scheme, .. }| AuthenticationInfo {
                scheme,
                credentials: None,
            });
    }
    ShownWebhook { config, has }
}
