//! The log entries of runs that wait outside of memory.

use serde::Serialize;

use super::CallbackName;
use a2a::model::UnixMillis;
use a2a::model::decode::{Decode, Fields};

/// A parked run: it waits for an instant and occupies no memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Park {
    /// The number of the wait in its run, from 1.
    pub nth: u32,
    /// The instant at which the run was parked, in milliseconds since the epoch. The time since then does not count as the
    /// run's time.
    pub at_ms: i64,
    /// The instant at which the run continues at the latest, in milliseconds since the epoch.
    pub until_ms: i64,
    /// True if a message of the client ends the wait early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub or_message: bool,
    /// The callback whose next body ends the wait early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackName>,
    /// The unanswered requests that the run will repeat when it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
}

/// A run's counters of its requests for one turn, stored when it is parked because the newest requests have no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unanswered {
    /// The number of requests without an answer since the newest answer. 0 once the run has emitted an event after its wait.
    pub times: u32,
    /// The instant at which the first of these requests failed, in milliseconds since the epoch.
    pub since_ms: i64,
    /// The number of all requests for the turn.
    pub asked: u32,
    /// The number of requests that were answered and must be repeated nevertheless.
    pub faulty: u32,
}

impl Park {
    /// The instant at which the run continues at the latest.
    pub fn until(&self) -> UnixMillis {
        UnixMillis(self.until_ms)
    }
}

/// A wait that has ended. The reason is final: a run that resumes gets the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitEnd {
    /// The number of the wait in its run, from 1.
    pub nth: u32,
    /// The reason that ended the wait.
    pub by: WokenBy,
}

/// The reason that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WokenBy {
    /// The planned time is over.
    Time,
    /// The client has sent a message.
    Message,
    /// Another system has posted to the callback of the wait.
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
