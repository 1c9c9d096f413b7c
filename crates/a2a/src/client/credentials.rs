//! What shows an agent who calls.

use futures_util::future::LocalBoxFuture;

use super::ClientError;
use crate::http::HttpRequest;

/// Puts credentials on requests. A client asks for them only for requests to the host of its settings' URL.
pub trait Credentials {
    /// Puts them on this request.
    ///
    /// # Errors
    ///
    /// If they cannot be had.
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>>;

    /// The server has refused them (401). Gives whether others can be had, so that the request is tried once more.
    fn refused(&self) -> bool {
        false
    }
}
