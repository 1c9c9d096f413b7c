//! Hooks that change requests before they are sent, and receive answers.

use super::ClientError;
use crate::Operation;
use crate::http::{HttpAnswer, HttpRequest};

/// Changes requests before they are sent, and receives answers. `operation` is `None` for the request of a card, or of the
/// keys for the card's signatures.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// use a2a::Operation;
/// use a2a::client::simulation::Simulation;
/// use a2a::client::{Client, ClientError, Interceptor, Settings};
/// use a2a::http::memory::status;
/// use a2a::http::{HttpAnswer, HttpRequest};
///
/// /// Adds the name of the project to requests, and counts answers.
/// #[derive(Default)]
/// struct Project(Cell<u32>);
///
/// impl Interceptor for Project {
///     fn before(&self, _: Option<Operation>, request: &mut HttpRequest) -> Result<(), ClientError> {
///         request.headers.push(("X-Project".to_owned(), "apollo".to_owned()));
///         Ok(())
///     }
///
///     fn after(&self, _: Option<Operation>, _: &HttpAnswer) {
///         self.0.set(self.0.get() + 1);
///     }
/// }
///
/// let simulation = Simulation::default();
/// simulation.http().answer_with(|request, _| {
///     assert!(request.headers.contains(&("X-Project".to_owned(), "apollo".to_owned())));
///     Ok(status(404))
/// });
/// let project = Rc::new(Project::default());
/// let client = Client::new(Settings::new("https://none.example"), simulation.ports());
/// let client = client.with_interceptor(project.clone());
/// assert_eq!(simulation.run(client.discover()), None);
/// assert_eq!(project.0.get(), 2);
/// ```
pub trait Interceptor {
    /// Changes a request, or refuses to send it. The request already has the settings' headers. The client's credentials are
    /// added later, if the final URL is on the host of the settings' URL.
    ///
    /// # Errors
    ///
    /// The reason why the request must not be sent.
    fn before(
        &self,
        operation: Option<Operation>,
        request: &mut HttpRequest,
    ) -> Result<(), ClientError> {
        let _ = (operation, request);
        Ok(())
    }

    /// Receives the head of an answer.
    fn after(&self, operation: Option<Operation>, answer: &HttpAnswer) {
        let _ = (operation, answer);
    }
}
