//! Chooses the interface of an agent.

use std::rc::Rc;

use super::address::Address;
use super::{Client, ClientError, RemoteCard, Settings, Streaming};
use crate::dialect::Dialect;
use crate::model::{AgentInterface, UnixMillis};
use crate::wire::Binding;

/// The interface of an agent to which the client sends its calls.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The URL of the interface.
    pub url: String,
    /// The binding.
    pub binding: Binding,
    /// The version.
    pub dialect: Dialect,
    /// The parameter `tenant` of requests, if any.
    pub tenant: Option<String>,
    /// True if the interface is on the host of the settings' URL, so that requests carry credentials.
    pub is_trusted: bool,
    /// True if the agent supports streaming, and the settings allow it.
    pub streams: bool,
}

/// The connection of a client.
#[derive(Clone, Default)]
pub(super) struct Chosen {
    /// The connection, and the instant until which it is used without fetching the card again.
    connection: Option<(Rc<Connection>, UnixMillis)>,
    /// The version that worked although the card names another version.
    version: Option<Dialect>,
}

impl Client {
    /// Sets a known connection, so that the client does not fetch the card in the next five minutes.
    #[must_use]
    pub fn with_connection(self, connection: Rc<Connection>) -> Self {
        let until = self.ports().clock.now().after(KEPT_MS);
        let chosen = Chosen { connection: Some((connection, until)), version: None };
        self.with(|inner| inner.chosen = chosen.into())
    }

    /// The interface to call: the first one of the card that this client supports, unless the settings choose another one.
    /// The card is fetched again after five minutes; if that fails with an error that may pass, the client continues with
    /// the known interface.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched, or has no such interface.
    pub async fn connect(&self) -> Result<Rc<Connection>, ClientError> {
        let now = self.ports().clock.now();
        let Chosen { connection, version } = self.0.chosen.borrow().clone();
        let known = match connection {
            Some((known, until)) if now < until => return Ok(known),
            Some((known, _)) => Some(known),
            None => None,
        };
        let connection = match (self.card_now().await, known) {
            (Ok(card), _) => choose(&card, self.settings(), version)?,
            (Err(error), Some(known)) if error.may_pass() => Connection::clone(&known),
            (Err(error), _) => return Err(error),
        };
        Ok(self.keep(connection, version))
    }

    /// The connection in another version than `tried`, after an answer that suggests another version: the card may be
    /// wrong. The client keeps the new version. `None` if the settings set the version, or another version was already
    /// tried.
    pub(super) async fn connect_otherwise(&self, tried: &Connection) -> Option<Rc<Connection>> {
        if self.settings().version.is_some() || self.0.chosen.borrow().version.is_some() {
            return None;
        }
        let other = match tried.dialect {
            Dialect::V1 | Dialect::Legacy => Dialect::V0_3,
            Dialect::V0_3 => Dialect::V1,
        };
        let connection =
            choose(&*self.card_now().await.ok()?, self.settings(), Some(other)).ok()?;
        Some(self.keep(connection, Some(other)))
    }

    fn keep(&self, connection: Connection, version: Option<Dialect>) -> Rc<Connection> {
        let connection = Rc::new(connection);
        let until = self.ports().clock.now().after(KEPT_MS);
        let kept = Some((Rc::clone(&connection), until));
        self.0.chosen.replace(Chosen { connection: kept, version });
        connection
    }

    /// Returns to the version in the card, because the agent has refused the other version, too.
    pub(super) fn connect_as_before(&self) {
        self.0.chosen.replace(Chosen::default());
    }
}

/// Chooses an interface of a card: an interface in the version that is set or proven, otherwise any interface, which is
/// then called in that version.
fn choose(
    card: &RemoteCard,
    settings: &Settings,
    version: Option<Dialect>,
) -> Result<Connection, ClientError> {
    let version = settings.version.or(version);
    let spoken = card.interfaces.iter().filter_map(|one| Some((one, binding_of(one)?)));
    let bound =
        spoken.filter(|(_, binding)| settings.binding.is_none_or(|wanted| wanted == *binding));
    let bound: Vec<_> = bound.collect();
    let of_version = bound.iter().find(|(one, _)| match version {
        Some(wanted) => dialect_of(one) == Some(wanted),
        None => dialect_of(one).is_some(),
    });
    let otherwise = bound.first().filter(|_| version.is_some());
    let (interface, binding) = of_version.or(otherwise).ok_or_else(|| none(card, settings))?;
    let dialect = version.or_else(|| dialect_of(interface)).unwrap_or_default();
    let home = Address::of_settings(&settings.url)?;
    let place = home.join(&interface.url).ok_or_else(|| {
        let reason =
            format!("the agent offers an interface at {:?}, which is no URL", interface.url);
        ClientError::NoInterface(reason)
    })?;
    let is_home = home.is_home_of(&place);
    let is_other = !is_home && settings.allow_other_hosts && !home.is_downgrade(&place);
    let place = if is_home || is_other { place } else { place.moved_to(&home) };
    Ok(Connection {
        url: place.url(),
        binding: *binding,
        dialect,
        tenant: interface.tenant.clone(),
        is_trusted: !is_other,
        streams: card.streams && settings.streaming == Streaming::Auto,
    })
}

/// The binding of an interface; `None` if this client does not support it.
fn binding_of(interface: &AgentInterface) -> Option<Binding> {
    match interface.protocol_binding.to_ascii_uppercase().as_str() {
        "JSONRPC" => Some(Binding::JsonRpc),
        "HTTP+JSON" => Some(Binding::Rest),
        _ => None,
    }
}

/// The version of an interface; `None` if this client does not support it. In a card of 1.0, an interface without a version
/// is 1.0.
fn dialect_of(interface: &AgentInterface) -> Option<Dialect> {
    let mut numbers = interface.protocol_version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(1)), _) => Some(Dialect::V1),
        (Some(Ok(0)), Some(Ok(2 | 3))) => Some(Dialect::V0_3),
        (Some(Ok(0)), Some(Ok(0 | 1))) => Some(Dialect::Legacy),
        _ if interface.protocol_version.is_empty() => Some(Dialect::V1),
        _ => None,
    }
}

fn none(card: &RemoteCard, settings: &Settings) -> ClientError {
    let offered = card.interfaces.iter().take(MAX_SHOWN).map(|one| {
        let shown = format!("{} {}", one.protocol_binding, one.protocol_version);
        shown.chars().take(40).collect::<String>()
    });
    let offered = offered.collect::<Vec<_>>().join(", ");
    let wanted = match settings.binding {
        Some(Binding::JsonRpc) => "JSONRPC",
        Some(Binding::Rest) => "HTTP+JSON",
        None => "JSONRPC or HTTP+JSON of 1.0, 0.3 or 0.1",
    };
    ClientError::NoInterface(format!("the agent offers {offered}; wanted is {wanted}"))
}

/// The time for which the client uses an interface without fetching the card, in milliseconds.
const KEPT_MS: u64 = 300_000;

/// The largest number of interfaces in an error.
const MAX_SHOWN: usize = 10;

impl std::fmt::Debug for Connection {
    /// The URL without its query, which may contain a key.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { url, binding, dialect, .. } = self;
        let url = url.split('?').next().unwrap_or_default();
        write!(out, "Connection({url} {binding:?} {})", dialect.version())
    }
}

#[cfg(test)]
mod tests;
