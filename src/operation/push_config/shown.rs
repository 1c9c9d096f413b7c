//! Webhooks as answers show them.

use crate::auth::Caller;
use crate::push::origin_of;
use crate::session::Owned;
use a2a::model::{AuthenticationInfo, KnownSecrets, ShownWebhook, TaskPushNotificationConfig};

/// A webhook in the answer that creates it: with all its secrets.
pub(super) fn created(config: TaskPushNotificationConfig) -> ShownWebhook {
    ShownWebhook { has: Some(KnownSecrets::of(&config)), config }
}

/// A webhook in all other answers. An owner with credentials sees the token and the authentication, as the
/// specification requires. Nobody sees the signing secret, because it is the only proof that a notification is ours. An
/// operator sees only the origin of the URL.
pub(super) fn shown(task: Owned<'_>, mut config: TaskPushNotificationConfig) -> ShownWebhook {
    let has = Some(KnownSecrets::of(&config));
    config.signing_secret = None;
    if task.is_operators() {
        config.url = origin_of(&config.url);
    }
    // All callers without credentials count as the same caller, and so as the owner of every such webhook.
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
