//! Changes requests before they go, and sees answers.

use super::ClientError;
use crate::Operation;
use crate::http::{HttpAnswer, HttpRequest};

/// Changes requests before they go, and sees answers. `None` instead of an operation is a request for a card.
pub trait Interceptor {
    /// Changes a request, or refuses to send it.
    ///
    /// # Errors
    ///
    /// Why it is not to be sent.
    fn before(
        &self,
        operation: Option<Operation>,
        request: &mut HttpRequest,
    ) -> Result<(), ClientError> {
        let _ = (operation, request);
        Ok(())
    }

    /// Sees the head of an answer.
    fn after(&self, operation: Option<Operation>, answer: &HttpAnswer) {
        let _ = (operation, answer);
    }
}
