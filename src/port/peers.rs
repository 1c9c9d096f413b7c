//! What the platform has for calls to other agents.

use std::rc::Rc;

use super::Http;
use crate::auth::Caller;
use a2a::client::Client;

/// What the platform has for calls to other agents.
pub trait Peers {
    /// Requests to the agents of this Worker, which never leave it. Each is made by the agent of this slug for this caller, whatever
    /// credentials it shows, and belongs to the request of this id, if one is known. Nobody outside can make such a request.
    fn hosted(&self, agent: &str, caller: &Caller, request: Option<&str>) -> Rc<dyn Http>;

    /// The client of an agent elsewhere, with cards that outlive it, and with what checks their signatures.
    fn equip(&self, client: Client) -> Client {
        client
    }
}
