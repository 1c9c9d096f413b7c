//! Who makes a request: asks `auth`, which decides by the headers alone wherever it can.

use worker::Request;

use super::header;
use crate::auth::{self, Caller, Identity};
use crate::edge::service::clock::now;
use a2a::error::Error;

/// The caller of a request.
///
/// # Errors
///
/// Why its credentials are refused.
pub(super) fn identify(request: &Request) -> Result<Caller, Error> {
    match auth::identify(&|name| header(request, name), now()) {
        Identity::Caller(caller) => Ok(caller),
        Identity::Refused(error) => Err(error),
        Identity::Pending(pending) => match pending {},
    }
}
