//! The public keys of this server, which verify the JWTs of notifications and the signatures of cards.

use crate::front::head::Head;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

/// Answers a request for the set of public keys.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`].
#[inline(never)]
pub(in crate::front) fn key_set(head: &Head<'_>, keys: String) -> Result<HttpResponse, Error> {
    match head.method() {
        "GET" | "HEAD" => {
            let response = HttpResponse::json(200, keys);
            Ok(response.with_header("cache-control", "public, max-age=300"))
        }
        "OPTIONS" => Ok(head.preflight("GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}
