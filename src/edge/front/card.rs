//! Documents that anybody may get: the card of an agent (spec §8), and the keys that verify notifications.

use worker::{Method, Request};

use super::{header, preflight};
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
    request: &Request,
    agent: &HostedAgent,
    origin: &str,
) -> Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => {
            let known = Known {
                etag: header(request, "if-none-match"),
                modified: header(request, "if-modified-since"),
            };
            Ok(discovery::card(&agent.card, origin, &agent.card_date, &known))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}

/// Answers a request for the set of public keys.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`].
pub(super) fn key_set(request: &Request, keys: String) -> Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => {
            let response = HttpResponse::json(200, keys);
            Ok(response.with_header("cache-control", "public, max-age=300"))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}
