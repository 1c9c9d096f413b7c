//! A2A 1.0, the version that the program uses inside: its results are the unchanged texts of
//! operations.

pub(super) mod ask;
pub(super) mod paths;

use std::borrow::Cow;

use serde::Serialize;

use crate::error::Error;
use crate::model::{EventFilter, ShownWebhook, WEBHOOKS_EXTENSION, encode};
use crate::{Operation, Outcome};

/// The operation of a JSON-RPC method, which has the operation's name (spec §5.3).
pub(super) fn operation(method: &str) -> Option<Operation> {
    Operation::named(method)
}

/// See [`Dialect::result`](super::Dialect::result).
pub(super) fn result<'a>(
    outcome: &'a Outcome,
    extensions: &[String],
) -> Result<Option<Vec<Cow<'a, str>>>, Error> {
    let pieces: Vec<Cow<'a, str>> = match outcome {
        Outcome::SentTask(task) => {
            vec![r#"{"task":"#.into(), task.json.as_str().into(), "}".into()]
        }
        Outcome::SentMessage(message) => {
            vec![r#"{"message":"#.into(), encoded(message)?.into(), "}".into()]
        }
        Outcome::Task(task) => vec![task.json.as_str().into()],
        Outcome::Tasks(json)
        | Outcome::Deliveries(json)
        | Outcome::Timeline(json)
        | Outcome::Webhooks(json)
        | Outcome::ContextDeleted(json)
        | Outcome::Card(json) => vec![json.as_str().into()],
        Outcome::PushConfig(config) => vec![encoded(&shown(config, extensions))?.into()],
        Outcome::PushConfigs(configs) => {
            let shown: Vec<_> = configs.iter().map(|config| shown(config, extensions)).collect();
            let closing = r#","nextPageToken":""}"#;
            vec![r#"{"configs":"#.into(), encoded(&shown)?.into(), closing.into()]
        }
        Outcome::Deleted => return Ok(None),
    };
    Ok(Some(pieces))
}

/// A webhook as a client receives it: the members of the extension are only for clients that use
/// the extension.
fn shown(webhook: &ShownWebhook, extensions: &[String]) -> ShownWebhook {
    let mut shown = webhook.clone();
    if !extensions.iter().any(|uri| uri == WEBHOOKS_EXTENSION) {
        shown.config.events = EventFilter::All;
        shown.config.signing_secret = None;
        shown.has = None;
    }
    shown
}

fn encoded<T: Serialize>(value: &T) -> Result<String, Error> {
    encode(value).map_err(|_| Error::Internal { task: None })
}
