//! Documents that anybody may get: the card of an agent (spec §8), and the keys that verify notifications.

use super::decision::preflight;
use super::head::Head;

use crate::executor::HostedAgent;
use a2a::binding::discovery::{self, Known};
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

/// Answers a request for the card of an agent, as it is for requests that come in at `origin`.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`].
pub(super) fn card(
    head: &Head<'_>,
    agent: &HostedAgent,
    origin: &str,
) -> Result<HttpResponse, Error> {
    match head.method() {
        "GET" | "HEAD" => {
            let known = Known {
                etag: head.header("if-none-match").map(str::to_owned),
                modified: head.header("if-modified-since").map(str::to_owned),
            };
            Ok(discovery::card(&agent.card, origin, &agent.card_date, &known))
        }
        "OPTIONS" => Ok(preflight(head, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}

/// Answers a request for the set of public keys.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`].
pub(super) fn key_set(head: &Head<'_>, keys: String) -> Result<HttpResponse, Error> {
    match head.method() {
        "GET" | "HEAD" => {
            let response = HttpResponse::json(200, keys);
            Ok(response.with_header("cache-control", "public, max-age=300"))
        }
        "OPTIONS" => Ok(preflight(head, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}
