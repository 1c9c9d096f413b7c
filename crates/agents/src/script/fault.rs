//! Simulated faults between a client and a scripted agent. Authors of clients test with them how a client handles the
//! faults.

use serde_json::Value;

use super::MAX_WAIT_MS;
use crate::Problem;
use crate::table::{Keys, Reader, keys};
use a2a::Operation;

/// One fault: the requests to which it applies, and the changes of their responses. `dev/fault.js` implements it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fault {
    /// The operations to which the fault applies, by their names in A2A 1.0 in all dialects, and `card`. Default: every
    /// operation, but not the card.
    pub on: Vec<String>,
    /// Applies only to requests whose body contains this text.
    pub containing: Option<String>,
    /// The number of requests to which the fault applies, 1 or more. Default: all.
    pub times: Option<u32>,
    /// The status of the response, 200 to 599. Default: 200 if there is a `body`.
    pub status: Option<u16>,
    /// Headers of the response.
    pub headers: Vec<(String, String)>,
    /// The body of the response, with the type `text/plain` unless `headers` contain another one.
    pub body: Option<String>,
    /// True if the agent receives the request, although the fault replaces its response. Otherwise the agent does not
    /// receive the request.
    pub lost: bool,
    /// The delay of the response, in milliseconds, at most [`MAX_WAIT_MS`].
    pub wait_ms: Option<u64>,
    /// The delay of each event of a stream, in milliseconds.
    pub event_wait_ms: Option<u64>,
    /// The number of events after which a stream ends.
    pub close_after: Option<u32>,
    /// True if the first half of the next event is sent before the end.
    pub half_event: bool,
    /// True if the connection is aborted at the end instead of closed.
    pub abort: bool,
    /// Data that replaces the data of a stream's events, by the numbers of the events, from 1 on. An event whose data is
    /// empty is not sent.
    pub events: Vec<(String, String)>,
    /// Changes of the card: tables are merged with the tables of the card, other values replace those of the card.
    /// `{origin}` in texts is the origin of the request.
    pub card: Option<Value>,
    /// The members that are removed from the card.
    pub card_without: Vec<String>,
}

impl Fault {
    /// An example of a fault for the texts of problems.
    pub(crate) const EXAMPLE: &'static str = "{ status = 503, times = 2 }";

    /// Reads a fault.
    pub(crate) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.only(&KEYS);
        let small = |number: Option<u64>| number.and_then(|number| number.try_into().ok());
        let status = keys.number("status", 200, 599);
        Some(Self {
            on: keys.texts("on"),
            containing: keys.text("containing"),
            times: small(keys.number("times", 1, u32::MAX.into())),
            status: status.and_then(|status| status.try_into().ok()),
            headers: keys.pairs("headers"),
            body: keys.text("body"),
            lost: keys.flag("lost").unwrap_or_default(),
            wait_ms: keys.number("wait_ms", 0, MAX_WAIT_MS),
            event_wait_ms: keys.number("event_wait_ms", 0, MAX_WAIT_MS),
            close_after: small(keys.number("close_after", 0, u32::MAX.into())),
            half_event: keys.flag("half_event").unwrap_or_default(),
            abort: keys.flag("abort").unwrap_or_default(),
            events: keys.pairs("events"),
            card: keys.members("card").map(|card| Value::Object(card.clone())),
            card_without: keys.texts("card_without"),
        })
    }

    /// True if the fault replaces the agent's response.
    fn answers(&self) -> bool {
        self.status.is_some() || self.body.is_some()
    }

    /// True if the fault changes the card.
    fn lies(&self) -> bool {
        self.card.is_some() || !self.card_without.is_empty()
    }

    /// True if the fault changes a stream.
    fn is_for_streams(&self) -> bool {
        self.event_wait_ms.is_some() || self.close_after.is_some() || !self.events.is_empty()
    }

    /// The problems of the fault at `path`, each with its key.
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
        for (name, value) in &self.headers {
            let is_name = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
            let is_value = |letter: u8| letter == b'\t' || (b' '..=b'~').contains(&letter);
            if name.is_empty() || !name.bytes().all(is_name) || !value.bytes().all(is_value) {
                wrong(".headers", format!("no request can have the header {name:?} of this value"));
            }
        }
        let is_not_number =
            |number: &&String| !number.parse::<u32>().is_ok_and(|number| number > 0);
        if let Some(number) = self.events.iter().map(|(number, _)| number).find(is_not_number) {
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
        let waits = self.wait_ms.is_some() || !self.headers.is_empty();
        if !waits && !self.lies() && !self.answers() && !self.is_for_streams() {
            let fix = "does nothing; give it one of status, headers, body, wait_ms, event_wait_ms, close_after, \
                       events, card and card_without";
            wrong("", fix.to_owned());
        }
        problems
    }
}

const KEYS: Keys = keys! {
    /// The operations, by their names in A2A 1.0, or `card`; every operation, but not the card, unless given.
    "on",
    /// Applies only to requests whose body contains this text.
    "containing",
    /// The number of requests to which the fault applies; all unless given.
    "times",
    /// The status of the response; 200 unless given beside `body`.
    "status",
    /// Headers of the response.
    "headers",
    /// The body of the response.
    "body",
    /// True if the agent receives the request, although `status` or `body` replaces its response.
    "lost",
    /// The delay of the response, in milliseconds.
    "wait_ms",
    /// The delay of each event of a stream, in milliseconds.
    "event_wait_ms",
    /// The number of events after which a stream ends; with 0, before the first.
    "close_after",
    /// True if half of the next event is sent before the end, beside `close_after`.
    "half_event",
    /// True if the connection breaks instead of being closed, beside `close_after`.
    "abort",
    /// Other data of the events of a stream, by their numbers from 1 on; an event with empty data is left out.
    "events",
    /// Changes of the card: tables are merged with those of the card, other values replace those of the card.
    "card",
    /// The members that are removed from the card.
    "card_without",
};

/// The name for requests of the card in the list of operations.
const CARD: &str = "card";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Texts;

    fn problems(text: &str) -> Vec<Problem> {
        let table = toml::from_str(text).unwrap();
        let (fault, problems) = Reader::read(&table, Texts::Literal, Fault::read);
        if problems.is_empty() {
            return fault.unwrap().problems("f");
        }
        problems.into_iter().map(|problem| problem.under("f.")).collect()
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
            assert_eq!(problems(text), [], "{text}");
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
            ("status = 500\ntimes = 0", "f.times", "must be a whole number from 1 to"),
            ("status = 99", "f.status", "must be a whole number from 200 to 599, got 99"),
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
            ("state = 5", "f.state", "is no key of this table; there are: on, containing"),
        ] {
            let problems = problems(text);
            let [Problem { key: found, text: told, .. }] = problems.as_slice() else {
                panic!("{text}: {problems:?}")
            };
            assert_eq!(found, key, "{text}");
            assert!(told.contains(fix), "{text}: {told}");
        }
    }
}
