//! What answers show of a webhook.

use crate::auth::Caller;
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

/// The scheme, the host and the port of a URL: the rest may hold secrets.
pub(in crate::operation) fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_an_operator_sees_where_it_leads() {
        for (url, origin) in [
            ("https://a.example/secret?token=x#y", "https://a.example"),
            ("https://user:pass@a.example:8443/x", "https://a.example:8443"),
            ("https://a.example?token=x", "https://a.example"),
            ("https://a.example#token", "https://a.example"),
            ("https://user:p@ss@a.example/@b", "https://a.example"),
            ("https://a.example\\secret", "https://a.example"),
            ("http://[::1]:8787/x", "http://[::1]:8787"),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }
}
