//! The agents of this Worker, as one of them calls another.

use std::rc::Rc;

use super::Http;
use crate::auth::Caller;

/// The agents of this Worker, as one of them calls another.
pub trait HostedAgents {
    /// Requests to them that never leave the Worker. Each is made by this caller, whatever credentials it shows, and belongs to
    /// the request of this id, if one is known. Nobody outside can make such a request.
    fn http(&self, caller: &Caller, request: Option<&str>) -> Rc<dyn Http>;
}
