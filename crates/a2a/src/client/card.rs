//! The cards of other agents: fetched, remembered, read and checked.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::{Client, ClientError, Ports};
use crate::http::HttpRequest;
use crate::model::AgentInterface;
use crate::model::decode::{Fields, decode_with};

/// The card of another agent, in the words of 1.0.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteCard {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Where it answers, the preferred interface first.
    pub interfaces: Vec<AgentInterface>,
    /// Whether it streams.
    pub streams: bool,
    /// Whether it sends webhooks.
    pub sends_webhooks: bool,
    /// The card as it came.
    pub json: Value,
}

/// Where a client has cards from.
pub trait CardSource {
    /// The card of the agent of a client.
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>>;
}

/// Cards that are fetched, and kept in memory.
pub struct MemoryCards {
    #[expect(dead_code, reason = "for the age of cards")]
    ports: Ports,
    known: RefCell<BTreeMap<String, Rc<RemoteCard>>>,
}

impl MemoryCards {
    /// None yet.
    pub fn new(ports: Ports) -> Self {
        Self { ports, known: RefCell::default() }
    }
}

impl CardSource for MemoryCards {
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>> {
        Box::pin(async move {
            let url = &client.settings().url;
            if let Some(known) = self.known.borrow().get(url) {
                return Ok(Rc::clone(known));
            }
            let card = Rc::new(client.fetch_card().await?);
            self.known.borrow_mut().insert(url.clone(), Rc::clone(&card));
            Ok(card)
        })
    }
}

impl Client {
    /// Fetches the card of the agent.
    ///
    /// # Errors
    ///
    /// If it cannot be had or used.
    pub async fn fetch_card(&self) -> Result<RemoteCard, ClientError> {
        let base = self.settings().url.trim_end_matches('/');
        let request = HttpRequest::get(format!("{base}/.well-known/agent-card.json"));
        let answer = self.ports().http.send(request).await?.text().await?.success()?;
        let card: Value = answer.json()?;
        RemoteCard::read(card)
    }
}

impl RemoteCard {
    /// Reads a card of any version.
    ///
    /// # Errors
    ///
    /// [`ClientError::Card`] with everything that is missing.
    pub fn read(json: Value) -> Result<Self, ClientError> {
        let read = |fields: &mut Fields| {
            let name = fields.required_string("name");
            let description = fields.string("description").unwrap_or_default();
            let interfaces = fields.list("supportedInterfaces");
            let capabilities = fields.free_form("capabilities").unwrap_or_default();
            let has = |name: &str| capabilities.get(name) == Some(&Value::Bool(true));
            let (streams, sends_webhooks) = (has("streaming"), has("pushNotifications"));
            let json = json.clone();
            Some(Self {
                name: name?,
                description,
                interfaces: interfaces?,
                streams,
                sends_webhooks,
                json,
            })
        };
        decode_with(json.clone(), read)
            .map_err(|found| ClientError::Card(crate::error::Error::from(found).to_string()))
    }
}
