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
    /// The requests without an answer that the run wants to repeat when it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
}

/// What a run knows of its requests for one turn when it is parked because nobody has answered the newest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unanswered {
    /// How many requests nobody has answered since the newest answer. 0 once the run has said something behind its wait.
    pub times: u32,
    /// When the first of these failed, in milliseconds since the epoch.
    pub since_ms: i64,
    /// How many requests there were for the turn in all.
    pub asked: u32,
    /// How many of all were answered, and have to be repeated nevertheless.
    pub faulty: u32,
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
            unanswered: fields.object("unanswered"),
        })
    }
}

impl Decode for Unanswered {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            times: fields.number("times")?,
            since_ms: fields.number("sinceMs")?,
            asked: fields.number("asked")?,
            faulty: fields.number("faulty")?,
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
