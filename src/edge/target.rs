//! Checks the URLs of webhooks and of public keys, on the parts into which the platform splits a URL.

use web_sys::Url;

use crate::config::Settings;
use crate::push::guard::{MAX_URL_BYTES, Policy, Reach, Target, check_target};

/// Checks the URL of a webhook, when it is registered and before each notification.
///
/// The platform parses the URL, so the checked host is the host that the platform would call.
///
/// # Errors
///
/// The requirement that the URL violates, as a text that follows the name of the field.
pub(super) fn check_webhook_url(url: &str, settings: &Settings) -> Result<(), String> {
    check(url, &[Policy::of(settings)])
}

/// Checks the URL of public keys, or of a document with their URL, before each request. The rules are those for webhooks,
/// with two exceptions: the operator's list of hosts does not apply, and `http` is allowed only for this machine in
/// development, because anybody on the network path could replace the keys.
///
/// # Errors
///
/// The requirement that the URL violates, as a text that follows the name of the URL.
pub(super) fn check_key_url(url: &str, settings: &Settings) -> Result<(), String> {
    let policy = Policy { hosts: &[], ..Policy::of(settings) };
    let reach = if settings.development { Reach::Loopback } else { Reach::Public };
    if url.starts_with("https:") {
        check(url, &[policy])
    } else {
        check(url, &[policy, Policy { reach, ..policy }])
    }
}

/// Checks the URL to which spans are sent. The rules are those for webhooks, but the operator's list of hosts does not apply.
///
/// # Errors
///
/// The requirement that the URL violates, as a text that follows the name of the setting.
pub(super) fn check_otlp_url(url: &str, settings: &Settings) -> Result<(), String> {
    check(url, &[Policy { hosts: &[], ..Policy::of(settings) }])
}

/// Checks a URL by each of these policies.
fn check(url: &str, policies: &[Policy<'_>]) -> Result<(), String> {
    if url.len() > MAX_URL_BYTES {
        return Err(format!("must have at most {MAX_URL_BYTES} bytes, got {}", url.len()));
    }
    let url = Url::new(url)
        .map_err(|_| "must begin with a scheme and a host, as https://hooks.example.com/a2a")?;
    let (protocol, host) = (url.protocol(), url.hostname());
    let target = Target {
        scheme: protocol.trim_end_matches(':'),
        username: &url.username(),
        password: &url.password(),
        host: &host,
        port: url.port().parse().ok(),
    };
    policies.iter().try_for_each(|policy| check_target(&target, *policy))
}

/// The host of a URL, with the port if it names one.
pub(super) fn host_of(url: &str) -> Option<String> {
    Url::new(url).ok().map(|url| url.host())
}

/// The origin of a URL, for example `https://hooks.example.com`.
pub(super) fn origin_of(url: &str) -> Option<String> {
    Url::new(url).ok().map(|url| url.origin())
}
