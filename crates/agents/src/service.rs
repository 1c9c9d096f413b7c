//! Another Worker in place of a server on the network: the keys `service` and `path` in place of `url`. The kind `http`, HTTP tools
//! and MCP servers have these keys.

use std::rc::Rc;

use a2a::http::{Http, HttpError};

/// The URL of a path at a Worker that is called by its service binding. That Worker receives the URL as it is; the origin leads
/// nowhere else.
///
/// ```
/// assert_eq!(a2a_agents::service_url("/turn?a=b"), "https://service.internal/turn?a=b");
/// ```
pub fn service_url(path: &str) -> String {
    format!("{SERVICE_ORIGIN}{path}")
}

/// The name of a Worker that is called by its service binding, for messages.
pub fn service_name(service: &str) -> String {
    format!("the service {service}")
}

/// The error for a missing service binding, with the lines for wrangler.toml.
pub fn unbound_service(service: &str) -> HttpError {
    let reason = format!(
        "this Worker has no service binding \"{service}\": add [[services]] with binding = \"{service}\" and service = \"<name of the \
         other Worker>\" to wrangler.toml"
    );
    HttpError::Unbound { reason }
}

/// The client for a server that a file names: for `service`, that of the service binding, from `bound`; else `outside`.
pub fn http_of(
    service: Option<&str>,
    outside: &Rc<dyn Http>,
    bound: impl FnOnce(&str) -> Rc<dyn Http>,
) -> Rc<dyn Http> {
    service.map_or_else(|| Rc::clone(outside), bound)
}

/// Checks a path, which may have a query.
///
/// # Errors
///
/// The rule for the path, as a text that continues the key.
pub fn check_path(path: &str) -> Result<(), String> {
    let is_plain =
        path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte));
    if path.starts_with('/') && !path.starts_with("//") && is_plain {
        return Ok(());
    }
    Err(PATH_RULE.to_owned())
}

/// Checks the name of a service binding. It is written in the file: what is bound is fixed by wrangler.toml, too.
pub(crate) fn check_service(name: &str) -> Result<(), String> {
    let begins_well =
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if begins_well && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    Err("must be the name of a service binding in wrangler.toml: letters, digits and _".to_owned())
}

/// The keys of a table that name a server; each is true if the table has the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerKeys {
    /// `url`.
    pub(crate) url: bool,
    /// `service`.
    pub(crate) service: bool,
    /// `path`.
    pub(crate) path: bool,
}

impl ServerKeys {
    /// The key that is missing or must go, and the fix. `None` if the keys name exactly one server.
    pub(crate) fn problem(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self { url: true, service: true, .. } => {
                Some(("service", "stands beside `url`; keep one of the two"))
            }
            Self { url: false, service: false, .. } => Some((
                "url",
                "is missing; a Worker that is bound to this one is named by `service` instead",
            )),
            Self { url: true, path: true, .. } => {
                Some(("path", "belongs to `service`; write it into the URL"))
            }
            _ => None,
        }
    }
}

/// The rule for `path`.
pub(crate) const PATH_RULE: &str = "must be a path, as /turn";

/// The origin in the URL of a request to a Worker that is called by its service binding.
const SERVICE_ORIGIN: &str = "https://service.internal";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_url_or_a_service_with_a_path() {
        for (url, service, path, key) in [
            (true, false, false, None),
            (false, true, false, None),
            (false, true, true, None),
            (true, false, true, Some("path")),
            (true, true, false, Some("service")),
            (true, true, true, Some("service")),
            (false, false, false, Some("url")),
            (false, false, true, Some("url")),
        ] {
            let keys = ServerKeys { url, service, path };
            assert_eq!(keys.problem().map(|(key, _)| key), key, "{keys:?}");
        }
    }

    #[test]
    fn a_path_leads_to_the_same_worker_whatever_it_is() {
        for path in ["/", "/turn", "/a/b?c=d&e=%20"] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        for path in ["", "turn", "//b.example", "/a b", "/a#b", "/a\\b", "/ü"] {
            assert_eq!(check_path(path), Err(PATH_RULE.to_owned()), "{path}");
        }
    }
}
