//! URLs of identity providers.

/// Checks a URL from which keys are fetched. The keys decide which callers are accepted, so they must not be changed on
/// their way: the URL must have https, or be on this machine.
///
/// # Errors
///
/// The rule for the URL, as a text that continues the key.
pub fn check_url(url: &str) -> Result<(), String> {
    const RULE: &str = "must be an https:// URL, as https://id.example.com/keys";
    let is_plain =
        url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let (scheme, rest) = url.split_once("://").ok_or(RULE)?;
    let host_and_port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !is_plain || host_and_port.is_empty() {
        return Err(RULE.to_owned());
    }
    if host_and_port.contains('@') {
        return Err("must hold no user name and no password".to_owned());
    }
    if rest.contains('#') {
        return Err("must hold no #".to_owned());
    }
    let port = host_and_port.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
    let (host, port) = port.map_or((host_and_port, None), |(host, port)| (host, Some(port)));
    if host.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(RULE.to_owned());
    }
    match scheme {
        "https" => Ok(()),
        "http" if LOOPBACK.contains(&host) => Ok(()),
        "http" => Err("must begin with https://; http:// is for this machine alone".to_owned()),
        _ => Err(RULE.to_owned()),
    }
}

/// Checks an origin as browsers send it in `Origin`: scheme, host, and the port unless it is the default port of the
/// scheme.
///
/// # Errors
///
/// The rule for the origin, as a text that continues the key.
#[cfg(any(test, feature = "checker"))]
pub(super) fn check_origin(origin: &str) -> Result<(), String> {
    const RULE: &str = "must be an origin, as \"https://app.example.com\": in small letters, without path and slash at its end";
    check_url(origin)?;
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let is_default = host.ends_with(if origin.starts_with("https:") { ":443" } else { ":80" });
    let is_plain = host.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:[]_".contains(&byte)
    });
    if is_plain && !is_default { Ok(()) } else { Err(RULE.to_owned()) }
}

/// The host names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        for good in ["https://app.example", "https://app.example:8443", "http://localhost:5173"] {
            assert_eq!(check_origin(good), Ok(()), "{good}");
        }
        for bad in [
            "*",
            "null",
            "app.example",
            "https://app.example/",
            "https://app.example/a",
            "https://app.example?a",
            "https://App.example",
            "https://app.example:443",
            "http://app.example",
            "http://localhost:80",
            "https://*.example",
            "https://app.example, https://b.example",
        ] {
            assert!(check_origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_come_by_https_or_from_this_machine() {
        for good in [
            "https://id.example",
            "https://id.example:8443/realms/a/certs?x=1",
            "http://localhost:9999/jwks",
            "http://127.0.0.1/jwks",
            "http://[::1]:80/",
        ] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "id.example",
            "https://",
            "https:///keys",
            "http://id.example/keys",
            "http://localhost.evil.example/",
            "http://127.0.0.1@evil.example/",
            "https://user@id.example/",
            "https://id.example/#keys",
            "https://id.example:port/",
            "https://id.example:/",
            "https://id.example:99999/",
            "https://:443/",
            "HTTPS://id.example",
            "ftp://id.example",
            "javascript://id.example",
            "https://id.example/a b",
            "https://id.example/\n",
            "https://id.\u{e4}xample/",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
