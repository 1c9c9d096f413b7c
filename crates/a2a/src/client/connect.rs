//! Which interface of an agent is called.

use std::rc::Rc;

use super::{Client, ClientError};
use crate::binding::Binding;
use crate::dialect::Dialect;

/// The interface of an agent that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its URL.
    pub url: String,
    /// The binding.
    pub binding: Binding,
    /// The version.
    pub dialect: Dialect,
    /// What requests carry as `tenant`, if anything.
    pub tenant: Option<String>,
    /// Whether it stands on the host of the settings' URL, so that it gets credentials.
    pub is_trusted: bool,
    /// Whether the agent streams, and the settings want it.
    pub streams: bool,
}

impl Client {
    /// The interface that is called: the first one of the card that this client speaks, unless the settings say
    /// otherwise.
    ///
    /// # Errors
    ///
    /// If the card cannot be had, or there is no such interface.
    pub async fn connect(&self) -> Result<Rc<Connection>, ClientError> {
        if let Some(known) = self.0.connection.borrow().as_ref() {
            return Ok(Rc::clone(known));
        }
        let card = self.card().await?;
        let spoken = card.interfaces.iter().find(|known| known.protocol_binding == "JSONRPC");
        let none = || ClientError::NoInterface("the agent offers no JSON-RPC".to_owned());
        let interface = spoken.ok_or_else(none)?;
        let connection = Rc::new(Connection {
            url: interface.url.clone(),
            binding: Binding::JsonRpc,
            dialect: Dialect::V1,
            tenant: interface.tenant.clone(),
            is_trusted: true,
            streams: card.streams,
        });
        self.0.connection.replace(Some(Rc::clone(&connection)));
        Ok(connection)
    }
}
