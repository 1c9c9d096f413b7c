//! Who makes a request: asks `auth`, which decides by the headers alone wherever it can.

use super::head::Head;
use crate::auth::{self, Caller, Identity};
use crate::edge::service::clock::now;
use a2a::error::Error;

/// The caller of a request.
///
/// # Errors
///
/// Why its credentials are refused.
pub(super) fn identify(head: &Head<'_>) -> Result<Caller, Error> {
    match auth::identify(&|name| head.header(name).map(str::to_owned), now()) {
        Identity::Caller(caller) => Ok(caller),
        Identity::Refused(error) => Err(error),
        Identity::Pending(pending) => match pending {},
    }
}
