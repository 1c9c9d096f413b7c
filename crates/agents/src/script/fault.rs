//! What goes wrong on purpose between a client and a scripted agent, so that authors of clients see what theirs make of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MAX_WAIT_MS;
use crate::Problem;
use a2a::Operation;

/// One fault: the requests that it is for, and what happens to their answers. `dev/fault.js` carries it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a fault such as { status = 503, times = 2 }")]
pub struct Fault {
    /// The operations that it is for, by their names in A2A 1.0 whatever the client speaks, and `card`; every operation, but
    /// not the card, unless given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// Only requests whose body holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containing: Option<String>,
    /// To how many requests it happens, 1 or more; to all of them unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The answer has this status, 200 to 599; 200 unless given where there is a `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// It has these headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// It has this body, of the type `text/plain` unless `headers` say otherwise; none unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether the agent gets a request that is answered so. It does not unless this is set: then its answer is lost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// How long the answer keeps its client waiting, in milliseconds, at most [`MAX_WAIT_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// How long each event of a stream does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_wait_ms: Option<u64>,
    /// After how many events a stream ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_after: Option<u32>,
    /// Whether the first half of the next event still comes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub half_event: bool,
    /// Whether the connection breaks instead of being closed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abort: bool,
    /// What stands in events of a stream in place of their data, by their numbers, from 1 on. An event with nothing in it
    /// does not come.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, String>,
    /// What the card says otherwise: tables go into those of the card, anything else takes the place of what is there.
    /// `{origin}` in its texts is that of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Value>,
    /// The members that the card lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub card_without: Vec<String>,
}

impl Fault {
    /// Whether there is an answer in place of the agent's.
    fn answers(&self) -> bool {
        self.status.is_some() || self.body.is_some()
    }

    /// Whether it is one of the card.
    fn lies(&self) -> bool {
        self.card.is_some() || !self.card_without.is_empty()
    }

    /// Whether something happens to a stream.
    fn is_for_streams(&self) -> bool {
        self.event_wait_ms.is_some() || self.close_after.is_some() || !self.events.is_empty()
    }

    /// What is wrong with it at `path`, each with its key.
    pub(crate) fn problems(&self, path: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut wrong =
            |key: &str, fix: String| problems.push(Problem::at(format!("{path}{key}"), fix));
        let is_known = |name: &&String| *name == CARD || Operation::named(name).is_some();
        if let Some(name) = self.on.iter().find(|name| !is_known(name)) {
            let fix =
                format!("must be names such as SendMessage or GetTask, or card, got {name:?}");
            wrong(".on", fix);
        }
        if self.times == Some(0) {
            wrong(".times", "must be 1 or more; leave it out for a fault without end".to_owned());
        }
        if let Some(status) = self.status.filter(|status| !(200..=599).contains(status)) {
            wrong(".status", format!("must be from 200 to 599, got {status}"));
        }
        for (name, value) in &self.headers {
            let is_name = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
            let is_value = |letter: u8| letter == b'\t' || (b' '..=b'~').contains(&letter);
            if name.is_empty() || !name.bytes().all(is_name) || !value.bytes().all(is_value) {
                wrong(".headers", format!("no request can have the header {name:?} of this value"));
            }
        }
        for (key, millis) in [(".wait_ms", self.wait_ms), (".event_wait_ms", self.event_wait_ms)] {
            if let Some(millis) = millis.filter(|millis| *millis > MAX_WAIT_MS) {
                wrong(key, format!("must be from 0 to {MAX_WAIT_MS}, got {millis}"));
            }
        }
        let is_number = |number: &&String| number.parse::<u32>().is_ok_and(|number| number > 0);
        if let Some(number) = self.events.keys().find(|number| !is_number(number)) {
            wrong(".events", format!("has numbers of events, from 1 on, for keys, got {number:?}"));
        }
        if self.lost && !self.answers() {
            wrong(".lost", "needs a `status` or a `body` that comes instead".to_owned());
        }
        for (key, is_given) in [(".half_event", self.half_event), (".abort", self.abort)] {
            if is_given && self.close_after.is_none() {
                wrong(key, "needs `close_after`".to_owned());
            }
        }
        if self.answers() && self.is_for_streams() {
            wrong(
                "",
                "has an answer and faults of a stream; give each a fault of its own".to_owned(),
            );
        }
        if self.lies() && (!self.on.is_empty() || self.answers() || self.is_for_streams()) {
            let fix = "is for the card alone, so nothing but `times`, `headers` and `wait_ms` goes with it";
            wrong(".card", fix.to_owned());
        }
        if self.card.as_ref().is_some_and(|card| !card.is_object()) {
            wrong(".card", "must be a table".to_owned());
        }
        let waits = self.wait_ms.is_some() || !self.headers.is_empty();
        if !waits && !self.lies() && !self.answers() && !self.is_for_streams() {
            let fix = "does nothing; give it one of status, headers, body, wait_ms, event_wait_ms, close_after, \
                       events, card and card_without";
            wrong("", fix.to_owned());
        }
        problems
    }
}

