//! The checks of a webhook's URL, on the parts into which the platform takes it.

use web_sys::Url;

use crate::config::Settings;
use crate::push::guard::{MAX_URL_BYTES, Policy, Target, check_target};

/// Checks the URL of a webhook, when it is registered and before each notification.
///
/// The platform parses the URL, so what is checked is what it would call.
///
/// # Errors
///
/// What the URL must be, as a text that follows the name of the field.
pub(super) fn check_webhook_url(url: &str, settings: &Settings) -> Result<(), String> {
    if url.len() > MAX_URL_BYTES {
        return Err(format!("must have at most {MAX_URL_BYTES} bytes, got {}", url.len()));
    }
    let url = Url::new(url).map_err(|_| "must be a URL such as https://hooks.example.com/a2a")?;
    let (protocol, host) = (url.protocol(), url.hostname());
    let target = Target {
        scheme: protocol.trim_end_matches(':'),
        username: &url.username(),
        password: &url.password(),
        host: &host,
        port: url.port().parse().ok(),
    };
    check_target(&target, Policy::of(settings))
}

/// The origin of a URL, as `https://hooks.example.com`.
pub(super) fn origin_of(url: &str) -> Option<String> {
    Url::new(url).ok().map(|url| url.origin())
}
