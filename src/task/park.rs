//! What the log says of runs that wait outside of memory.

use serde::Serialize;

use super::CallbackName;
use a2a::model::UnixMillis;
use a2a::model::decode::{Decode, Fields};

/// A run that is parked: it waits for an instant, and nothing of it is in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Park {
    /// Which wait of its run it is, from 1.
    pub nth: u32,
    /// Since when it is parked, in milliseconds since the epoch. The time from here on does not count as the run's.
    pub at_ms: i64,
    /// When it goes on at the latest, in milliseconds since the epoch.
    pub until_ms: i64,
    /// Whether a message of the client lets it go on before that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub or_message: bool,
    /// The callback that lets it go on before that, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackName>,
}

impl Park {
    /// When the run goes on at the latest.
    pub fn until(&self) -> UnixMillis {
        UnixMillis(self.until_ms)
    }
}

/// A wait of a run that is over, for good: a run that resumes gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitEnd {
    /// Which wait of its run it is, from 1.
    pub nth: u32,
    /// What has ended it.
    pub by: WokenBy,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WokenBy {
    /// Its time is over.
    Time,
    /// The client has sent a message.
    Message,
    /// Somebody has posted to the callback that it waited for.
    Callback,
}

impl Decode for Park {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            nth: fields.number("nth")?,
            at_ms: fields.number("atMs")?,
            until_ms: fields.number("untilMs")?,
            or_message: fields.boolean("orMessage").unwrap_or_default(),
            callback: fields.object("callback"),
        })
    }
}

impl Decode for WaitEnd {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let nth = fields.number("nth")?;
        let by = match fields.any_string("by")?.as_str() {
            "time" => WokenBy::Time,
            "message" => WokenBy::Message,
            "callback" => WokenBy::Callback,
            _ => return None,
        };
        Some(Self { nth, by })
    }
}