/// What stands for requests for the card among the operations.
pub const CARD: &str = "card";

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn faults_that_hold_together_have_no_problems() {
        for text in [
            "status = 503\nheaders = { Retry-After = '2' }\ntimes = 2",
            "body = '<html>'",
            "body = '<html>'\nlost = true",
            "headers = { content-type = 'text/html' }",
            "wait_ms = 600000",
            "event_wait_ms = 10\nclose_after = 0\nabort = true",
            "close_after = 2\nhalf_event = true\nevents = { 1 = '{', 2 = '' }",
            "card = { capabilities = { streaming = false } }\ntimes = 1\nwait_ms = 5",
            "card_without = ['name']",
            "on = ['card']\nstatus = 404",
        ] {
            assert_eq!(fault(text).problems("f"), [], "{text}");
        }
    }

    #[test]
    fn faults_that_do_not_hold_together_are_refused_with_the_fix() {
        for (text, key, fix) in [
            ("", "f", "does nothing; give it one of status"),
            ("times = 2", "f", "does nothing"),
            (
                "status = 500\non = ['Send']",
                "f.on",
                "SendMessage or GetTask, or card, got \"Send\"",
            ),
            ("status = 500\ntimes = 0", "f.times", "must be 1 or more"),
            ("status = 99", "f.status", "must be from 200 to 599, got 99"),
            ("headers = { 'a b' = 'x' }", "f.headers", "no request can have the header \"a b\""),
            ("headers = { a = \"x\\ny\" }", "f.headers", "the header \"a\" of this value"),
            ("wait_ms = 600001", "f.wait_ms", "from 0 to 600000, got 600001"),
            ("event_wait_ms = 600001", "f.event_wait_ms", "got 600001"),
            ("events = { x = '' }", "f.events", "from 1 on, for keys, got \"x\""),
            ("events = { 0 = '' }", "f.events", "got \"0\""),
            ("wait_ms = 1\nlost = true", "f.lost", "needs a `status` or a `body`"),
            ("wait_ms = 1\nabort = true", "f.abort", "needs `close_after`"),
            ("wait_ms = 1\nhalf_event = true", "f.half_event", "needs `close_after`"),
            ("status = 500\nclose_after = 1", "f", "give each a fault of its own"),
            ("card = {}\non = ['card']", "f.card", "is for the card alone"),
            ("card = {}\nstatus = 500", "f.card", "is for the card alone"),
            ("card = 5", "f.card", "must be a table"),
        ] {
            let problems = fault(text).problems("f");
            let [Problem { key: found, text: told, .. }] = problems.as_slice() else {
                panic!("{text}: {problems:?}")
            };
            assert_eq!(found, key, "{text}");
            assert!(told.contains(fix), "{text}: {told}");
        }
        let unknown = toml::from_str::<Fault>("state = 5").unwrap_err().to_string();
        assert!(unknown.contains("unknown field `state`"), "{unknown}");
    }
}
